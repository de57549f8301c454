// The central coordinator (central.h) with failover: when it crashes, the others elect a new one
// (election/bully.h), which asks everybody who is inside and who waits, and goes on.
//
// A node numbers what it tells about its user, and a grant names the number that it answers: one of
// an old coordinator, or one that crossed newer news, comes too late. The new coordinator lets
// nobody in before every live node has told it what its user does. A holder that crashes has left.
// The fence counts elections in its high part; all who tell a coordinator something know its
// election, so the next one has a higher number.
//
// Assumes a failure detector that is never wrong, reliable channels, any order; any number of
// crashes, no recovery. Messages per entry: 3(N-1)/N; a failover costs an election and N-1 reports.
#pragma once

#include <boost/container/small_vector.hpp>

#include "core/container/queue.h"
#include "core/protocol.h"
#include "protocols/election/bully.h"

namespace turno::protocols {

struct CentralFailover {
  static constexpr Info info{.name = "central-failover",
                             .title = "central, and the others elect a new one when it crashes",
                             .source = "lecture slides, PUCRS, with the bully algorithm",
                             .growing = true,
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
    std::uint32_t number = 0;  // of the news; in a grant, of what it answers
    bool waits = false;        // the user
    Fence fence;               // with which the user is inside; in a grant, the new one
    std::uint32_t epoch = 0;   // of an election
    NodeId coordinator;        // its result
    static constexpr std::array<std::string_view, 7> kinds = {
        "request", "grant", "release", "report", "election", "alive", "coordinator"};
    static constexpr std::array<std::string_view, 6> labels = {"kind",  "number", "waits",
                                                               "fence", "epoch",  "coordinator"};
    [[nodiscard]] auto fields() const {
      return std::tie(kind, number, waits, fence, epoch, coordinator);
    }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  std::uint32_t nodes = 0, view = 0;
  Bully election;
  NodeSet gone;              // who has crashed, as far as it was told
  NodeId server;             // the coordinator to which it tells what its user does
  std::uint32_t number = 0;  // of the last news
  bool waits = false;
  Fence inside;  // of the user, while it is inside
  // Of the coordinator.
  boost::container::small_vector<std::uint32_t, 4> heard;  // of each node, its last news; or 0
  NodeId holder;
  Fence fence;  // of the last grant
  Queue<NodeId> queue;

  static constexpr std::array<std::string_view, 10> labels = {
      "election", "gone",  "server", "number", "waits",
      "inside",   "heard", "holder", "fence",  "queue"};
  [[nodiscard]] auto fields() const {
    return std::tie(election, gone, server, number, waits, inside, heard, holder, fence, queue);
  }
  bool operator==(const CentralFailover& other) const { return fields() == other.fields(); }

  static CentralFailover resume(const Setup& setup, NodeId self,
                                std::span<const Holding> holdings) {
    CentralFailover node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.view = setup.epoch;
    node.number = 1;  // as if all had told the first coordinator
    node.election = Bully::resume(setup, self, {});
    node.server = node.election.coordinator;
    const auto resumed = Fence::at(setup.epoch);
    if (!holdings.empty() && holdings.front().seat == self) node.inside = resumed;
    if (node.server != self) return node;
    node.fence = node.first_fence();
    node.heard.assign(setup.size(), 1);
    if (!holdings.empty()) node.holder = holdings.front().seat;
    return node;
  }

  static double alone(const Setup& setup) {
    return 3 * (1 - 1 / static_cast<double>(setup.size()));
  }

  void request(Demand, Out& out) {
    waits = true;
    tell(Kind::request, out);
  }

  void release(Out& out) {
    inside = {};
    tell(Kind::release, out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    if (gone.contains(from)) return;  // it was sent before the crash
    switch (message.kind) {
      case Kind::grant:
        if (from == server && message.number == number) enter(message.fence, out);
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
    if (server == self) {
      fence = first_fence();
      heard.assign(nodes, 0);
    }
    tell(Kind::report, out);
  }
  [[nodiscard]] Fence first_fence() const {
    return Fence::at(std::uint64_t{view} +
                     election.since);  // each election has an epoch of its own
  }

  // ---- the user

  void tell(Kind kind, Out& out) {
    const Message news{.kind = kind, .number = ++number, .waits = waits, .fence = inside};
    if (server == self) return serve(self, news, out);
    out.send(server, news);
  }
  void enter(Fence granted, Out& out) {
    waits = false;
    inside = granted;
    out.grant(granted);
  }

  // ---- the coordinator

  void serve(NodeId from, const Message& news, Out& out) {
    if (heard.empty() || heard[from.index()] >= news.number) return;
    heard[from.index()] = news.number;
    remove(from);
    if (news.waits) queue.push(from);
    if (news.fence != Fence{}) holder = from;
    next(out);
  }
  void bury(NodeId node, Out& out) {
    remove(node);
    next(out);
  }
  void remove(NodeId node) {
    if (holder == node) holder = nobody;
    const auto before = std::exchange(queue, {});
    for (auto other : before)
      if (other != node) queue.push(other);
  }
  void next(Out& out) {
    if (holder != nobody || queue.empty() || !everybody_heard()) return;
    holder = queue.pop();
    fence = fence.next();
    if (holder == self) return enter(fence, out);
    out.send(holder, {.kind = Kind::grant, .number = heard[holder.index()], .fence = fence});
  }
  [[nodiscard]] bool everybody_heard() const {
    for (std::size_t i = 0; i < nodes; ++i)
      if (heard[i] == 0 && !gone.contains(NodeId{i})) return false;
    return true;
  }
};

}  // namespace turno::protocols
