// Election on a ring (lecture slides, PUCRS, 217), with epochs.
//
// Whoever finds that the coordinator is gone sends a message round the ring; everybody adds its
// number. Who finds its own number in it knows all live nodes: the highest is the coordinator, and
// a second round tells everybody. A message that finds its addressee dead goes to the next one.
//
// A result counts only if it is not older than what a node knows. Any node that a message has
// visited closes the round, not only the one that began it; so no message outlives a crash. Who has
// begun a round and waits too long begins again. (The version of the slides: as_published/ring.h.)
//
// Assumes that a sender learns that its addressee is dead, timeouts that are long enough, reliable
// channels that keep order; crashes and recoveries, with the epoch on stable storage. Messages:
// 2(N-1) an election, one node dead, and one more a round that tries the dead node. If all begin at
// different times, up to 3N^2-3N-1: a late one drops the result of an earlier epoch, and who waits
// for that begins again.
#pragma once

#include <algorithm>

#include "core/protocol.h"
#include "protocols/election/agreement.h"
#include "protocols/election/config.h"

namespace turno::protocols {

struct Ring {
  static constexpr Info info{.name = "ring",
                             .title = "one round to collect who lives, one to tell the result",
                             .source = "lecture slides, PUCRS, corrected",
                             .primitive = Primitive::election,
                             .fifo = true,
                             .growing = true,
                             .low = "2(N-1)",
                             .high = "3N^2-3N-1"};

  using Config = ElectionConfig;

  struct Message {
    enum class Kind : std::uint8_t { election, coordinator, ask, answer } kind = Kind::election;
    std::uint32_t epoch = 0;
    NodeId coordinator;  // the result; in an answer, whom the sender has
    NodeSet visited;
    static constexpr std::array<std::string_view, 4> kinds = {"election", "coordinator", "ask",
                                                              "answer"};
    static constexpr std::array<std::string_view, 4> labels = {"kind", "epoch", "coordinator",
                                                               "visited"};
    [[nodiscard]] auto fields() const { return std::tie(kind, epoch, coordinator, visited); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  // Electing: it waits for the result of a round that it began. Telling: its result is under way.
  enum class Phase : std::uint8_t { normal, electing, telling };
  enum Timer : std::uint8_t { round_timer, service_timer };
  static constexpr std::array<std::string_view, 2> timers = {"round", "service"};

  NodeId self;
  std::uint32_t nodes = 0;
  bool watches = true;  // notices that the coordinator is gone
  Patience patience;
  std::uint32_t epoch = 0;  // the largest seen; on stable storage
  Phase phase = Phase::normal;
  NodeId coordinator;       // nobody while electing
  std::uint32_t since = 0;  // the epoch of the coordinator, or of the own election
  bool asked = false;       // the coordinator, whether it is there

  static constexpr std::array<std::string_view, 5> labels = {"epoch", "phase", "coordinator",
                                                             "since", "asked"};
  [[nodiscard]] auto fields() const { return std::tie(epoch, phase, coordinator, since, asked); }
  bool operator==(const Ring& other) const { return fields() == other.fields(); }

  static Ring resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Ring node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    const auto config = setup.config<Config>();
    node.watches = config.has_watcher(self);
    node.patience = config.patience;
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
        return on_election(message, out);
      case Kind::coordinator:
        return on_coordinator(message, out);
      case Kind::ask:
        return out.send(from, {.kind = Kind::answer, .epoch = since, .coordinator = coordinator});
      case Kind::answer:
        return on_answer(from, message, out);
    }
  }

  // The addressee is dead: to the one after it. Round the whole ring: back to this node itself.
  void bounce(NodeId to, const Message& message, Out& out) {
    if (message.kind == Kind::ask || message.kind == Kind::answer) return;
    const auto next = after(to);
    if (next == self) return receive(self, message, out);
    out.send(next, message);
  }

  void expire(std::uint8_t timer, Out& out) {
    if (timer == round_timer || asked || patience.ask_every_ns == 0) return elect(out);
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
  void recover(Out& out) { elect(out); }

  [[nodiscard]] bool acting() const { return coordinator == self; }

  static bool still_expected(const Snapshot<Ring>& world, NodeId node, std::uint8_t timer);
  static std::string_view broken_invariant(const Snapshot<Ring>& world) {
    return broken_agreement(world);
  }
  static std::string_view unmet_goal(const Snapshot<Ring>& world) { return unmet_agreement(world); }

 private:
  [[nodiscard]] NodeId after(NodeId node) const { return NodeId{(node.index() + 1) % nodes}; }

  void elect(Out& out) {
    ++epoch;
    phase = Phase::electing;
    coordinator = nobody;
    since = epoch;
    asked = false;
    out.disarm(service_timer);
    out.arm(round_timer, patience.finish_within_ns);
    pass_on({.kind = Kind::election, .epoch = epoch}, out);
  }

  // A result of before what this node knows, or waits for.
  [[nodiscard]] bool is_old(std::uint32_t in_epoch, NodeId winner) const {
    if (in_epoch != since) return in_epoch < since;
    return coordinator != nobody && winner < coordinator;
  }

  void on_election(const Message& message, Out& out) {
    if (!message.visited.contains(self)) {
      auto next = message;
      next.epoch = epoch;
      return pass_on(std::move(next), out);
    }
    NodeId highest;
    message.visited.for_each([&](NodeId node) { highest = node; });
    if (is_old(message.epoch, highest)) return;
    follow(highest, message.epoch, out);
    phase = Phase::telling;
    out.arm(round_timer, patience.finish_within_ns);
    pass_on({.kind = Kind::coordinator, .epoch = since, .coordinator = highest}, out);
  }

  void on_coordinator(const Message& message, Out& out) {
    if (message.visited.contains(self)) {
      if (phase == Phase::telling) be_normal(out);
      return;
    }
    if (self > message.coordinator) return elect(out);
    if (is_old(message.epoch, message.coordinator)) return;
    follow(message.coordinator, message.epoch, out);
    pass_on(message, out);
  }

  void on_answer(NodeId from, const Message& message, Out& out) {
    if (!asked || from != coordinator) return;
    const bool follows_another = message.coordinator != from && message.coordinator != nobody;
    if (!follows_another) return watch(out);
    elect(out);
  }

  void pass_on(Message message, Out& out) {
    message.visited.insert(self);
    const auto next = after(self);
    if (next == self) return receive(self, message, out);
    out.send(next, message);
  }

  void follow(NodeId winner, std::uint32_t in_epoch, Out& out) {
    coordinator = winner;
    since = in_epoch;
    be_normal(out);
    watch(out);
  }

  void be_normal(Out& out) {
    phase = Phase::normal;
    out.disarm(round_timer);
  }

  void watch(Out& out) {
    asked = false;
    if (acting() || !watches) return out.disarm(service_timer);
    out.arm(service_timer, patience.ask_every_ns);
  }
};

// Timeouts are perfect: they expire when what they wait for cannot come any more.
inline bool Ring::still_expected(const Snapshot<Ring>& world, NodeId node, std::uint8_t timer) {
  const auto& waits = world.nodes[node.index()];
  if (timer == service_timer) return !world.users[waits.coordinator.index()].dead;
  return std::any_of(world.flights.begin(), world.flights.end(), [&](const auto& flight) {
    const auto& message = flight.message;
    return (message.kind == Kind::election && message.visited.contains(node)) ||
           message.kind == Kind::coordinator;
  });
}

}  // namespace turno::protocols
