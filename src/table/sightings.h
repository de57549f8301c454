// Who holds and who waits, as members tell it to each other.
#pragma once

#include "table/lock_table.h"
#include "wire/buffer.h"

namespace turno::table {

// At most so many from one member, so that they fit into one frame.
inline constexpr std::size_t most_sightings = 1000;

void encode_sightings(wire::Writer& out, const Sightings& sightings);
// Those that could be read; `cut` if there should have been more.
Sightings decode_sightings(wire::Reader& in);

}  // namespace turno::table
