// For tests: one node fed by hand, and a few nodes whose messages are delivered as the test says.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol.h"
#include "core/text/trace.h"
#include "core/topology.h"

namespace turno::protocols {

// How a failed comparison shows its values.
inline void PrintTo(NodeId node, std::ostream* out) { *out << "node " << describe(node); }
inline void PrintTo(Fence fence, std::ostream* out) { *out << "fence " << describe(fence); }
template <Protocol P>
void PrintTo(const P& node, std::ostream* out) {
  *out << describe_state(node);
}
template <MessageType Message>
void PrintTo(const Effects<Message>& effects, std::ostream* out) {
  for (const auto& [to, message] : effects.sends())
    *out << (to == effects.everyone ? "to all" : "to " + describe(to)) << ": "
         << describe_message(message) << "; ";
  *out << (effects.granted() ? "enters (fence " + describe(*effects.granted()) + ")" : "");
}

}  // namespace turno::protocols

namespace turno::testing {

using namespace protocols;

inline constexpr NodeId n0{0}, n1{1}, n2{2}, n3{3}, n4{4};

inline Setup shaped(Topology topology, std::size_t nodes) {
  Random random(1);
  return {.father = fathers(topology, nodes, random)};
}

// The same with the k-th departure of the algorithm.
inline Setup departing(Setup setup, unsigned k) {
  setup.departure = static_cast<std::uint8_t>(k);
  return setup;
}

// One quorum a node, one digit a member: {"012", "013", "023", "123"}.
inline Setup voting(const std::vector<std::string>& quorums) {
  auto setup = shaped(Topology::complete, quorums.size());
  for (const auto& quorum : quorums) {
    setup.quorums.emplace_back();
    for (const char digit : quorum)
      setup.quorums.back().emplace_back(static_cast<std::size_t>(digit - '0'));
  }
  return setup;
}

template <Protocol P>
std::vector<P> make(const Setup& setup, const std::vector<Holding>& holdings = {}) {
  std::vector<P> nodes;
  for (std::size_t i = 0; i < setup.size(); ++i)
    nodes.push_back(P::resume(setup, NodeId{i}, holdings));
  return nodes;
}
// A lock that somebody has.
template <Protocol P>
std::vector<P> make(const Setup& setup, std::initializer_list<NodeId> holder) {
  return make<P>(setup, std::vector<Holding>{{.seat = *holder.begin()}});
}

template <Protocol P>
using Out = Effects<typename P::Message>;

// What a node should do: some messages, perhaps the grant of a fence.
template <Protocol P>
Out<P> effects(std::initializer_list<typename Out<P>::Send> sends,
               std::optional<Fence> grant = std::nullopt) {
  Out<P> out;
  for (const auto& [to, message] : sends) out.send(to, message);
  if (grant) out.grant(*grant);
  return out;
}
template <Protocol P>
Out<P> nothing() {
  return {};
}
template <Protocol P>
Out<P> broadcast(const typename P::Message& message) {
  Out<P> out;
  out.broadcast(message);
  return out;
}
// The user enters, in the first epoch.
template <Protocol P>
Out<P> granted(std::uint64_t count) {
  return effects<P>({}, Fence::at(1, count));
}

template <Protocol P>
Out<P> stepped(P& node, const Input<typename P::Message>& input) {
  Out<P> out;
  step(node, input, out);
  return out;
}
template <Protocol P>
Out<P> start(P& node) {
  return stepped(node, {.kind = Input<typename P::Message>::Kind::start});
}
template <Protocol P>
Out<P> request(P& node) {
  return stepped(node, {.kind = Input<typename P::Message>::Kind::request});
}
template <Protocol P>
Out<P> release(P& node) {
  return stepped(node, {.kind = Input<typename P::Message>::Kind::release});
}
template <Protocol P>
Out<P> receive(P& node, NodeId from, const typename P::Message& message) {
  return stepped(
      node, {.kind = Input<typename P::Message>::Kind::receive, .from = from, .message = message});
}

// All nodes, their users, and the messages on their way in the order of sending.
template <Protocol P>
class Cluster {
 public:
  using Message = typename P::Message;

  explicit Cluster(const Setup& setup, const std::vector<Holding>& holdings = {})
      : nodes_(make<P>(setup, holdings)), users_(setup.size()) {
    for (const auto& holding : holdings) users_[holding.seat.index()].inside = true;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      auto first = act(TraceStep::Kind::start, NodeId{i}, {.kind = Kind::start});
      if (!first.sends.empty()) starts_.push_back(std::move(first));
    }
  }

  TraceStep want(NodeId node, const Wish& wish = {}) {
    auto& user = users_.at(node.index());
    const bool too_soon = (user.waiting > 0 && P::info.overlap != Overlap::any) ||
                          (user.inside && P::info.overlap == Overlap::never);
    if (too_soon) throw std::logic_error("node " + describe(node) + " has already asked");
    ++user.waiting;
    return act(TraceStep::Kind::request, node, {.kind = Kind::request, .demand = wish.demand()});
  }
  TraceStep leave(NodeId node) {
    auto& user = users_.at(node.index());
    if (!user.inside) throw std::logic_error("node " + describe(node) + " is not inside");
    user.inside = false;
    return act(TraceStep::Kind::release, node, {.kind = Kind::release});
  }
  // The oldest message on its way from one node to another, of this kind if one is given.
  TraceStep deliver(NodeId from, NodeId to, std::string_view kind = {}) {
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      const auto& flight = flights_[i];
      if (flight.from == from && flight.to == to &&
          (kind.empty() || kind_name(flight.message) == kind))
        return deliver_at(i);
    }
    throw std::logic_error("no " + std::string(kind.empty() ? "message" : kind) +
                           " is on its way from " + describe(from) + " to " + describe(to));
  }
  // REQUIRES: index < flights().size().
  TraceStep deliver_at(std::size_t index) {
    const auto flight = flights_.at(index);
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(index));
    if (users_.at(flight.to.index()).dead)
      return act(Kind::bounce, flight.from,
                 {.kind = Kind::bounce, .from = flight.to, .message = flight.message});
    return act(TraceStep::Kind::receive, flight.to,
               {.kind = Kind::receive, .from = flight.from, .message = flight.message});
  }
  // Anything else: a timer, a suspicion, a choice, a return.
  TraceStep happens(NodeId node, const Input<Message>& input) {
    if (input.kind == Kind::recover) users_.at(node.index()).dead = false;
    std::string detail;
    if constexpr (HasTimers<P>)
      if (input.kind == Kind::expire) detail = std::string(P::timers[input.number]);
    if constexpr (requires(const P& state) { state.choice_name(0); })
      if (input.kind == Kind::choose) detail = nodes_.at(node.index()).choice_name(input.number);
    auto step = act(input.kind, node, input);
    if (input.kind == Kind::suspect) step.about = input.from;
    step.detail = std::move(detail);
    return step;
  }
  // What is on its way to a dead node is lost, or comes back.
  TraceStep crash(NodeId node) {
    users_.at(node.index()) = {.dead = true};
    auto step = act(Kind::crash, node, {.kind = Kind::crash});
    std::erase_if(flights_, [&](const auto& flight) {
      return flight.to == node && (!Bouncing<P> || users_[flight.from.index()].dead);
    });
    return step;
  }
  // Everything, in the order of sending, until nothing travels.
  std::vector<TraceStep> drain() {
    std::vector<TraceStep> steps;
    while (!flights_.empty()) {
      if (steps.size() == 10'000) throw std::logic_error("the messages never end");
      steps.push_back(deliver_at(0));
    }
    return steps;
  }

  [[nodiscard]] const P& operator[](std::size_t node) const { return nodes_.at(node); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] bool inside(std::size_t node) const { return users_.at(node).inside; }
  [[nodiscard]] bool waiting(std::size_t node) const { return users_.at(node).waiting > 0; }
  [[nodiscard]] const std::vector<Flight<Message>>& flights() const { return flights_; }
  // What the nodes did before anybody asked.
  [[nodiscard]] const std::vector<TraceStep>& starts() const { return starts_; }
  // The first of the algorithm's own invariants that does not hold, and whether two are inside.
  [[nodiscard]] std::string broken() const {
    std::size_t count = 0;
    for (const auto& user : users_) count += user.inside ? 1 : 0;
    if (count > 1 && P::info.primitive == Primitive::lock) return "two are inside";
    if constexpr (HasInvariants<P>)
      return std::string(P::broken_invariant(Snapshot<P>{nodes_, users_, flights_}));
    return {};
  }

 private:
  using Kind = typename Input<Message>::Kind;

  TraceStep act(TraceStep::Kind kind, NodeId node, const Input<Message>& input) {
    TraceStep taken{.kind = kind, .node = node};
    if (kind == TraceStep::Kind::receive)
      taken.takes.push_back(trace_message(input.from, node, input.message));
    if (kind == TraceStep::Kind::bounce)
      taken.takes.push_back(trace_message(node, input.from, input.message));
    const auto out = stepped(nodes_.at(node.index()), input);
    for (const auto& [to, message] : out.sends()) {
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (to == out.everyone ? NodeId{i} == node : NodeId{i} != to) continue;
        if (!users_[i].dead || Bouncing<P>) flights_.push_back({node, NodeId{i}, message});
        taken.sends.push_back(trace_message(node, NodeId{i}, message));
      }
    }
    if (out.granted()) {
      auto& user = users_[node.index()];
      --user.waiting;
      user.inside = taken.entered = true;
      taken.fence = *out.granted();
      taken.units.assign(out.units().begin(), out.units().end());
    }
    return taken;
  }

  std::vector<P> nodes_;
  std::vector<User> users_;
  std::vector<Flight<Message>> flights_;
  std::vector<TraceStep> starts_;
};

}  // namespace turno::testing
