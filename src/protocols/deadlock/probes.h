// Chandy, Misra and Haas, "Distributed deadlock detection", 1983, for processes that wait for all
// of several others (the AND model).
//
// A process that blocks sends a probe to each process that it waits for. A blocked process passes a
// probe on to those it waits for itself. A probe that comes back to its initiator has gone round a
// cycle: a deadlock. Two rules that lecture slides leave out make this right. A probe counts only
// if the request along which it came is still unanswered; and each process passes on one probe of
// each initiator while it is blocked.
//
// Assumes reliable channels that keep order; no crashes. Every process that blocks must initiate.
// Messages: at most one probe over each edge of the wait-for graph for each initiator.
#pragma once

#include <algorithm>
#include <string>

#include "core/protocol.h"
#include "core/text/describe.h"
#include "protocols/deadlock/wait_for_graph.h"

namespace turno::protocols {

struct Probes {
  static constexpr Info info{.name = "probes",
                             .title = "probes along the waits: one that comes back is a deadlock",
                             .source = "Chandy, Misra, Haas 1983",
                             .primitive = Primitive::detection,
                             .fifo = true,
                             .low = "1 a wait",
                             .high = "edges a wait"};
  enum class Rule : std::uint8_t { none, pending, dependent, everybody };
  static constexpr std::array departures = {
      Departure{"pending-check", "a probe counts although its request has been answered",
                "--nodes 3 --sets"},
      Departure{"dependent-flag", "the probes of who waits for a cycle go round it for ever",
                "--nodes 3 --property trap"},
      Departure{"everybody-initiates", "the only initiator probes before the cycle is closed",
                "--nodes 2"}};

  struct Config {
    std::uint32_t waits = 1;  // how often each process blocks
    bool sets = false;        // on any set of others; otherwise on one
  };

  struct Message {
    enum class Kind : std::uint8_t { request, reply, probe } kind = Kind::request;
    NodeId initiator;  // of a probe
    static constexpr std::array<std::string_view, 3> kinds = {"request", "reply", "probe"};
    static constexpr std::array<std::string_view, 2> labels = {"kind", "initiator"};
    [[nodiscard]] auto fields() const { return std::tie(kind, initiator); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  std::uint32_t nodes = 0;
  bool sets = false;
  Rule without = Rule::none;
  std::uint32_t left = 0;  // how often it may still block
  NodeSet waits_for;       // empty: it is active
  NodeSet asked_by;        // whose requests it has not answered
  NodeSet dependent;       // whose probes it has passed on since it blocked
  bool deadlocked = false;

  static constexpr std::array<std::string_view, 5> labels = {"left", "waits_for", "asked_by",
                                                             "dependent", "deadlocked"};
  [[nodiscard]] auto fields() const {
    return std::tie(left, waits_for, asked_by, dependent, deadlocked);
  }
  bool operator==(const Probes&) const = default;

  static Probes resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Probes node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.sets = setup.config<Config>().sets;
    node.without = static_cast<Rule>(setup.departure);
    node.left = setup.config<Config>().waits;
    return node;
  }

  // Blocks until all of them have answered: the types of the needs are their numbers.
  // REQUIRES: it is active.
  void request(Demand demand, Out& out) {
    NodeSet others;
    for (const auto& need : demand.needs) others.insert(NodeId{need.type});
    wait_for(others, out);
  }
  void release(Out&) {}

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return asked_by.insert(from);
      case Kind::reply:
        waits_for.erase(from);
        if (active()) dependent.clear();
        return;
      case Kind::probe:
        return on_probe(from, message.initiator, out);
    }
  }

  // An active process answers one that waits for it, or blocks.
  [[nodiscard]] std::uint32_t choices() const {
    if (!active()) return 0;
    return static_cast<std::uint32_t>(asked_by.size()) + (left > 0 ? ways_to_block() : 0);
  }
  void choose(std::uint32_t choice, Out& out) {
    const auto asked = static_cast<std::uint32_t>(asked_by.size());
    if (choice < asked) return answer(asker(choice), out);
    --left;
    wait_for(chosen(choice - asked), out);
  }
  [[nodiscard]] std::string choice_name(std::uint32_t choice) const {
    const auto asked = static_cast<std::uint32_t>(asked_by.size());
    if (choice < asked) return "answer " + describe(asker(choice));
    return "wait for " + describe(chosen(choice - asked));
  }

  [[nodiscard]] bool active() const { return waits_for.empty(); }

  static std::string_view broken_invariant(const Snapshot<Probes>& world);
  static std::string_view unmet_goal(const Snapshot<Probes>& world);

 private:
  void wait_for(const NodeSet& others, Out& out) {
    waits_for = others;
    const bool initiates = without != Rule::everybody || self == NodeId{0};
    others.for_each([&](NodeId other) {
      out.send(other, {.kind = Kind::request});
      if (initiates) out.send(other, {.kind = Kind::probe, .initiator = self});
    });
  }

  void answer(NodeId asker, Out& out) {
    asked_by.erase(asker);
    out.send(asker, {.kind = Kind::reply});
  }

  void on_probe(NodeId from, NodeId initiator, Out& out) {
    if (active()) return;
    if (without != Rule::pending && !asked_by.contains(from)) return;
    if (without != Rule::dependent && dependent.contains(initiator)) return;
    if (initiator == self) {
      deadlocked = true;
      return;
    }
    dependent.insert(initiator);
    waits_for.for_each(
        [&](NodeId other) { out.send(other, {.kind = Kind::probe, .initiator = initiator}); });
  }

  [[nodiscard]] NodeId asker(std::uint32_t index) const {
    NodeId found;
    asked_by.for_each([&](NodeId node) {
      if (index-- == 0) found = node;
    });
    return found;
  }
  // One of the others, or any set of them that is not empty.
  [[nodiscard]] std::uint32_t ways_to_block() const {
    return sets ? (1U << (nodes - 1)) - 1 : nodes - 1;
  }
  [[nodiscard]] NodeSet chosen(std::uint32_t way) const {
    NodeSet others;
    const auto bits = sets ? std::uint64_t{way} + 1 : std::uint64_t{1} << way;
    for (std::uint32_t i = 0; i + 1 < nodes; ++i)
      if (((bits >> i) & 1U) != 0) others.insert(NodeId{i < self.value ? i : i + 1});
    return others;
  }
};

// Who waits for whom: the request is on its way, or has arrived and is not answered.
inline WaitForGraph waits_in(const Snapshot<Probes>& world) {
  WaitForGraph graph;
  for (const auto& node : world.nodes)
    node.waits_for.for_each([&](NodeId other) {
      if (world.nodes[other.index()].asked_by.contains(node.self)) graph.add(node.self, other);
    });
  for (const auto& [from, to, message] : world.flights)
    if (message.kind == Probes::Kind::request) graph.add(from, to);
  return graph;
}

inline std::string_view Probes::broken_invariant(const Snapshot<Probes>& world) {
  const auto says_so = [](const Probes& node) { return node.deadlocked; };
  if (std::none_of(world.nodes.begin(), world.nodes.end(), says_so)) return {};
  const auto graph = waits_in(world);
  for (const auto& node : world.nodes)
    if (node.deadlocked && !graph.on_cycle(node.self))
      return "a node declares a deadlock that there is not";
  return {};
}

// Of each cycle at least one member knows, the last that blocked: without those who know, there is
// none.
inline std::string_view Probes::unmet_goal(const Snapshot<Probes>& world) {
  if (!world.flights.empty()) return "a message is still on its way";
  WaitForGraph unknown;
  const auto all = waits_in(world);
  for (const auto& [waiter, holder] : all.edges())
    if (!world.nodes[waiter.index()].deadlocked) unknown.add(waiter, holder);
  return unknown.deadlocked().empty() ? "" : "a deadlock is not detected";
}

}  // namespace turno::protocols
