// The guard of a command: a process that kills the command's group when nobody else will, so that
// no command runs on when its lock has gone to another.
//
// The process that runs the command (below: the wrapper) tells the guard by which connection the
// lock is held, and until when. The guard kills
// - at once if the wrapper is gone without a word. It shares the connections, and keeps them open
//   until the group is gone: only then is the lock given to others;
// - if the connection has ended and the wrapper says nothing about it for `word_within`: the
//   wrapper is stopped;
// - when a time has come that the wrapper told: of a time to live that was not renewed, or of a
//   lock that it knows is lost.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "net/fd.h"

namespace turno::cli {

class Guard {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Guard(std::chrono::nanoseconds word_within);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  // Before and after start(), from any thread, without waiting.

  // The lock is held by this connection, and by no other any more.
  void watch(int connection);
  // The lock lives until then, unless this is said again.
  void expires(Clock::time_point when);
  // The lock is lost, and the wrapper knows it: all is over by then.
  void lost(Clock::time_point when);

  // Forks. REQUIRES: not yet started. False: fork failed.
  bool start(pid_t group);
  [[nodiscard]] pid_t pid() const { return pid_; }
  // It is not needed any more. Whether it had to kill. Only the first call does something.
  bool dismiss();

 private:
  struct Word;
  void say(const Word& word, int descriptor = -1);

  const std::chrono::nanoseconds word_within_;
  std::mutex mutex_;
  net::Fd ours_, theirs_;
  pid_t pid_ = -1;
};

}  // namespace turno::cli
