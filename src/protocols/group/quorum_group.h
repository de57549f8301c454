// Group mutual exclusion over quorums: processes of one group may be inside together, of different
// groups never. Cenci and Ardenghi, "Exclusion mutua en grupos de procesos", corrected
// (docs/algorithms/quorum-group.md has the errata).
//
// Each group has a manager. A process joins its group at the manager; the managers compete as in
// maekawa.h, and the winner lets its processes in for one session. A process that comes during the
// session may be let in too, if the door is open:
//   leader   while the first of the session is inside
//   demand   also as long as no other group is known to ask (arbiters tell: `more`, `wanted`)
//   closed   never
//
// Nodes 0 to G-1 are the managers, the others processes. Assumes reliable channels, any order; no
// crashes. Messages of a session of l processes with quorums of k: 3l + 3(k-1), amortised at most
// 3l + 6(k-1), one more with the demand door. The fence is the manager's clock when the session
// begins; releases spread it.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/group/attendance.h"
#include "protocols/group/latest.h"
#include "protocols/group/overtakings.h"
#include "protocols/parts/quorum/candidacy.h"
#include "protocols/parts/quorum/votes.h"

namespace turno::protocols {

// When a room that is in use lets others of its group in.
enum class Door : std::uint8_t { demand, leader, closed };

struct QuorumGroup {
  static constexpr Info info{.name = "quorum-group",
                             .title = "rooms: groups compete for the votes of quorums",
                             .source = "Cenci, Ardenghi, corrected",
                             .primitive = Primitive::room,
                             .voting = true,
                             .growing = true,
                             .low = "3 + 3(k-1)",
                             .high = "3 + 3(k-1)/l"};

  struct Config {
    Door door = Door::demand;
    bool duplicates = false;       // the network may deliver a message twice
    bool separate_fences = false;  // fences have a clock of their own
    // Of a group of which one may be inside each has a fence of its own, not one for a session: who
    // comes after another can be told from it.
    bool fence_each = false;
  };

  struct Message {
    enum class Kind : std::uint8_t {
      join,     // process to manager: let me in
      enter,    // manager to process: come in
      done,     // process to manager: I have left, or do not want in any more
      request,  // manager to arbiter, as those that follow in maekawa.h
      grant,
      recall,
      yield,
      release,
      wanted  // arbiter to manager: another group asks for the vote
    };
    Kind kind = Kind::join;
    std::uint32_t session = 0;  // of the process
    std::uint64_t time = 0;     // of the request
    std::uint64_t clock = 0;    // of the arbiter, in a grant
    std::uint64_t fence = 0;    // in enter and release; in a grant one before it, if separate
    bool more = false;          // in a grant: another group asks, too
    std::uint32_t number = 0;   // of the grant, if messages may come twice
    static constexpr std::array<std::string_view, 9> kinds = {
        "join", "enter", "done", "request", "grant", "recall", "yield", "release", "wanted"};
    static constexpr std::array<std::string_view, 7> labels = {"kind",  "session", "time",  "clock",
                                                               "fence", "more",    "number"};
    [[nodiscard]] auto fields() const {
      return std::tie(kind, session, time, clock, fence, more, number);
    }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  using Phase = Candidacy::Phase;

  NodeId self;
  std::uint32_t epoch = 0;
  Door door = Door::demand;
  std::uint32_t capacity = 0;
  bool careful = false;   // messages may come twice
  bool separate = false;  // fences have a clock of their own
  bool fence_each = false;
  std::uint32_t most_overtakings = 0;
  boost::container::small_vector<NodeId, 4> quorum;  // of a manager
  // Of a process, and of a manager as requester.
  Candidacy own;              // a process only uses its phase
  NodeId group;               // of a process that is not idle
  std::uint32_t session = 0;  // of a process: counts them
  std::uint64_t fence = 0;    // of the session, while it lasts
  // Of a manager.
  LamportClock clock;
  LamportClock fences;  // if they have a clock of their own
  Attendance attendance;
  NodeSet rivals;  // arbiters at which another group asks, too
  Latest visits;   // of each process, if messages may come twice or it gave up early
  Latest grants;   // number of the last grant of each arbiter, if messages may come twice
  // Of a manager as arbiter.
  Votes votes;
  bool told = false;         // the holder of the vote knows that another group asks
  std::uint32_t number = 0;  // of the last grant, if messages may come twice
  Latest requests;           // of each manager, likewise, or if its release came first
  Overtakings overtakings;

  static constexpr std::array<std::string_view, 18> labels = {
      "phase",  "time",  "have",   "deferred",   "group",    "session",
      "fence",  "clock", "fences", "attendance", "rivals",   "visits",
      "grants", "votes", "told",   "number",     "requests", "overtakings"};
  [[nodiscard]] auto fields() const {
    return std::tie(own.phase, own.time, own.have, own.deferred, group, session, fence, clock,
                    fences, attendance, rivals, visits, grants, votes, told, number, requests,
                    overtakings);
  }
  bool operator==(const QuorumGroup&) const = default;

  static QuorumGroup resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    QuorumGroup node;
    node.self = self;
    node.epoch = setup.epoch;
    if (self.index() >= setup.room.groups) {
      if (const auto* holding = holding_of(self, holdings)) node.be_inside(NodeId{holding->group});
      return node;
    }
    const auto config = setup.config<Config>();
    node.door = config.door;
    node.capacity = setup.room.capacity_of(self);
    node.careful = config.duplicates;
    node.separate = config.separate_fences;
    node.fence_each = config.fence_each && node.capacity == 1;
    node.most_overtakings = setup.config<OvertakingLimit>().most;
    const auto& mine = setup.quorums[self.index()];
    node.quorum.assign(mine.begin(), mine.end());
    if (!holdings.empty()) node.know_session(setup, holdings);
    return node;
  }

  // ---- a process

  void request(const Demand& demand, Out& out) {
    group = NodeId{demand.group};
    own.phase = Phase::competing;
    out.send(group, {.kind = Kind::join, .session = ++session});
  }
  void release(Out& out) {
    out.send(group, {.kind = Kind::done, .session = session});
    own.phase = Phase::idle;
    group = nobody;
    fence = 0;
  }
  void withdraw(Out& out) { release(out); }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::enter:
        if (own.phase != Phase::competing || from != group || message.session != session) return;
        own.phase = Phase::inside;
        fence = message.fence;
        return out.grant(Fence::at(epoch, fence));
      case Kind::join:
        return on_join({from, message.session}, out);
      case Kind::done:
        return on_done({from, message.session}, out);
      case Kind::request:
        return on_request({message.time, from}, out);
      case Kind::grant:
        return on_grant(from, message, out);
      case Kind::recall:
        return on_recall(from, message, out);
      case Kind::yield:
        if (votes.holder() == Priority{message.time, from} && message.number == number)
          cast_vote(out);
        return;
      case Kind::release:
        return on_release({message.time, from}, message.fence, out);
      case Kind::wanted:
        if (own.phase != Phase::idle && message.time == own.time) rivals.insert(from);
        return;
    }
  }

  // The count of the fence of the session that there is when the room begins.
  static constexpr std::uint64_t first_fence = 1;

  static std::string_view broken_invariant(const Snapshot<QuorumGroup>& world);
  static std::string_view unmet_goal(const Snapshot<QuorumGroup>& world);

 private:
  // ---- the session that there is when the room begins: everybody's first, and its request is
  // older than all others

  void be_inside(NodeId of) {
    own.phase = Phase::inside;
    group = of;
    session = 1;
    fence = first_fence;
  }
  void know_session(const Setup& setup, std::span<const Holding> holdings) {
    const NodeId winner{holdings.front().group};
    const auto& voters = setup.quorums[winner.index()];
    if (std::find(voters.begin(), voters.end(), self) != voters.end()) {
      votes.add({0, winner});
      votes.cast();
    }
    if (self != winner) return;
    own.phase = Phase::inside;
    for (auto arbiter : quorum) own.have.insert(arbiter);
    clock_of_fences().observe(first_fence);
    fence = first_fence;
    for (const auto& holding : holdings) {
      TURNO_ASSERT(holding.group == winner.value);
      attendance.join({holding.seat, 1});
      if (careful) visits.note(holding.seat, 1);
    }
    if (door != Door::closed) attendance.begin();
    while (attendance.admit(capacity)) {
    }
  }

  // A message to oneself is a call and costs nothing.
  void send(NodeId to, const Message& message, Out& out) {
    if (to == self) {
      receive(self, message, out);
    } else {
      out.send(to, message);
    }
  }

  // ---- a manager and its processes

  [[nodiscard]] bool door_is_open() const {
    switch (door) {
      case Door::demand:
        return attendance.led() || rivals.empty();
      case Door::leader:
        return attendance.led();
      case Door::closed:
        break;
    }
    return false;
  }

  void on_join(const Visit& visit, Out& out) {
    // A copy, or the process has already given up.
    if (visit.session <= visits.of(visit.process)) return;
    if (careful) visits.note(visit.process, visit.session);
    if (own.phase == Phase::inside && !door_is_open()) return attendance.wait(visit);
    attendance.join(visit);
    if (own.phase == Phase::idle) return compete(out);
    if (own.phase == Phase::inside) admit(out);
  }

  void on_done(const Visit& visit, Out& out) {
    if (!attendance.leave(visit)) return visits.note(visit.process, visit.session);
    if (!attendance.empty()) return own.phase == Phase::inside ? admit(out) : void();
    give_way(out);
    if (!attendance.anybody_waits()) return;
    attendance.turn_over();
    compete(out);
  }

  void admit(Out& out) {
    while (const auto visit = attendance.admit(capacity)) {
      if (fence_each) fence = clock_of_fences().tick();
      out.send(visit->process, {.kind = Kind::enter, .session = visit->session, .fence = fence});
    }
  }

  // ---- a manager as requester

  // Usually the clock of requests: it then goes ahead faster, and fewer votes are recalled.
  LamportClock& clock_of_fences() { return separate ? fences : clock; }

  void compete(Out& out) {
    own.begin(clock.tick());
    for (auto arbiter : quorum) send(arbiter, {.kind = Kind::request, .time = own.time}, out);
  }

  // The session is over, or nobody wants one any more.
  void give_way(Out& out) {
    const Message farewell{.kind = Kind::release, .time = own.time, .fence = fence};
    own.end();
    fence = 0;
    rivals.clear();
    for (auto arbiter : quorum) send(arbiter, farewell, out);
  }

  void on_grant(NodeId from, const Message& message, Out& out) {
    clock.observe(message.clock);
    fences.observe(message.fence);
    if (careful && message.number <= grants.of(from)) return;
    if (careful) grants.note(from, message.number);
    if (!own.awaits(message.time)) return;
    if (message.more) rivals.insert(from);
    const auto overtaken = own.deferred;
    switch (own.take(from, quorum.size())) {
      case Candidacy::Taken::kept:
        return;
      case Candidacy::Taken::to_give_back:
        return give_back(from, message.number, out);
      case Candidacy::Taken::won:
        // Who asked for a vote that is now used is a rival.
        if (door == Door::demand) overtaken.for_each([&](NodeId a) { rivals.insert(a); });
        fence = clock_of_fences().tick();
        if (door != Door::closed) attendance.begin();
        return admit(out);
    }
  }

  void on_recall(NodeId from, const Message& message, Out& out) {
    if (own.phase == Phase::inside && own.time == message.time && door == Door::demand)
      rivals.insert(from);
    if (!own.awaits(message.time)) return;
    // A copy of a recall that was answered.
    const bool late = own.have.contains(from) ? message.number < grants.of(from)
                                              : message.number <= grants.of(from);
    if (careful && late) return;
    if (own.give_back(from)) give_back(from, message.number, out);
  }

  void give_back(NodeId arbiter, std::uint32_t grant, Out& out) {
    rivals.erase(arbiter);
    send(arbiter, {.kind = Kind::yield, .time = own.time, .number = grant}, out);
  }

  // ---- a manager as arbiter

  void on_request(const Priority& request, Out& out) {
    clock.observe(request.time);
    if (request.time <= requests.of(request.node)) return;  // a copy, or already withdrawn
    if (careful) requests.note(request.node, request.time);
    votes.add(request);
    if (!votes.cast_any()) return cast_vote(out);
    const auto holder = votes.holder();
    if (votes.should_recall()) {
      votes.recall();
      told = door == Door::demand;
      send(holder.node, {.kind = Kind::recall, .time = holder.time, .number = number}, out);
    } else if (door == Door::demand && !told && request.node != holder.node) {
      told = true;
      send(holder.node, {.kind = Kind::wanted, .time = holder.time}, out);
    }
  }

  void cast_vote(Out& out) {
    const auto chosen = votes.cast();
    const auto other = [&](const Priority& request) { return request.node != chosen.node; };
    told = door == Door::demand && std::any_of(votes.queue().begin(), votes.queue().end(), other);
    if (careful) ++number;
    send(chosen.node,
         {.kind = Kind::grant,
          .time = chosen.time,
          .clock = clock.now(),
          .fence = fences.now(),
          .more = told,
          .number = number},
         out);
  }

  // `used` is the fence of the session, 0 if the request was withdrawn.
  void on_release(const Priority& request, std::uint64_t used, Out& out) {
    clock_of_fences().observe(used);
    if (!votes.asks(request)) return requests.note(request.node, request.time);
    const bool had_it = votes.remove(request);
    if (most_overtakings > 0) {
      overtakings.forget(request);
      if (used > 0) overtakings.count(request.node, votes.queue());
    }
    if (!had_it) return;
    told = false;
    if (votes.waiting()) cast_vote(out);
  }
};

}  // namespace turno::protocols

#include "protocols/group/quorum_group_invariants.h"
