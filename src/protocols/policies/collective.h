// Prevention by collective requests: a session asks for all that it needs at once, and gets all of
// it or nothing. Nobody holds and waits, so there is no deadlock. It must know its needs
// beforehand, and keeps what it does not use yet.
//
// In turn: among requests that want the same resource the first comes first, so nobody starves. The
// others may overtake.
#pragma once

#include <deque>

#include "core/assert.h"
#include "protocols/policies/prevention.h"

namespace turno::protocols {

class Collective {
 public:
  enum class Answer : std::uint8_t { granted, waits, holds_already };

  explicit Collective(std::size_t resources, Waiting waiting = Waiting::in_turn)
      : held_(resources), waiting_(waiting) {}

  // A session that holds something must give everything back before it may ask again.
  // REQUIRES: it does not wait.
  Answer request(SessionId session, std::vector<ResourceId> wanted) {
    TURNO_ASSERT(!waits(session));
    if (!held_.of(session).empty()) return Answer::holds_already;
    Request request{session, std::move(wanted)};
    if (held_.all_free(request.wanted) && !overtakes(request, queue_.end())) {
      grant(request);
      return Answer::granted;
    }
    if (waiting_ == Waiting::in_turn) queue_.push_back(std::move(request));
    return Answer::waits;
  }

  // Gives back everything. Who gets theirs now, in the order in which they asked.
  std::vector<SessionId> release(SessionId session) {
    held_.take_back_all(session);
    std::vector<SessionId> served;
    for (auto request = queue_.begin(); request != queue_.end();) {
      if (!held_.all_free(request->wanted) || overtakes(*request, request)) {
        ++request;
        continue;
      }
      grant(*request);
      served.push_back(request->session);
      request = queue_.erase(request);
    }
    return served;
  }

  [[nodiscard]] const Possessions& held() const { return held_; }
  [[nodiscard]] bool waits(SessionId session) const {
    return std::any_of(queue_.begin(), queue_.end(),
                       [&](const Request& request) { return request.session == session; });
  }

  auto operator<=>(const Collective&) const = default;

 private:
  struct Request {
    SessionId session;
    std::vector<ResourceId> wanted;
    auto operator<=>(const Request&) const = default;
  };
  using Place = std::deque<Request>::const_iterator;

  // Whether somebody before that place in the queue wants some of the same.
  [[nodiscard]] bool overtakes(const Request& request, Place place) const {
    return std::any_of(queue_.begin(), place, [&](const Request& earlier) {
      return std::find_first_of(request.wanted.begin(), request.wanted.end(),
                                earlier.wanted.begin(),
                                earlier.wanted.end()) != request.wanted.end();
    });
  }
  void grant(const Request& request) {
    for (auto resource : request.wanted) held_.give(request.session, resource);
  }

  Possessions held_;
  Waiting waiting_;
  std::deque<Request> queue_;
};

}  // namespace turno::protocols
