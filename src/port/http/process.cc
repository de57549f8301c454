#include "port/http/process.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace turno::port {

namespace {

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double find_start_time() {
  std::string line;
  std::getline(std::ifstream("/proc/self/stat"), line);
  // The second field is the program's name in parentheses and may contain anything; the start, in
  // ticks since the system was booted, is the twentieth after it.
  const auto end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream fields(line.substr(end_of_name + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  const auto ticks = std::strtoull(field.c_str(), nullptr, 10);
  timespec now{}, since_boot{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  return seconds_of(now) - seconds_of(since_boot) +
         static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

std::uint64_t resident_bytes() {
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return seconds_of(time);
}

double start_time_seconds() {
  // Worked out once: a clock that is set would seem to restart the process.
  static const double start = find_start_time();
  return start;
}

}  // namespace turno::port
