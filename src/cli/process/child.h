// Running a command under a lock: in a process group of its own, with the terminal if there is one,
// with signals passed on, and stopped when the lock is lost.
//
// If this process is killed or stopped, a guard (cli/process/guard.h) kills the command's group in
// time.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/process/guard.h"

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

// The time to live of a lock. It counts from when a renewal was sent: when it arrived is not known.
// The command is gone before the node may give the lock away. Thread safety: all calls.
class Expiry {
 public:
  using Clock = std::chrono::steady_clock;
  Expiry(std::chrono::milliseconds ttl, Clock::time_point sent) : ttl_(ttl), sent_(sent) {}
  void renewed(Clock::time_point sent) { sent_ = sent; }
  [[nodiscard]] Clock::time_point stop_at() const { return sent_.load() + ttl_ * 3 / 4; }
  [[nodiscard]] Clock::time_point kill_at() const { return sent_.load() + ttl_ * 15 / 16; }

 private:
  const std::chrono::nanoseconds ttl_;
  std::atomic<Clock::time_point> sent_;
};

enum class Loss : std::uint8_t { told, expired };

// When a command has to stop.
struct Terms {
  std::stop_token lost;                  // the lock is lost
  std::chrono::milliseconds kill_after;  // from SIGTERM to SIGKILL then
  const Expiry* expiry = nullptr;        // or none
  std::function<void(Loss)> on_loss;     // before SIGTERM
};

// Runs it to its end. When the lock is lost or about to expire, its group gets SIGTERM, and SIGKILL
// later. The guard is started and dismissed.
tl::expected<CommandEnd, CommandError> run_command(const CommandToRun& command,
                                                   const Signals& signals, const Terms& terms,
                                                   Guard& guard);

}  // namespace turno::cli
