// Maekawa's algorithm with FAILED messages, as published in 1985 and as textbooks retell it. Both
// deadlock: a request that is displaced from the head of a queue by a better one is not told, keeps
// its other votes, and waits. To be refuted by the checker; never to be run.
//
// 1985            FAILED goes to a new request that loses to the holder or to any that waits
// textbook        FAILED goes to a new request that loses to the holder
// never-recalled  votes are not asked back at all
#pragma once

#include <algorithm>

#include "protocols/mutex/permission/maekawa_failed.h"

namespace turno::protocols::as_published {

struct Maekawa : MaekawaFailed {
  static constexpr Info info{.name = "maekawa",
                             .title = "maekawa with FAILED messages",
                             .source = "Maekawa 1985",
                             .voting = true};
  static constexpr std::array departures = {
      Departure{"1985", "a request displaced from the head of a queue is not told",
                "--nodes 5 --quorums 034,134,234,34,34 --requesters 0-2"},
      Departure{"textbook", "the same, and FAILED only for who loses to the holder",
                "--nodes 5 --quorums 034,134,234,34,34 --requesters 0-2"},
      Departure{"never-recalled", "votes are never asked back", "--nodes 2"},
  };

  bool operator==(const Maekawa&) const = default;

  static Maekawa resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Maekawa node;
    static_cast<MaekawaFailed&>(node) = MaekawaFailed::resume(setup, self, holdings);
    node.reading = static_cast<Reading>(std::max<std::uint8_t>(setup.departure, 1));
    return node;
  }
};

}  // namespace turno::protocols::as_published
