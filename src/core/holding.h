// What a seat (a participant of the algorithm) has when an algorithm begins: it is inside already.
// The initial state is the one in which nobody has anything.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "core/demand.h"
#include "core/node_id.h"
#include "core/setup.h"

namespace turno {

struct Holding {
  NodeId seat;
  std::uint32_t group = 0;  // of a room
  // The slots of a semaphore, the instances of a reservation; a lock and a room have none.
  boost::container::small_vector<std::uint32_t, 2> units{};

  [[nodiscard]] auto fields() const { return std::tie(seat, group, units); }
  bool operator==(const Holding&) const = default;
};

// Null if the seat has nothing.
inline const Holding* holding_of(NodeId seat, std::span<const Holding> holdings) {
  for (const auto& holding : holdings)
    if (holding.seat == seat) return &holding;
  return nullptr;
}

// The node at which a quiescent lock rests: with its holder, or else with the root.
inline NodeId resting_place(const Setup& setup, std::span<const Holding> holdings) {
  return holdings.empty() ? setup.root() : holdings.front().seat;
}

// What a seat of a reservation must have asked for to have these instances.
inline std::vector<Need> needs_of(const Setup& setup, const Holding& holding) {
  std::vector<Need> needs;
  for (std::uint16_t type = 0; type < setup.resources.types(); ++type) {
    Need need{type, 0};
    for (auto unit : holding.units)
      if (setup.resources.type_of[unit] == type) ++need.count;
    if (need.count > 0) needs.push_back(need);
  }
  return needs;
}

}  // namespace turno
