#include "table/sightings.h"

namespace turno::table {

void encode_sightings(wire::Writer& out, const std::vector<Sighting>& sightings) {
  out.varint(sightings.size());
  for (const auto& sighting : sightings) {
    out.bytes(sighting.lock);
    out.bytes(std::string_view(sighting.client).substr(0, 256));
    out.varint(sighting.session);
    out.u8(sighting.holds ? 1 : 0);
    out.varint(sighting.fence.value);
    out.varint(static_cast<std::uint64_t>(sighting.age.count()));
    out.varint(sighting.waiting);
  }
}

std::vector<Sighting> decode_sightings(wire::Reader& in) {
  std::vector<Sighting> sightings;
  for (auto count = in.varint(); count > 0 && in.ok() && sightings.size() < most_sightings;
       --count) {
    Sighting sighting;
    sighting.lock = in.bytes();
    sighting.client = in.bytes();
    sighting.session = in.varint();
    sighting.holds = in.u8() == 1;
    sighting.fence = Fence{in.varint()};
    sighting.age = std::chrono::milliseconds(in.varint());
    sighting.waiting = in.varint();
    if (in.ok()) sightings.push_back(std::move(sighting));
  }
  return sightings;
}

}  // namespace turno::table
