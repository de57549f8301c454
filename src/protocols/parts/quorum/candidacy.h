// One request for the votes of a quorum, as the requester sees it: which votes it has, and which
// were asked back before they came.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/container/node_set.h"
#include "core/node_id.h"

namespace turno::protocols {

struct Candidacy {
  enum class Phase : std::uint8_t { idle, competing, inside };

  Phase phase = Phase::idle;
  std::uint64_t time = 0;  // of the request
  NodeSet have;            // votes
  NodeSet deferred;        // recalls that overtook their grant

  void begin(std::uint64_t now) { *this = {.phase = Phase::competing, .time = now}; }
  void end() { *this = {}; }

  // A message about a vote matters only to the request it was cast for, until that is decided.
  [[nodiscard]] bool awaits(std::uint64_t request) const {
    return phase == Phase::competing && time == request;
  }

  // A vote comes; of `needed` all have then perhaps come, and the request has won. Otherwise it may
  // have to go back at once. REQUIRES: awaits the vote.
  enum class Taken : std::uint8_t { kept, to_give_back, won };
  Taken take(NodeId arbiter, std::size_t needed) {
    have.insert(arbiter);
    if (have.size() == needed) {
      phase = Phase::inside;
      deferred.clear();
      return Taken::won;
    }
    if (!deferred.contains(arbiter)) return Taken::kept;
    deferred.erase(arbiter);
    have.erase(arbiter);
    return Taken::to_give_back;
  }

  // A vote is asked back: it is to go back now, or as soon as it comes.
  bool give_back(NodeId arbiter) {
    if (!have.contains(arbiter)) {
      deferred.insert(arbiter);
      return false;
    }
    have.erase(arbiter);
    return true;
  }

  bool operator==(const Candidacy&) const = default;
};

}  // namespace turno::protocols
