#include "node/lock_table.h"

#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "net/log.h"
#include "protocols/arrangement.h"

namespace turno::node {

namespace {

// Far from the end of a fence's count, so that what is under way when a new epoch is asked for
// still fits.
constexpr std::uint64_t worn_count = std::uint64_t{1} << (Fence::count_bits - 2);

// Of Entry::eagerness.
constexpr std::int8_t eager = 2, distrusted = -8;

}  // namespace

Clock::time_point coarse_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return Clock::time_point(std::chrono::seconds(now.tv_sec) +
                           std::chrono::nanoseconds(now.tv_nsec));
}

LockTable::LockTable(std::unique_ptr<Engine> engine, Options options, Lost lost)
    : engine_(std::move(engine)), options_(options), lost_(std::move(lost)) {}

LockTable::~LockTable() {
  homes_.clear();
  for (auto& [name, entry] : entries_) entry->waiters.clear();
}

// ---- the node's own users

Entry& LockTable::open(std::string_view name) {
  const std::scoped_lock guard(mutex_);
  auto& entry = find_or_make(name);
  ++entry.pins;
  return entry;
}

void LockTable::close(Entry& entry) {
  const std::scoped_lock guard(mutex_);
  --entry.pins;
  settle(entry);
}

bool LockTable::acquire(Entry& entry, Waiter& waiter) {
  let_network_go_first();
  const std::scoped_lock guard(mutex_);
  return acquire_locked(entry, waiter);
}

bool LockTable::acquire(std::string_view name, Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  return acquire_locked(find_or_make(name), waiter);
}

bool LockTable::acquire_locked(Entry& entry, Waiter& waiter) {
  if (ended_) {
    waiter.state = Waiter::State::failed;
    return false;
  }
  if (entry.owner == nullptr && !entry.asked) {
    entry.asked = true;
    if (const auto granted = engine_->request(entry, stage_)) {
      begin_turn(entry, *granted);
      entry.eagerness = std::min<std::int8_t>(entry.eagerness, 0);
      entry.held_since = entry.turn_since;
      entry.owner = waiter.owner;
      entry.fence = waiter.fence = *granted;
      waiter.state = Waiter::State::granted;
      entry.pins += waiter.pins ? 1U : 0U;
      Statistics::add(statistics_.waits[0]);
      Statistics::add<std::int64_t>(statistics_.holders);
      settle(entry);
      return true;
    }
    settle(entry);
  }
  if (entry.eagerness < eager) ++entry.eagerness;
  waiter.state = Waiter::State::waiting;
  waiter.since = Clock::now();
  entry.waiters.push_back(waiter);
  Statistics::add<std::int64_t>(statistics_.waiters);
  return false;
}

bool LockTable::withdraw(std::string_view name, Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  auto* entry = find(name);
  return entry != nullptr && withdraw_locked(*entry, waiter);
}

bool LockTable::withdraw(Entry& entry, Waiter& waiter) {
  const std::scoped_lock guard(mutex_);
  return withdraw_locked(entry, waiter);
}

// The turn that was asked for stays asked for: when it comes and nobody waits, it is given back.
bool LockTable::withdraw_locked(Entry& entry, Waiter& waiter) {
  if (waiter.state != Waiter::State::waiting) return false;
  entry.waiters.erase(entry.waiters.iterator_to(waiter));
  waiter.state = Waiter::State::failed;
  Statistics::add<std::int64_t>(statistics_.waiters, -1);
  Statistics::add(statistics_.withdrawn);
  return true;
}

bool LockTable::release(std::string_view name, const Owner& owner, Fence fence) {
  const std::scoped_lock guard(mutex_);
  auto* entry = find(name);
  if (entry == nullptr || entry->owner != &owner) return false;
  if (fence != Fence{} && fence != entry->fence) return false;
  release_locked(*entry);
  return true;
}

void LockTable::give_back(Entry& entry, Fence fence) {
  const std::scoped_lock guard(mutex_);
  --entry.pins;
  if (entry.owner != nullptr && fence == entry.fence) return release_locked(entry);
  settle(entry);
}

bool LockTable::take_back(std::string_view name, Fence fence, std::string_view reason) {
  const std::scoped_lock guard(mutex_);
  auto* entry = find(name);
  if (entry == nullptr || entry->owner == nullptr || fence != entry->fence) return false;
  Statistics::add(statistics_.lost);
  lost_(*entry->owner, entry->name, fence, reason);
  release_locked(*entry);
  return true;
}

bool LockTable::holds(Entry& entry, Fence fence) {
  const std::scoped_lock guard(mutex_);
  return entry.owner != nullptr && entry.fence == fence;
}

bool LockTable::holds(std::string_view name, const Owner& owner) {
  const std::scoped_lock guard(mutex_);
  const auto* entry = find(name);
  return entry != nullptr && entry->owner == &owner;
}

void LockTable::release_locked(Entry& entry) {
  entry.owner = nullptr;
  Statistics::add(statistics_.released);
  Statistics::add<std::int64_t>(statistics_.holders, -1);
  if (entry.waiters.empty()) {
    // A user that had to wait for others twice in a row will probably want in again. If it asks
    // only after it left, that is a message of its own; now the claim travels with the token.
    if (entry.eagerness >= eager && engine_->info().overlap != Overlap::never)
      return pass_on(entry);
    return after(entry, engine_->release(entry, stage_));
  }
  const bool more = entry.served + 1 < cluster::fences_per_turn &&
                    coarse_now() - entry.turn_since < options_.longest_turn;
  if (!more) return pass_on(entry);
  ++entry.served;
  engine_->raise(entry, Fence{entry.turn.value + entry.served});
  serve(entry);
}

// Others in the cluster get their turn before the node's next user.
void LockTable::pass_on(Entry& entry) {
  entry.asked = true;
  if (engine_->info().overlap != Overlap::never) {
    // Asking before leaving saves a message: the claim travels with the token.
    engine_->request(entry, stage_);
    return after(entry, engine_->release(entry, stage_));
  }
  engine_->release(entry, stage_);
  after(entry, engine_->request(entry, stage_));
}

void LockTable::begin_turn(Entry& entry, Fence fence) {
  entry.asked = false;
  entry.turn = fence;
  entry.served = 0;
  entry.turn_since = coarse_now();
  if (fence.count() > worn_count) worn_.store(true, std::memory_order_relaxed);
}

void LockTable::serve(Entry& entry) {
  auto& waiter = entry.waiters.front();
  entry.waiters.pop_front();
  entry.owner = waiter.owner;
  entry.fence = waiter.fence = Fence{entry.turn.value + entry.served};
  entry.held_since = coarse_now();
  waiter.state = Waiter::State::granted;
  entry.pins += waiter.pins ? 1U : 0U;
  statistics_.waited(Clock::now() - waiter.since);
  Statistics::add<std::int64_t>(statistics_.waiters, -1);
  Statistics::add<std::int64_t>(statistics_.holders);
  waiter.settled();
}

// After every step of the lock: a turn that began is used or given back.
void LockTable::after(Entry& entry, const Engine::Granted& granted) {
  if (granted) {
    begin_turn(entry, *granted);
    if (entry.waiters.empty()) {
      // Withdrawn meanwhile, or nobody came back: then it takes longer to be trusted again.
      entry.eagerness = distrusted;
      engine_->release(entry, stage_);
    } else {
      serve(entry);
    }
  }
  settle(entry);
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
  if (entry->home == stage_.self) engine_->begin_home(*entry, unreported_);
  auto& made = *entry;
  entries_.emplace(std::string_view(made.name), std::move(entry));
  return made;
}

// Keeps the indices true to the entry, and forgets it if nothing would be lost.
void LockTable::settle(Entry& entry) {
  const auto instance = engine_->instance(entry);
  const auto number = instance == 0 ? 0 : global_instance(entry.home, instance);
  if (number != entry.instance) {
    if (entry.instance != 0) instances_.erase(entry.instance);
    entry.instance = number;
    if (number != 0) instances_.emplace(number, &entry);
  }
  if (entry.home == stage_.self) touch(entry);
  const bool used =
      entry.owner != nullptr || !entry.waiters.empty() || entry.pins > 0 || entry.asked;
  if (!used && engine_->idle(entry)) forget(entry);
}

void LockTable::touch(Entry& entry) {
  auto& hook = static_cast<boost::intrusive::list_base_hook<>&>(entry);
  if (!engine_->retirable(entry)) {
    if (hook.is_linked()) homes_.erase(homes_.iterator_to(entry));
    return;
  }
  entry.touched = coarse_now();
  if (hook.is_linked()) homes_.erase(homes_.iterator_to(entry));
  homes_.push_back(entry);
}

void LockTable::forget(Entry& entry) {
  if (entry.is_linked()) homes_.erase(homes_.iterator_to(entry));
  if (entry.instance != 0) instances_.erase(entry.instance);
  entries_.erase(entries_.find(std::string_view(entry.name)));
}

std::size_t LockTable::size() {
  const std::scoped_lock guard(mutex_);
  return entries_.size();
}

bool LockTable::ready() {
  const std::scoped_lock guard(mutex_);
  return stage_.epoch > 0 && unreported_.empty();
}

NodeSet LockTable::unreported() {
  const std::scoped_lock guard(mutex_);
  return unreported_;
}

std::size_t LockTable::retire_idle(Clock::time_point since, std::size_t most) {
  const std::scoped_lock guard(mutex_);
  std::size_t count = 0;
  while (count < most && !homes_.empty() && homes_.front().touched < since) {
    auto& entry = homes_.front();
    homes_.pop_front();
    ++count;
    Statistics::add(statistics_.retired);
    after(entry, engine_->retire(entry, stage_));
  }
  if (homes_.empty() && entries_.size() < 1024) shrink();
  return count;
}

// Memory of many names that are gone goes back to the system.
void LockTable::shrink() {
  if (entries_.bucket_count() < 65536 && instances_.bucket_count() < 65536) return;
  entries_.rehash(0);
  instances_.rehash(0);
  orphans_.rehash(0);
  ::malloc_trim(0);
}

void LockTable::end(std::string_view reason) {
  const std::scoped_lock guard(mutex_);
  ended_ = true;
  for (auto& [name, entry] : entries_) {
    while (!entry->waiters.empty()) {
      auto& waiter = entry->waiters.front();
      entry->waiters.pop_front();
      waiter.state = Waiter::State::failed;
      Statistics::add<std::int64_t>(statistics_.waiters, -1);
      waiter.settled();
    }
    if (entry->owner == nullptr) continue;
    Statistics::add(statistics_.lost);
    Statistics::add<std::int64_t>(statistics_.holders, -1);
    lost_(*entry->owner, entry->name, entry->fence, reason);
    entry->owner = nullptr;
  }
}

// ---- the cluster

void LockTable::adopt(const cluster::View& view, NodeId self, Links links, bool delayed) {
  const std::scoped_lock guard(mutex_);
  stage_.epoch = view.epoch;
  stage_.self = self;
  stage_.links = std::move(links);
  stage_.book = {};
  stage_.book.delayed = delayed;
  stage_.setups.clear();
  for (std::size_t i = 0; i < view.size(); ++i)
    stage_.setups.push_back(arrangement(engine_->info(), view.epoch, view.size(), NodeId{i}));
  rendezvous_ = cluster::Rendezvous(view);
  worn_ = false;
  instances_.clear();
  orphans_.clear();
  homes_.clear();
  NodeSet everybody;
  for (std::size_t i = 0; i < view.size(); ++i) everybody.insert(NodeId{i});
  unreported_ = everybody;
  unreported_.erase(self);
  std::vector<Entry*> all;
  all.reserve(entries_.size());
  for (auto& [name, entry] : entries_) all.push_back(entry.get());
  for (auto* entry : all) {
    entry->instance = 0;
    entry->home = rendezvous_.home_of(entry->name);
    if (entry->home == self) {
      engine_->begin_home(*entry, everybody);
    } else {
      engine_->end_home(*entry);
    }
    after(*entry, engine_->adopt(*entry, stage_));
  }
  for (std::size_t i = 0; i < view.size(); ++i)
    if (NodeId{i} != self) send(NodeId{i}, 0, FrameKind::reported);
}

void LockTable::end_delay() {
  const std::scoped_lock guard(mutex_);
  stage_.book.delayed = false;
  std::vector<Entry*> here;
  for (auto& [name, entry] : entries_)
    if (entry->home == stage_.self) here.push_back(entry.get());
  for (auto* entry : here) after(*entry, engine_->conclude(*entry, stage_));
}

void LockTable::send(NodeId to, std::uint64_t instance, FrameKind kind) {
  stage_.links[to.index()]->send(stage_.epoch, instance, static_cast<std::uint8_t>(kind),
                                 [](wire::Writer&) {});
}

bool LockTable::receive(NodeId from, const wire::Frame& frame) {
  const NetworkGuard guard(*this);
  Note note;
  note.kind = static_cast<FrameKind>(frame.kind);
  note.instance = instance_at_home(frame.lock);
  switch (note.kind) {
    case FrameKind::report:
    case FrameKind::open:
    case FrameKind::opened:
      return receive_named(from, frame, note);
    case FrameKind::protocol:
    case FrameKind::query:
    case FrameKind::retire:
      return receive_about(from, frame, note);
    case FrameKind::gone:
      orphans_.erase(frame.lock);
      return true;
    case FrameKind::reported:
      receive_reported(from);
      return true;
    default:
      return false;
  }
}

// A frame that names its lock.
bool LockTable::receive_named(NodeId from, const wire::Frame& frame, Note& note) {
  wire::Reader body(frame.body);
  const auto name = body.bytes();
  if (note.kind != FrameKind::open) {
    const auto holder = body.varint();
    note.count = body.varint();
    const auto flags = body.u8();
    if (holder > stage_.size() || flags > 3 || note.count >= worn_count * 2) return false;
    note.holder = holder == 0 ? nobody : NodeId{static_cast<std::size_t>(holder - 1)};
    note.holds = (flags & 1) != 0;
    note.free = (flags & 2) != 0;
  }
  if (!body.ok() || body.remaining() != 0 || name.empty() || name.size() > longest_name)
    return false;
  const auto home = rendezvous_.home_of(name);
  const bool opened = note.kind == FrameKind::opened;
  if (opened ? home != from || home_of_instance(frame.lock) != from || note.instance == 0
             : home != stage_.self)
    return false;
  auto& entry = find_or_make(name);
  // Nobody else can hold what is held here.
  const bool elsewhere = opened ? note.holder != stage_.self : note.holds;
  if (entry.owner != nullptr && entry.instance == 0 && elsewhere) return false;
  Engine::Granted granted;
  const bool understood = engine_->receive(entry, stage_, from, note, granted);
  if (opened && understood) {
    ++entry.pins;  // the orphans are delivered before it may be forgotten
    after(entry, granted);
    adopt_orphans(entry);
    --entry.pins;
    settle(entry);
  } else {
    after(entry, granted);
  }
  return understood;
}

// A frame about an instance.
bool LockTable::receive_about(NodeId from, const wire::Frame& frame, Note& note) {
  const auto home = home_of_instance(frame.lock);
  if (home.index() >= stage_.size() || note.instance == 0) return false;
  if (note.kind == FrameKind::query && home != stage_.self) return false;
  if (note.kind == FrameKind::retire && home != from) return false;
  const auto found = instances_.find(frame.lock);
  if (found == instances_.end()) {
    if (note.kind == FrameKind::query) send(from, frame.lock, FrameKind::gone);
    if (note.kind == FrameKind::protocol && home != stage_.self) keep_orphan(from, frame);
    return true;
  }
  note.inner = frame.body;
  Engine::Granted granted;
  auto& entry = *found->second;
  const bool understood = engine_->receive(entry, stage_, from, note, granted);
  after(entry, granted);
  return understood;
}

// Of an instance that this node does not know, yet or any more, it asks the home.
void LockTable::keep_orphan(NodeId from, const wire::Frame& frame) {
  auto& orphans = orphans_[frame.lock];
  if (orphans.empty()) send(home_of_instance(frame.lock), frame.lock, FrameKind::query);
  orphans.push_back({from, std::string(frame.body)});
}

void LockTable::adopt_orphans(Entry& entry) {
  const auto found = orphans_.find(entry.instance);
  if (entry.instance == 0 || found == orphans_.end()) return;
  const auto orphans = std::move(found->second);
  orphans_.erase(found);
  Note note;
  note.instance = instance_at_home(entry.instance);
  for (const auto& orphan : orphans) {
    note.inner = orphan.inner;
    Engine::Granted granted;
    if (!engine_->receive(entry, stage_, orphan.from, note, granted))
      Statistics::add(statistics_.strange_frames);
    after(entry, granted);
  }
}

void LockTable::receive_reported(NodeId from) {
  unreported_.erase(from);
  std::vector<Entry*> here;
  for (auto& [name, entry] : entries_)
    if (engine_->at_home(*entry)) here.push_back(entry.get());
  for (auto* entry : here) {
    Engine::Granted granted;
    engine_->receive(*entry, stage_, from, {.kind = FrameKind::report}, granted);
    after(*entry, granted);
  }
}

// ---- for people

void LockTable::sight(const Entry& entry, std::size_t most, std::vector<Sighting>& found) const {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const auto now = Clock::now();
  const auto age = [&](Clock::time_point since) {
    return std::max(milliseconds(0), duration_cast<milliseconds>(now - since));
  };
  if (entry.owner != nullptr && found.size() < most)
    found.push_back({entry.name, entry.owner->client, entry.owner->session, true, entry.fence,
                     age(entry.held_since), entry.waiters.size()});
  for (const auto& waiter : entry.waiters) {
    if (found.size() >= most) return;
    found.push_back({entry.name, waiter.owner->client, waiter.owner->session, false, Fence{},
                     age(waiter.since), 0});
  }
}

std::vector<Sighting> LockTable::sightings(std::string_view name, std::size_t most) {
  const std::scoped_lock guard(mutex_);
  std::vector<Sighting> found;
  if (!name.empty()) {
    if (const auto* entry = find(name)) sight(*entry, most, found);
    return found;
  }
  for (const auto& [key, entry] : entries_) {
    if (found.size() >= most) break;
    sight(*entry, most, found);
  }
  return found;
}

}  // namespace turno::node
