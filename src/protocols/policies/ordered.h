// Prevention by ordered requests: every resource has a rank, and a session may ask only for what
// ranks higher than all that it holds. Along a circle of waits the ranks would have to grow all the
// way round, so there is none. One at a time, as needed; but the order may force a session to take
// early what it needs late.
//
// Equal ranks: such resources cannot be held together. In turn: each resource has a queue, and
// nobody starves.
#pragma once

#include <deque>

#include "protocols/policies/prevention.h"

namespace turno::protocols {

class Ordered {
 public:
  enum class Answer : std::uint8_t { granted, waits, out_of_order };

  explicit Ordered(std::vector<std::uint32_t> ranks, Waiting waiting = Waiting::in_turn)
      : ranks_(std::move(ranks)), held_(ranks_.size()), queues_(ranks_.size()), waiting_(waiting) {}

  // REQUIRES: the session does not wait.
  Answer request(SessionId session, ResourceId wanted) {
    if (!in_order(session, wanted)) return Answer::out_of_order;
    if (held_.free(wanted)) {
      held_.give(session, wanted);
      return Answer::granted;
    }
    if (waiting_ == Waiting::in_turn) queues_[wanted].push_back(session);
    return Answer::waits;
  }

  // Who gets it now.
  std::optional<SessionId> release(ResourceId resource) {
    held_.take_back(resource);
    auto& queue = queues_[resource];
    if (queue.empty()) return std::nullopt;
    const auto next = queue.front();
    queue.pop_front();
    held_.give(next, resource);
    return next;
  }

  // The rule speaks of what is held now, not of what was asked for last.
  [[nodiscard]] bool in_order(SessionId session, ResourceId wanted) const {
    const auto held = held_.of(session);
    return std::all_of(held.begin(), held.end(),
                       [&](ResourceId r) { return ranks_[r] < ranks_[wanted]; });
  }
  [[nodiscard]] const Possessions& held() const { return held_; }

  auto operator<=>(const Ordered&) const = default;

 private:
  std::vector<std::uint32_t> ranks_;  // of each resource
  Possessions held_;
  std::vector<std::deque<SessionId>> queues_;  // for each resource
  Waiting waiting_;
};

}  // namespace turno::protocols
