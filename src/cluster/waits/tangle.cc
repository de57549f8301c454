#include "cluster/waits/tangle.h"

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>

#include "core/assert.h"

namespace turno::cluster {

namespace {

const PendingWait* wait_numbered(const Testimony& session, std::uint64_t number) {
  const auto found = std::ranges::find(session.waits, number, &PendingWait::number);
  return found == session.waits.end() ? nullptr : &*found;
}

bool waits_still(const Testimony& before, const Testimony& now) {
  return std::ranges::all_of(before.waits, [&](const PendingWait& wait) {
    const auto* same = wait_numbered(now, wait.number);
    return same != nullptr && same->needs == wait.needs;
  });
}

// What Tangle::Without::numbers looks at.
bool looks_the_same(const Testimony& some, const Testimony& others) {
  return std::ranges::all_of(some.waits, [&](const PendingWait& wait) {
    return std::ranges::find(others.waits, wait.needs, &PendingWait::needs) != others.waits.end();
  });
}

bool looks_the_same(const Possession& one, const Possession& other) {
  return std::tie(one.thing, one.units, one.group) ==
         std::tie(other.thing, other.units, other.group);
}

}  // namespace

void Tangle::add(const Testimony& testimony) {
  const auto [known, is_new] = sessions_.try_emplace(testimony.party, testimony);
  if (is_new) return;
  auto& session = known->second;
  session.waits = testimony.waits;
  for (const auto& each : testimony.has)
    if (std::ranges::find(session.has, each) == session.has.end()) session.has.push_back(each);
}

Tangle Tangle::still_so(const Tangle& later) const {
  Tangle both(without_);
  const bool by_looks = without_ == Without::numbers;
  for (const auto& [party, before] : sessions_) {
    const auto* now = later.find(party);
    if (now == nullptr) continue;
    auto& session = both.sessions_[party] = before;
    // Who has asked for something else since was not blocked.
    const bool still = by_looks ? looks_the_same(before, *now) && looks_the_same(*now, before)
                                : waits_still(before, *now) &&
                                      (before.asked == now->asked || without_ == Without::asked);
    if (!still) session.waits.clear();
    std::erase_if(session.has, [&](const Possession& each) {
      return std::ranges::none_of(now->has, [&](const Possession& other) {
        return by_looks ? looks_the_same(each, other) : each == other;
      });
    });
  }
  return both;
}

const Testimony* Tangle::find(Party party) const {
  const auto found = sessions_.find(party);
  return found == sessions_.end() ? nullptr : &found->second;
}

std::set<NamedThing> Tangle::wanted_by(const Parties& parties) const {
  std::set<NamedThing> things;
  for (const auto& party : parties)
    if (const auto* session = find(party))
      for (const auto& wait : session->waits)
        for (const auto& need : wait.needs) things.insert(need.thing);
  return things;
}

std::set<NamedThing> Tangle::wanted() const {
  Parties all;
  for (const auto& [party, session] : sessions_) all.insert(party);
  return wanted_by(all);
}

Tangle::Claims Tangle::claims() const {
  Claims claims;
  for (const auto& [party, session] : sessions_)
    for (const auto& each : session.has) claims[each.thing].push_back({party, &each});
  return claims;
}

bool Tangle::is_blocked(const PendingWait& wait, const Need& need, const Claims& claims,
                        const Parties& stuck) const {
  if (wait.another_task && without_ != Without::tasks) return false;
  const auto found = claims.find(need.thing);
  if (found == claims.end()) return false;
  std::uint64_t taken = 0;
  for (const auto& claim : found->second) {
    if (!stuck.contains(claim.party)) continue;
    if (claim.what->group != need.group || without_ == Without::all_holders) return true;
    taken += claim.what->units;
  }
  return need.most != Need::unlimited && taken + need.units > need.most;
}

bool Tangle::is_stuck(const Testimony& session, const Claims& claims, const Parties& stuck) const {
  const auto in_vain = [&](const PendingWait& wait) {
    return std::ranges::any_of(
        wait.needs, [&](const Need& need) { return is_blocked(wait, need, claims, stuck); });
  };
  if (session.waits.empty()) return false;
  return without_ == Without::all_waits ? std::ranges::any_of(session.waits, in_vain)
                                        : std::ranges::all_of(session.waits, in_vain);
}

// Everybody who waits may be stuck, until it is seen that somebody is not. Then those are looked at
// again who want what that one has.
Tangle::Parties Tangle::stuck() const {
  const auto all = claims();
  Parties stuck;
  std::map<NamedThing, std::vector<Party>> wanting;
  for (const auto& [party, session] : sessions_) {
    if (session.waits.empty()) continue;
    stuck.insert(party);
    for (const auto& thing : wanted_by({party})) wanting[thing].push_back(party);
  }
  std::vector<Party> open(stuck.begin(), stuck.end());
  while (!open.empty()) {
    const auto& session = *find(open.back());
    open.pop_back();
    if (!stuck.contains(session.party) || is_stuck(session, all, stuck)) continue;
    stuck.erase(session.party);
    for (const auto& each : session.has)
      if (const auto others = wanting.find(each.thing); others != wanting.end())
        open.insert(open.end(), others->second.begin(), others->second.end());
  }
  return stuck;
}

// To whoever has some of what it waits for; to itself only if that alone is in its way.
std::vector<Tangle::Edge> Tangle::edges(Party from, const Claims& claims,
                                        const Parties& among) const {
  std::vector<Edge> edges;
  const auto& session = *find(from);
  for (const auto& wait : session.waits)
    for (const auto& need : wait.needs) {
      if (!is_blocked(wait, need, claims, among)) continue;
      const bool by_itself = is_blocked(wait, need, claims, {from});
      for (const auto& claim : claims.at(need.thing)) {
        const bool in_the_way = need.most != Need::unlimited || claim.what->group != need.group;
        if (in_the_way && among.contains(claim.party) && (claim.party != from || by_itself))
          edges.push_back({claim.party, {&session, nullptr, &wait, &need}, claim.what});
      }
    }
  return edges;
}

// After Kosaraju: who is looked at last, going along the waits, is the first from whom those are
// collected who lead there.
std::vector<std::vector<Party>> Tangle::knots() const {
  const auto all = claims();
  const auto among = stuck();
  std::map<Party, std::vector<Party>> ways, ways_back;
  for (const auto& party : among)
    for (const auto& edge : edges(party, all, among)) {
      ways[party].push_back(edge.to);
      ways_back[edge.to].push_back(party);
    }
  Parties seen;
  const auto visit = [&seen](Party from, auto& along, std::vector<Party>& finished) {
    std::vector<std::pair<Party, std::size_t>> open;  // and how many of its ways were gone
    if (seen.insert(from).second) open.emplace_back(from, 0);
    while (!open.empty()) {
      auto& [at, gone] = open.back();
      const auto& next = along[at];
      if (gone == next.size()) {
        finished.push_back(at);
        open.pop_back();
      } else if (const auto to = next[gone++]; seen.insert(to).second) {
        open.emplace_back(to, 0);
      }
    }
  };
  std::vector<Party> order;
  for (const auto& party : among) visit(party, ways, order);
  seen.clear();
  std::vector<std::vector<Party>> knots;
  for (; !order.empty(); order.pop_back()) {
    std::vector<Party> knot;
    visit(order.back(), ways_back, knot);
    std::ranges::sort(knot);
    const auto is_inside = [&](Party to) { return std::ranges::binary_search(knot, to); };
    const bool closed = std::ranges::all_of(
        knot, [&](Party each) { return std::ranges::all_of(ways[each], is_inside); });
    const bool waits = !knot.empty() && !ways[knot[0]].empty();
    if (closed && waits) knots.push_back(std::move(knot));
  }
  std::ranges::sort(knots);
  return knots;
}

std::vector<Tangle::Step> Tangle::circle(Party party, const std::vector<Party>& knot) const {
  const auto all = claims();
  const auto among = stuck();
  const Parties inside(knot.begin(), knot.end());
  std::map<Party, std::pair<Party, Edge>> came_from;
  std::deque<Party> open{party};
  while (!open.empty() && !came_from.contains(party)) {
    const auto next = open.front();
    open.pop_front();
    for (const auto& edge : edges(next, all, among))
      if (inside.contains(edge.to) && came_from.try_emplace(edge.to, next, edge).second)
        open.push_back(edge.to);
  }
  TURNO_ASSERT(came_from.contains(party));
  std::vector<Step> steps;
  const auto* has = came_from.at(party).second.has;
  for (auto at = party; steps.empty() || at != party;) {
    const auto& [from, edge] = came_from.at(at);
    steps.push_back(edge.step);
    at = from;
  }
  std::ranges::reverse(steps);
  // What each has is what the one before wants.
  for (auto& step : steps) {
    step.has = has;
    const auto& next = &step == &steps.back() ? party : (&step + 1)->who->party;
    has = came_from.at(next).second.has;
  }
  return steps;
}

std::vector<Tangle::Step> Tangle::chain(const NamedThing& thing, std::size_t most) const {
  const auto all = claims();
  std::vector<Step> steps;
  Parties told;
  std::set<NamedThing> seen{thing};
  std::deque<NamedThing> open{thing};
  // Of a store as a whole, all its types.
  if (thing.part.empty())
    for (const auto& [each, claimed] : all)
      if (each.kind == thing.kind && each.name == thing.name && seen.insert(each).second)
        open.push_back(each);
  for (; !open.empty(); open.pop_front()) {
    const auto found = all.find(open.front());
    if (found == all.end()) continue;
    for (const auto& [party, what] : found->second) {
      if (steps.size() >= most) return steps;
      if (!told.insert(party).second) continue;
      const auto& session = *find(party);
      if (session.waits.empty()) steps.push_back({&session, what});
      for (const auto& wait : session.waits)
        for (const auto& need : wait.needs) {
          steps.push_back({&session, what, &wait, &need});
          if (seen.insert(need.thing).second) open.push_back(need.thing);
        }
    }
  }
  return steps;
}

Party Tangle::youngest(const std::vector<Party>& knot) const {
  TURNO_ASSERT(!knot.empty());
  const auto rank = [&](Party party) {
    const auto& session = *find(party);
    const bool may_be = std::ranges::any_of(session.waits, &PendingWait::may_be_aborted);
    return std::tuple(may_be, session.born, party);
  };
  return *std::ranges::max_element(knot, {}, rank);
}

}  // namespace turno::cluster
