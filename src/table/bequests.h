// What a session has that moves to another node, as members tell it to each other.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/fence.h"
#include "wire/buffer.h"

namespace turno::table {

struct Bequest {
  std::string lock;
  Fence fence;
  std::chrono::milliseconds ttl{0};   // that is left; 0: it has none
  std::chrono::milliseconds held{0};  // for so long

  bool operator==(const Bequest&) const = default;
};

// At most so many at once, so that they fit into one frame.
inline constexpr std::size_t most_bequests = 1000;

struct Will {
  std::string ticket;  // of the session that gets them
  std::vector<Bequest> bequests;

  bool operator==(const Will&) const = default;
};

void encode(wire::Writer& out, const Will& will);
// Nothing: it makes no sense.
std::optional<Will> decode_will(wire::Reader& in);

}  // namespace turno::table
