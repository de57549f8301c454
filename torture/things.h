// What is taken in a run: locks, or something else in their place.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace turno::torture {

struct Things {
  std::uint32_t permits = 0;               // semaphores with so many
  std::vector<std::uint32_t> resources{};  // stores with so many of each type
  std::uint32_t groups = 0;                // rooms that are entered with one of so many groups
  bool elections = false;

  // What is judged by itself in each: a permit, an instance of any type.
  [[nodiscard]] std::uint32_t units() const {
    if (!resources.empty()) return std::accumulate(resources.begin(), resources.end(), 0U);
    return permits > 0 ? permits : 1;
  }
  // A client that is stopped while its node leaves has its lock or its leadership still; of what
  // stays with the node, others may have it after the lock delay.
  [[nodiscard]] bool move() const { return permits == 0 && resources.empty() && groups == 0; }
};

// How many of a group may be inside a room at once: of some one, of some two. 0: as many as like.
[[nodiscard]] inline std::uint32_t capacity_of(std::uint32_t room, std::uint32_t group) {
  switch ((room + group) % 3) {
    case 0:
      return 1;
    case 1:
      return 2;
    default:
      return 0;
  }
}

}  // namespace turno::torture
