#include "cluster/process_state.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>

namespace turno::cluster {

namespace {

constexpr std::array<std::string_view, 7> texts = {"unknown", "running", "blocked", "stopped",
                                                   "traced",  "dead",    "gone"};

}  // namespace

ProcessState process_state(std::int64_t pid) {
  if (pid <= 0) return ProcessState::unknown;
  std::string line;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), line);
  // "PID (NAME) STATE ...", and the name may contain anything.
  const auto end_of_name = line.rfind(") ");
  if (end_of_name == std::string::npos || end_of_name + 2 >= line.size())
    return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH ? ProcessState::gone
                                                                     : ProcessState::unknown;
  switch (line[end_of_name + 2]) {
    case 'R':
    case 'S':
    case 'I':
      return ProcessState::running;
    case 'D':
      return ProcessState::blocked;
    case 'T':
      return ProcessState::stopped;
    case 't':
      return ProcessState::traced;
    case 'Z':
    case 'X':
      return ProcessState::dead;
    default:
      return ProcessState::unknown;
  }
}

std::string_view text_of(ProcessState state) { return texts[static_cast<std::size_t>(state)]; }

ProcessState process_state_named(std::string_view text) {
  const auto* const found = std::find(texts.begin(), texts.end(), text);
  return found == texts.end() ? ProcessState::unknown
                              : static_cast<ProcessState>(found - texts.begin());
}

std::string describe_process(std::string_view name, std::int64_t pid, ProcessState state) {
  auto text = std::string(name) + " (pid " + std::to_string(pid);
  if (state != ProcessState::unknown) text += ", " + std::string(text_of(state));
  return text + ")";
}

std::string remedy(std::int64_t pid, ProcessState state) {
  const auto number = std::to_string(pid);
  switch (state) {
    case ProcessState::stopped:
      return "`kill -CONT " + number + "` lets it go on, `kill -9 " + number + "` ends it";
    case ProcessState::traced:
      return "a debugger stopped it; `kill -9 " + number + "` ends it";
    case ProcessState::blocked:
      return "it waits for a disk or another device; `kill -9 " + number + "` ends it after that";
    case ProcessState::dead:
    case ProcessState::gone:
      return "it has ended, and the registry does not know yet; ask again, or see `turno status`";
    default:
      return "it may be overloaded: ask again; `kill -9 " + number + "` ends it";
  }
}

}  // namespace turno::cluster
