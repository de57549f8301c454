#include "table/pools/pool_table.h"

#include <algorithm>
#include <utility>

#include "protocols/allocation/config.h"
#include "protocols/arrangement.h"
#include "protocols/group/quorum_group.h"
#include "protocols/kmutex/k_out_of_m.h"
#include "table/locked_table.h"

namespace turno::table {

PoolTable::PoolTable(std::unique_ptr<PoolEngine> engine, Options options, Lost lost, Wake wake,
                     Thing thing)
    : Table(thing, std::move(engine), options, std::move(lost), std::move(wake)) {
  stage_.quorums = protocols::quorums_of;
}

// Who only tries must be refused by whoever waits for permits, so all must know that they do.
void PoolTable::arrange(Setup& setup) const {
  if (thing() == Thing::semaphore)
    setup.configure<protocols::KOutOfM::Config>() = {.plain = true, .remember = true};
  if (thing() == Thing::room) setup.configure<protocols::QuorumGroup::Config>().fence_each = true;
  // There is no clock here: of each instance it counts who uses it after whom.
  if (thing() == Thing::store) setup.configure<protocols::AllocationConfig>().hold_ns = 1;
}

// ---- the node's own users

bool PoolTable::acquire(std::string_view name, PermitWaiter& waiter) {
  return join_line(name, waiter, Event::Kind::ask);
}
bool PoolTable::attempt(std::string_view name, PermitWaiter& waiter) {
  return join_line(name, waiter, Event::Kind::attempt);
}

bool PoolTable::join_line(std::string_view name, PermitWaiter& waiter, Event::Kind kind) {
  const Locked locked(*this);
  if (ended_) {
    waiter.state = Waiter::State::failed;
    return false;
  }
  auto& entry = pool(find_or_make(name));
  waiter.number = ++numbers_;
  waiter.since = Clock::now();
  waiter.state = Waiter::State::waiting;
  if (waiter.resizes) kind = Event::Kind::resize;
  const auto result = engine_->step(entry, stage_,
                                    {.kind = kind,
                                     .user = waiter.number,
                                     .count = waiter.count,
                                     .permits = waiter.permits,
                                     .by_default = waiter.by_default,
                                     .group = waiter.group,
                                     .claims = waiter.claims});
  waiter.spot = result.spot;
  ++entry.waiting;
  Statistics::add<std::int64_t>(statistics_.waiters);
  entry.waiters.emplace(waiter.number, &waiter);
  asking_ = &waiter;
  carry_out(entry, result, true);
  asking_ = nullptr;
  return waiter.state == Waiter::State::granted;
}

bool PoolTable::withdraw(std::string_view name, PermitWaiter& waiter) {
  const Locked locked(*this);
  auto* entry = find(name);
  if (entry == nullptr || waiter.state != Waiter::State::waiting) return false;
  waiter.state = Waiter::State::failed;
  take_waiter(pool(*entry), waiter.number);
  Statistics::add<std::int64_t>(statistics_.waiters, -1);
  Statistics::add(statistics_.withdrawn);
  step(*entry, {.kind = Event::Kind::withdraw, .user = waiter.number, .spot = waiter.spot});
  return true;
}

// Null: the user is none of this node's.
PermitWaiter* PoolTable::take_waiter(PoolEntry& entry, cluster::UserId number) {
  const auto found = entry.waiters.find(number);
  if (found == entry.waiters.end()) return nullptr;
  auto* waiter = found->second;
  entry.waiters.erase(found);
  --entry.waiting;
  return waiter;
}

const PermitGrant* PoolTable::find_grant(std::string_view name, Fence fence, const Owner* owner) {
  auto* entry = find(name);
  if (entry == nullptr) return nullptr;
  return pool(*entry).grants.find(fence, owner);
}

std::size_t PoolTable::release(std::string_view name, const Owner& owner, Fence fence) {
  const Locked locked(*this);
  const auto* grant = find_grant(name, fence, &owner);
  if (grant == nullptr) return 0;
  const auto count = std::max({std::size_t{1}, grant->units.size(), grant->resources.size()});
  leave(pool(*find(name)), *grant);
  return count;
}

bool PoolTable::take_back(std::string_view name, Fence fence, std::string_view reason,
                          const Owner* owner) {
  const Locked locked(*this);
  const auto* grant = find_grant(name, fence, owner);
  if (grant == nullptr) return false;
  auto& entry = pool(*find(name));
  tell_lost(*grant->owner, entry.name, fence, reason);
  leave(entry, *grant);
  return true;
}

std::uint32_t PoolTable::most(std::string_view name, std::string_view group) {
  const Locked locked(*this);
  const auto* entry = find(name);
  return entry == nullptr ? 0 : pools().most(*entry, group);
}

bool PoolTable::holds(std::string_view name, const Owner& owner, Fence fence) {
  const Locked locked(*this);
  return find_grant(name, fence, &owner) != nullptr;
}

void PoolTable::leave(PoolEntry& entry, const PermitGrant& grant) {
  const auto number = grant.number;
  entry.grants.erase(grant);
  Statistics::add(statistics_.released);
  Statistics::add<std::int64_t>(statistics_.holders, -1);
  step(entry, {.kind = Event::Kind::leave, .user = number});
}

// ---- what the desks decide

void PoolTable::tell_users(Entry& any, const Result&) {
  auto& entry = pool(any);
  for (const auto& refusal : pools().refused()) {
    auto* waiter = take_waiter(entry, refusal.user);
    if (waiter == nullptr) continue;
    waiter->reason = refusal.reason;
    waiter->refused_type = refusal.type;
    waiter->known_permits =
        thing() == Thing::store ? refusal.instances : pools().most(entry, waiter->group);
    Statistics::add(statistics_.refused);
    conclude(*waiter, Waiter::State::refused);
  }
  for (const auto& admission : pools().admitted()) {
    auto* waiter = take_waiter(entry, admission.user);
    if (waiter == nullptr) continue;
    if (waiter->resizes) {
      conclude(*waiter, Waiter::State::granted);
      continue;
    }
    PermitGrant grant;
    grant.number = admission.user;
    grant.owner = waiter->owner;
    grant.since = now();
    for (const auto& unit : admission.units) {
      grant.fence = std::max(grant.fence, unit.fence);
      if (thing() == Thing::semaphore) grant.units.push_back(unit.number);
    }
    grant.resources = admission.resources;
    if (thing() == Thing::store) grant.fence = name_reservation(grant);
    grant.group = waiter->group;
    waiter->fence = grant.fence;
    waiter->units = grant.units;
    waiter->resources = grant.resources;
    waiter->known_permits = pools().most(entry, waiter->group);
    Statistics::add<std::int64_t>(statistics_.holders);
    statistics_.waited(Clock::now() - waiter->since);
    note_fence(grant.fence);
    entry.grants.add(std::move(grant));
    conclude(*waiter, Waiter::State::granted);
  }
}

// By its fence a session knows one of its reservations from another. Two may have instances with
// the same one.
Fence PoolTable::name_reservation(const PermitGrant& grant) {
  reservation_ = reservation_.next();
  for (const auto& resource : grant.resources)
    reservation_ = std::max(reservation_, resource.fence);
  return reservation_;
}

// Who has just asked sees it by itself.
void PoolTable::conclude(PermitWaiter& waiter, Waiter::State state) {
  if (&waiter != asking_) return settle(waiter, state);
  waiter.state = state;
  Statistics::add<std::int64_t>(statistics_.waiters, -1);
}

void PoolTable::end_users(Entry& any, std::string_view reason) {
  auto& entry = pool(any);
  const auto waiting = std::exchange(entry.waiters, {});
  entry.waiting = 0;
  for (const auto& [number, waiter] : waiting) settle(*waiter, Waiter::State::failed);
  for (const auto& [number, grant] : std::exchange(entry.grants, {})) {
    Statistics::add<std::int64_t>(statistics_.holders, -1);
    tell_lost(*grant.owner, entry.name, grant.fence, reason);
  }
}

// ---- for people

void PoolTable::sight_holders(const Entry& any, std::size_t most, Sightings& found) const {
  const auto& entry = pool(any);
  if (auto dead = pools().kept(entry)) {
    auto sighting = kept(entry.name);
    sighting.permits.assign(dead->permits.begin(), dead->permits.end());
    sighting.resources = std::move(dead->resources);
    note(found, most, std::move(sighting));
  }
  for (const auto& [number, grant] : entry.grants) {
    note(found, most,
         {.lock = entry.name,
          .client = grant.owner->client,
          .session = grant.owner->session,
          .kind = Sighting::Kind::holds,
          .fence = grant.fence,
          .age = since(grant.since),
          .from = grant.owner->from,
          .thing = thing(),
          .permits = {grant.units.begin(), grant.units.end()},
          .group = grant.group,
          .resources = grant.resources});
    if (found.cut) return;
  }
}

namespace {

// As many as it waits for of each type, in place of a number.
std::vector<cluster::Resource> wanted_by(const PermitWaiter& waiter) {
  std::vector<cluster::Resource> wanted;
  for (const auto& claim : waiter.claims) wanted.push_back({claim.type, claim.count});
  return wanted;
}

}  // namespace

void PoolTable::sight_waiters(const Entry& any, std::size_t most, Sightings& found) const {
  const auto& entry = pool(any);
  found.waiting += entry.waiters.size();
  for (const auto number : pools().line(entry)) {
    const auto waiter = entry.waiters.find(number);
    if (waiter == entry.waiters.end()) continue;
    const auto& owner = *waiter->second->owner;
    note(found, most,
         {.lock = entry.name,
          .client = owner.client,
          .session = owner.session,
          .age = since(waiter->second->since),
          .from = owner.from,
          .thing = thing(),
          .group = waiter->second->group,
          .resources = wanted_by(*waiter->second),
          .count = thing() == Thing::semaphore ? waiter->second->count : 0});
    if (found.cut) return;
  }
}

}  // namespace turno::table
