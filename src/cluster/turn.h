// Which of a member's own users goes in with what the member was granted: they stand in line, and
// the member takes one turn in the cluster for several of them.
//
// Invariant: whoever stands in line waits for a turn that was asked for, or for the user that is
// inside.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>

#include "cluster/line.h"
#include "core/fence.h"

namespace turno::cluster {

// Not a user: the home keeps what somebody that died may have had (escrow).
inline constexpr UserId the_dead = std::numeric_limits<UserId>::max();

// A user of a member that leaves, which has moved here: it is inside there, and from here once that
// member is gone.
struct Heir {
  UserId user = no_user;  // the_dead: it has left meanwhile
  Fence fence;

  [[nodiscard]] auto fields() const { return std::tie(user, fence); }
  bool operator==(const Heir&) const = default;
};

// A member may serve several of its own users within one turn: their fences lie between two turns.
inline constexpr std::uint64_t fences_per_turn = 16;

// No honest member's fences count so far in one epoch; there is room for a few more.
inline constexpr std::uint64_t most_count = (std::uint64_t{1} << Fence::count_bits) - 4096;
// From here on no turn begins until there is a new epoch. It was asked for long before.
inline constexpr std::uint64_t spent_count = most_count - most_count / 8;

struct Turn {
  Line line;
  UserId holder = no_user;  // who is inside
  Fence fence;              // of the one inside
  Fence began;              // with which the turn began
  std::uint8_t served = 0;  // users of this turn after the first
  bool asked = false;       // a turn was asked for
  bool bequeathed = false;  // the one inside has moved to another member, and leaves from there
  UserId trying = no_user;  // who goes in only if nobody else is in the way
  bool probing = false;     // the home has not answered that one yet
  // How surely a user that leaves comes back at once. If it had to wait for others twice in a row,
  // it probably will; if the turn that was asked for ahead was not used, that takes longer to be
  // believed again.
  std::int8_t eagerness = 0;
  static constexpr std::int8_t eager = 2, distrusted = -8;

  static constexpr std::array<std::string_view, 10> labels = {
      "line",  "holder",     "fence",  "began",   "served",
      "asked", "bequeathed", "trying", "probing", "eagerness"};
  [[nodiscard]] auto fields() const {
    return std::tie(line, holder, fence, began, served, asked, bequeathed, trying, probing,
                    eagerness);
  }
  bool operator==(const Turn&) const = default;

  [[nodiscard]] bool is_used() const { return holder != no_user && holder != the_dead; }
  // Nobody here is inside or wants in.
  [[nodiscard]] bool is_idle() const {
    return holder == no_user && line.empty() && !asked && trying == no_user;
  }

  void begin(Fence first) {
    asked = false;
    began = first;
    served = 0;
  }
  // REQUIRES: nobody is inside.
  void enter(UserId user) {
    holder = user;
    fence = Fence{began.value + served};
    if (user != trying) return;
    trying = no_user;
    probing = false;
  }
  void leave() {
    holder = no_user;
    fence = {};
    bequeathed = false;
  }
  // The turn is over.
  void end() {
    began = {};
    served = 0;
  }
};

}  // namespace turno::cluster
