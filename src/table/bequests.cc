#include "table/bequests.h"

#include <algorithm>
#include <utility>

#include "table/lock_table.h"

namespace turno::table {

// Of the same machine, that is: clocks of others say nothing.
void Will::age(const cluster::Moment& now) {
  using std::chrono::milliseconds;
  if (now.boot.empty() || now.boot != written.boot || now.ns < written.ns) return;
  const auto passed =
      std::chrono::floor<milliseconds>(std::chrono::nanoseconds(now.ns - written.ns));
  for (auto& bequest : bequests)
    if (bequest.ttl > milliseconds(0))
      bequest.ttl = std::max(bequest.ttl - passed, milliseconds(1));
}

void encode(wire::Writer& out, const Will& will) {
  out.bytes(will.ticket);
  out.bytes(will.written.boot);
  out.varint(static_cast<std::uint64_t>(will.written.ns));
  out.varint(will.bequests.size());
  for (const auto& bequest : will.bequests) {
    out.bytes(bequest.lock);
    out.varint(bequest.fence.value);
    out.varint(static_cast<std::uint64_t>(bequest.ttl.count()));
    out.varint(static_cast<std::uint64_t>(bequest.held.count()));
    out.u8(static_cast<std::uint8_t>(bequest.thing));
    out.bytes(bequest.value);
  }
}

std::optional<Will> decode_will(wire::Reader& in) {
  constexpr std::uint64_t longest_time = std::uint64_t{1000} * 3600 * 24 * 366;
  Will will;
  will.ticket = in.bytes();
  will.written.boot = in.bytes();
  will.written.ns = static_cast<std::int64_t>(in.varint());
  const auto count = in.varint();
  if (!in.ok() || count > most_bequests) return {};
  for (std::uint64_t i = 0; i < count; ++i) {
    Bequest bequest;
    bequest.lock = in.bytes();
    bequest.fence = Fence{in.varint()};
    const auto ttl = in.varint();
    const auto held = in.varint();
    const auto thing = static_cast<Thing>(in.u8());
    bequest.value = in.bytes();
    if (!in.ok() || (thing != Thing::lock && thing != Thing::election) ||
        bequest.value.size() > longest_value)
      return {};
    bequest.thing = thing;
    if (bequest.lock.empty() || bequest.lock.size() > LockTable::longest_name ||
        bequest.fence == Fence{} || ttl > longest_time)
      return {};
    bequest.ttl = std::chrono::milliseconds(ttl);
    bequest.held = std::chrono::milliseconds(std::min(held, longest_time));
    will.bequests.push_back(std::move(bequest));
  }
  if (in.remaining() != 0) return {};
  return will;
}

}  // namespace turno::table
