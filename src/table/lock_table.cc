#include "table/lock_table.h"

#include <algorithm>
#include <utility>

#include "protocols/mutex/token/token_ring.h"
#include "table/locked_table.h"

namespace turno::table {

LockTable::~LockTable() { watched_.clear(); }

void LockTable::before_forgetting(Entry& entry) {
  if (static_cast<WatchHook&>(entry).is_linked()) watched_.erase(watched_.iterator_to(entry));
}

void LockTable::arrange(Setup& setup) const {
  setup.configure<protocols::TokenRing::Config>().pause_ns =
      std::chrono::nanoseconds(options_.pause).count();
}

// ---- the node's own users

Entry& LockTable::open(std::string_view name) {
  const Locked locked(*this);
  auto& entry = find_or_make(name);
  ++entry.pins;
  return entry;
}

void LockTable::close(Entry& entry) {
  const Locked locked(*this);
  --entry.pins;
  keep_indices(entry, engine_->look(entry, stage_), true);
}

bool LockTable::acquire(Entry& entry, Waiter& waiter) {
  const Locked locked(*this, Locked::Who::polite);
  return join_line(entry, waiter, Event::Kind::ask);
}
bool LockTable::acquire(std::string_view name, Waiter& waiter) {
  const Locked locked(*this);
  return join_line(find_or_make(name), waiter, Event::Kind::ask);
}
bool LockTable::attempt(Entry& entry, Waiter& waiter) {
  const Locked locked(*this, Locked::Who::polite);
  return join_line(entry, waiter, Event::Kind::attempt);
}
bool LockTable::attempt(std::string_view name, Waiter& waiter) {
  const Locked locked(*this);
  return join_line(find_or_make(name), waiter, Event::Kind::attempt);
}

bool LockTable::join_line(Entry& entry, Waiter& waiter, Event::Kind kind) {
  if (ended_) {
    waiter.state = Waiter::State::failed;
    return false;
  }
  const auto result = engine_->step(entry, stage_, {.kind = kind, .user = waiter.id()});
  if (result.user == waiter.id()) {
    Statistics::add(statistics_.waits[0]);
    let_in(entry, result);
    keep_indices(entry, result, true);
    return true;
  }
  if (result.refused == waiter.id()) {
    waiter.state = Waiter::State::refused;
    Statistics::add(statistics_.refused);
  } else {
    waiter.state = Waiter::State::waiting;
    waiter.since = Clock::now();
    waiter.spot = result.spot;
    ++entry.waiting;
    Statistics::add<std::int64_t>(statistics_.waiters);
  }
  keep_indices(entry, result, true);
  return false;
}

bool LockTable::withdraw(std::string_view name, Waiter& waiter) {
  const Locked locked(*this);
  auto* entry = find(name);
  return entry != nullptr && withdraw_locked(*entry, waiter);
}

bool LockTable::withdraw(Entry& entry, Waiter& waiter) {
  const Locked locked(*this);
  return withdraw_locked(entry, waiter);
}

bool LockTable::withdraw_locked(Entry& entry, Waiter& waiter) {
  if (waiter.state != Waiter::State::waiting) return false;
  waiter.state = Waiter::State::failed;
  --entry.waiting;
  Statistics::add<std::int64_t>(statistics_.waiters, -1);
  Statistics::add(statistics_.withdrawn);
  step(entry, {.kind = Event::Kind::withdraw, .user = waiter.id(), .spot = waiter.spot});
  return true;
}

bool LockTable::release(std::string_view name, const Owner& owner, Fence fence) {
  const Locked locked(*this);
  auto* entry = find(name);
  if (entry != nullptr && entry->owner == &owner && (fence == Fence{} || fence == entry->fence)) {
    leave(*entry);
    return true;
  }
  if (auto* moved = find_inherited(name, owner, fence)) {
    let_go_of_inherited(*moved);
    return true;
  }
  return false;
}

void LockTable::give_back(Entry& entry, Fence fence) {
  const Locked locked(*this);
  --entry.pins;
  if (entry.owner != nullptr && fence == entry.fence) return leave(entry);
  keep_indices(entry, engine_->look(entry, stage_), true);
}

bool LockTable::take_back(std::string_view name, Fence fence, std::string_view reason) {
  const Locked locked(*this);
  auto* entry = find(name);
  if (entry == nullptr) return false;
  if (entry->inheritance && entry->inheritance->owner != nullptr &&
      fence == entry->inheritance->fence) {
    tell_lost(*entry->inheritance->owner, entry->name, fence, reason);
    let_go_of_inherited(*entry);
    return true;
  }
  if (entry->owner == nullptr || entry->owner == &moved_ || fence != entry->fence) return false;
  tell_lost(*entry->owner, entry->name, fence, reason);
  leave(*entry);
  return true;
}

bool LockTable::holds(Entry& entry, Fence fence) {
  const Locked locked(*this);
  return entry.owner != nullptr && entry.fence == fence;
}

bool LockTable::holds(std::string_view name, const Owner& owner, Fence fence) {
  const Locked locked(*this);
  const auto* entry = find(name);
  if (entry != nullptr && entry->owner == &owner) return fence == Fence{} || fence == entry->fence;
  return find_inherited(name, owner, fence) != nullptr;
}

void LockTable::leave(Entry& entry) {
  entry.owner = nullptr;
  ends(entry, entry.fence);
  Statistics::add(statistics_.released);
  Statistics::add<std::int64_t>(statistics_.holders, -1);
  const bool tired = entry.waiting > 0 && now() - entry.turn_since >= options_.longest_turn;
  step(entry, {.kind = Event::Kind::leave, .fence = entry.fence, .tired = tired});
}

// ---- what the desks decide

void LockTable::tell_users(Entry& entry, const Result& result) {
  if (result.refused != cluster::no_user) {
    --entry.waiting;
    Statistics::add(statistics_.refused);
    settle(Waiter::of(result.refused), Waiter::State::refused);
  }
  if (result.user != cluster::no_user) {
    auto& waiter = Waiter::of(result.user);
    --entry.waiting;
    statistics_.waited(Clock::now() - waiter.since);
    let_in(entry, result);
    settle(waiter, Waiter::State::granted);
  }
}

void LockTable::let_in(Entry& entry, const Result& result) {
  auto& waiter = Waiter::of(result.user);
  entry.owner = waiter.owner;
  entry.fence = waiter.fence = result.granted;
  entry.held_since = now();
  if (entry.turn != result.began) {
    entry.turn = result.began;
    entry.turn_since = entry.held_since;
  }
  waiter.state = Waiter::State::granted;
  entry.pins += waiter.pins ? 1U : 0U;
  Statistics::add<std::int64_t>(statistics_.holders);
  note_fence(entry.fence);
  begins(entry, entry.fence, *waiter.owner, waiter.value());
  watch(entry);
}

void LockTable::end_users(Entry& entry, std::string_view reason) {
  const auto& users = turn(entry);
  std::vector<cluster::UserId> waiting(users.line.begin(), users.line.end());
  if (users.probing) waiting.push_back(users.trying);
  for (const auto user : waiting) {
    engine_->step(entry, stage_, {.kind = Event::Kind::withdraw, .user = user});
    settle(Waiter::of(user), Waiter::State::failed);
  }
  if (entry.inheritance && entry.inheritance->owner != nullptr) {
    ends(entry, entry.inheritance->fence);
    tell_lost(*entry.inheritance->owner, entry.name, entry.inheritance->fence, reason);
  }
  entry.inheritance.reset();
  if (entry.owner == nullptr) return;
  Statistics::add<std::int64_t>(statistics_.holders, -1);
  tell_lost(*entry.owner, entry.name, entry.fence, reason);
  entry.owner = nullptr;
  ends(entry, entry.fence);
}

// ---- time

// Its home is told if it is still held in a while.
void LockTable::watch(Entry& entry) {
  if (static_cast<WatchHook&>(entry).is_linked()) return;
  if (watched_.empty()) due(entry.held_since + options_.linger);
  watched_.push_back(entry);
}

void LockTable::tick_users() {
  const auto now = coarse_now();
  for (auto left = watched_.size(); left > 0; --left) {
    auto& entry = watched_.front();
    watched_.pop_front();
    if (entry.owner == nullptr) continue;
    if (now - entry.held_since < options_.linger) {
      watched_.push_back(entry);
    } else {
      step(entry, {.kind = Event::Kind::linger});
    }
  }
  if (!watched_.empty()) due(now + options_.linger);
}

// ---- for people

// The dead may have had it: it is kept for them, or would be as soon as somebody asked for it.
bool LockTable::is_kept(const Entry& entry) const {
  const auto& home = engine_->home(entry);
  return turn(entry).holder == cluster::the_dead ||
         (home.here && stage_.ledger.delayed && home.instance == 0 && !home.clear &&
          home.holdings.empty());
}

void LockTable::sight_holders(const Entry& entry, std::size_t most, Sightings& found) const {
  if (is_kept(entry)) note(found, most, kept(entry.name));
  const auto sight = [&](const Owner& owner, Fence fence) {
    note(found, most,
         {.lock = entry.name,
          .client = owner.client,
          .session = owner.session,
          .kind = Sighting::Kind::holds,
          .fence = fence,
          .age = since(entry.held_since),
          .from = owner.from,
          .thing = thing(),
          .value = value_of(entry, fence)});
  };
  const auto sight_leaving = [&](std::uint64_t member) {
    note(
        found, most,
        {.lock = entry.name, .session = member, .kind = Sighting::Kind::leaving, .thing = thing()});
  };
  // Who moves is seen where it moves to, as long as it has not let go there.
  if (entry.inheritance) {
    entry.inheritance->owner != nullptr ? sight(*entry.inheritance->owner, entry.inheritance->fence)
                                        : sight_leaving(entry.inheritance->member);
  }
  if (entry.owner == &moved_) return sight_leaving(0);
  if (entry.owner != nullptr) sight(*entry.owner, entry.fence);
}

void LockTable::sight_waiters(const Entry& entry, std::size_t most, Sightings& found) const {
  const auto& line = turn(entry).line;
  found.waiting += line.size();
  for (const auto user : line) {
    const auto& waiter = Waiter::of(user);
    note(found, most,
         {.lock = entry.name,
          .client = waiter.owner->client,
          .session = waiter.owner->session,
          .age = since(waiter.since),
          .from = waiter.owner->from,
          .thing = thing()});
    if (found.cut) return;
  }
}

void LockTable::sight_notes(const Entry& entry, std::size_t most, Sightings& found) const {
  if (entry.home != stage_.self) return;
  engine_->home(entry).occupied.for_each([&](NodeId member) {
    if (member == stage_.self) return;
    note(found, most,
         {.lock = entry.name,
          .session = member.index(),
          .kind = Sighting::Kind::noted,
          .age = entry.noted == Clock::time_point{} ? std::chrono::milliseconds(0)
                                                    : since(entry.noted),
          .thing = thing()});
  });
}

}  // namespace turno::table
