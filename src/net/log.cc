#include "net/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>

#include "core/text/printable.h"

namespace turno::log {

namespace {

constexpr std::array<std::string_view, 5> names = {"debug", "info", "warning", "error", "off"};
std::atomic<Level> level = Level::warning;

std::mutex mutex;  // of the origin and the file
std::string origin;
std::string file;

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  const auto size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", std::string_view(text, size), ms);
}

}  // namespace

std::optional<Level> level_named(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Level>(i);
  return {};
}

void set_level(Level wanted) { level = wanted; }
bool enabled(Level asked) { return asked >= level.load(std::memory_order_relaxed); }

void set_origin(std::string name) {
  const std::scoped_lock guard(mutex);
  origin = std::move(name);
}

void write(Level of, std::string_view line) {
  std::string from;
  {
    const std::scoped_lock guard(mutex);
    from = origin;
  }
  const auto text = fmt::format("{} {} {}{}{}\n", timestamp(), names[static_cast<std::size_t>(of)],
                                from, from.empty() ? "" : ": ", printable(line));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string open_file(const std::string& path) {
  const std::scoped_lock guard(mutex);
  const int opened = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                            S_IRUSR | S_IWUSR);
  if (opened < 0) return path + ": " + std::strerror(errno);
  const bool done = ::dup2(opened, STDOUT_FILENO) >= 0 && ::dup2(opened, STDERR_FILENO) >= 0;
  const int error = errno;
  ::close(opened);
  if (!done) return path + ": " + std::strerror(error);
  file = path;
  return {};
}

std::string reopen_file() {
  std::string path;
  {
    const std::scoped_lock guard(mutex);
    path = file;
  }
  return path.empty() ? path : open_file(path);
}

std::optional<std::string> Limiter::admit(Clock::time_point now) {
  if (said_ == 0 || now - began_ >= period_) {
    began_ = now;
    said_ = 0;
  }
  if (said_ == most_) {
    ++unsaid_;
    return {};
  }
  ++said_;
  const auto unsaid = std::exchange(unsaid_, 0);
  return unsaid == 0 ? "" : fmt::format(" (and {} more like it)", unsaid);
}

}  // namespace turno::log
