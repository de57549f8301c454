// The bully algorithm as on the lecture slides (PUCRS, 214): no epochs, and one timeout. To be
// refuted by the checker, and to count its messages; never to be run.
//
// no-second-timeout  who is answered does nothing more: if the one that answered crashes, it waits
//                    for ever
// late-coordinator   a recovering node holds an election (the slides leave it open); a late message
//                    of the old coordinator overwrites the new one
// two-coordinators   a recovering node, or a timeout that is too short, makes two act at once
// silent-loss        the result is sent once, to the nodes below, and nobody acknowledges it
//
// All four are the same rules; they differ in what goes wrong and in what is looked at.
#pragma once

#include <algorithm>

#include "core/protocol.h"
#include "protocols/election/config.h"

namespace turno::protocols::as_published {

struct Bully {
  static constexpr Info info{.name = "bully",
                             .title = "bully without epochs",
                             .source = "lecture slides, PUCRS, 214",
                             .primitive = Primitive::election};
  enum class Reading : std::uint8_t { no_second_timeout = 1, late, two_coordinators, silent_loss };
  static constexpr std::array departures = {
      Departure{"no-second-timeout", "who was answered waits for ever if the answerer crashes",
                "--nodes 4 --dead 3 --crashes 1"},
      Departure{"late-coordinator", "a late result overwrites a newer one",
                "--nodes 3 --dead 2 --recoveries 1"},
      Departure{"two-coordinators", "two nodes act as coordinator at once",
                "--nodes 3 --dead 2 --recoveries 1"},
      Departure{"silent-loss", "a lost result is never repeated", "--nodes 3 --dead 2 --losses 1"}};

  struct Message {
    enum class Kind : std::uint8_t { election, alive, coordinator } kind = Kind::election;
    static constexpr std::array<std::string_view, 3> kinds = {"election", "alive", "coordinator"};
    static constexpr std::array<std::string_view, 1> labels = {"kind"};
    [[nodiscard]] auto fields() const { return std::tie(kind); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { normal, electing, answered };
  enum Timer : std::uint8_t { answer_timer, service_timer };
  static constexpr std::array<std::string_view, 2> timers = {"answer", "service"};

  NodeId self;
  std::uint32_t nodes = 0;
  bool watches = true;
  Reading reading{};
  Phase phase = Phase::normal;
  NodeId coordinator;

  static constexpr std::array<std::string_view, 2> labels = {"phase", "coordinator"};
  [[nodiscard]] auto fields() const { return std::tie(phase, coordinator); }
  bool operator==(const Bully&) const = default;

  static Bully resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Bully node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.watches = setup.config<ElectionConfig>().has_watcher(self);
    node.reading = static_cast<Reading>(setup.departure);
    node.coordinator = NodeId{setup.size() - 1};
    return node;
  }

  void start(Out& out) { watch(out); }
  void request(Demand, Out&) {}
  void release(Out&) {}

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::election:
        out.send(from, {.kind = Kind::alive});
        if (phase != Phase::electing) elect(out);
        return;
      case Kind::alive:
        if (phase != Phase::electing) return;
        phase = Phase::answered;
        return out.disarm(answer_timer);
      case Kind::coordinator:
        return follow(from, out);
    }
  }

  void expire(std::uint8_t timer, Out& out) { timer == answer_timer ? announce(out) : elect(out); }

  void crash() {
    phase = Phase::normal;
    coordinator = nobody;
  }
  void recover(Out& out) { elect(out); }

  static bool still_expected(const Snapshot<Bully>& world, NodeId node, std::uint8_t timer) {
    if (timer == service_timer)
      return !world.users[world.nodes[node.index()].coordinator.index()].dead;
    return std::any_of(world.flights.begin(), world.flights.end(), [&](const auto& flight) {
      return flight.from == node ? flight.message.kind == Kind::election : flight.to == node;
    });
  }

  static std::string_view broken_invariant(const Snapshot<Bully>& world) {
    if (world.nodes.front().reading != Reading::two_coordinators) return {};
    const auto acting = std::count_if(world.nodes.begin(), world.nodes.end(), [](const Bully& n) {
      return n.coordinator == n.self;  // which the dead do not say
    });
    return acting > 1 ? "two nodes act as coordinator" : "";
  }

  static std::string_view unmet_goal(const Snapshot<Bully>& world) {
    NodeId highest;
    for (std::size_t i = 0; i < world.nodes.size(); ++i)
      if (!world.users[i].dead) highest = NodeId{i};
    for (std::size_t i = 0; i < world.nodes.size(); ++i) {
      if (world.users[i].dead) continue;
      if (world.nodes[i].phase != Phase::normal) return "a live node waits for the result for ever";
      if (world.nodes[i].coordinator != highest)
        return "a live node does not know the highest live node as coordinator";
    }
    return {};
  }

 private:
  void elect(Out& out) {
    if (self.index() + 1 == nodes) return announce(out);
    phase = Phase::electing;
    coordinator = nobody;
    out.disarm(service_timer);
    out.arm(answer_timer, 0);
    for (auto i = self.index() + 1; i < nodes; ++i) out.send(NodeId{i}, {.kind = Kind::election});
  }

  void announce(Out& out) {
    follow(self, out);
    for (std::size_t i = 0; i < self.index(); ++i) out.send(NodeId{i}, {.kind = Kind::coordinator});
  }

  void follow(NodeId winner, Out& out) {
    phase = Phase::normal;
    coordinator = winner;
    out.disarm(answer_timer);
    watch(out);
  }

  void watch(Out& out) {
    if (watches && coordinator != self) return out.arm(service_timer, 0);
    out.disarm(service_timer);
  }
};

}  // namespace turno::protocols::as_published
