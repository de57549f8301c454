#include "table/testimonies.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/note.h"
#include "table/desk_frames.h"
#include "wire/frame.h"

namespace turno::table {

using cluster::most_testimonies;

namespace {

using cluster::most_pending_waits;
using cluster::NamedThing;
using cluster::Need;
using cluster::Pursuit;
using cluster::Testimony;

constexpr std::size_t most_possessions = Pursuit::most_things + most_pending_waits;
constexpr std::size_t longest_client = 256, longest_from = 128, longest_text = 8192;
// Less than a frame takes, by more than one testimony.
constexpr std::size_t most_bytes = wire::max_frame - (std::size_t{640} << 10);

std::string_view cut(std::string_view text, std::size_t longest) { return text.substr(0, longest); }

void encode(wire::Writer& out, const NamedThing& thing) {
  out.u8(thing.kind);
  out.bytes(thing.name);
  out.bytes(thing.part);
}
bool decode(wire::Reader& in, NamedThing& thing) {
  thing.kind = in.u8();
  thing.name = in.bytes();
  thing.part = in.bytes();
  return in.ok() && thing.kind < thing_names.size() && !thing.name.empty() &&
         thing.name.size() <= cluster::longest_name && thing.part.size() <= cluster::longest_name;
}

// What a Possession and a Need have in common.
template <class Share>
void encode_share(wire::Writer& out, const Share& share) {
  encode(out, share.thing);
  out.varint(share.units);
  out.bytes(share.group);
}
template <class Share>
bool decode_share(wire::Reader& in, Share& share) {
  if (!decode(in, share.thing)) return false;
  const auto units = in.varint();
  share.group = in.bytes();
  share.units = static_cast<std::uint32_t>(units);
  return in.ok() && units <= cluster::most_permits && share.group.size() <= cluster::longest_name;
}

template <class List, class Encode>
void encode_list(wire::Writer& out, const List& list, std::size_t most, Encode encode_one) {
  const auto count = std::min(list.size(), most);
  out.varint(count);
  for (std::size_t i = 0; i < count; ++i) encode_one(list[i]);
}
// Each of them takes a byte at least.
template <class List, class Decode>
bool decode_list(wire::Reader& in, List& list, std::size_t most, Decode decode_one) {
  const auto count = in.varint();
  if (!in.ok() || count > most || count > in.remaining()) return false;
  for (std::uint64_t i = 0; i < count; ++i)
    if (!decode_one(list.emplace_back())) return false;
  return in.ok();
}

void encode(wire::Writer& out, const Testimony& said) {
  out.varint(said.party.session);
  out.varint(said.born);
  out.varint(said.asked);
  out.bytes(cut(said.client, longest_client));
  out.bytes(cut(said.from, longest_from));
  encode_list(out, said.has, most_possessions, [&](const cluster::Possession& each) {
    encode_share(out, each);
    out.varint(each.number);
  });
  // Who waits for more goes on with one of the rest: that is not to be left out.
  const auto waits = said.waits.size() <= most_pending_waits ? most_pending_waits : 0;
  encode_list(out, said.waits, waits, [&](const cluster::PendingWait& wait) {
    out.varint(wait.number);
    out.u8(
        static_cast<std::uint8_t>((wait.another_task ? 1U : 0U) | (wait.may_be_aborted ? 2U : 0U)));
    out.varint(wait.waiting_ms);
    encode_list(out, wait.needs, most_pending_waits, [&](const Need& need) {
      encode_share(out, need);
      out.varint(need.most);
    });
  });
}

bool decode(wire::Reader& in, Testimony& said) {
  said.party.session = in.varint();
  said.born = in.varint();
  said.asked = in.varint();
  said.client = cut(in.bytes(), longest_client);
  said.from = cut(in.bytes(), longest_from);
  return decode_list(in, said.has, most_possessions,
                     [&](cluster::Possession& each) {
                       if (!decode_share(in, each)) return false;
                       each.number = in.varint();
                       return in.ok();
                     }) &&
         decode_list(in, said.waits, most_pending_waits, [&](cluster::PendingWait& wait) {
           wait.number = in.varint();
           const auto flags = in.u8();
           wait.another_task = (flags & 1U) != 0;
           wait.may_be_aborted = (flags & 2U) != 0;
           wait.waiting_ms = in.varint();
           return flags < 4 && decode_list(in, wait.needs, most_pending_waits, [&](Need& need) {
                    if (!decode_share(in, need)) return false;
                    const auto most = in.varint();
                    need.most = static_cast<std::uint32_t>(most);
                    return in.ok() && most <= Need::unlimited;
                  });
         });
}

}  // namespace

void encode(wire::Writer& out, const cluster::Summons& summons) {
  out.u8(summons.everybody ? 1 : 0);
  encode_list(out, summons.things, Pursuit::most_things,
              [&](const NamedThing& thing) { encode(out, thing); });
}

std::optional<cluster::Summons> decode_summons(wire::Reader& in) {
  cluster::Summons summons;
  const auto everybody = in.u8();
  summons.everybody = everybody == 1;
  const bool whole = decode_list(in, summons.things, Pursuit::most_things,
                                 [&](NamedThing& thing) { return decode(in, thing); });
  if (!whole || everybody > 1 || in.remaining() != 0) return {};
  return summons;
}

void encode(wire::Writer& out, const std::vector<Testimony>& testimonies) {
  const auto begin = out.size();
  // A one before each, and a zero at the end.
  for (const auto& said : testimonies) {
    if (out.size() - begin > most_bytes) break;
    out.u8(1);
    encode(out, said);
  }
  out.u8(0);
}

std::optional<std::vector<Testimony>> decode_testimonies(wire::Reader& in, std::uint64_t member) {
  std::vector<Testimony> testimonies;
  for (;;) {
    const auto more = in.u8();
    if (!in.ok() || more > 1) return {};
    if (more == 0) break;
    if (testimonies.size() == most_testimonies || !decode(in, testimonies.emplace_back()))
      return {};
    testimonies.back().party.member = member;
  }
  if (in.remaining() != 0) return {};
  return testimonies;
}

void encode(wire::Writer& out, const cluster::Verdict& verdict) {
  out.varint(verdict.party.session);
  out.varint(verdict.wait);
  out.bytes(cut(verdict.text, longest_text));
}

std::optional<cluster::Verdict> decode_verdict(wire::Reader& in) {
  cluster::Verdict verdict;
  verdict.party.session = in.varint();
  verdict.wait = in.varint();
  verdict.text = cut(in.bytes(), longest_text);
  if (!in.ok() || in.remaining() != 0) return {};
  return verdict;
}

}  // namespace turno::table
