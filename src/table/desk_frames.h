// The messages of desks as frames, and back. One list says for each kind which way it goes and what
// is in it; encode and decode follow it side by side.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cluster/note.h"
#include "cluster/turn.h"
#include "cluster/view.h"
#include "net/link.h"
#include "wire/codec.h"
#include "wire/frame.h"

namespace turno::table {

using NoteKind = cluster::Note::Kind;

// The kinds of frames that nodes exchange follow those of the links: first the desks'.
inline constexpr auto first_frame_kind = static_cast<std::uint8_t>(net::LinkKind::first_free);
inline constexpr auto desk_kinds = static_cast<std::uint8_t>(cluster::Note::kinds.size());
// Between the nodes themselves. About all things at once: who holds, who waits. And of a session
// that moves from one to the other, what it has: taken, or not.
enum class NodeKind : std::uint8_t { ask = first_frame_kind + desk_kinds, answer, will, taken };

[[nodiscard]] inline std::uint8_t frame_kind(NoteKind kind) {
  return static_cast<std::uint8_t>(first_frame_kind + static_cast<std::uint8_t>(kind));
}
[[nodiscard]] inline bool is_of_a_desk(std::uint8_t frame_kind) {
  return frame_kind >= first_frame_kind && frame_kind < first_frame_kind + desk_kinds;
}
[[nodiscard]] inline NoteKind note_kind(std::uint8_t frame_kind) {
  return static_cast<NoteKind>(frame_kind - first_frame_kind);
}

struct Route {
  enum class Way : std::uint8_t { any, to_home, from_home } way = Way::any;
  bool named = false;     // the body begins with the thing's name; else the instance tells
  bool holdings = false;  // then come holdings,
  bool count = false;     // a count,
  bool clear = false;     // a flag
};

// In the order of Note::Kind.
inline constexpr std::array<Route, cluster::Note::kinds.size()> routes = {{
    {},                                                                              // protocol
    {Route::Way::to_home, true, true, true, true},                                   // report
    {Route::Way::to_home, true},                                                     // open
    {Route::Way::to_home},                                                           // query
    {.way = Route::Way::from_home, .named = true, .holdings = true, .count = true},  // opened
    {Route::Way::from_home},                                                         // gone
    {Route::Way::from_home},                                                         // retire
    {Route::Way::to_home},                                                           // reported
    {Route::Way::to_home},                                                           // spoilt
    {Route::Way::to_home, true},                                                     // probe
    {Route::Way::from_home, true},                                                   // busy
    {Route::Way::from_home},                                                         // go
    {Route::Way::to_home},                                                           // held
    {Route::Way::to_home},                                                           // freed
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

// The body of a frame. The instance is in its header.
template <class Inner>
void encode(wire::Writer& out, std::string_view name, const cluster::DeskMessage<Inner>& message) {
  if (message.kind == NoteKind::protocol) return wire::encode(out, message.inner);
  const auto& route = route_of(message.kind);
  if (route.named) out.bytes(name);
  if (route.holdings) wire::encode(out, message.holdings);
  if (route.count) out.varint(message.count);
  if (route.clear) wire::encode(out, message.clear);
}

// What is behind the name, if there is one. False: no such message.
template <class Inner>
[[nodiscard]] bool decode(wire::Reader& in, cluster::DeskMessage<Inner>& message,
                          const wire::Limits& limits) {
  if (message.kind == NoteKind::protocol)
    return wire::decode(in, message.inner, limits) && in.remaining() == 0;
  const auto& route = route_of(message.kind);
  if (route.holdings && !wire::decode(in, message.holdings, limits)) return false;
  if (route.count) message.count = in.varint();
  if (route.clear && !wire::decode(in, message.clear, limits)) return false;
  if (message.count >= most_count || !in.ok() || in.remaining() != 0) return false;
  for (const auto& holding : message.holdings)
    if (holding.seat.index() >= limits.nodes) return false;
  return true;
}

}  // namespace turno::table
