// The robust k-mutual exclusion of Rodrigues, Duarte Jr. and Arantes as printed, line by line, with
// its counters. To be refuted by the checker; never to be run.
//
// With atomic handlers, each request delivered once and a perfect detector the printed algorithm is
// right. The readings below are what the text says or leaves open beyond that. Entering (line 13)
// is a step of its own, as line 12 waits for it.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <string>

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/as_published/spanning_tree.h"

namespace turno::protocols::as_published {

struct RobustK {
  static constexpr Info info{.name = "robust-k",
                             .title = "robust-k with counters",
                             .source = "Rodrigues, Duarte Jr., Arantes",
                             .primitive = Primitive::semaphore};
  enum class Reading : std::uint8_t {
    same_time = 1,
    counted_late,
    suspected_first,
    adjusted_first,
    not_adjusted,
    told_twice,
    later_first,
    tie_reply,
    tie_silence,
    false_suspicion,
    revised_suspicion,
    duplicates,
    dead_holder,
    by_forwarder,
    any_other_time,
    not_acknowledged_again,
    clock_not_followed,
  };
  static constexpr std::array departures = {
      Departure{"same-time", "a request does not advance the own clock: the next looks like a copy",
                "--nodes 2 --requesters 0 --requests 2"},
      Departure{"counted-late", "line 11 counts expected answers after line 10 has asked",
                "--nodes 2 --requesters 0"},
      Departure{"suspected-first", "a crash is known before lines 29 and 30 have corrected",
                "--nodes 3 --crashes 1 --property exclusion"},
      Departure{"adjusted-first", "lines 29 and 30 correct before the crash is known",
                "--nodes 3 --crashes 1"},
      Departure{"not-adjusted", "without lines 29 and 30", "--nodes 3 --crashes 1"},
      Departure{"told-twice", "a crash that is told twice is corrected twice",
                "--nodes 3 --requesters 0 --crashes 1"},
      Departure{"later-first", "the prose lets the later request go first", "--nodes 2"},
      Departure{"tie-reply", "line 21 without node numbers: equal requests are both answered",
                "--nodes 2"},
      Departure{"tie-silence", "line 21 without node numbers: equal requests are both deferred",
                "--nodes 2"},
      Departure{"false-suspicion", "one suspicion of a node that lives",
                "--nodes 2 --false-suspicions 1 --property exclusion"},
      Departure{"revised-suspicion", "who was suspected when asking began is never asked",
                "--nodes 3 --requesters 0 --false-suspicions 1"},
      Departure{"duplicates", "a doubled answer is counted twice",
                "--nodes 2 --requests 2 --duplicates 1 --property exclusion"},
      Departure{"dead-holder", "what a dead holder held is given to the next at once",
                "--nodes 3 --permits 2 --crashes 1"},
      Departure{"by-forwarder", "last_msg is kept by forwarder: a request is delivered twice",
                "--nodes 4 --requesters 0,2 --channels fifo --early-timeouts 1"},
      Departure{"any-other-time", "an old copy is taken for a new request",
                "--nodes 2 --requests 2 --early-timeouts 1"},
      Departure{"not-acknowledged-again", "a copy is not acknowledged, an answer never repeated",
                "--nodes 2 --requesters 0 --requests 2 --losses 1"},
      Departure{"clock-not-followed", "without line 19", "--nodes 2"},
  };

  struct Message {
    enum class Kind : std::uint8_t { request, reply, tree, ack } kind = Kind::request;
    std::uint8_t hops = 0;    // of a tree
    std::uint16_t count = 0;  // of a reply
    NodeId root;              // of a tree
    std::uint64_t time = 0;   // of the request
    std::uint16_t which = 0;  // same-time, not printed: the root's first request, second, ...
    static constexpr std::array<std::string_view, 4> kinds = {"request", "reply", "tree", "ack"};
    static constexpr std::array<std::string_view, 6> labels = {"kind", "hops", "count",
                                                               "root", "time", "which"};
    [[nodiscard]] auto fields() const { return std::tie(kind, hops, count, root, time, which); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { not_requesting, requesting, executing };
  static constexpr std::array<std::string_view, 1> timers = {"acknowledgements"};

  NodeId self;
  std::uint32_t nodes = 0, epoch = 0, permits = 1;
  Reading reading = Reading::same_time;

  LamportClock clock;
  Phase phase = Phase::not_requesting;
  std::uint64_t last = 0;
  std::int32_t perm_count = 0;
  boost::container::small_vector<std::int16_t, 4> reply_count;
  boost::container::small_vector<std::uint16_t, 4> defer_count;
  NodeSet suspects;
  bool before_line_11 = false;  // counted-late
  NodeSet half_crashed;         // suspected-first, adjusted-first: the second half is to come
  NodeSet told_again;           // told-twice: those of whom it has been told again
  std::uint16_t requests = 0;   // same-time, not printed: how many it has made
  SpanningTree tree;

  static constexpr std::array<std::string_view, 12> labels = {
      "clock",    "phase",          "last",         "perm_count", "reply_count", "defer_count",
      "suspects", "before_line_11", "half_crashed", "told_again", "requests",    "tree"};
  [[nodiscard]] auto fields() const {
    return std::tie(clock, phase, last, perm_count, reply_count, defer_count, suspects,
                    before_line_11, half_crashed, told_again, requests, tree);
  }
  bool operator==(const RobustK&) const = default;

  static RobustK resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    RobustK node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.epoch = setup.epoch;
    node.permits = setup.permits;
    node.reading = static_cast<Reading>(std::max<std::uint8_t>(setup.departure, 1));
    node.start_anew();
    return node;
  }

  void request(Demand, Out& out) {
    phase = Phase::requesting;
    last = clock.now() + 1;  // line 8
    if (spreads() && reading != Reading::same_time) clock.tick();
    if (reading == Reading::same_time) ++requests;
    perm_count = 0;
    if (spreads()) {
      if (tree.add(last)) disseminate(out);
    } else {
      for_each_trusted([&](NodeId node) { out.send(node, {.kind = Kind::request, .time = last}); });
    }
    before_line_11 = reading == Reading::counted_late;
    if (!before_line_11) expect_answers();
  }

  void release(Out& out) {
    phase = Phase::not_requesting;
    for_each_trusted([&](NodeId node) {
      auto& count = defer_count[node.index()];
      if (count == 0) return;
      out.send(node, {.kind = Kind::reply, .count = count});
      count = 0;
    });
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return on_request(from, message.time, out);
      case Kind::reply:
        return on_reply(from, message.count);
      case Kind::tree:
        return on_tree(from, message, out);
      case Kind::ack:
        tree.acknowledge(from, message.time);
        return end_asking(out);
    }
  }

  void expire(std::uint8_t, Out& out) { disseminate(out); }  // lines 5 to 10: once more

  void suspect(NodeId node, Out& out) {
    const bool halves = reading == Reading::suspected_first || reading == Reading::adjusted_first;
    if (reading != Reading::suspected_first) adjust(node);
    if (reading != Reading::adjusted_first) suspects.insert(node);
    if (halves) half_crashed.insert(node);
    end_asking(out);
  }

  void crash() {
    const bool body = reading == Reading::dead_holder && phase == Phase::executing;
    start_anew();
    if (body) phase = Phase::executing;
  }

  // What it does by itself: line 11, line 13, and what a detector may do.
  [[nodiscard]] std::uint32_t choices() const {
    return static_cast<std::uint32_t>(before_line_11 || may_enter()) +
           static_cast<std::uint32_t>(half_crashed.size()) + repeatable();
  }
  void choose(std::uint32_t choice, Out& out);
  [[nodiscard]] std::string choice_name(std::uint32_t choice) const;

  static bool still_expected(const Snapshot<RobustK>& world, NodeId node, std::uint8_t /*timer*/) {
    const auto asked = world.nodes[node.index()].tree.current();
    return std::any_of(world.flights.begin(), world.flights.end(), [&](const auto& flight) {
      const auto& message = flight.message;
      if (message.kind == Kind::tree) return message.root == node && message.time == asked;
      return message.kind == Kind::ack && flight.to == node && message.time == asked;
    });
  }

  static std::string_view broken_invariant(const Snapshot<RobustK>& world) {
    for (const auto& node : world.nodes) {
      if (node.tree.delivered_twice()) return "a request is delivered once";
      if (node.tree.refused_new()) return "a new request is delivered";
    }
    if (world.nodes[0].reading != Reading::dead_holder) return {};
    const auto holders =
        std::count_if(world.nodes.begin(), world.nodes.end(),
                      [](const auto& node) { return node.phase == Phase::executing; });
    return holders > world.nodes[0].permits ? "a dead holder keeps its permit" : "";
  }

 private:
  void start_anew() {
    clock = {};
    phase = Phase::not_requesting;
    last = 0;
    perm_count = 0;
    reply_count.assign(nodes, 0);
    defer_count.assign(nodes, 0);
    suspects.clear();
    before_line_11 = false;
    half_crashed.clear();
    told_again.clear();
    requests = 0;
    tree = SpanningTree(nodes, self);
  }

  // Whether requests go along the printed tree. In the other readings each arrives once.
  [[nodiscard]] bool spreads() const {
    return reading == Reading::same_time || reading == Reading::by_forwarder ||
           reading == Reading::any_other_time || reading == Reading::not_acknowledged_again;
  }
  template <class Visit>
  void for_each_trusted(Visit visit) const {
    for (std::uint32_t i = 0; i < nodes; ++i)
      if (NodeId{i} != self && !suspects.contains(NodeId{i})) visit(NodeId{i});
  }

  void expect_answers() {  // line 11
    for_each_trusted([&](NodeId node) { ++reply_count[node.index()]; });
  }
  [[nodiscard]] bool may_enter() const {  // line 12
    const auto needed = static_cast<std::int64_t>(nodes) -
                        static_cast<std::int64_t>(suspects.size()) -
                        static_cast<std::int64_t>(permits);
    return phase == Phase::requesting && !before_line_11 && perm_count >= needed;
  }
  [[nodiscard]] std::uint32_t repeatable() const {
    if (reading == Reading::revised_suspicion) return static_cast<std::uint32_t>(suspects.size());
    if (reading != Reading::told_twice) return 0;
    return static_cast<std::uint32_t>(suspects.size() - told_again.size());
  }

  void on_request(NodeId from, std::uint64_t asked, Out& out) {
    if (reading != Reading::clock_not_followed) clock.observe(asked);  // line 19
    if (suspects.contains(from)) return;
    if (phase == Phase::executing || (phase == Phase::requesting && goes_before(asked, from))) {
      ++defer_count[from.index()];
    } else {
      out.send(from, {.kind = Kind::reply, .count = 1});
    }
  }
  [[nodiscard]] bool goes_before(std::uint64_t asked, NodeId from) const {  // line 21
    if (reading == Reading::later_first) return asked < last || (asked == last && self < from);
    if (reading == Reading::tie_reply) return last < asked;
    if (reading == Reading::tie_silence) return last <= asked;
    return Priority{last, self} < Priority{asked, from};
  }
  void on_reply(NodeId from, std::uint16_t count) {  // lines 25 to 28
    if (suspects.contains(from)) return;
    auto& expected = reply_count[from.index()];
    expected = static_cast<std::int16_t>(expected - count);
    if (phase == Phase::requesting && expected == 0) ++perm_count;
  }
  void adjust(NodeId crashed) {  // lines 29 and 30
    if (reading == Reading::not_adjusted) return;
    if (phase == Phase::requesting && reply_count[crashed.index()] == 0) --perm_count;
  }

  void disseminate(Out& out) {
    if (!tree.running()) return;
    tree.disseminate(suspects, [&](NodeId to, std::uint8_t hops) {
      out.send(to, {.kind = Kind::tree,
                    .hops = hops,
                    .root = self,
                    .time = tree.current(),
                    .which = requests});
    });
    out.arm(0, 80'000'000);
  }
  void end_asking(Out& out) {
    if (!tree.finish_if_complete(suspects)) return;
    out.disarm(0);
    disseminate(out);
  }
  void on_tree(NodeId from, const Message& message, Out& out) {
    const SpanningTree::Known asked{message.root, message.time};
    const auto index = reading == Reading::by_forwarder ? from : message.root;
    const bool later_only = reading == Reading::not_acknowledged_again;
    if (later_only ? tree.is_later(index, asked) : tree.is_new(index, asked)) {
      if (reading == Reading::by_forwarder) tree.note_delivery(message.root, message.time);
      if (reading == Reading::same_time) tree.note_delivery(message.root, message.which);
      on_request(message.root, message.time, out);
      out.send(message.root, {.kind = Kind::ack, .time = message.time});
    } else if (reading == Reading::same_time) {
      tree.note_refusal(message.root, message.which);
    }
    tree.forward(message.hops, suspects, [&](NodeId to, std::uint8_t hops) {
      auto onward = message;
      onward.hops = hops;
      out.send(to, onward);
    });
  }

  // The k-th of those in a set and not in another.
  static NodeId nth(const NodeSet& set, const NodeSet& except, std::uint32_t k) {
    NodeId found;
    set.for_each([&](NodeId node) {
      if (!except.contains(node) && k-- == 0) found = node;
    });
    return found;
  }
};

inline void RobustK::choose(std::uint32_t choice, Out& out) {
  if (before_line_11) {
    if (choice-- == 0) {
      before_line_11 = false;
      return expect_answers();
    }
  } else if (may_enter() && choice-- == 0) {
    phase = Phase::executing;
    return out.grant(Fence::at(epoch, last * nodes + self.value));
  }
  if (choice < half_crashed.size()) {
    const auto node = nth(half_crashed, {}, choice);
    half_crashed.erase(node);
    reading == Reading::suspected_first ? adjust(node) : suspects.insert(node);
  } else if (reading == Reading::told_twice) {
    const auto node = nth(suspects, told_again, choice);
    told_again.insert(node);
    adjust(node);
  } else {
    suspects.erase(nth(suspects, {}, choice));
  }
}

inline std::string RobustK::choice_name(std::uint32_t choice) const {
  if (before_line_11 && choice == 0) return "line 11";
  if (may_enter() && choice == 0) return "line 13";
  if (reading == Reading::suspected_first) return "lines 29 and 30";
  if (reading == Reading::adjusted_first) return "the crash is known";
  return reading == Reading::told_twice ? "told again" : "not dead after all";
}

}  // namespace turno::protocols::as_published
