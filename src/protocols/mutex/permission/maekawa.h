// Maekawa, "A sqrt(N) algorithm for mutual exclusion in decentralized systems", 1985, in the form
// that always yields: no deadlock, and no FAILED message.
//
// A node enters with the votes of its whole quorum; any two quorums share an arbiter. An arbiter
// that has voted for a younger request recalls its vote, and a requester that is not inside gives
// it back. (The 1985 rules deadlock: see as_published/maekawa.h.)
//
// Assumes reliable channels, any order; no crashes. Messages per entry, quorums of k with the node
// in its own: 3(k-1), at most 6(k-1) amortised. The fence is the clock at entry; releases spread
// it.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/parts/cost.h"
#include "protocols/parts/quorum/candidacy.h"
#include "protocols/parts/quorum/votes.h"

namespace turno::protocols {

struct Maekawa : Candidacy {
  static constexpr Info info{.name = "maekawa",
                             .title = "the votes of a quorum; a younger request yields its votes",
                             .source = "Maekawa 1985, corrected",
                             .voting = true,
                             .growing = true,
                             .low = "3(k-1)",
                             .high = "3(k-1) to 6(k-1)"};

  struct Message {
    enum class Kind : std::uint8_t { request, grant, recall, yield, release } kind = Kind::request;
    std::uint64_t time = 0;   // of the request
    std::uint64_t clock = 0;  // of the sender: in a grant its own, in a release the fence
    static constexpr std::array<std::string_view, 5> kinds = {"request", "grant", "recall", "yield",
                                                              "release"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "time", "clock"};
    [[nodiscard]] auto fields() const { return std::tie(kind, time, clock); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  std::uint32_t epoch = 0;
  boost::container::small_vector<NodeId, 4> quorum;
  LamportClock clock;
  std::uint64_t fence = 0;  // the clock at entry, while inside
  // As an arbiter.
  Votes votes;

  static constexpr std::array<std::string_view, 7> labels = {"clock", "phase",    "time", "fence",
                                                             "have",  "deferred", "votes"};
  [[nodiscard]] auto fields() const {
    return std::tie(clock, phase, time, fence, have, deferred, votes);
  }
  bool operator==(const Maekawa&) const = default;

  static Maekawa resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Maekawa node;
    node.self = self;
    node.epoch = setup.epoch;
    const auto& mine = setup.quorums[self.index()];
    node.quorum.assign(mine.begin(), mine.end());
    if (holdings.empty()) return node;
    const auto holder = holdings.front().seat;
    const auto& theirs = setup.quorums[holder.index()];
    if (std::find(theirs.begin(), theirs.end(), self) != theirs.end()) node.votes.add({0, holder});
    if (node.votes.waiting()) node.votes.cast();
    if (self != holder) return node;
    node.phase = Phase::inside;
    for (auto arbiter : node.quorum) node.have.insert(arbiter);
    return node;
  }

  static double alone(const Setup& setup) {
    double others = 0;
    for (std::size_t i = 0; i < setup.size(); ++i)
      for (auto arbiter : setup.quorums[i]) others += arbiter == NodeId{i} ? 0 : 1;
    return 3 * others / nodes_of(setup);
  }

  void request(Demand, Out& out) {
    begin(clock.tick());
    for (auto arbiter : quorum) send(arbiter, {.kind = Kind::request, .time = time}, out);
  }

  void release(Out& out) {
    const Message farewell{.kind = Kind::release, .time = time, .clock = fence};
    end();
    fence = 0;
    for (auto arbiter : quorum) send(arbiter, farewell, out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return on_request(from, message, out);
      case Kind::grant:
        return on_grant(from, message, out);
      case Kind::recall:
        return on_recall(from, message, out);
      case Kind::yield:
        if (votes.holder() == Priority{message.time, from}) cast_vote(out);
        return;
      case Kind::release:
        clock.observe(message.clock);
        if (votes.remove({message.time, from}) && votes.waiting()) cast_vote(out);
        return;
    }
  }

  static std::string_view broken_invariant(const Snapshot<Maekawa>& world);

 private:
  // A message to oneself is a call and costs nothing. No handler sends to itself twice, so the
  // order of such calls is the order of sending.
  void send(NodeId to, const Message& message, Out& out) {
    if (to == self) {
      receive(self, message, out);
    } else {
      out.send(to, message);
    }
  }

  void on_request(NodeId from, const Message& message, Out& out) {
    clock.observe(message.time);
    votes.add({message.time, from});
    if (!votes.cast_any()) return cast_vote(out);
    if (votes.should_recall()) {
      const auto holder = votes.recall();
      send(holder.node, {.kind = Kind::recall, .time = holder.time}, out);
    }
  }

  void cast_vote(Out& out) {
    const auto chosen = votes.cast();
    send(chosen.node, {.kind = Kind::grant, .time = chosen.time, .clock = clock.now()}, out);
  }

  void on_grant(NodeId from, const Message& message, Out& out) {
    clock.observe(message.clock);
    if (!awaits(message.time)) return;
    TURNO_ASSERT(!have.contains(from) && is_arbiter(from));
    const auto taken = take(from, quorum.size());
    if (taken == Taken::to_give_back) yield(from, out);
    if (taken != Taken::won) return;
    fence = clock.tick();
    out.grant(Fence::at(epoch, fence));
  }

  void on_recall(NodeId from, const Message& message, Out& out) {
    if (awaits(message.time) && give_back(from)) yield(from, out);
  }

  [[nodiscard]] bool is_arbiter(NodeId node) const {
    return std::find(quorum.begin(), quorum.end(), node) != quorum.end();
  }
  void yield(NodeId arbiter, Out& out) { send(arbiter, {.kind = Kind::yield, .time = time}, out); }
};

// The invariants of vote keeping: a vote is in exactly one place, and who is inside has them all.
inline std::string_view Maekawa::broken_invariant(const Snapshot<Maekawa>& world) {
  for (const auto& arbiter : world.nodes) {
    if (!arbiter.votes.consistent()) return "I1: a vote is cast if and only if somebody asks";
    if (arbiter.votes.should_recall()) return "I5: a vote for a younger request is recalled";
    if (!arbiter.votes.cast_any()) continue;
    const auto holder = arbiter.votes.holder();
    const auto& owner = world.nodes[holder.node.index()];
    std::size_t places = owner.time == holder.time && owner.have.contains(arbiter.self) ? 1 : 0;
    for (const auto& flight : world.flights) {
      const auto kind = flight.message.kind;
      const bool down = kind == Kind::grant && flight.from == arbiter.self;
      const bool up = (kind == Kind::yield || kind == Kind::release) && flight.to == arbiter.self;
      if (!down && !up) continue;
      if (Priority{flight.message.time, down ? flight.to : flight.from} != holder)
        return "I3: what travels of a vote concerns its holder";
      ++places;
    }
    if (places != 1) return "I2: a vote is in exactly one place";
  }
  for (const auto& node : world.nodes) {
    if (node.phase == Phase::inside && node.have.size() != node.quorum.size())
      return "I4: who is inside has all votes";
    if (node.phase == Phase::idle && !(node.have.empty() && node.deferred.empty()))
      return "I7: an idle node keeps no vote";
  }
  return {};
}

}  // namespace turno::protocols
