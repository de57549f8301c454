// What a session has that moves to another node, as members tell it to each other.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cluster/view.h"
#include "core/fence.h"
#include "table/desk_frames.h"
#include "wire/buffer.h"

namespace turno::table {

struct Bequest {
  std::string lock;  // or an election
  Fence fence;
  std::chrono::milliseconds ttl{0};   // that is left; 0: it has none
  std::chrono::milliseconds held{0};  // for so long
  Thing thing = Thing::lock;
  std::string value = {};  // of a leader

  bool operator==(const Bequest&) const = default;
};

// Of a leader, in bytes.
inline constexpr std::size_t longest_value = 4096;

// At most so many at once, so that they fit into one frame.
inline constexpr std::size_t most_bequests = 1000;
inline constexpr std::size_t most_bequeathed_bytes = std::size_t{256} << 10;  // of leaders' values

struct Will {
  std::string ticket;  // of the session that gets them
  std::vector<Bequest> bequests;
  cluster::Moment written{};  // when these times were left

  // A time to live goes on while the will is under way.
  void age(const cluster::Moment& now);

  bool operator==(const Will&) const = default;
};

void encode(wire::Writer& out, const Will& will);
// Nothing: it makes no sense.
std::optional<Will> decode_will(wire::Reader& in);

}  // namespace turno::table
