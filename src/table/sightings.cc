#include "table/sightings.h"

#include <algorithm>
#include <utility>

#include "wire/frame.h"

namespace turno::table {

namespace {

constexpr std::size_t most_sighted_permits = 64;  // of one grant; or resources
// Less than a frame takes, by what else is in it: the rest is cut.
constexpr std::size_t most_bytes = wire::max_frame - (std::size_t{16} << 10);

void encode(wire::Writer& out, const Sighting& sighting) {
  out.bytes(sighting.lock);
  out.bytes(std::string_view(sighting.client).substr(0, 256));
  out.varint(sighting.session);
  out.u8(static_cast<std::uint8_t>(sighting.kind));
  out.varint(sighting.fence.value);
  out.varint(static_cast<std::uint64_t>(sighting.age.count()));
  out.bytes(std::string_view(sighting.from).substr(0, 128));
  out.u8(static_cast<std::uint8_t>(sighting.thing));
  const auto permits = std::min(sighting.permits.size(), most_sighted_permits);
  out.varint(permits);
  for (std::size_t i = 0; i < permits; ++i) out.varint(sighting.permits[i]);
  out.bytes(std::string_view(sighting.value).substr(0, longest_value));
  out.bytes(sighting.group);
  const auto resources = std::min(sighting.resources.size(), most_sighted_permits);
  out.varint(resources);
  for (std::size_t i = 0; i < resources; ++i) {
    out.bytes(sighting.resources[i].type);
    out.varint(sighting.resources[i].number);
    out.varint(sighting.resources[i].fence.value);
  }
  out.varint(sighting.count);
}

}  // namespace

void encode_sightings(wire::Writer& out, const Sightings& sightings) {
  out.varint(sightings.waiting);
  out.u8(sightings.cut ? 1 : 0);
  out.varint(sightings.list.size());
  const auto begin = out.size();
  std::string one;
  for (const auto& sighting : sightings.list) {
    one.clear();
    wire::Writer writer(one);
    encode(writer, sighting);
    if (out.size() - begin + one.size() > most_bytes) break;
    out.raw(one);
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
    const auto thing = in.u8();
    const auto permits = in.varint();
    for (std::uint64_t i = 0; i < permits && i < most_sighted_permits && in.ok(); ++i)
      sighting.permits.push_back(static_cast<std::uint32_t>(in.varint()));
    sighting.value = in.bytes();
    sighting.group = in.bytes();
    const auto resources = in.varint();
    for (std::uint64_t i = 0; i < resources && i < most_sighted_permits && in.ok(); ++i) {
      auto& resource = sighting.resources.emplace_back();
      resource.type = in.bytes();
      resource.number = static_cast<std::uint32_t>(in.varint());
      resource.fence = Fence{in.varint()};
    }
    sighting.count = static_cast<std::uint32_t>(in.varint());
    if (!in.ok() || kind > static_cast<std::uint8_t>(Sighting::Kind::leaving) ||
        thing >= thing_names.size() || permits > most_sighted_permits ||
        resources > most_sighted_permits)
      break;
    sighting.thing = static_cast<Thing>(thing);
    sighting.kind = static_cast<Sighting::Kind>(kind);
    sightings.list.push_back(std::move(sighting));
  }
  sightings.cut = sightings.cut || sightings.list.size() < count;
  return sightings;
}

}  // namespace turno::table
