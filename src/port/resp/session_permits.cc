// The permits of semaphores and the resources of stores that a session has and waits for, and the
// rooms that it is in.
#include <algorithm>
#include <utility>

#include "net/log.h"
#include "port/resp/deadlock/deadlock_watch.h"
#include "port/resp/session_wait.h"

namespace turno::port {

using namespace std::chrono_literals;

// Who did not say it would not know where it comes from.
std::string Session::Wait::declared() const {
  const auto* declaration = session_.host_.declarations().semaphore(name);
  return declaration == nullptr ? "" : ", as this node declares (" + declaration->where + ")";
}

std::string Session::Wait::objection() const {
  using Reason = cluster::Refusal::Reason;
  if (thing == Thing::lock || state != State::refused) return {};
  if (thing == Thing::room) return objection_of_room();
  if (thing == Thing::store) return objection_of_store();
  const auto there_are = "semaphore '" + name + "' has " + std::to_string(known_permits) +
                         (known_permits == 1 ? " permit" : " permits");
  if (resizes && reason == Reason::unknown) return "nobody uses semaphore '" + name + "'";
  if (resizes)
    return reason == Reason::contradicts
               ? there_are + ": somebody else has resized it to that meanwhile"
               : "somebody else resizes semaphore '" + name + "' at this moment";
  switch (reason) {
    case Reason::too_many:
      return there_are + ", not " + std::to_string(count);
    case Reason::contradicts:
      return there_are + " as long as it is in use, not " + std::to_string(permits) + declared();
    case Reason::unknown:
      return "nobody uses semaphore '" + name + "': say how many permits it has, as in OF 3";
    case Reason::busy:
    case Reason::full:
      break;
  }
  return {};
}

std::string Session::Wait::objection_of_room() const {
  using Reason = cluster::Refusal::Reason;
  if (reason == Reason::too_many)
    return "room '" + name + "' has " + std::to_string(cluster::most_groups) +
           " groups already that are inside or wait, and no more can come in";
  if (reason != Reason::contradicts) return {};
  const bool unlimited = known_permits == RoomSetup::unlimited;
  return "of group '" + group + "' of room '" + name + "' " +
         (unlimited ? "as many as like" : std::to_string(known_permits)) +
         " may be inside as long as it is in use, not " + std::to_string(permits);
}

std::string Session::Wait::objection_of_store() const {
  using Reason = cluster::Refusal::Reason;
  const auto said = std::find_if(claims.begin(), claims.end(),
                                 [&](const Claim& claim) { return claim.type == refused_type; });
  if (said == claims.end()) return {};
  const auto store = "store '" + name + "'", type = "'" + refused_type + "'";
  const auto has = store + " has " + std::to_string(known_permits) + " of " + type;
  switch (reason) {
    case Reason::too_many:
      return has + ", not " + std::to_string(said->count);
    case Reason::contradicts:
      return has + " as long as it is in use, not " + std::to_string(said->instances);
    case Reason::unknown:
      return "nobody has said how many of " + type + " " + store + " has: say it, as in " +
             refused_type + ":1/8";
    case Reason::full:
      return store + " has no place for " + type + ": at most " +
             std::to_string(cluster::most_types) + " types of together " +
             std::to_string(cluster::most_instances) + " instances are used at once";
    case Reason::busy:
      break;
  }
  return {};
}

Session::Asked Session::permit(const Wanted& wanted) {
  using State = Asked::State;
  if (holds() + waits_.size() >= most_locks) return {State::too_many};
  if (auto objection = wanted.resizes ? std::string() : out_of_turn(wanted); !objection.empty()) {
    watch_.count_refusal();
    return {.state = State::refused, .objection = std::move(objection), .code = "DEADLOCK"};
  }
  const auto ticket = ++tickets_;
  auto owned = std::make_unique<Wait>(*this, ticket, wanted);
  auto& wait = *owned;
  auto& pools = host_.pools(wait.thing);
  if (wait.tries ? pools.attempt(wait.name, wait) : pools.acquire(wait.name, wait)) {
    keep_permits(wait);
    watch_out();
    return {.state = State::granted,
            .ticket = ticket,
            .fence = wait.fence,
            .permits = {wait.units.begin(), wait.units.end()},
            .resources = wait.resources};
  }
  if (wait.state == table::Waiter::State::refused) {
    auto objection = wait.objection();
    if (wanted.asker == nullptr && objection.empty()) remember(wait, News::Kind::timeout, {});
    return {State::refused, ticket, {}, {}, std::move(objection)};
  }
  stand_in_line(std::move(owned), wanted.timeout);
  return {State::waiting, ticket};
}

void Session::keep_permits(const Wait& wait) {
  if (wait.resizes) return;
  HeldPermits held;
  held.thing = wait.thing;
  held.name = wait.name;
  held.fence = wait.fence;
  held.ticket = wait.ticket;
  held.group = wait.group;
  held.permits.assign(wait.units.begin(), wait.units.end());
  held.resources = wait.resources;
  set_ttl(permits_.add(std::move(held)), wait.ttl);
}

void Session::set_ttl(HeldPermits& held, std::chrono::milliseconds ttl) {
  host_.loop().cancel(held.ttl);
  if (ttl > 0ms)
    held.ttl = host_.loop().after(ttl, [this, &held] {
      held.ttl = {};
      overdue_.push_back(held.ticket);
      host_.pools(held.thing).take_back(held.name, held.fence, "its time to live ran out", &owner_);
    });
}

std::size_t Session::give_back(Thing thing, std::string_view name, Fence fence) {
  std::size_t count = 0;
  while (auto* held = permits_.first(thing, name, fence)) {
    host_.loop().cancel(held->ttl);
    count += host_.pools(thing).release(name, owner_, held->fence);
    permits_.take(held->ticket);
    // All who are inside a room have this one.
    if (thing == Thing::room && fence != Fence{}) break;
  }
  return count;
}

std::size_t Session::renew_permits(Thing thing, std::string_view name,
                                   std::chrono::milliseconds ttl, Fence fence) {
  std::size_t count = 0;
  for (auto* held = permits_.first(thing, name, fence); held != nullptr;
       held = permits_.next(*held, fence)) {
    // The table knows; the news that they were lost may still be on its way to this session.
    if (dismissed_ || !host_.pools(thing).holds(name, owner_, held->fence)) continue;
    set_ttl(*held, ttl);
    ++count;
  }
  return count;
}

void Session::lost_permits(Thing thing, const std::string& name, Fence fence,
                           std::string_view reason) {
  const auto* found = permits_.first(thing, name, fence);
  if (found == nullptr) return;
  // All visits of a room have one fence: it is the one whose time is over.
  std::erase_if(overdue_, [&](auto ticket) { return permits_.find(ticket) == nullptr; });
  for (const auto ticket : overdue_) {
    const auto* overdue = permits_.find(ticket);
    if (overdue->thing != thing || overdue->name != name || overdue->fence != fence) continue;
    found = overdue;
    break;
  }
  auto held = permits_.take(found->ticket);
  host_.loop().cancel(held.ttl);
  log::info("client {} (session {}) lost {} {} '{}': {}", owner_.client, id(),
            thing == Thing::room       ? "its place in"
            : thing == Thing::store    ? "resources of"
            : held.permits.size() == 1 ? "a permit of"
                                       : "permits of",
            table::name(thing), name, reason);
  announce({.kind = News::Kind::lost,
            .lock = name,
            .fence = fence,
            .reason = reason,
            .thing = thing,
            .permits = held.permits});
}

void Session::end_permits() {
  for (auto& [ticket, held] : permits_) {
    host_.loop().cancel(held.ttl);
    host_.pools(held.thing).release(held.name, owner_, held.fence);
  }
  permits_ = {};
}

// They are given back, or kept until the client lets go of them or the session ends.
void Session::lose_all_permits(std::string_view reason, bool release) {
  std::vector<HeldPermits> all;
  for (auto& [ticket, held] : permits_) {
    host_.loop().cancel(held.ttl);
    all.push_back(held);
  }
  if (release) end_permits();
  for (const auto& held : all)
    announce({.kind = News::Kind::lost,
              .lock = held.name,
              .fence = held.fence,
              .reason = reason,
              .thing = held.thing,
              .permits = held.permits});
}

}  // namespace turno::port
