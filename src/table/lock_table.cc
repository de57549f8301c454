#include "table/lock_table.h"

#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "table/locked_table.h"

namespace turno::table {

Clock::time_point coarse_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return Clock::time_point(std::chrono::seconds(now.tv_sec) +
                           std::chrono::nanoseconds(now.tv_nsec));
}

LockTable::LockTable(std::unique_ptr<Engine> engine, Options options, Lost lost, Wake wake)
    : engine_(std::move(engine)),
      options_(options),
      lost_(std::move(lost)),
      wake_(std::move(wake)) {
  stage_.rules = options_.rules;
}

LockTable::~LockTable() {
  homes_.clear();
  watched_.clear();
}

void LockTable::unlock_and_catch_up() {
  auto afterwards = std::exchange(afterwards_, {});
  auto links = std::exchange(stage_.waiting_links, {});
  mutex_.unlock();
  for (const auto& link : links) link->flush();
  afterwards.run();
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

void LockTable::tell_lost(const Owner& owner, const std::string& name, Fence fence,
                          std::string_view reason) {
  if (&owner == &moved_) return;
  Statistics::add(statistics_.lost);
  afterwards_.add(
      [this, &owner, name, fence, why = std::string(reason)] { lost_(owner, name, fence, why); });
}

void LockTable::leave(Entry& entry) {
  entry.owner = nullptr;
  Statistics::add(statistics_.released);
  Statistics::add<std::int64_t>(statistics_.holders, -1);
  const bool tired = entry.waiting > 0 && now() - entry.turn_since >= options_.longest_turn;
  step(entry, {.kind = Event::Kind::leave, .fence = entry.fence, .tired = tired});
}

// ---- what the desks decide

void LockTable::step(Entry& entry, const Event& event, bool used) {
  carry_out(entry, engine_->step(entry, stage_, event), used);
}

void LockTable::carry_out(Entry& entry, const Result& result, bool used) {
  if (result.spoilt) note_spoilt(entry);
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
  keep_indices(entry, result, used);
}

void LockTable::note_spoilt(const Entry& entry) {
  Statistics::add(statistics_.spoilt);
  if (const auto more = spoilt_lines_.admit())
    afterwards_.add([name = entry.name, more = *more] {
      log::warning("a peer sent what cannot be about '{}': the lock begins again{}", name, more);
    });
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
  if (entry.fence.count() > worn_count_) [[unlikely]]
    wear_out();
  watch(entry);
}

void LockTable::wear_out() {
  if (!worn_.exchange(true, std::memory_order_relaxed)) due(now());
}

void LockTable::settle(Waiter& waiter, Waiter::State state) {
  waiter.state = state;
  Statistics::add<std::int64_t>(statistics_.waiters, -1);
  waiter.settled(afterwards_);
}

// ---- the table

Entry* LockTable::find(std::string_view name) {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second.get();
}

Entry& LockTable::find_or_make(std::string_view name) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return *found->second;
  auto entry = engine_->make_entry();
  entry->name = name;
  entry->home = rendezvous_.home_of(name);
  if (entry->home == stage_.self) engine_->begin_home(*entry, stage_, was_home_of(name));
  auto& made = *entry;
  entries_.emplace(std::string_view(made.name), std::move(entry));
  return made;
}

// In the view before.
bool LockTable::was_home_of(std::string_view name) const {
  return former_self_ != nobody && former_rendezvous_.home_of(name) == former_self_;
}

// Keeps the indices true to the entry, and forgets it if nothing would be lost.
void LockTable::keep_indices(Entry& entry, const Result& result, bool used) {
  const auto number = global_instance(entry.home, result.instance);
  if (!stage_.alarms.empty()) set_alarms(number);
  if (number != entry.instance) {
    if (entry.instance != 0) instances_.erase(entry.instance);
    entry.instance = number;
    if (number != 0) instances_.emplace(number, &entry);
  }
  if (entry.home == stage_.self) touch(entry, result.lives, used);
  if (result.idle && entry.pins == 0) forget(entry);
}

void LockTable::touch(Entry& entry, bool lives, bool used) {
  auto& hook = static_cast<HomeHook&>(entry);
  if (hook.is_linked() && lives && !used) return;
  // In its place already: the list is in the order of these times.
  if (hook.is_linked() && lives && entry.touched == now()) return;
  if (hook.is_linked()) homes_.erase(homes_.iterator_to(entry));
  if (!lives) return;
  entry.touched = now();
  homes_.push_back(entry);
}

void LockTable::forget(Entry& entry) {
  if (static_cast<HomeHook&>(entry).is_linked()) homes_.erase(homes_.iterator_to(entry));
  if (static_cast<WatchHook&>(entry).is_linked()) watched_.erase(watched_.iterator_to(entry));
  if (entry.instance != 0) instances_.erase(entry.instance);
  entries_.erase(entries_.find(std::string_view(entry.name)));
}

std::size_t LockTable::size() {
  const Locked locked(*this);
  return entries_.size();
}

std::size_t LockTable::retire_idle(Clock::time_point since, std::size_t most) {
  const Locked locked(*this);
  std::size_t count = 0;
  while (count < most && !homes_.empty() && homes_.front().touched < since) {
    auto& entry = homes_.front();
    homes_.pop_front();
    ++count;
    Statistics::add(statistics_.retired);
    step(entry, {.kind = Event::Kind::retire});
  }
  if (homes_.empty() && entries_.size() < 1024) shrink();
  return count;
}

// Memory of many names that are gone goes back to the system.
void LockTable::shrink() {
  if (entries_.bucket_count() < 65536 && instances_.bucket_count() < 65536) return;
  entries_.rehash(0);
  instances_.rehash(0);
  afterwards_.add([] { ::malloc_trim(0); });
}

void LockTable::end(std::string_view reason) {
  const Locked locked(*this);
  ended_ = true;
  for (auto& [name, entry] : entries_) {
    const auto& turn = engine_->turn(*entry);
    std::vector<cluster::UserId> waiting(turn.line.begin(), turn.line.end());
    if (turn.probing) waiting.push_back(turn.trying);
    for (const auto user : waiting) {
      engine_->step(*entry, stage_, {.kind = Event::Kind::withdraw, .user = user});
      settle(Waiter::of(user), Waiter::State::failed);
    }
    if (entry->inheritance && entry->inheritance->owner != nullptr)
      tell_lost(*entry->inheritance->owner, entry->name, entry->inheritance->fence, reason);
    entry->inheritance.reset();
    if (entry->owner == nullptr) continue;
    Statistics::add<std::int64_t>(statistics_.holders, -1);
    tell_lost(*entry->owner, entry->name, entry->fence, reason);
    entry->owner = nullptr;
  }
}

// ---- time

// Its home is told if it is still held in a while.
void LockTable::watch(Entry& entry) {
  if (static_cast<WatchHook&>(entry).is_linked()) return;
  if (watched_.empty()) due(entry.held_since + options_.linger);
  watched_.push_back(entry);
}

void LockTable::set_alarms(std::uint64_t instance) {
  for (const auto& alarm : std::exchange(stage_.alarms, {})) {
    const Due which{instance, alarm.timer};
    alarms_.erase(which);
    if (alarm.delay_ns < 0) continue;
    const auto at = Clock::now() + std::chrono::nanoseconds(alarm.delay_ns);
    alarms_.emplace(which, at);
    due(at);
  }
}

void LockTable::due(Clock::time_point at) {
  if (at >= next_tick_ || !wake_) return;
  next_tick_ = at;
  afterwards_.add([this, at] { wake_(at); });
}

void LockTable::tick() {
  const Locked locked(*this);
  next_tick_ = Clock::time_point::max();
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
  const auto exactly = Clock::now();
  std::vector<Due> ringing;
  for (const auto& [which, at] : alarms_)
    if (at <= exactly) ringing.push_back(which);
  for (const auto& which : ringing) {
    alarms_.erase(which);
    const auto found = instances_.find(which.instance);
    if (found != instances_.end())
      step(*found->second, {.kind = Event::Kind::expire, .timer = which.timer}, false);
  }
  for (const auto& [which, at] : alarms_) due(at);
}

// ---- for people

namespace {

std::chrono::milliseconds since(Clock::time_point then) {
  using std::chrono::milliseconds;
  return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(Clock::now() - then));
}

void note(Sightings& found, std::size_t most, Sighting sighting) {
  if (found.list.size() < most) {
    found.list.push_back(std::move(sighting));
  } else {
    found.cut = true;
  }
}

}  // namespace

void LockTable::sight_kept(std::string_view name, std::size_t most, Sightings& found) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(delay_.until - Clock::now());
  note(found, most,
       {.lock = std::string(name),
        .client = delay_.dead,
        .kind = Sighting::Kind::kept,
        .age = std::max(std::chrono::milliseconds(0), left)});
}

// The dead may have had it: it is kept for them, or would be as soon as somebody asked for it.
bool LockTable::is_kept(const Entry& entry) const {
  const auto& home = engine_->home(entry);
  return engine_->turn(entry).holder == cluster::the_dead ||
         (home.here && stage_.ledger.delayed && home.instance == 0 && !home.clear &&
          home.holdings.empty());
}

void LockTable::sight_holder(const Entry& entry, std::size_t most, Sightings& found) const {
  if (is_kept(entry)) sight_kept(entry.name, most, found);
  const auto sight = [&](const Owner& owner, Fence fence) {
    note(found, most,
         {.lock = entry.name,
          .client = owner.client,
          .session = owner.session,
          .kind = Sighting::Kind::holds,
          .fence = fence,
          .age = since(entry.held_since),
          .from = owner.from});
  };
  // Who moves is seen where it moves to.
  if (entry.inheritance && entry.inheritance->owner != nullptr)
    sight(*entry.inheritance->owner, entry.inheritance->fence);
  if (entry.owner != nullptr && entry.owner != &moved_) sight(*entry.owner, entry.fence);
}

void LockTable::sight_waiters(const Entry& entry, std::size_t most, Sightings& found) const {
  const auto& line = engine_->turn(entry).line;
  found.waiting += line.size();
  for (const auto user : line) {
    const auto& waiter = Waiter::of(user);
    note(found, most,
         {.lock = entry.name,
          .client = waiter.owner->client,
          .session = waiter.owner->session,
          .age = since(waiter.since),
          .from = waiter.owner->from});
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
                                                    : since(entry.noted)});
  });
}

Sightings LockTable::sightings(std::string_view name, std::size_t most) {
  const Locked locked(*this);
  Sightings found;
  if (!name.empty() && find(name) == nullptr && stage_.epoch > 0 &&
      rendezvous_.home_of(name) == stage_.self && !stage_.ledger.clears_unknown(was_home_of(name)))
    sight_kept(name, most, found);
  for (const auto sight :
       {&LockTable::sight_holder, &LockTable::sight_waiters, &LockTable::sight_notes}) {
    if (!name.empty()) {
      if (const auto* entry = find(name)) (this->*sight)(*entry, most, found);
      continue;
    }
    for (const auto& [key, entry] : entries_) {
      if (found.cut) return found;
      (this->*sight)(*entry, most, found);
    }
  }
  return found;
}

}  // namespace turno::table
