// The central coordinator (central.h) with failover: when it crashes, the others elect a new one
// (election/bully.h), which asks everybody who is inside and who waits, and goes on.
//
// The new coordinator lets nobody in before every live node has told it what its user does. From
// then on a node listens to the new coordinator only: a grant of the old one that is still on its
// way comes too late. A holder that crashes has left. The fence counts elections in its high part;
// all who tell a coordinator something know its election, so the next one has a higher number.
//
// Assumes a failure detector that is never wrong, reliable channels, any order; any number of
// crashes, no recovery. Messages per entry: 3(N-1)/N; a failover costs an election and N-1 reports.
#pragma once

#include "core/protocol.h"
#include "core/queue.h"
#include "protocols/election/bully.h"

namespace turno {

struct CentralFailover {
  static constexpr Info info{.name = "central-failover",
                             .title = "central, and the others elect a new one when it crashes",
                             .source = "lecture slides, PUCRS, with the bully algorithm",
                             .low = "3(N-1)/N",
                             .high = "3(N-1)/N"};

  struct Message {
    enum class Kind : std::uint8_t {
      request,
      grant,
      release,
      report,
      election,
      alive,
      coordinator
    } kind = Kind::request;
    Fence fence;              // of a grant; of who is inside, in a report; of who leaves
    bool waits = false;       // in a report
    std::uint32_t epoch = 0;  // of an election
    NodeId coordinator;       // its result
    static constexpr std::array<std::string_view, 7> kinds = {
        "request", "grant", "release", "report", "election", "alive", "coordinator"};
    static constexpr std::array<std::string_view, 5> labels = {"kind", "fence", "waits", "epoch",
                                                               "coordinator"};
    [[nodiscard]] auto fields() const { return std::tie(kind, fence, waits, epoch, coordinator); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  static constexpr int grant_bits = 28;  // the rest of the count numbers the elections

  NodeId self;
  std::uint32_t nodes = 0, view = 0;
  Bully election;
  NodeSet gone;   // who has crashed, as far as it was told
  NodeId server;  // the coordinator that knows what the user does
  bool waits = false;
  Fence inside;  // of the user, while it is inside
  // Of the coordinator.
  NodeSet heard;  // who has told it what its user does
  NodeId holder;
  Fence fence;  // of the last grant; of the holder, if another coordinator let it in
  Fence holds;  // of the holder
  Queue<NodeId> queue;

  static constexpr std::array<std::string_view, 10> labels = {
      "election", "gone",   "server", "waits", "inside",
      "heard",    "holder", "fence",  "holds", "queue"};
  [[nodiscard]] auto fields() const {
    return std::tie(election, gone, server, waits, inside, heard, holder, fence, holds, queue);
  }
  bool operator==(const CentralFailover& other) const { return fields() == other.fields(); }

  static CentralFailover resume(const Setup& setup, NodeId self, std::span<const NodeId> holders) {
    CentralFailover node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.view = setup.epoch;
    node.election = Bully::resume(setup, self, {});
    node.server = node.election.coordinator;
    const auto resumed = Fence::at(setup.epoch);
    if (!holders.empty() && holders.front() == self) node.inside = resumed;
    if (node.server != self) return node;
    node.fence = node.first_fence();
    for (std::size_t i = 0; i < setup.size(); ++i) node.heard.insert(NodeId{i});
    if (!holders.empty()) node.holder = holders.front(), node.holds = resumed;
    return node;
  }

  static double alone(const Setup& setup) {
    return 3 * (1 - 1 / static_cast<double>(setup.size()));
  }

  void request(Demand, Out& out) {
    waits = true;
    tell({.kind = Kind::request}, out);
  }

  void release(Out& out) {
    const auto left = std::exchange(inside, {});
    tell({.kind = Kind::release, .fence = left}, out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    if (gone.contains(from)) return;  // it was sent before the crash
    switch (message.kind) {
      case Kind::grant:
        if (from == server) enter(message.fence, out);
        return;
      case Kind::request:
      case Kind::release:
      case Kind::report:
        return serve(from, message, out);
      case Kind::election:
      case Kind::alive:
      case Kind::coordinator:
        break;
    }
    elect(out, [&](Bully::Out& effects) {
      election.receive(from, {bully_kind(message.kind), message.epoch, message.coordinator},
                       effects);
    });
  }

  // The detector takes the place of the election's timeouts: no answer can come when all above are
  // dead.
  void suspect(NodeId node, Out& out) {
    gone.insert(node);
    if (server == self) bury(node, out);
    elect(out, [](Bully::Out&) {});
  }

  void crash() { *this = CentralFailover{}; }

 private:
  // ---- the election

  static Bully::Kind bully_kind(Kind kind) {
    if (kind == Kind::election) return Bully::Kind::election;
    return kind == Kind::alive ? Bully::Kind::alive : Bully::Kind::coordinator;
  }
  static Kind own_kind(Bully::Kind kind) {
    if (kind == Bully::Kind::election) return Kind::election;
    return kind == Bully::Kind::alive ? Kind::alive : Kind::coordinator;
  }

  template <class Input>
  void elect(Out& out, Input input) {
    Bully::Out effects;
    input(effects);
    if (gone.contains(election.coordinator)) election.expire(Bully::service_timer, effects);
    while (election.phase != Bully::Phase::normal && nobody_above())
      election.expire(
          election.phase == Bully::Phase::electing ? Bully::answer_timer : Bully::result_timer,
          effects);
    for (const auto& [to, message] : effects.sends())
      out.send(to, {.kind = own_kind(message.kind),
                    .epoch = message.epoch,
                    .coordinator = message.coordinator});
    if (election.coordinator != nobody && election.coordinator != server) adopt(out);
  }
  [[nodiscard]] bool nobody_above() const {
    for (auto i = self.index() + 1; i < nodes; ++i)
      if (!gone.contains(NodeId{i})) return false;
    return true;
  }

  void adopt(Out& out) {
    server = election.coordinator;
    if (server == self) fence = first_fence();
    tell({.kind = Kind::report, .fence = inside, .waits = waits}, out);
  }
  [[nodiscard]] Fence first_fence() const {
    return Fence::at(view, std::uint64_t{election.since} << grant_bits);
  }

  // ---- the user

  void tell(const Message& message, Out& out) {
    if (server == self) return serve(self, message, out);
    out.send(server, message);
  }
  void enter(Fence granted, Out& out) {
    waits = false;
    inside = granted;
    out.grant(granted);
  }

  // ---- the coordinator

  // What a node says first tells what its user does; a report that was overtaken says nothing new.
  void serve(NodeId from, const Message& message, Out& out) {
    const bool news = !heard.contains(from);
    heard.insert(from);
    if (message.kind == Kind::request || (message.kind == Kind::report && news && message.waits))
      queue.push(from);
    if (message.kind == Kind::report && news && message.fence != Fence{}) {
      holder = from;
      holds = message.fence;
    }
    if (message.kind == Kind::release && holder == from && holds == message.fence) vacate();
    next(out);
  }
  void bury(NodeId node, Out& out) {
    const auto before = std::exchange(queue, {});
    for (auto other : before)
      if (other != node) queue.push(other);
    if (holder == node) vacate();
    next(out);
  }
  void vacate() {
    holder = nobody;
    holds = {};
  }
  void next(Out& out) {
    if (holder != nobody || queue.empty() || !everybody_heard()) return;
    holder = queue.pop();
    holds = fence = fence.next();
    if (holder == self) return enter(fence, out);
    out.send(holder, {.kind = Kind::grant, .fence = fence});
  }
  [[nodiscard]] bool everybody_heard() const {
    for (std::size_t i = 0; i < nodes; ++i)
      if (!heard.contains(NodeId{i}) && !gone.contains(NodeId{i})) return false;
    return true;
  }
};

}  // namespace turno
