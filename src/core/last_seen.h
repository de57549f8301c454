// What a node of a semaphore remembers of another one, and what follows when that one is gone:
// which units it may have.
//
// For algorithms in which a request is answered by everybody, each naming what it has itself, and
// is then granted the smallest units that are free for it.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "core/container/facts.h"

namespace turno {

struct LastSeen {
  std::uint64_t time = 0;           // of its last request that came; 0: none has
  std::uint32_t want = 0;           // for how many units that was
  std::vector<std::uint32_t> held;  // what it had when it asked, or else at the beginning
  std::uint32_t most = 0;           // more units it never had at once, also if that one is granted
  bool answered = false;            // that request was, by who remembers,
  Facts told;                       // and this is what it has been told of units since

  [[nodiscard]] auto fields() const { return std::tie(time, want, held, most, answered, told); }
  bool operator==(const LastSeen&) const = default;
};
// Of all who are gone, in the order of their numbers.
using AllLastSeen = std::vector<LastSeen>;

// The units that those who are gone may have. REQUIRES: all other nodes are among the witnesses, or
// nobody was granted anything; each of them remembers all who are gone.
[[nodiscard]] std::vector<bool> may_be_gone(std::span<const AllLastSeen> witnesses,
                                            std::uint32_t permits);

}  // namespace turno
