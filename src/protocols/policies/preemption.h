// Prevention by preemption: whoever asks for something that a waiting session holds takes it away
// from it. Whoever would close a circle of waits finds that its holder waits, so there is none.
//
// A session that waits goes on when all that it lacks is free at once: what it asked for and what
// it lost. For resources whose state can be saved and restored. It may starve: against two others,
// and if it has to come again itself already against one.
#pragma once

#include "protocols/policies/prevention.h"

namespace turno::protocols {

class Preemption {
 public:
  struct Answer {
    bool granted = false;
    std::optional<SessionId> victim;  // who lost it
    bool operator==(const Answer&) const = default;
  };

  explicit Preemption(std::size_t resources, Waiting waiting = Waiting::in_turn)
      : held_(resources), waiting_(waiting) {}

  // REQUIRES: the session does not wait.
  Answer request(SessionId session, ResourceId wanted) {
    const auto holder = held_.holder(wanted);
    if (!holder) {
      held_.give(session, wanted);
      return {true, {}};
    }
    const auto victim = place_of(*holder);
    if (victim == queue_.end()) {
      queue_.push_back({session, {wanted}});
      return {};
    }
    victim->lacks.push_back(wanted);
    held_.give(session, wanted);
    return {true, holder};
  }

  // Gives back everything. Who goes on now, in the order in which they began to wait.
  std::vector<SessionId> release(SessionId session) {
    held_.take_back_all(session);
    std::vector<SessionId> served;
    if (waiting_ == Waiting::retry) return served;
    for (const auto& waiter : std::vector<Waiter>(queue_))
      if (go_on(waiter.session)) served.push_back(waiter.session);
    return served;
  }

  // A session that waits comes again. False: it still lacks something.
  bool go_on(SessionId session) {
    const auto waiter = place_of(session);
    if (!held_.all_free(waiter->lacks)) return false;
    for (auto resource : waiter->lacks) held_.give(session, resource);
    queue_.erase(waiter);
    return true;
  }

  [[nodiscard]] bool waits(SessionId session) const {
    return std::any_of(queue_.begin(), queue_.end(),
                       [&](const Waiter& waiter) { return waiter.session == session; });
  }
  [[nodiscard]] const Possessions& held() const { return held_; }

  auto operator<=>(const Preemption&) const = default;

 private:
  struct Waiter {
    SessionId session;
    std::vector<ResourceId> lacks;  // what it asked for, and what it lost since
    auto operator<=>(const Waiter&) const = default;
  };

  std::vector<Waiter>::iterator place_of(SessionId session) {
    return std::find_if(queue_.begin(), queue_.end(),
                        [&](const Waiter& waiter) { return waiter.session == session; });
  }

  Possessions held_;
  Waiting waiting_;
  std::vector<Waiter> queue_;
};

}  // namespace turno::protocols
