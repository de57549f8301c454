// What is true of quorum_group.h in every state, and at the end.
#pragma once

#include "protocols/group/quorum_group.h"

namespace turno::protocols {

namespace quorum_group {

using World = Snapshot<QuorumGroup>;
using Kind = QuorumGroup::Kind;
using Phase = QuorumGroup::Phase;

// A request that was withdrawn left its votes on the way behind: only its release counts.
inline std::size_t places_of_vote(const World& world, const QuorumGroup& arbiter) {
  const auto holder = arbiter.votes.holder();
  const auto& owner = world.nodes[holder.node.index()];
  const bool wanted = owner.own.time == holder.time;
  std::size_t places = wanted && owner.own.have.contains(arbiter.self) ? 1 : 0;
  for (const auto& flight : world.flights) {
    const auto kind = flight.message.kind;
    const bool down = flight.from == arbiter.self && flight.to == holder.node;
    const bool up = flight.from == holder.node && flight.to == arbiter.self;
    if (flight.message.time != holder.time) continue;
    if (wanted && down && kind == Kind::grant) ++places;
    if (wanted && up && kind == Kind::yield) ++places;
    if (up && kind == Kind::release) ++places;
  }
  return places;
}

// What travels of a vote for a request that is still wanted.
inline bool strays(const World& world, const Flight<QuorumGroup::Message>& flight) {
  const auto kind = flight.message.kind;
  if (kind != Kind::grant && kind != Kind::yield) return false;
  const auto arbiter = kind == Kind::grant ? flight.from : flight.to;
  const auto requester = kind == Kind::grant ? flight.to : flight.from;
  const auto time = flight.message.time;
  if (world.nodes[requester.index()].own.time != time) return false;
  return world.nodes[arbiter.index()].votes.holder() != Priority{time, requester};
}

inline std::string_view broken_at_manager(const World& world, const QuorumGroup& node) {
  if (!node.votes.consistent()) return "I1: a vote is cast if and only if somebody asks";
  if (node.votes.should_recall()) return "I5: a vote for a younger request is recalled";
  if (!node.careful && node.votes.cast_any() && places_of_vote(world, node) != 1)
    return "I2: a vote is in exactly one place";
  if (node.overtakings.most() > node.most_overtakings)
    return "overtaking: a known request is overtaken too often";
  if (node.own.phase == Phase::idle)
    return node.attendance.empty() && node.own == Candidacy{}
               ? ""
               : "I7: an idle manager keeps no vote and no process";
  if (node.attendance.empty()) return "I7: who competes or is inside has a process";
  if (node.own.phase != Phase::inside) return "";
  if (node.own.have.size() != node.quorum.size()) return "I4: who is inside has all votes";
  for (auto arbiter : node.quorum)
    if (world.nodes[arbiter.index()].votes.holder() != Priority{node.own.time, node.self})
      return "I4: the votes of who is inside are its own";
  return node.attendance.admitted() <= node.capacity ? "" : "more are admitted than there is room";
}

}  // namespace quorum_group

inline std::string_view QuorumGroup::broken_invariant(const Snapshot<QuorumGroup>& world) {
  for (const auto& node : world.nodes) {
    if (!node.quorum.empty()) {
      const auto broken = quorum_group::broken_at_manager(world, node);
      if (!broken.empty()) return broken;
    } else if (node.own.phase == Phase::inside) {
      const auto& manager = world.nodes[node.group.index()];
      if (manager.own.phase != Phase::inside ||
          !manager.attendance.attends({node.self, node.session}))
        return "I6: a process is inside only if its group is, and knows it";
    }
  }
  for (const auto& flight : world.flights)
    if (!world.nodes[0].careful && quorum_group::strays(world, flight))
      return "I3: what travels of a vote concerns its holder";
  return {};
}

// When all have left, nothing is left of them. (While somebody waits, that is what is wrong.)
inline std::string_view QuorumGroup::unmet_goal(const Snapshot<QuorumGroup>& world) {
  for (const auto& user : world.users)
    if (user.inside || user.waiting > 0) return {};
  for (const auto& node : world.nodes)
    if (node.own != Candidacy{} || node.votes.waiting() || node.votes.cast_any() ||
        !node.attendance.empty() || node.attendance.anybody_waits())
      return "all have left, but a request, a vote or a visit is left behind";
  return {};
}

}  // namespace turno::protocols
