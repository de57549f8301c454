// The election on a ring as on the lecture slides (PUCRS, 217): no epochs, and only the node that
// began a round ends it. To be refuted by the checker, and to count its messages; never to be run.
//
// orphan-election    the initiator crashes: its election goes round for ever
// orphan-result      the same for the result
// lost-round         a node crashes with the message that it was passing on: the initiator waits
// for
//                    ever
// late-coordinator   a recovering node holds an election (the slides leave it open); a late result
//                    overwrites the new one
// dead-winner        the winner crashes during the second round, and is told to everybody
//
// All are the same rules; they differ in what goes wrong and in what is looked at.
#pragma once

#include <algorithm>

#include "core/protocol.h"
#include "protocols/election/config.h"

namespace turno::protocols::as_published {

struct Ring {
  static constexpr Info info{.name = "ring",
                             .title = "ring without epochs",
                             .source = "lecture slides, PUCRS, 217",
                             .primitive = Primitive::election,
                             .fifo = true};
  enum class Reading : std::uint8_t { orphan_election = 1, orphan_result, lost, late, dead_winner };
  static constexpr std::array departures = {
      Departure{"orphan-election", "the election of a crashed initiator goes round for ever",
                "--nodes 4 --dead 3 --crashes 1 --property invariant"},
      Departure{"orphan-result", "the result of a crashed initiator goes round for ever",
                "--nodes 4 --dead 3 --crashes 1 --property invariant"},
      Departure{"lost-round", "an initiator waits for ever for a message lost in a crash",
                "--nodes 4 --dead 3 --crashes 1 --property goal"},
      Departure{"late-coordinator", "a late result overwrites a newer one",
                "--nodes 3 --dead 2 --recoveries 1 --property goal"},
      Departure{"dead-winner", "the result names a node that has crashed",
                "--nodes 3 --dead 2 --crashes 1 --property invariant"}};

  struct Message {
    enum class Kind : std::uint8_t { election, coordinator } kind = Kind::election;
    NodeId initiator;
    NodeId coordinator;  // the result
    NodeSet visited;     // in a result: only for the checker to see
    static constexpr std::array<std::string_view, 2> kinds = {"election", "coordinator"};
    static constexpr std::array<std::string_view, 4> labels = {"kind", "initiator", "coordinator",
                                                               "visited"};
    [[nodiscard]] auto fields() const { return std::tie(kind, initiator, coordinator, visited); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  static constexpr std::array<std::string_view, 1> timers = {"service"};

  NodeId self;
  std::uint32_t nodes = 0;
  bool watches = true;
  Reading reading{};
  NodeId coordinator;  // nobody: it waits for the result of its election

  static constexpr std::array<std::string_view, 1> labels = {"coordinator"};
  [[nodiscard]] auto fields() const { return std::tie(coordinator); }
  bool operator==(const Ring&) const = default;

  static Ring resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Ring node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.watches = setup.config<ElectionConfig>().has_watcher(self);
    node.reading = static_cast<Reading>(setup.departure);
    node.coordinator = NodeId{setup.size() - 1};
    return node;
  }

  void start(Out& out) { follow(coordinator, out); }
  void request(Demand, Out&) {}
  void release(Out&) {}

  void receive(NodeId, const Message& message, Out& out) {
    auto next = message;
    if (message.kind == Kind::coordinator) {
      if (message.initiator == self) return;
      follow(message.coordinator, out);
      next.visited.insert(self);
    } else if (message.initiator == self) {
      NodeId highest;
      message.visited.for_each([&](NodeId node) { highest = node; });
      follow(highest, out);
      next = {.kind = Kind::coordinator, .initiator = self, .coordinator = highest};
      next.visited.insert(self);
    } else {
      next.visited.insert(self);
    }
    send(after(self), next, out);
  }

  void bounce(NodeId to, const Message& message, Out& out) { send(after(to), message, out); }

  void expire(std::uint8_t, Out& out) { elect(out); }

  void crash() { coordinator = nobody; }
  void recover(Out& out) { elect(out); }

  static bool still_expected(const Snapshot<Ring>& world, NodeId node, std::uint8_t) {
    return !world.users[world.nodes[node.index()].coordinator.index()].dead;
  }

  static std::string_view broken_invariant(const Snapshot<Ring>& world) {
    const auto reading = world.nodes.front().reading;
    for (const auto& [from, to, message] : world.flights) {
      const bool again = message.visited.contains(to) && to != message.initiator;
      const bool result = message.kind == Kind::coordinator;
      if (reading == Reading::orphan_election && again && !result)
        return "an election comes to a node for the second time";
      if (reading == Reading::orphan_result && again && result)
        return "a result comes to a node for the second time";
      if (reading == Reading::dead_winner && result &&
          world.users[message.coordinator.index()].dead)
        return "the result on its way names a node that is dead";
    }
    return {};
  }

  static std::string_view unmet_goal(const Snapshot<Ring>& world) {
    if (!world.flights.empty()) return "a message is still on its way";
    NodeId highest;
    for (std::size_t i = 0; i < world.nodes.size(); ++i)
      if (!world.users[i].dead) highest = NodeId{i};
    for (std::size_t i = 0; i < world.nodes.size(); ++i) {
      if (world.users[i].dead) continue;
      if (world.nodes[i].coordinator == nobody) return "a live node waits for the result for ever";
      if (world.nodes[i].coordinator != highest)
        return "a live node does not know the highest live node as coordinator";
    }
    return {};
  }

 private:
  [[nodiscard]] NodeId after(NodeId node) const { return NodeId{(node.index() + 1) % nodes}; }

  void elect(Out& out) {
    coordinator = nobody;
    out.disarm(0);
    Message message{.kind = Kind::election, .initiator = self};
    message.visited.insert(self);
    send(after(self), message, out);
  }

  void send(NodeId to, const Message& message, Out& out) {
    if (to == self) return receive(self, message, out);  // nobody else is there
    out.send(to, message);
  }

  void follow(NodeId winner, Out& out) {
    coordinator = winner;
    if (watches && winner != self) return out.arm(0, 0);
    out.disarm(0);
  }
};

}  // namespace turno::protocols::as_published
