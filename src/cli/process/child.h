// Running a command under a lock: in a process group of its own, with the terminal if there is one,
// with signals passed on, and stopped when the lock is lost.
//
// If this process is killed, a guard, a process that does nothing but wait for that, kills the
// command's group. The guard shares the connection to the node, so the lock is given to others only
// when the command is gone.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace turno::cli {

struct CommandToRun {
  std::vector<std::string> arguments;    // the program first; found as a shell finds it
  std::vector<std::string> environment;  // NAME=value, added to this process's own
};

// While it lives, signals come here and do not interrupt. Those that were ignored stay ignored.
// Make it before other threads: they inherit what is blocked.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  [[nodiscard]] int descriptor() const { return descriptor_; }  // to poll
  [[nodiscard]] std::optional<int> next() const;                // does not wait
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

// Stops this process as SIGTSTP does: not if nobody is there to continue it. REQUIRES: Signals.
void stop_until_continued();

// A descriptor that is readable after notify(), which may be called from any thread.
class Notice {
 public:
  Notice();
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;
  ~Notice();
  void notify() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

struct CommandError {
  int status = 0;  // 126 found but cannot be run, 127 not found, 125 anything else
  std::string message;
};

struct CommandEnd {
  int status = 0;     // as a shell says it: the exit status, or 128 + signal
  bool lost = false;  // it was stopped, because the lock was lost
};

// Runs it to its end. When `lost` is requested, its group gets SIGTERM, and SIGKILL after
// `kill_after`; `on_lost` is called first.
tl::expected<CommandEnd, CommandError> run_command(const CommandToRun& command,
                                                   const Signals& signals,
                                                   const std::stop_token& lost,
                                                   std::chrono::milliseconds kill_after,
                                                   const std::function<void()>& on_lost);

}  // namespace turno::cli
