// A protocol is a value: one node's whole state, driven through one door.
//
// Inputs are calls, outputs are recorded in Effects. A protocol knows no socket, clock, thread,
// random generator or log; it is copyable and comparable, and equal futures are equal values (a
// field that no longer matters is reset). The simulator, the checker and the network drive the same
// object.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "core/container/node_set.h"
#include "core/demand.h"
#include "core/effects.h"
#include "core/fields.h"
#include "core/holding.h"
#include "core/last_seen.h"
#include "core/node_id.h"
#include "core/setup.h"

namespace turno {

// The shape in which an algorithm arranges its nodes.
enum class Shape : std::uint8_t { tree, ring, complete };

// May a user ask again before it has been served? No; once, before it leaves; or as it likes.
enum class Overlap : std::uint8_t { never, before_leaving, any };

// What there is to say about an algorithm without running it.
struct Info {
  std::string_view name;    // as on the command line
  std::string_view title;   // one line
  std::string_view source;  // where it was published
  Primitive primitive = Primitive::lock;
  Shape shape = Shape::complete;
  bool fifo = false;        // needs channels that keep order
  bool voting = false;      // needs quorums
  bool sites = false;       // knows which nodes are near
  bool circulates = false;  // sends messages also when nobody wants in
  bool ordered = false;     // fences grow over all units together, not only for each
  bool growing = false;     // its numbers grow for ever: an endless run never repeats a state
  Overlap overlap = Overlap::never;
  std::string_view low;   // messages per entry when nobody competes, as a formula
  std::string_view high;  // and when everybody always competes
};

// A wrong version of an algorithm, kept for the checker to refute: a reading of what is printed, or
// the algorithm without one of its rules. Setup::departure chooses it.
struct Departure {
  std::string_view name;     // as on the command line
  std::string_view flaw;     // what is wrong with it
  std::string_view example;  // options with which the checker refutes it
};

template <class M>
concept MessageType = std::regular<M> && requires(const M& message) {
  { message.kind } -> std::convertible_to<typename M::Kind>;
  { M::kinds[0] } -> std::convertible_to<std::string_view>;
  message.fields();
  requires std::tuple_size_v<decltype(message.fields())>
  == M::labels.size();
};

template <class P>
concept Protocol = std::regular<P> && MessageType<typename P::Message> &&
    requires(P node, const P& state, const typename P::Message& message,
             Effects<typename P::Message>& out, const Setup& setup, NodeId id,
             std::span<const Holding> holdings) {
  { P::info } -> std::convertible_to<const Info&>;
  // The quiescent state of node `id` in which the given seats are inside with what they have. With
  // nobody inside it is the initial state.
  { P::resume(setup, id, holdings) } -> std::same_as<P>;
  node.request(Demand{}, out);     // the local user wants in
  node.release(out);               // the local user leaves
  node.receive(id, message, out);  // a message arrives from node `id`
  state.fields();                  // all that may change
  requires std::tuple_size_v<decltype(state.fields())>
  == P::labels.size();
};

// Who belongs to the system from now on.
struct ViewChange {
  std::uint32_t epoch = 1;
  NodeSet members;
};

// What can happen to a node. `lose` and `repeat` happen to a message on its way, not to a node.
enum class EventKind : std::uint8_t {
  start,
  request,
  release,
  receive,
  crash,
  join,
  view,
  retire,
  spoil,       // a peer sent what cannot be
  lapse,       // the time to live of its user's grant is over
  leave_late,  // whose grant has lapsed leaves, and does not know it
  move,        // its user moves to another member, with what it has, for this one leaves
  expel,       // the registry drops it although it lives, and it does not know
  stand_down,  // its authority is over: what its user had is lost, and it acts no more
  suspect,     // it learns that another node has crashed
  expire,      // a timer
  recover,     // it is back after a crash, with what it kept on stable storage
  withdraw,    // its user does not want to wait any more
  choose,      // it does one of several things that it may do by itself
  lose,
  repeat,
  bounce  // a message that it sent comes back, because its addressee is dead
};

// One input of a node. A list of these is a complete trace.
template <class Message>
struct Input {
  using Kind = EventKind;
  Kind kind = Kind::start;
  NodeId from;  // of a message, or to whom it could not be delivered; who is suspected
  Message message{};
  const ViewChange* view = nullptr;  // of `view`
  Demand demand{};                   // of `request`
  std::uint32_t number = 0;          // which timer expires, which choice is made, which user acts
  bool only_try = false;             // `request`: get in, or be refused
  std::span<const std::uint32_t> units{};  // `release`: these; empty: all
  Fence fence{};                           // leave_late
};

// A protocol that lives through crashes, because the members agree on views
// (cluster/recovering.h).
template <class P>
concept HasViews = requires(P node, const P& state, const ViewChange& view,
                            Effects<typename P::Message>& out) {
  node.crash();
  node.join();
  node.adopt(view, out);  // this node learns of a view
  node.retire(out);       // the lock has been idle
  node.spoil(out);
  node.give_up(std::uint32_t{}, out);  // of several users of its own
  node.leave_late(Fence{}, out);
  node.move(out);
  node.expel();
  node.stand_down();
  { state.present() } -> std::convertible_to<bool>;  // a member
  { state.acts() } -> std::convertible_to<bool>;     // for its users
  { state.retirable() } -> std::convertible_to<bool>;
  { state.changes() } -> std::convertible_to<std::uint32_t>;  // of the view, by this node's fate
  { state.epoch } -> std::convertible_to<std::uint32_t>;
};

// A protocol whose nodes may crash: crash() leaves what is on stable storage, or nothing.
template <class P>
concept Mortal = requires(P node) {
  node.crash();
};
// It is told by a failure detector who has crashed.
template <class P>
concept Suspecting = Mortal<P> && requires(P node, NodeId who, Effects<typename P::Message>& out) {
  node.suspect(who, out);
};
template <class P>
concept Recoverable = Mortal<P> && requires(P node, Effects<typename P::Message>& out) {
  node.recover(out);
};
// It is given back what it sent to a dead node, as a refused connection does. To the others such
// messages are lost.
template <class P>
concept Bouncing = Mortal<P> && requires(P node, NodeId to, const typename P::Message& message,
                                         Effects<typename P::Message>& out) {
  node.bounce(to, message, out);
};
// Its timers are numbered and named. If it says when a timer still waits for something that can
// come, `still_expected(world, node, timer)`, the checker lets it expire early only on a budget.
template <class P>
concept HasTimers = requires(P node, Effects<typename P::Message>& out) {
  node.expire(std::uint8_t{}, out);
  { P::timers[0] } -> std::convertible_to<std::string_view>;
};
// Its user may give up waiting. After that it is not granted what it waited for.
template <class P>
concept Withdrawable = requires(P node, Effects<typename P::Message>& out) {
  node.withdraw(out);
};
// Its node may hold several units at once, and ask for more while it does. It gives back all of
// them, or some.
template <class P>
concept Divisible = requires(P node, std::span<const std::uint32_t> units,
                             Effects<typename P::Message>& out) {
  node.release(units, out);
};
// Who is left can say what those may have that are gone (last_seen.h), of all that its node has
// heard. Empty: it was not asked to remember.
template <class P>
concept Remembering = requires(const P& state, const NodeSet& gone) {
  { state.last_seen(gone) } -> std::same_as<AllLastSeen>;
  { state.nodes } -> std::convertible_to<std::uint32_t>;
};
// Several users of its own may be inside at once, and each leaves by itself.
template <class P>
concept Gathering = requires(P node, Effects<typename P::Message>& out) {
  node.let_go(std::uint32_t{}, out);
};
// It can say of a message that it will ignore it, now and for ever: the checker then takes the
// message away at once, which makes more worlds equal.
template <class P>
concept Ignoring = requires(const P& state, NodeId from, const typename P::Message& message) {
  { state.ignores(from, message) } -> std::convertible_to<bool>;
};
// There are things that a node may do by itself, now or later: the checker tries them all. They
// must happen in the end. Another driver chooses as it likes.
template <class P>
concept HasChoices = requires(P node, const P& state, Effects<typename P::Message>& out) {
  { state.choices() } -> std::convertible_to<std::uint32_t>;
  node.choose(std::uint32_t{}, out);
};

template <HasViews P>
void step_through_views(P& node, const Input<typename P::Message>& input,
                        Effects<typename P::Message>& out) {
  using Kind = typename Input<typename P::Message>::Kind;
  if (input.kind == Kind::join) node.join();
  if (input.kind == Kind::view) node.adopt(*input.view, out);
  if (input.kind == Kind::retire) node.retire(out);
  if (input.kind == Kind::spoil) node.spoil(out);
  if (input.kind == Kind::lapse) node.release(out);
  if (input.kind == Kind::leave_late) node.leave_late(input.fence, out);
  if (input.kind == Kind::move) node.move(out);
  if (input.kind == Kind::expel) node.expel();
  if (input.kind == Kind::stand_down) node.stand_down();
  if (input.kind == Kind::withdraw) node.give_up(input.number, out);
  if (input.kind != Kind::request) return;
  if constexpr (Divisible<P> || Gathering<P>) {
    node.ask(input.number, input.demand, out);
  } else if (input.only_try) {
    node.attempt(input.number, out);
  } else {
    node.ask(input.number, out);
  }
}

// The one door. `start` is for the few protocols that act before they are asked to (a token that
// circulates); the others ignore it.
template <Protocol P>
void step(P& node, const Input<typename P::Message>& input, Effects<typename P::Message>& out) {
  using Kind = typename Input<typename P::Message>::Kind;
  switch (input.kind) {
    case Kind::start:
      if constexpr (requires { node.start(out); }) node.start(out);
      break;
    case Kind::request:
      if constexpr (HasViews<P>) {
        step_through_views(node, input, out);
      } else {
        node.request(input.demand, out);
      }
      break;
    case Kind::release:
      if constexpr (Divisible<P>) {
        if (!input.units.empty()) {
          node.release(input.units, out);
          break;
        }
      }
      if constexpr (Gathering<P>) {
        node.let_go(input.number, out);
        break;
      }
      node.release(out);
      break;
    case Kind::receive:
      node.receive(input.from, input.message, out);
      break;
    case Kind::crash:
      if constexpr (Mortal<P>) node.crash();
      break;
    case Kind::suspect:
      if constexpr (Suspecting<P>) node.suspect(input.from, out);
      break;
    case Kind::expire:
      if constexpr (HasTimers<P>) node.expire(static_cast<std::uint8_t>(input.number), out);
      break;
    case Kind::recover:
      if constexpr (Recoverable<P>) node.recover(out);
      break;
    case Kind::bounce:
      if constexpr (Bouncing<P>) node.bounce(input.from, input.message, out);
      break;
    case Kind::withdraw:
      if constexpr (Withdrawable<P>) node.withdraw(out);
      if constexpr (HasViews<P>) step_through_views(node, input, out);
      break;
    case Kind::choose:
      if constexpr (HasChoices<P>) node.choose(input.number, out);
      break;
    default:
      if constexpr (HasViews<P>) step_through_views(node, input, out);
  }
}

// A message on its way.
template <class Message>
struct Flight {
  NodeId from;
  NodeId to;
  Message message;
  bool operator==(const Flight&) const = default;
};

// What the local user of a node is doing.
struct User {
  std::uint8_t waiting = 0;  // requests made and not yet granted
  bool inside = false;
  std::uint16_t left = 0;  // requests still to be made, in a finite exploration

  // Of the node rather than of its user: whether it is dead, how often it crashed, which of its
  // timers are armed (bits), and which crash of each other node it was told of (two bits a node).
  bool dead = false;
  std::uint8_t crashes = 0;
  std::uint8_t timers = 0;
  std::uint16_t wish = 0;  // which of its wishes it asked for last, if it may choose
  std::uint32_t told = 0;

  // If a node has several users: who waits (bits), who is inside, and the fence of one whose grant
  // has lapsed without its knowing.
  std::uint8_t who_waits = 0, who_is_inside = 0;  // if several may be inside: bits, too
  Fence lapsed{};

  bool operator==(const User&) const = default;
};

// A whole system at one moment, for invariants that speak about all nodes.
template <class P>
struct Snapshot {
  std::span<const P> nodes;
  std::span<const User> users;
  std::span<const Flight<typename P::Message>> flights;
};

// A token algorithm says where its token is, so that a monitor can count it.
template <class P>
concept HasToken = requires(const P& node, const typename P::Message& message) {
  { node.has_token() } -> std::convertible_to<bool>;
  { P::carries_token(message) } -> std::convertible_to<bool>;
};

// What a message is to clocks that count latency: it asks for the token that orders all requests,
// is that token, brings resources that were idle, or those that somebody has just used.
enum class Carries : std::uint8_t { other, request, control, answer, payment };

// An algorithm may state invariants of its own: the name of one that does not hold, or nothing.
template <class P>
concept HasInvariants = requires(const Snapshot<P>& world) {
  { P::broken_invariant(world) } -> std::convertible_to<std::string_view>;
};

// An algorithm may say what must be true when nothing happens any more, and must always be
// reachable: the name of what is not, or nothing. That all users are served goes without saying.
template <class P>
concept HasGoal = requires(const Snapshot<P>& world) {
  { P::unmet_goal(world) } -> std::convertible_to<std::string_view>;
};

}  // namespace turno
