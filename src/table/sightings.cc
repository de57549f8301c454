#include "table/sightings.h"

#include <algorithm>
#include <utility>

namespace turno::table {

void encode_sightings(wire::Writer& out, const Sightings& sightings) {
  out.varint(sightings.waiting);
  out.u8(sightings.cut ? 1 : 0);
  out.varint(sightings.list.size());
  for (const auto& sighting : sightings.list) {
    out.bytes(sighting.lock);
    out.bytes(std::string_view(sighting.client).substr(0, 256));
    out.varint(sighting.session);
    out.u8(static_cast<std::uint8_t>(sighting.kind));
    out.varint(sighting.fence.value);
    out.varint(static_cast<std::uint64_t>(sighting.age.count()));
    out.bytes(std::string_view(sighting.from).substr(0, 128));
  }
}

Sightings decode_sightings(wire::Reader& in) {
  Sightings sightings;
  sightings.waiting = in.varint();
  sightings.cut = in.u8() != 0;
  const auto count = in.varint();
  while (in.ok() && sightings.list.size() < std::min<std::uint64_t>(count, most_sightings)) {
    Sighting sighting;
    sighting.lock = in.bytes();
    sighting.client = in.bytes();
    sighting.session = in.varint();
    const auto kind = in.u8();
    sighting.fence = Fence{in.varint()};
    sighting.age = std::chrono::milliseconds(in.varint());
    sighting.from = in.bytes();
    if (!in.ok() || kind > static_cast<std::uint8_t>(Sighting::Kind::noted)) break;
    sighting.kind = static_cast<Sighting::Kind>(kind);
    sightings.list.push_back(std::move(sighting));
  }
  sightings.cut = sightings.cut || sightings.list.size() < count;
  return sightings;
}

}  // namespace turno::table
