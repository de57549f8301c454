// Group mutual exclusion over quorums as printed, and with each of its flaws alone (see
// quorum_group_flaws.h). To be refuted by the checker; never to be run.
//
// The printed names: join Req_Proceso, enter Rep_Proceso, done Req_Proceso_Fin, request Req_Grupo,
// grant Rec_Grupo, recall Rel_Grupo, yield Rep_Rel_Grupo, release Lib_Grupo. The door is the
// leader's. The fence and its clock are not in the paper; they change nothing else.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/as_published/quorum_group_flaws.h"
#include "protocols/group/attendance.h"
#include "protocols/group/overtakings.h"
#include "protocols/parts/quorum/candidacy.h"

namespace turno::protocols::as_published {

struct QuorumGroup {
  static constexpr Info info{.name = "quorum-group",
                             .title = "rooms over quorums as printed",
                             .source = "Cenci, Ardenghi",
                             .primitive = Primitive::room,
                             .voting = true};
  static constexpr auto departures = [] {
    std::array<Departure, quorum_group_readings.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = quorum_group_readings[i].departure;
    return all;
  }();

  struct Message {
    enum class Kind : std::uint8_t { join, enter, done, request, grant, recall, yield, release };
    Kind kind = Kind::join;
    std::uint32_t session = 0;  // of a process
    std::uint64_t time = 0;     // of a request
    std::uint64_t fence = 0;    // in enter and release the fence, in grant one before it
    std::uint64_t clock = 0;    // in a grant: the arbiter's
    static constexpr std::array<std::string_view, 8> kinds = {
        "join", "enter", "done", "request", "grant", "recall", "yield", "release"};
    static constexpr std::array<std::string_view, 5> labels = {"kind", "session", "time", "fence",
                                                               "clock"};
    [[nodiscard]] auto fields() const { return std::tie(kind, session, time, fence, clock); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  using Phase = Candidacy::Phase;

  NodeId self;
  std::uint32_t epoch = 0, flaws = 0, most_overtakings = 0;
  boost::container::small_vector<NodeId, 4> quorum;
  // Of a process.
  NodeId group;
  std::uint32_t session = 0;
  // Of a group.
  Candidacy own;  // estado, priori, conj; deferred is ours
  LamportClock clock;
  std::uint64_t fence = 0, last_fence = 0;
  Attendance attendance;                             // LP and lider
  boost::container::small_vector<Priority, 4> list;  // LG, in the order of arrival
  Priority holder;                                   // is not printed
  bool recalled = false;                             // is not printed
  bool undefined = false;                            // it had to choose from an empty list
  Overtakings overtakings;

  static constexpr std::array<std::string_view, 15> labels = {
      "phase", "time",       "have", "deferred", "group",    "session",   "fence",      "clock",
      "last",  "attendance", "list", "holder",   "recalled", "undefined", "overtakings"};
  [[nodiscard]] auto fields() const {
    return std::tie(own.phase, own.time, own.have, own.deferred, group, session, fence, clock,
                    last_fence, attendance, list, holder, recalled, undefined, overtakings);
  }
  bool operator==(const QuorumGroup&) const = default;

  static QuorumGroup resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    QuorumGroup node;
    node.self = self;
    node.epoch = setup.epoch;
    if (self.index() >= setup.room.groups) return node;
    node.flaws = quorum_group_readings[std::max<std::size_t>(setup.departure, 1) - 1].flaws;
    node.most_overtakings = setup.config<OvertakingLimit>().most;
    const auto& mine = setup.quorums[self.index()];
    node.quorum.assign(mine.begin(), mine.end());
    return node;
  }

  void request(const Demand& demand, Out& out) {
    group = NodeId{demand.group};
    own.phase = Phase::competing;
    out.send(group, {.kind = Kind::join, .session = ++session});
  }
  void release(Out& out) {
    out.send(group, {.kind = Kind::done, .session = session});
    own.phase = Phase::idle;
    group = nobody;
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::enter:
        own.phase = Phase::inside;
        return out.grant(Fence::at(epoch, message.fence));
      case Kind::join:
        return on_join({from, message.session}, out);
      case Kind::done:
        return on_done({from, message.session}, out);
      case Kind::request:
        return on_request({message.time, from}, out);
      case Kind::grant:
        return on_grant(from, message, out);
      case Kind::recall:
        return on_recall(from, message.time, out);
      case Kind::yield:
        if (printed(Flaw::any_yield) || holder == Priority{message.time, from}) cast_vote(out);
        return;
      case Kind::release:
        last_fence = std::max(last_fence, message.fence);
        return on_release({message.time, from}, out);
    }
  }

  static std::string_view broken_invariant(const Snapshot<QuorumGroup>& world) {
    for (const auto& node : world.nodes) {
      if (node.undefined) return "undefined: the best of an empty list";
      if (node.overtakings.most() > node.most_overtakings)
        return "overtaking: a known request is overtaken too often";
    }
    return {};
  }
  static std::string_view unmet_goal(const Snapshot<QuorumGroup>& world) {
    for (const auto& user : world.users)
      if (user.inside || user.waiting > 0) return {};
    for (const auto& node : world.nodes)
      if (node.own.phase != Phase::idle || !node.list.empty() || !node.attendance.empty())
        return "all have left, but a request or a process is left behind";
    return {};
  }

 private:
  [[nodiscard]] bool printed(std::uint32_t flaw) const { return (flaws & flaw) != 0; }

  void send(NodeId to, const Message& message, Out& out) {
    if (to == self) {
      receive(self, message, out);
    } else {
      out.send(to, message);
    }
  }

  // ---- Req_Proceso, Req_Proceso_Fin

  // Without session numbers a list of processes knows each once.
  [[nodiscard]] Visit listed(const Visit& visit) const {
    return printed(Flaw::no_sessions) ? Visit{visit.process, 1} : visit;
  }
  void enlist(const Visit& visit) {
    if (!attendance.attends(listed(visit))) attendance.join(listed(visit));
  }
  void let_in(const Visit& visit, Out& out) {
    out.send(visit.process, {.kind = Kind::enter, .session = visit.session, .fence = fence});
  }

  void on_join(const Visit& visit, Out& out) {
    if (own.phase == Phase::idle) {
      enlist(visit);
      return ask(true, out);
    }
    if (own.phase == Phase::competing) return enlist(visit);
    if (!attendance.led()) return attendance.wait(listed(visit));
    if (!printed(Flaw::late_joiner)) {
      enlist(visit);
      (void)attendance.admit(RoomSetup::unlimited);
    }
    let_in(visit, out);
  }

  void on_done(const Visit& visit, Out& out) {
    if (!printed(Flaw::leader_leaves) || attendance.leads(listed(visit)))
      attendance.leave(listed(visit));
    const bool over = attendance.empty() && own.phase == Phase::inside;
    if (over) give_way(out);
    if (!attendance.anybody_waits() || !(over || printed(Flaw::asks_inside))) return;
    attendance.turn_over();
    ask(false, out);
  }

  // ---- as a requester

  void ask(bool first, Out& out) {
    own.begin(clock.tick());
    const bool alone = printed(first ? Flaw::own_lock : Flaw::re_request);
    if (alone && first) list.push_back({own.time, self});
    for (auto arbiter : quorum)
      if (arbiter != self || !alone) send(arbiter, {.kind = Kind::request, .time = own.time}, out);
  }

  void give_way(Out& out) {
    const Message farewell{.kind = Kind::release, .time = own.time, .fence = fence};
    last_fence = std::max(last_fence, fence);
    fence = 0;
    // The printed rules keep conj until the next request.
    own.phase = Phase::idle;
    own.time = 0;
    if (!printed(Flaw::any_grant)) own.have.clear();
    for (auto arbiter : quorum)
      if (arbiter != self || !printed(Flaw::own_entry)) send(arbiter, farewell, out);
    if (printed(Flaw::own_entry | Flaw::hand_off)) cast_vote(out);
  }

  void on_grant(NodeId from, const Message& message, Out& out) {
    last_fence = std::max(last_fence, message.fence);
    if (!printed(Flaw::local_counters | Flaw::request_clock)) clock.observe(message.clock);
    const bool counts =
        printed(Flaw::any_grant) ? !own.have.contains(from) : own.awaits(message.time);
    if (!counts) return;
    const auto taken = own.take(from, quorum.size());
    if (taken == Candidacy::Taken::to_give_back) return give_back(from, out);
    if (taken == Candidacy::Taken::kept) return;
    fence = ++last_fence;
    if (attendance.empty()) return;
    attendance.begin();
    while (const auto visit = attendance.admit(RoomSetup::unlimited)) let_in(*visit, out);
  }

  void on_recall(NodeId from, std::uint64_t time, Out& out) {
    if (printed(Flaw::any_recall)) {
      if (own.phase == Phase::inside) return;
      own.have.erase(from);
      return give_back(from, out);
    }
    const bool concerned =
        printed(Flaw::recall_by_state) ? own.phase == Phase::competing : own.awaits(time);
    if (!concerned) return;
    const bool drops = printed(Flaw::recall_by_state | Flaw::dropped_recall);
    if (!own.have.contains(from) && drops) return;
    const bool early = !own.have.contains(from) && printed(Flaw::early_recall);
    if (early || own.give_back(from)) give_back(from, out);
  }

  void give_back(NodeId arbiter, Out& out) {
    send(arbiter, {.kind = Kind::yield, .time = own.time}, out);
  }

  // ---- as an arbiter

  [[nodiscard]] bool better(const Priority& a, const Priority& b) const {
    return printed(Flaw::larger_first) ? b < a : a < b;
  }
  [[nodiscard]] Priority best() const {
    return *std::min_element(list.begin(), list.end(),
                             [&](const auto& a, const auto& b) { return better(a, b); });
  }

  void on_request(const Priority& request, Out& out) {
    if (!printed(Flaw::local_counters)) clock.observe(request.time);
    const bool first = list.empty();
    const auto before = first ? Priority{} : best();
    list.push_back(request);
    if (first) return cast_vote(out);
    const auto asked = printed(Flaw::no_holder) ? before : holder;
    const bool again = printed(Flaw::no_holder | Flaw::repeated_recall);
    if (!better(request, asked) || (recalled && !again)) return;
    recalled = true;
    send(asked.node, {.kind = Kind::recall, .time = asked.time}, out);
  }

  void cast_vote(Out& out) {
    if (list.empty()) {
      undefined = true;
      return;
    }
    holder = best();
    recalled = false;
    send(holder.node,
         {.kind = Kind::grant, .time = holder.time, .fence = last_fence, .clock = clock.now()},
         out);
  }

  void on_release(const Priority& request, Out& out) {
    const auto gone = [&](const Priority& other) {
      return printed(Flaw::any_release) ? other.node == request.node : other == request;
    };
    list.erase(std::remove_if(list.begin(), list.end(), gone), list.end());
    if (most_overtakings > 0) {
      overtakings.forget(request);
      overtakings.count(request.node, list);
    }
    if (!gone(holder) && !printed(Flaw::any_release)) return;
    holder = {};
    recalled = false;
    if (!list.empty()) cast_vote(out);
  }
};

}  // namespace turno::protocols::as_published
