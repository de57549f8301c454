// What a session has and waits for, as far as deadlocks are concerned.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "port/resp/deadlock/deadlock_watch.h"
#include "port/resp/session_wait.h"

namespace turno::port {

namespace {

using cluster::NamedThing;
using cluster::Need;
using cluster::PendingWait;
using cluster::Possession;
using cluster::Testimony;

Thing thing_of(const NamedThing& named) { return static_cast<Thing>(named.kind); }
NamedThing named(Thing thing, std::string_view name, std::string_view part = {}) {
  return {static_cast<std::uint8_t>(thing), std::string(name), std::string(part)};
}

// A thing to which one rule belongs: of the usual store each type is one.
struct Ruled {
  Thing thing;
  std::string_view name;
  DeadlockRule rule;

  [[nodiscard]] std::string said() const {
    return std::string(thing == Thing::store ? "resource" : table::name(thing)) + " '" +
           std::string(name) + "'";
  }
  // In the order of all.
  [[nodiscard]] auto place() const { return std::tuple(rule.rank, name, thing); }
  [[nodiscard]] bool is(DeadlockPolicy policy) const { return rule.policy == policy; }
};

// `each`: claims or resources, of a store.
template <class Each>
std::vector<Ruled> rules_of(const Declarations& declarations, Thing thing, std::string_view name,
                            const Each& each) {
  std::vector<Ruled> all;
  if (thing != Thing::store || name != usual_store) {
    // Nothing is declared of other stores, but what is said of everything.
    const auto known = thing == Thing::store ? std::string_view() : name;
    all.push_back({thing, name, declarations.deadlock_rule(thing, known)});
    return all;
  }
  for (const auto& one : each)
    if (all.empty() || all.back().name != one.type)
      all.push_back({thing, one.type, declarations.deadlock_rule(thing, one.type)});
  return all;
}

// Why a session that has (or waits for) the one may not ask for the other; empty: it may.
std::string objection_to(const Ruled& wanted, const Ruled& other, bool waits) {
  const auto what = (waits ? "waits for " : "has ") + other.said();
  // Who gets one of two things that it waits for has it while it waits for the other.
  if (other.is(DeadlockPolicy::collective) || (waits && wanted.is(DeadlockPolicy::collective)))
    return "this session " + what +
           ", and may not ask for more (policy collective): give that back first, or ask for all "
           "at once";
  if (!wanted.is(DeadlockPolicy::ordered) || !other.is(DeadlockPolicy::ordered) ||
      (!waits && other.place() < wanted.place()))
    return {};
  return "this session " + what + " (rank " + std::to_string(other.rule.rank) +
         "), and may not ask for " + wanted.said() + " (rank " + std::to_string(wanted.rule.rank) +
         ") then (policy ordered: by rank, then by name): give that back first";
}

}  // namespace

// A request that only tries does not wait, so it is never in the way.
std::string Session::out_of_turn(const Wanted& wanted) const {
  const auto& declarations = host_.declarations();
  if (!declarations.refuses_requests() || wanted.timeout == std::chrono::milliseconds(0)) return {};
  const auto wants = rules_of(declarations, wanted.thing, wanted.name, wanted.claims);
  std::string objection;
  const auto look_at = [&](const std::vector<Ruled>& others, bool waits) {
    for (const auto& other : others)
      for (const auto& want : wants)
        if (objection.empty()) objection = objection_to(want, other, waits);
    return !objection.empty();
  };
  constexpr std::span<const Resource> none;
  for (const auto* kind : {&locks_, &elections_})
    for (const auto& [name, held] : kind->held)
      if (look_at(rules_of(declarations, kind->thing, name, none), false)) return objection;
  for (const auto& [ticket, held] : permits_)
    if (look_at(rules_of(declarations, held.thing, held.name, held.resources), false))
      return objection;
  for (const auto& [ticket, wait] : waits_)
    if (!wait->tries && !wait->resizes &&
        look_at(rules_of(declarations, wait->thing, wait->name, wait->claims), true))
      return objection;
  return {};
}

void Session::watch_out() {
  if (has_and_waits()) watch_.look_soon();
}

Clock::duration Session::since_it_last_asked() const {
  Clock::time_point last{};
  for (const auto& [ticket, wait] : waits_) last = std::max(last, wait->since);
  return Clock::now() - last;
}

// Of a store those of one type.
std::size_t Session::units_of(const HeldPermits& held, const NamedThing& of) {
  if (held.thing == Thing::room) return 1;
  if (held.thing != Thing::store) return held.permits.size();
  return static_cast<std::size_t>(std::ranges::count(held.resources, of.part, &Resource::type));
}

namespace {

// Of a store as a whole.
void add_each_type(const NamedThing& store, const HeldPermits& held, std::vector<Possession>& has) {
  std::map<std::string, std::uint32_t> units;
  for (const auto& resource : held.resources) ++units[resource.type];
  for (const auto& [type, count] : units)
    has.push_back({.thing = {store.kind, store.name, type}, .number = held.ticket, .units = count});
}

}  // namespace

// The table knows; the news that something was lost may still be on its way to this session.
std::vector<Possession> Session::possessions(const NamedThing& named) {
  std::vector<Possession> has;
  const auto thing = thing_of(named);
  if (!table::several_have(thing)) {
    const auto fence = fence_of(named.name, thing);
    if (fence && host_.locks_of(thing).holds(named.name, owner_, *fence))
      has.push_back({.thing = named, .number = fence->value});
    return has;
  }
  for (const auto* held = permits_.first(thing, named.name, {}); held != nullptr;
       held = permits_.next(*held, {})) {
    if (!host_.pools(thing).holds(held->name, owner_, held->fence)) continue;
    if (thing == Thing::store && named.part.empty()) {
      add_each_type(named, *held, has);
      continue;
    }
    const auto units = units_of(*held, named);
    if (units == 0) continue;
    has.push_back({.thing = named,
                   .number = held->ticket,
                   .units = static_cast<std::uint32_t>(units),
                   .group = held->group});
    if (thing == Thing::room) break;  // to be in a room twice is to be in it
  }
  return has;
}

PendingWait Session::pending(const Wait& wait) {
  PendingWait pending{.number = wait.ticket,
                      .may_be_aborted = may_be_aborted(wait),
                      .waiting_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(
                          0, (Clock::now() - wait.since) / std::chrono::milliseconds(1)))};
  pending.needs = needs_of(wait);
  if (wait.asker != nullptr) return pending;
  Testimony alone{.waits = {{.number = 1, .needs = pending.needs}}};
  for (const auto& need : pending.needs)
    std::ranges::move(possessions(need.thing), std::back_inserter(alone.has));
  cluster::Tangle tangle;
  tangle.add(alone);
  pending.another_task = !tangle.stuck().empty();
  return pending;
}

std::vector<Need> Session::needs_of(const Wait& wait) {
  std::vector<Need> needs;
  for (const auto& claim : wait.claims)
    needs.push_back({.thing = named(wait.thing, wait.name, claim.type), .units = claim.count});
  if (wait.thing != Thing::store)
    needs.push_back(
        {.thing = named(wait.thing, wait.name), .units = wait.count, .group = wait.group});
  if (!table::several_have(wait.thing)) return needs;
  for (auto& need : needs)
    need.most = host_.pools(wait.thing)
                    .most(wait.name, wait.thing == Thing::store ? need.thing.part : wait.group);
  // Of what it is not known yet how many there are, nobody can say that there are too few.
  std::erase_if(needs, [](const Need& need) { return need.most == 0; });
  return needs;
}

cluster::Testimony Session::testimony(std::uint64_t member, const std::vector<NamedThing>& things) {
  cluster::Testimony said{
      .party = {member, id()},
      .born = static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(born_.time_since_epoch()).count()),
      .asked = tickets_,
      .client = owner_.client,
      .from = owner_.from};
  auto looked_at = things;
  bool goes_on = waits_.size() > cluster::most_pending_waits;
  for (const auto& [ticket, wait] : waits_) {
    if (goes_on) break;
    auto& table = table::several_have(wait->thing)
                      ? static_cast<table::Table&>(host_.pools(wait->thing))
                      : host_.locks_of(wait->thing);
    goes_on = wait->tries || wait->resizes || !table.waits(*wait);
    said.waits.push_back(pending(*wait));
    for (const auto& need : said.waits.back().needs) looked_at.push_back(need.thing);
  }
  if (goes_on) said.waits.clear();
  std::ranges::sort(said.waits, {}, &PendingWait::number);
  std::ranges::sort(looked_at);
  looked_at.erase(std::unique(looked_at.begin(), looked_at.end()), looked_at.end());
  for (const auto& thing : looked_at)
    std::ranges::move(possessions(thing), std::back_inserter(said.has));
  // A store's types may have been looked at with it and by themselves.
  std::ranges::sort(said.has, {},
                    [](const Possession& each) { return std::tie(each.thing, each.number); });
  said.has.erase(std::unique(said.has.begin(), said.has.end()), said.has.end());
  return said;
}

std::optional<Session::Awaited> Session::awaited(std::uint64_t wait) const {
  const auto found = waits_.find(wait);
  if (found == waits_.end()) return {};
  const Wait& one = *found->second;
  return Awaited{one.thing, one.name, may_be_aborted(one)};
}

// One of the types is enough: their wait is one.
bool Session::may_be_aborted(const Wait& wait) const {
  return std::ranges::any_of(rules_of(host_.declarations(), wait.thing, wait.name, wait.claims),
                             [](const Ruled& each) { return each.is(DeadlockPolicy::abort); });
}

bool Session::report(std::uint64_t wait) {
  auto* found = find(wait);
  return found != nullptr && !std::exchange(found->reported, true);
}

bool Session::abort(std::uint64_t wait, std::string_view reason) {
  auto* found = find(wait);
  if (found == nullptr || !withdraw(*found)) return false;
  conclude(*found, News::Kind::failed, reason, "DEADLOCK");
  return true;
}

}  // namespace turno::port
