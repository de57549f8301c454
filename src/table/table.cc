#include "table/table.h"

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

Table::Table(Thing thing, std::unique_ptr<Engine> engine, Options options, Lost lost, Wake wake)
    : engine_(std::move(engine)),
      options_(options),
      thing_(thing),
      lost_(std::move(lost)),
      wake_(std::move(wake)) {
  stage_.rules = options_.rules;
  stage_.thing = thing;
}

Table::~Table() {
  for (auto& homes : homes_) homes.clear();
}

void Table::unlock_and_catch_up() {
  auto afterwards = std::exchange(afterwards_, {});
  auto links = std::exchange(stage_.waiting_links, {});
  mutex_.unlock();
  for (const auto& link : links) link->flush();
  afterwards.run();
}

void Table::tell_lost(const Owner& owner, const std::string& name, Fence fence,
                      std::string_view reason) {
  Statistics::add(statistics_.lost);
  afterwards_.add([this, &owner, name, fence, why = std::string(reason)] {
    lost_(owner, thing_, name, fence, why);
  });
}

// ---- what the desks decide

void Table::step(Entry& entry, const Event& event, bool used) {
  carry_out(entry, engine_->step(entry, stage_, event), used);
}

void Table::carry_out(Entry& entry, const Result& result, bool used) {
  if (result.spoilt) note_spoilt(entry);
  tell_users(entry, result);
  keep_indices(entry, result, used);
}

void Table::note_spoilt(const Entry& entry) {
  Statistics::add(statistics_.spoilt);
  if (const auto more = spoilt_lines_.admit())
    afterwards_.add([name = entry.name, thing = table::name(thing_), more = *more] {
      log::warning("a peer sent what cannot be about '{}': the {} begins again{}", name, thing,
                   more);
    });
}

void Table::note_fence(Fence fence) {
  if (fence.count() <= worn_count_) [[likely]]
    return;
  if (!worn_.exchange(true, std::memory_order_relaxed)) due(now());
}

void Table::settle(Waiter& waiter, Waiter::State state) {
  waiter.state = state;
  Statistics::add<std::int64_t>(statistics_.waiters, -1);
  waiter.settled(afterwards_);
}

// ---- the table

Entry* Table::find(std::string_view name) {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second.get();
}

Entry& Table::find_or_make(std::string_view name) {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return *found->second;
  auto entry = engine_->make_entry();
  entry->thing = thing_;
  entry->name = name;
  entry->home = rendezvous_.home_of(name);
  if (entry->home == stage_.self) engine_->begin_home(*entry, stage_, was_home_of(name));
  auto& made = *entry;
  entries_.emplace(std::string_view(made.name), std::move(entry));
  return made;
}

// In the view before.
bool Table::was_home_of(std::string_view name) const {
  return former_self_ != nobody && former_rendezvous_.home_of(name) == former_self_;
}

// Keeps the indices true to the entry, and forgets it if nothing would be lost.
void Table::keep_indices(Entry& entry, const Result& result, bool used) {
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

void Table::touch(Entry& entry, bool lives, bool used) {
  auto& hook = static_cast<HomeHook&>(entry);
  if (hook.is_linked() && lives && !used) return;
  // Of a semaphore or a room the home does not know who has it: any use shows that it is not merely
  // kept.
  const bool eases =
      entry.in_vain > 0 && lives && (several_have(thing_) || engine_->home(entry).occupied.empty());
  // In its place already: the list is in the order of these times.
  if (hook.is_linked() && lives && !eases && entry.touched == now()) return;
  unlink_home(entry);
  if (!lives) return;
  if (eases) entry.in_vain = 0;
  entry.touched = now();
  homes_[entry.in_vain].push_back(entry);
}

void Table::unlink_home(Entry& entry) {
  auto& homes = homes_[entry.in_vain];
  if (static_cast<HomeHook&>(entry).is_linked()) homes.erase(homes.iterator_to(entry));
}

void Table::forget(Entry& entry) {
  unlink_home(entry);
  before_forgetting(entry);
  if (entry.instance != 0) instances_.erase(entry.instance);
  entries_.erase(entries_.find(std::string_view(entry.name)));
}

std::size_t Table::size() {
  const Locked locked(*this);
  return entries_.size();
}

std::size_t Table::retire_idle(Clock::time_point since, std::size_t most,
                               std::chrono::milliseconds idle) {
  const Locked locked(*this);
  std::size_t count = 0;
  for (auto in_vain = homes_.size(); in_vain-- > 0;) {
    auto& homes = homes_[in_vain];
    const auto before = since - idle * ((1 << in_vain) - 1);
    while (count < most && !homes.empty() && homes.front().touched < before) {
      auto& entry = homes.front();
      homes.pop_front();
      // Until it turns out that nobody has it.
      entry.in_vain = static_cast<std::uint8_t>(std::min(in_vain + 1, most_in_vain));
      ++count;
      Statistics::add(statistics_.retired);
      step(entry, {.kind = Event::Kind::retire});
    }
  }
  const bool none = std::ranges::all_of(homes_, [](const auto& homes) { return homes.empty(); });
  if (none && entries_.size() < 1024) shrink();
  return count;
}

// Memory of many names that are gone goes back to the system.
void Table::shrink() {
  if (entries_.bucket_count() < 65536 && instances_.bucket_count() < 65536) return;
  entries_.rehash(0);
  instances_.rehash(0);
  afterwards_.add([] { ::malloc_trim(0); });
}

void Table::end(std::string_view reason) {
  const Locked locked(*this);
  ended_ = true;
  for (auto& [name, entry] : entries_) end_users(*entry, reason);
}

// ---- time

void Table::set_alarms(std::uint64_t instance) {
  for (const auto& alarm : std::exchange(stage_.alarms, {})) {
    const Due which{instance, alarm.timer};
    alarms_.erase(which);
    if (alarm.delay_ns < 0) continue;
    const auto at = Clock::now() + std::chrono::nanoseconds(alarm.delay_ns);
    alarms_.emplace(which, at);
    due(at);
  }
}

void Table::due(Clock::time_point at) {
  if (at >= next_tick_ || !wake_) return;
  next_tick_ = at;
  afterwards_.add([this, at] { wake_(at); });
}

void Table::tick() {
  const Locked locked(*this);
  next_tick_ = Clock::time_point::max();
  tick_users();
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

std::chrono::milliseconds Table::since(Clock::time_point then) {
  using std::chrono::milliseconds;
  return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(Clock::now() - then));
}

void Table::note(Sightings& found, std::size_t most, Sighting sighting) {
  if (found.list.size() < most) {
    found.list.push_back(std::move(sighting));
  } else {
    found.cut = true;
  }
}

Sighting Table::kept(std::string_view name) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(delay_.until - Clock::now());
  return {.lock = std::string(name),
          .client = delay_.dead,
          .kind = Sighting::Kind::kept,
          .age = std::max(std::chrono::milliseconds(0), left),
          .thing = thing_};
}

Sightings Table::sightings(std::string_view name, std::size_t most) {
  const Locked locked(*this);
  Sightings found;
  if (!name.empty() && find(name) == nullptr && stage_.epoch > 0 &&
      rendezvous_.home_of(name) == stage_.self && !stage_.ledger.clears_unknown(was_home_of(name)))
    note(found, most, kept(name));
  for (const auto sight : {&Table::sight_holders, &Table::sight_waiters, &Table::sight_notes}) {
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

std::vector<Sighting> Table::holders(std::string_view name, std::size_t most) {
  const Locked locked(*this);
  Sightings found;
  if (const auto* entry = find(name)) sight_holders(*entry, most, found);
  std::erase_if(found.list, [](const Sighting& each) { return !each.is(Sighting::Kind::holds); });
  return std::move(found.list);
}

bool Table::waits(const Waiter& waiter) {
  const Locked locked(*this);
  return waiter.state == Waiter::State::waiting;
}

}  // namespace turno::table
