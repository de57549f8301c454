// The bully algorithm (Garcia-Molina 1982; lecture slides, PUCRS, 214), with epochs.
//
// Whoever finds that the coordinator is gone asks all with a higher number. If one answers, it
// takes over; if none does, the asker is the coordinator and tells all with a lower number. So the
// highest live node wins. Every election has an epoch, and a result counts only if it is not older
// than what a node already knows; that keeps late messages harmless, and a node that recovers
// apart. A coordinator that hears of a newer epoch tells all below that it coordinates in that,
// too. (The version of the slides: as_published/bully.h.)
//
// Assumes timeouts that are long enough, reliable channels, any order; crashes and recoveries, with
// the epoch on stable storage. Messages: N-1 to N^2-N-1 an election, one node dead.
#pragma once

#include <algorithm>

#include "core/protocol.h"
#include "protocols/election/agreement.h"
#include "protocols/election/config.h"

namespace turno::protocols {

struct Bully {
  static constexpr Info info{.name = "bully",
                             .title = "ask all above; if nobody answers, tell all below",
                             .source = "Garcia-Molina 1982, corrected",
                             .primitive = Primitive::election,
                             .growing = true,
                             .low = "N-1",
                             .high = "N^2-N-1"};
  static constexpr std::array departures = {
      Departure{"new-epoch", "a coordinator tells only who asks of an epoch that it has missed",
                "--nodes 3 --dead 2 --crashes 2 --recoveries 3 --channels fifo"}};

  using Config = ElectionConfig;

  struct Message {
    enum class Kind : std::uint8_t {
      election,
      alive,
      coordinator,
      ask,
      answer
    } kind = Kind::election;
    std::uint32_t epoch = 0;
    NodeId coordinator;  // who it is, in `coordinator`
    static constexpr std::array<std::string_view, 5> kinds = {"election", "alive", "coordinator",
                                                              "ask", "answer"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "epoch", "coordinator"};
    [[nodiscard]] auto fields() const { return std::tie(kind, epoch, coordinator); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  // Normal: it has a coordinator. Electing: it waits for an answer from above. Overruled: somebody
  // above takes over, and it waits for the result.
  enum class Phase : std::uint8_t { normal, electing, overruled };
  enum Timer : std::uint8_t { answer_timer, result_timer, service_timer };
  static constexpr std::array<std::string_view, 3> timers = {"answer", "result", "service"};

  NodeId self;
  std::uint32_t nodes = 0;
  bool watches = true;  // notices that the coordinator is gone
  bool without_new_epoch = false;
  Patience patience;
  std::uint32_t epoch = 0;  // the largest seen; on stable storage
  Phase phase = Phase::normal;
  NodeId coordinator;       // nobody while there is an election
  std::uint32_t since = 0;  // the epoch of the coordinator, or of the own election
  bool asked = false;       // the coordinator, whether it is there

  static constexpr std::array<std::string_view, 5> labels = {"epoch", "phase", "coordinator",
                                                             "since", "asked"};
  [[nodiscard]] auto fields() const { return std::tie(epoch, phase, coordinator, since, asked); }
  bool operator==(const Bully& other) const { return fields() == other.fields(); }

  static Bully resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Bully node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    const auto config = setup.config<Config>();
    node.watches = config.has_watcher(self);
    node.patience = config.patience;
    node.without_new_epoch = setup.departure == 1;
    node.coordinator = NodeId{setup.size() - 1};
    return node;
  }

  void start(Out& out) { watch(out); }
  void request(Demand, Out&) {}
  void release(Out&) {}

  void receive(NodeId from, const Message& message, Out& out) {
    epoch = std::max(epoch, message.epoch);
    switch (message.kind) {
      case Kind::election:
        return on_election(from, message.epoch, out);
      case Kind::alive:
        if (phase == Phase::electing) wait_for_result(out);
        return;
      case Kind::coordinator:
        return on_coordinator(from, message, out);
      case Kind::ask:
        return out.send(from, follows_another() ? result() : Message{Kind::answer, epoch});
      case Kind::answer:
        if (asked && from == coordinator) watch(out);
        return;
    }
  }

  void expire(std::uint8_t timer, Out& out) {
    if (timer == answer_timer) return announce(out);
    if (timer == result_timer) return elect_anew(out);
    if (asked || patience.ask_every_ns == 0) return elect_anew(out);
    asked = true;
    out.send(coordinator, {.kind = Kind::ask, .epoch = epoch});
    out.arm(service_timer, patience.answer_within_ns);
  }

  void crash() {
    phase = Phase::normal;
    coordinator = nobody;
    since = 0;
    asked = false;
  }
  void recover(Out& out) { elect_anew(out); }

  [[nodiscard]] bool acting() const { return coordinator == self; }
  // Whoever takes it for the coordinator must learn that it is not.
  [[nodiscard]] bool follows_another() const { return phase == Phase::normal && !acting(); }

  static bool still_expected(const Snapshot<Bully>& world, NodeId node, std::uint8_t timer);
  static std::string_view broken_invariant(const Snapshot<Bully>& world) {
    return broken_agreement(world);
  }
  static std::string_view unmet_goal(const Snapshot<Bully>& world) {
    return unmet_agreement(world);
  }

 private:
  void elect_anew(Out& out) {
    ++epoch;
    elect(out);
  }

  void elect(Out& out) {
    if (self.index() + 1 == nodes) return announce(out);
    phase = Phase::electing;
    coordinator = nobody;
    since = epoch;
    asked = false;
    out.disarm(service_timer);
    out.disarm(result_timer);
    out.arm(answer_timer, patience.answer_within_ns);
    for (auto i = self.index() + 1; i < nodes; ++i)
      out.send(NodeId{i}, {.kind = Kind::election, .epoch = epoch});
  }

  void wait_for_result(Out& out) {
    phase = Phase::overruled;
    out.disarm(answer_timer);
    out.arm(result_timer, patience.finish_within_ns);
  }

  void announce(Out& out) {
    follow(self, epoch, out);
    for (std::size_t i = 0; i < self.index(); ++i) out.send(NodeId{i}, result());
  }

  void follow(NodeId winner, std::uint32_t in_epoch, Out& out) {
    phase = Phase::normal;
    coordinator = winner;
    since = in_epoch;
    out.disarm(answer_timer);
    out.disarm(result_timer);
    watch(out);
  }

  void watch(Out& out) {
    asked = false;
    if (acting() || !watches) return out.disarm(service_timer);
    out.arm(service_timer, patience.ask_every_ns);
  }

  [[nodiscard]] Message result() const {
    return {.kind = Kind::coordinator, .epoch = since, .coordinator = coordinator};
  }

  void on_election(NodeId from, std::uint32_t asked_in, Out& out) {
    // Somebody knows of epochs that this node has missed, so others may follow one of them.
    if (acting() && since < asked_in) {
      if (!without_new_epoch) return announce(out);
      since = asked_in;
    }
    // Who knows a coordinator that is new enough says so, instead of holding another election:
    // without this, late messages make their number exponential.
    if (phase == Phase::normal && since >= asked_in) return out.send(from, result());
    out.send(from, {.kind = Kind::alive, .epoch = asked_in});
    if (phase == Phase::normal) elect(out);
  }

  void on_coordinator(NodeId from, const Message& message, Out& out) {
    const auto [winner, in_epoch] = std::pair(message.coordinator, message.epoch);
    const bool own = winner == from;  // not hearsay: the sender takes itself for the coordinator
    if (winner < self) {
      if (acting()) return elect_anew(out);
      if (phase == Phase::normal && own) out.send(from, result());
    } else if (winner == self) {
      if (acting()) since = std::max(since, in_epoch);
    } else if (phase == Phase::normal) {
      if (std::pair(in_epoch, winner) >= std::pair(since, coordinator))
        return follow(winner, in_epoch, out);
      if (own) out.send(from, result());
    } else {
      if (in_epoch >= since) return follow(winner, in_epoch, out);
      if (own) out.send(from, {.kind = Kind::election, .epoch = since});
    }
  }
};

// Timeouts are perfect: they expire when what they wait for cannot come any more.
inline bool Bully::still_expected(const Snapshot<Bully>& world, NodeId node, std::uint8_t timer) {
  const auto& waits = world.nodes[node.index()];
  if (timer == service_timer) {
    // Asking a coordinator that acts, or is busy electing, changes nothing.
    const auto& asked = world.nodes[waits.coordinator.index()];
    const bool useless = waits.patience.ask_every_ns == 0 || !asked.follows_another();
    return useless && !world.users[waits.coordinator.index()].dead;
  }
  for (const auto& [from, to, message] : world.flights) {
    if (from == node && message.kind == Kind::election) return true;
    if (to == node && message.kind == Kind::coordinator) return true;
    if (timer == answer_timer && to == node && message.kind == Kind::alive) return true;
  }
  if (timer == answer_timer) return false;
  for (auto i = node.index() + 1; i < world.nodes.size(); ++i)
    if (!world.users[i].dead && world.nodes[i].phase != Phase::normal) return true;
  return false;
}

}  // namespace turno::protocols
