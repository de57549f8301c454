// Processes of this same program, started to run beside it, and the signals that end this one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "turno/error.h"

namespace turno::cli {

struct Launch {
  std::vector<std::string> arguments;  // after the program's name
  // What become its standard input, and its standard output and error.
  int input = -1, output = -1;   // -1: nothing, ours
  bool dies_with_parent = true;  // it gets SIGTERM when this process ends, however it ends
};

// In a session of its own, so that a terminal's signals do not reach it. REQUIRES: called in the
// main thread, for the end of a thread counts as the end of a parent.
tl::expected<pid_t, Error> launch(const Launch& wanted);

// "status 1" or "signal 9 (Killed)", from what waitpid() tells.
std::string how_it_ended(int status);

// While it lives, SIGINT, SIGTERM and SIGHUP (unless it was ignored) wait to be asked for. Make it
// before other threads.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  // The signal, or nothing after that time or, sooner, when a child has ended.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds time) const;

 private:
  sigset_t waited_for_{}, before_{};
};

}  // namespace turno::cli
