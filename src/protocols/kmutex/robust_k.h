// Rodrigues, Duarte Jr. and Arantes, "Exclusao mutua distribuida e robusta para k recursos
// compartilhados", corrected: a semaphore that lives until one node is left.
//
// A node asks all others along a tree and enters when all but k-1 of those that it does not suspect
// have answered. One that is inside, or waits with an older request, keeps its answer until it has
// left. An answer names its request, so that nothing is counted and a crash is one step without
// correction (the printed counters break in several ways: as_published/robust_k.h).
//
// Slots. The paper's permits have no identity. Here who defers a request says so, and its slot if
// it is inside; who may enter waits until each of the others that has not answered has told its
// slot (or answered, or crashed), and takes the smallest free one. So slots are chosen in the order
// of requests, and (time, node) is a fence that grows over all slots together (docs/algorithms).
//
// Assumes a perfect failure detector: inside (the hypercube's) or from outside (`told`). Reliable
// channels, any order; or `lossy`, if messages may be lost. Messages per entry: 3(N-1), of which
// N-1 acknowledgements; 2(k-1) more at most for slots.
#pragma once

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/kmutex/deferred.h"
#include "protocols/kmutex/whereabouts.h"
#include "protocols/parts/broadcast/tree.h"
#include "protocols/parts/cost.h"
#include "protocols/parts/detector/hypercube_detector.h"

namespace turno::protocols {

struct RobustK {
  static constexpr Info info{.name = "robust-k",
                             .title = "ask everybody along a tree; all but k-1 of the live answer",
                             .source = "Rodrigues, Duarte Jr., Arantes, corrected",
                             .primitive = Primitive::semaphore,
                             .growing = true,
                             .low = "3(N-1)",
                             .high = "3(N-1) + 2(k-1) or less"};
  enum class Without : std::uint8_t { nothing, silence, order };
  static constexpr std::array departures = {
      Departure{"silence", "takes a slot that nobody has told of, without waiting for the silent",
                "--nodes 3 --permits 2 --direct"},
      Departure{"order", "does not wait for the slots of older requests",
                "--nodes 3 --permits 2 --direct"},
  };

  struct Config {
    bool fixed_threshold = false;  // suspects still count as possible holders
    bool reply_acknowledges = false;
    bool direct = false;   // requests go straight to everybody, not along the tree
    bool counted = false;  // permits have no names: grants only count, as published
    bool lossy = false;    // links lose messages: who waits asks again
    bool queued = false;   // a request goes out when the one before is acknowledged, as published
    std::int64_t acknowledge_within_ns = 80'000'000;
    Detector detector = Detector::told;
    std::int64_t test_every_ns = 1'000'000'000, test_timeout_ns = 40'000'000;
    bool operator==(const Config&) const = default;
  };

  struct Message {
    enum class Kind : std::uint8_t {
      tree,     // a request, along the tree
      request,  // a request, directly
      ack,
      reply,  // the answer
      later,  // deferred by who waits itself
      where,  // have you a slot now?
      taken,  // deferred by who is inside, in this slot
      ping,
      pong
    };
    Kind kind = Kind::tree;
    std::uint8_t hops = 0;   // of a tree
    std::uint32_t slot = 0;  // of a taken
    NodeId root;             // of a tree: who asks
    std::uint64_t time = 0;  // of the request; of a ping and its pong, the test
    EventCounters news;      // of a pong
    static constexpr std::array<std::string_view, 9> kinds = {
        "tree", "request", "ack", "reply", "later", "where", "taken", "ping", "pong"};
    static constexpr std::array<std::string_view, 6> labels = {"kind", "hops", "slot",
                                                               "root", "time", "news"};
    [[nodiscard]] auto fields() const { return std::tie(kind, hops, slot, root, time, news); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, inside };
  enum Timer : std::uint8_t { acknowledgements, round, answer };
  static constexpr std::array<std::string_view, 3> timers = {"acknowledgements", "round", "answer"};

  NodeId self;
  std::uint32_t nodes = 0, epoch = 0, permits = 1;
  Config config;
  Without without = Without::nothing;
  bool own_slots = false;  // one for each node, and nobody began in another's: nothing to choose

  LamportClock clock;
  Phase phase = Phase::idle;
  std::uint64_t time = 0;   // of the own request
  bool held_back = false;   // it has not gone out yet
  std::uint32_t slot = 0;   // while inside
  NodeSet granted;          // who has answered the own request, and is not suspected
  Whereabouts whereabouts;  // of those who have deferred it
  Deferred deferred;        // who gets an answer after the exit
  TreeBroadcast tree;
  HypercubeDetector detector;

  static constexpr std::array<std::string_view, 10> labels = {
      "clock",   "phase",       "time",     "held_back", "slot",
      "granted", "whereabouts", "deferred", "tree",      "detector"};
  [[nodiscard]] auto fields() const {
    return std::tie(clock, phase, time, held_back, slot, granted, whereabouts, deferred, tree,
                    detector);
  }
  bool operator==(const RobustK&) const = default;

  static RobustK resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    RobustK node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.epoch = setup.epoch;
    node.permits = setup.permits;
    node.config = setup.config<Config>();
    node.without = static_cast<Without>(setup.departure);
    const auto elsewhere = [](const Holding& holding) {
      return !holding.units.empty() && holding.units.front() != holding.seat.value;
    };
    node.own_slots =
        setup.permits == setup.size() && std::none_of(holdings.begin(), holdings.end(), elsewhere);
    node.crash();  // all else as after a crash
    if (const auto* holding = holding_of(self, holdings)) {
      node.phase = Phase::inside;
      node.slot = holding->units.empty() ? 0 : holding->units.front();
    }
    return node;
  }

  static double alone(const Setup& setup) {
    const auto config = setup.config<Config>();
    return (config.reply_acknowledges || config.direct ? 2 : 3) * (nodes_of(setup) - 1);
  }

  void start(Out& out) {
    if (detects_crashes()) expire(Timer::round, out);
  }

  void request(Demand, Out& out) {
    phase = Phase::waiting;
    time = clock.tick();
    held_back = config.queued && tree.running();
    if (!held_back) ask_all(out);
    enter_if_allowed(out);
  }

  void release(Out& out) {
    phase = Phase::idle;
    time = slot = 0;
    for (const auto& [node, asked, curious] : deferred)
      out.send(node, {.kind = Kind::reply, .time = asked});
    deferred.clear();
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::tree:
        return on_tree(message, out);
      case Kind::request:
        if (defers(from, message.time, out) && names_slots())
          out.send(from, deferral(message.time));
        return;
      case Kind::ack:
        return acknowledge(from, message.time, out);
      case Kind::reply:
        return on_reply(from, message, out);
      case Kind::later:
      case Kind::taken:
        return on_deferral(from, message, out);
      case Kind::where:
        return on_where(from, message, out);
      case Kind::ping:
        return out.send(from, {.kind = Kind::pong, .time = message.time, .news = detector.news()});
      case Kind::pong: {
        DetectorReport report;
        detector.answer(from, static_cast<std::uint32_t>(message.time), message.news, report);
        return follow(report, out);
      }
    }
  }

  void expire(std::uint8_t timer, Out& out) {
    if (timer == Timer::acknowledgements) return ask_again(out);
    DetectorReport report;
    if (timer == Timer::answer) {
      detector.expire(report);
    } else {
      detector.begin_round(report);
      out.arm(Timer::round, config.test_every_ns);
    }
    follow(report, out);
  }

  // Told from outside that a node has crashed.
  void suspect(NodeId node, Out& out) {
    DetectorReport report;
    detector.suspect(node, report);
    follow(report, out);
  }

  // What never changes is left.
  void crash() {
    RobustK node;
    node.self = self;
    node.nodes = nodes;
    node.epoch = epoch;
    node.permits = permits;
    node.config = config;
    node.without = without;
    node.own_slots = own_slots;
    node.tree = TreeBroadcast(nodes, self);
    node.detector = HypercubeDetector(nodes, self, config.detector);
    *this = std::move(node);
  }

  // By itself: it need not be told.
  [[nodiscard]] bool detects_crashes() const { return config.detector != Detector::told; }
  [[nodiscard]] const NodeSet& suspects() const { return detector.suspects(); }

  // Times only grow: what concerns an earlier request will never concern a later one.
  [[nodiscard]] bool ignores(NodeId from, const Message& message) const;
  static bool still_expected(const Snapshot<RobustK>& world, NodeId node, std::uint8_t timer);
  static std::string_view broken_invariant(const Snapshot<RobustK>& world);

 private:
  // With one permit there is nothing to choose.
  [[nodiscard]] bool names_slots() const {
    return !config.counted && !config.fixed_threshold && permits > 1 && !own_slots;
  }

  template <class Visit>
  void for_each_other(Visit visit) const {
    for (std::uint32_t i = 0; i < nodes; ++i)
      if (NodeId{i} != self) visit(NodeId{i});
  }
  // With a fixed threshold the suspects count like the others, and are asked like them.
  [[nodiscard]] bool counts(NodeId node) const {
    return config.fixed_threshold || !detector.suspects(node);
  }

  // ---- asking

  void ask_all(Out& out) {
    config.direct ? ask_directly(out) : ask_along_the_tree(out);
    set_alarm(out);
  }
  void ask_directly(Out& out) {
    for_each_other([&](NodeId node) {
      if (counts(node)) out.send(node, {.kind = Kind::request, .time = time});
    });
  }
  void ask_along_the_tree(Out& out) {
    tree.start(time, suspects(), [&](NodeId to, std::uint8_t hops) {
      out.send(to, {.kind = Kind::tree, .hops = hops, .root = self, .time = time});
    });
    if (config.fixed_threshold) suspects().for_each([&](NodeId node) { ask(node, time, out); });
    tree.finish_if_complete(suspects());
  }
  void ask(NodeId node, std::uint64_t asked, Out& out) const {
    if (config.direct) return out.send(node, {.kind = Kind::request, .time = asked});
    out.send(node, {.kind = Kind::tree, .hops = 1, .root = self, .time = asked});
  }
  void ask_again(Out& out) {
    if (config.lossy && phase == Phase::waiting) {
      for_each_other([&](NodeId node) {
        if (counts(node) && !granted.contains(node)) ask(node, time, out);
      });
    } else if (tree.running()) {
      tree.for_each_missing(suspects(), [&](NodeId node) { ask(node, tree.current(), out); });
    }
    set_alarm(out);
  }
  // Somebody may not have the request, or its answer may be lost.
  [[nodiscard]] bool may_ask_again() const {
    return tree.running() || (config.lossy && phase == Phase::waiting);
  }
  void set_alarm(Out& out) const {
    if (may_ask_again()) out.arm(Timer::acknowledgements, config.acknowledge_within_ns);
  }

  // ---- being asked

  void on_tree(const Message& message, Out& out) {
    const auto root = message.root;
    const bool fresh = tree.take(root, message.time);
    if (fresh ? defers(root, message.time, out) : deferred.contains(root, message.time)) {
      out.send(root, deferral(message.time));
    } else {
      if (!fresh && (config.lossy || config.reply_acknowledges))
        out.send(root, {.kind = Kind::reply, .time = message.time});
      if (!config.reply_acknowledges) out.send(root, {.kind = Kind::ack, .time = message.time});
    }
    tree.forward(message.hops, suspects(), [&](NodeId to, std::uint8_t hops) {
      auto onward = message;
      onward.hops = hops;
      out.send(to, onward);
    });
  }

  // Answers a request, or keeps it for later.
  bool defers(NodeId from, std::uint64_t asked, Out& out) {
    clock.observe(asked);
    const bool mine_first = Priority{time, self} < Priority{asked, from};
    const bool later = phase == Phase::inside || (phase == Phase::waiting && mine_first);
    if (later) {
      deferred.add(from, asked);
    } else {
      out.send(from, {.kind = Kind::reply, .time = asked});
    }
    return later;
  }
  // It acknowledges the request, too.
  [[nodiscard]] Message deferral(std::uint64_t asked) const {
    if (!names_slots()) return {.kind = Kind::ack, .time = asked};
    if (phase == Phase::waiting) return {.kind = Kind::later, .time = asked};
    return {.kind = Kind::taken, .slot = slot, .time = asked};
  }

  void on_where(NodeId from, const Message& message, Out& out) {
    auto* request = deferred.find(from, message.time);
    if (request == nullptr) return;  // the answer is on its way
    if (phase == Phase::inside) return out.send(from, deferral(message.time));
    request->curious = true;
  }

  // ---- answers

  void on_deferral(NodeId from, const Message& message, Out& out) {
    acknowledge(from, message.time, out);
    if (!concerns_request(from, message)) return;
    message.kind == Kind::taken ? whereabouts.inside(from, message.slot) : whereabouts.waits(from);
    enter_if_allowed(out);
  }
  void on_reply(NodeId from, const Message& message, Out& out) {
    if (config.reply_acknowledges) acknowledge(from, message.time, out);
    if (!concerns_request(from, message)) return;
    granted.insert(from);
    whereabouts.forget(from);
    enter_if_allowed(out);
  }
  [[nodiscard]] bool concerns_request(NodeId from, const Message& message) const {
    return phase == Phase::waiting && message.time == time && counts(from) &&
           !granted.contains(from);
  }
  void acknowledge(NodeId from, std::uint64_t asked, Out& out) {
    tree.acknowledge(from, asked);
    end_asking(out);
  }
  void end_asking(Out& out) {
    if (!tree.running()) return;
    tree.finish_if_complete(suspects());
    clear_alarm(out);
    if (tree.running() || !held_back) return;
    held_back = false;
    ask_all(out);
  }
  void clear_alarm(Out& out) const {
    if (!may_ask_again()) out.disarm(Timer::acknowledgements);
  }

  // ---- crashes

  void follow(const DetectorReport& report, Out& out) {
    for (auto node : report.crashes) on_crash(node, out);
    for (auto node : report.tests) out.send(node, {.kind = Kind::ping, .time = detector.test()});
    if (!report.tests.empty()) {
      out.arm(Timer::answer, config.test_timeout_ns);
    } else if (detects_crashes() && !detector.waits()) {
      out.disarm(Timer::answer);
    }
    if (!report.crashes.empty()) enter_if_allowed(out);
  }
  // No more than this: what is not counted needs no correction.
  void on_crash(NodeId node, Out& out) {
    if (!config.fixed_threshold) {
      granted.erase(node);
      whereabouts.forget(node);
      deferred.erase(node);
    }
    end_asking(out);
  }

  // ---- entering

  void enter_if_allowed(Out& out) {
    if (phase != Phase::waiting) return;
    const auto dead = config.fixed_threshold ? 0 : suspects().size();
    const auto missing = nodes - 1 - dead - granted.size();
    if (missing >= permits) return;
    if (!names_slots()) return enter(own_slots ? self.value : 0, out);
    if (without == Without::nothing) {
      whereabouts.ask_waiting(
          [&](NodeId node) { out.send(node, {.kind = Kind::where, .time = time}); });
      if (whereabouts.told() < missing) return;
    }
    if (without == Without::order && whereabouts.heard() < missing) return;
    enter(whereabouts.smallest_free(), out);
  }

  void enter(std::uint32_t free_slot, Out& out) {
    phase = Phase::inside;
    slot = free_slot;
    held_back = false;
    granted.clear();
    whereabouts.clear();
    for (auto& request : deferred) {
      if (!request.curious) continue;
      out.send(request.node, deferral(request.time));
      request.curious = false;
    }
    if (config.lossy) clear_alarm(out);
    const auto fence = Fence::at(epoch, time * nodes + self.value);
    if (config.counted || config.fixed_threshold) return out.grant(fence);
    out.grant(Unit{slot, fence});
  }
};

inline bool RobustK::ignores(NodeId from, const Message& message) const {
  const bool acknowledges = message.time == tree.current();
  switch (message.kind) {
    case Kind::ack:
      return !acknowledges;
    case Kind::reply:
      return !(acknowledges && config.reply_acknowledges) && !concerns_request(from, message);
    case Kind::later:
    case Kind::taken:
      return !acknowledges && !concerns_request(from, message);
    case Kind::where:  // a lost answer may make the sender ask again
      return !config.lossy && !deferred.contains(from, message.time);
    default:
      return false;
  }
}

// Whether an acknowledgement, or an answer that is asked for again, can still come by itself.
inline bool RobustK::still_expected(const Snapshot<RobustK>& world, NodeId node,
                                    std::uint8_t /*timer*/) {
  const auto& asker = world.nodes[node.index()];
  const auto asked = asker.phase == Phase::waiting ? asker.time : asker.tree.current();
  for (const auto& [from, to, message] : world.flights) {
    if (message.time != asked) continue;
    const bool out = message.kind == Kind::tree ? message.root == node : from == node;
    if (out || to == node) return true;
  }
  if (!asker.config.lossy || asker.phase != Phase::waiting) return false;
  for (const auto& other : world.nodes)
    if (!world.users[other.self.index()].dead && other.deferred.contains(node, asked)) return true;
  return false;
}

inline std::string_view RobustK::broken_invariant(const Snapshot<RobustK>& world) {
  const auto active = [&](const RobustK& node) {
    return node.phase != Phase::idle && !world.users[node.self.index()].dead;
  };
  const auto older = [](const RobustK& one, const RobustK& other) {
    return Priority{one.time, one.self} < Priority{other.time, other.self};
  };
  for (const auto& one : world.nodes) {
    if (!active(one) || one.phase != Phase::waiting) continue;
    for (const auto& other : world.nodes) {
      if (!active(other) || &one == &other) continue;
      if (one.granted.contains(other.self) && !older(one, other))
        return "who has answered a request is younger, or does not ask";
      const bool ordered = one.names_slots() && one.without == Without::nothing;
      if (ordered && other.phase == Phase::inside && older(one, other))
        return "slots are chosen in the order of requests";
    }
  }
  for (const auto& [from, to, message] : world.flights) {
    if (message.kind != Kind::reply) continue;
    const auto& one = world.nodes[to.index()];
    const auto& other = world.nodes[from.index()];
    if (active(one) && active(other) && message.time == one.time && !older(one, other))
      return "who answers a request is younger, or does not ask";
  }
  return {};
}

}  // namespace turno::protocols
