// A shared/exclusive lock as rooms: the readers are one group, each writer is another, of which one
// may be inside.
#pragma once

#include "core/demand.h"
#include "core/setup.h"

namespace turno::protocols {

inline RoomSetup readers_and_writers(std::uint32_t writers) {
  RoomSetup room{.groups = 1 + writers, .capacity = std::vector<std::uint32_t>(1 + writers, 1)};
  room.capacity.front() = RoomSetup::unlimited;
  return room;
}
inline Wish reading() { return {.group = 0}; }
inline Wish writing(std::uint32_t writer) { return {.group = 1 + writer}; }

}  // namespace turno::protocols
