// A node that leaves in good order, as its clients see it. A client that can move is told to, and
// takes along what it has. All others, and who has not moved in time, are told that their locks are
// lost, and are given as long to stop as after a crash (the lock delay): until they have let go of
// a lock, or that time is over, nobody else gets it.
//
// In the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "port/resp/clients.h"

namespace turno::port {

class Drain {
 public:
  using Done = std::function<void()>;
  // Calls `done` once, later, when no session has or waits for anything. Who can move has
  // `patience` for it.
  Drain(Clients& clients, std::string_view reason, std::chrono::milliseconds patience, Done done);
  ~Drain() { clients_.host().loop().cancel(timer_); }
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

 private:
  struct Dismissed {
    Clock::time_point since;
    bool cut = false;
  };

  void look();
  void look_at(Session& session, Clock::time_point now);
  [[nodiscard]] bool may_move(const Session& session, Clock::time_point now) const;

  Clients& clients_;
  const std::string reason_;
  const Clock::time_point moved_by_;
  const Done done_;
  std::unordered_map<std::uint64_t, Dismissed> dismissed_;  // by session
  net::Loop::Timer timer_;
};

}  // namespace turno::port
