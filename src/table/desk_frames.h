// The messages of desks as frames, and back. One list says for each kind which way it goes and what
// is in it; encode and decode follow it side by side.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/note.h"
#include "cluster/turn.h"
#include "cluster/view.h"
#include "net/link.h"
#include "wire/codec.h"
#include "wire/frame.h"

namespace turno::table {

using NoteKind = cluster::Note::Kind;

// What a table has desks for. Each kind has names of its own.
enum class Thing : std::uint8_t { lock, semaphore, election, room, store };
inline constexpr std::array<std::string_view, 5> thing_names = {"lock", "semaphore", "election",
                                                                "room", "store"};
// Several sessions may have some of it at once, or be in it.
[[nodiscard]] constexpr bool several_have(Thing thing) {
  return thing == Thing::semaphore || thing == Thing::room || thing == Thing::store;
}
[[nodiscard]] inline std::string_view name(Thing thing) {
  return thing_names[static_cast<std::size_t>(thing)];
}

// The kinds of frames that nodes exchange follow those of the links: first those of desks, for each
// kind of thing.
inline constexpr auto first_frame_kind = static_cast<std::uint8_t>(net::LinkKind::first_free);
inline constexpr auto note_kinds = static_cast<std::uint8_t>(cluster::Note::kinds.size());
inline constexpr auto desk_kinds = static_cast<std::uint8_t>(note_kinds * thing_names.size());
// Between the nodes themselves. About all things at once: who holds, who waits. And of a session
// that moves from one to the other, what it has: taken, or not. And who leads at the sender: one
// that begins, moves or ends; or that all who lead there have been told of in this view.
enum class NodeKind : std::uint8_t {
  ask = first_frame_kind + desk_kinds,
  answer,
  will,
  taken,
  leader,
  leaders_told,
  summons,
  testimony,
  verdict
};

[[nodiscard]] inline std::uint8_t frame_kind(Thing thing, NoteKind kind) {
  return static_cast<std::uint8_t>(first_frame_kind + note_kinds * static_cast<unsigned>(thing) +
                                   static_cast<unsigned>(kind));
}
[[nodiscard]] inline bool is_of_a_desk(std::uint8_t frame_kind) {
  return frame_kind >= first_frame_kind && frame_kind < first_frame_kind + desk_kinds;
}
// REQUIRES for these: is_of_a_desk(frame_kind)
[[nodiscard]] inline Thing thing_of(std::uint8_t frame_kind) {
  return static_cast<Thing>((frame_kind - first_frame_kind) / note_kinds);
}
[[nodiscard]] inline NoteKind note_kind(std::uint8_t frame_kind) {
  return static_cast<NoteKind>((frame_kind - first_frame_kind) % note_kinds);
}

struct Route {
  enum class Way : std::uint8_t { any, to_home, from_home } way = Way::any;
  bool named = false;     // the body begins with the thing's name; else the instance tells
  bool holdings = false;  // then come holdings,
  bool count = false;     // a count,
  bool clear = false;     // a flag,
  bool permits = false;   // how many permits there are,
  bool terms = false;     // of a room or a store what is said of it,
  bool evidence = false;  // and of a semaphore what is known of those who are gone
};

// In the order of Note::Kind.
inline constexpr std::array<Route, cluster::Note::kinds.size()> routes = {{
    {},                                                                           // protocol
    {Route::Way::to_home, true, true, true, true, true, true, true},              // report
    {.way = Route::Way::to_home, .named = true, .permits = true, .terms = true},  // open
    {Route::Way::to_home},                                                        // query
    {Route::Way::from_home, true, true, true, false, true, true},                 // opened
    {Route::Way::from_home},                                                      // gone
    {Route::Way::from_home},                                                      // retire
    {Route::Way::to_home},                                                        // reported
    {Route::Way::to_home},                                                        // spoilt
    {Route::Way::to_home, true},                                                  // probe
    {Route::Way::from_home, true},                                                // busy
    {Route::Way::from_home},                                                      // go
    {Route::Way::to_home},                                                        // held
    {Route::Way::to_home},                                                        // freed
    {.way = Route::Way::from_home, .named = true, .terms = true},                 // unknown
    {Route::Way::to_home, true},                                                  // forgo
    {.way = Route::Way::to_home, .named = true, .permits = true},                 // resize
}};
[[nodiscard]] inline const Route& route_of(NoteKind kind) {
  return routes[static_cast<std::size_t>(kind)];
}

// The number of an instance for the whole cluster: its home is in it.
using cluster::most_count;
using cluster::most_members;
[[nodiscard]] inline std::uint64_t global_instance(NodeId home, cluster::Instance instance) {
  return instance == 0 ? 0 : instance * most_members + home.index();
}
[[nodiscard]] inline NodeId home_of_instance(std::uint64_t global) {
  return NodeId{static_cast<std::size_t>(global % most_members)};
}
[[nodiscard]] inline cluster::Instance instance_at_home(std::uint64_t global) {
  return global / most_members;
}

// Messages between seats: of things of which a member has several.
template <class Inner>
concept BetweenSeats = requires(const Inner& inner) {
  inner.to_seat;
};

// Of things whose requests say what their sender has.
template <class Inner>
concept Remembered = requires(const Inner& inner) {
  inner.held;
};

inline void encode_terms(wire::Writer& out, const cluster::Terms& terms) {
  out.varint(terms.groups.size());
  for (const auto& group : terms.groups) {
    out.bytes(group.name);
    out.varint(group.capacity);
  }
  out.varint(terms.seats);
  wire::encode(out, terms.kept);
  out.varint(terms.fence.value);
}
// One group more than there may be is nobody's, for the dead.
[[nodiscard]] inline bool decode_terms(wire::Reader& in, cluster::Terms& terms) {
  const auto groups = in.varint();
  if (groups > cluster::most_groups + 1) return false;
  for (std::uint64_t i = 0; i < groups && in.ok(); ++i) {
    const auto name = in.bytes();
    const auto capacity = in.varint();
    if (name.size() > cluster::longest_name || capacity > RoomSetup::unlimited) return false;
    terms.groups.push_back({std::string(name), static_cast<std::uint32_t>(capacity)});
  }
  const auto seats = in.varint();
  if (seats > 2 * cluster::most_seats) return false;
  terms.seats = static_cast<std::uint32_t>(seats);
  if (!wire::decode(in, terms.kept, {})) return false;
  terms.fence = Fence{in.varint()};
  return in.ok();
}

// What is too long for a frame is left out: then the home keeps everything for the dead.
inline void encode_evidence(wire::Writer& out, const std::vector<cluster::Evidence>& evidence) {
  std::string said;
  wire::Writer writer(said);
  wire::encode(writer, evidence);
  if (said.size() <= wire::max_frame / 2) return out.raw(said);
  wire::encode(out, std::vector<cluster::Evidence>());
}

// The body of a frame. The instance is in its header.
template <class Inner>
void encode(wire::Writer& out, std::string_view name, const cluster::DeskMessage<Inner>& message) {
  if (message.kind == NoteKind::protocol) return wire::encode(out, message.inner);
  const auto& route = route_of(message.kind);
  if (route.named) out.bytes(name);
  if (route.holdings) wire::encode(out, message.holdings);
  if (route.count) out.varint(message.count);
  if (route.clear) wire::encode(out, message.clear);
  if (route.permits) {
    out.varint(message.permits);
    if (message.permits != 0) {
      out.varint(message.numbers);
      wire::encode(out, message.resized);
    }
  }
  if constexpr (BetweenSeats<Inner>)
    if (route.terms) encode_terms(out, message.terms);
  if constexpr (Remembered<Inner>)
    if (route.evidence) encode_evidence(out, message.evidence);
}

// What is behind the name, if there is one. False: no such message.
template <class Inner>
[[nodiscard]] bool decode(wire::Reader& in, cluster::DeskMessage<Inner>& message,
                          const wire::Limits& limits) {
  // Where members have several seats, those are the algorithm's nodes, and each may have something.
  auto lists = limits;
  if constexpr (BetweenSeats<Inner>)
    lists.nodes =
        static_cast<std::uint32_t>(lists.nodes * cluster::most_seats + cluster::most_groups);
  if (message.kind == NoteKind::protocol)
    return wire::decode(in, message.inner, lists) && in.remaining() == 0;
  const auto& route = route_of(message.kind);
  if (route.holdings && !wire::decode(in, message.holdings, lists)) return false;
  if (route.count) message.count = in.varint();
  if (route.clear && !wire::decode(in, message.clear, limits)) return false;
  if (route.permits) {
    const auto permits = in.varint();
    const auto numbers = permits == 0 ? 0 : in.varint();
    if (std::max(permits, numbers) > cluster::most_permits) return false;
    message.permits = static_cast<std::uint32_t>(permits);
    message.numbers = static_cast<std::uint32_t>(numbers);
    if (permits != 0 && !wire::decode(in, message.resized, limits)) return false;
  }
  if constexpr (BetweenSeats<Inner>)
    if (route.terms && !decode_terms(in, message.terms)) return false;
  if constexpr (Remembered<Inner>)
    if (route.evidence &&
        (!wire::decode(in, message.evidence, lists) || message.evidence.size() > 1))
      return false;
  if (message.count >= most_count || !in.ok() || in.remaining() != 0) return false;
  const auto units = std::max<std::uint64_t>(std::max(message.permits, message.numbers),
                                             count_instances(message.terms.groups));
  for (const auto& holding : message.holdings) {
    if (holding.seat.index() >= limits.nodes) return false;
    for (const auto unit : holding.units)
      if (unit >= units) return false;
  }
  return true;
}

}  // namespace turno::table
