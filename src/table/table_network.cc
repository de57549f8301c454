// A table and the cluster: views, and the frames of peers.
#include <algorithm>
#include <utility>

#include "protocols/arrangement.h"
#include "table/locked_table.h"
#include "table/table.h"

namespace turno::table {

namespace {

using Without = cluster::Rules::Without;

// More than honest members ever need: these are messages that overtake the news of an instance.
constexpr std::size_t most_foundlings = 4096, most_orphans = 65'536;

// Far from the end of a fence's count, so that what is under way when a new epoch is asked for
// still fits. Of many members less is used, for numbers in messages have a limit that falls with
// them (wire::Limits::number).
constexpr std::uint64_t worn_count(std::size_t members) {
  return most_count / 2 / std::max<std::size_t>(1, members / 8);
}

}  // namespace

bool Table::ready() {
  const Locked locked(*this);
  return stage_.epoch > 0 && stage_.ledger.unreported.empty();
}

NodeSet Table::unreported() {
  const Locked locked(*this);
  return stage_.ledger.unreported;
}

std::size_t Table::foundlings() {
  const Locked locked(*this);
  return foundlings_.size();
}

// ---- views

void Table::adopt(const cluster::View& view, NodeId self, Links links, const Delay& delay) {
  const Locked locked(*this);
  NodeSet gone, everybody;
  for (std::size_t i = 0; i < rendezvous_.ids().size(); ++i)
    if (view.index_of(rendezvous_.ids()[i]) == nobody) gone.insert(NodeId{i});
  for (std::size_t i = 0; i < view.size(); ++i) everybody.insert(NodeId{i});
  former_self_ = stage_.epoch > 0 ? stage_.self : nobody;
  former_rendezvous_ = std::exchange(rendezvous_, cluster::Rendezvous(view));
  stage_.epoch = view.epoch;
  stage_.fences_from = view.fences_from;
  stage_.self = self;
  stage_.links = std::move(links);
  auto others = everybody;
  others.erase(self);
  stage_.ledger = stage_.ledger.next(others, delay.delayed);
  delay_ = delay;
  stage_.setups.clear();
  const auto fenced = options_.rules.without == Without::fence_epoch ? 1U : view.epoch;
  for (std::size_t i = 0; i < view.size(); ++i) {
    stage_.setups.push_back(
        protocols::arrangement(engine_->info(), fenced, view.size(), NodeId{i}));
    stage_.setups.back().departure = options_.departure;
    arrange(stage_.setups.back());
  }
  worn_ = false;
  worn_count_ = worn_count(view.size());
  instances_.clear();
  foundlings_.clear();
  orphans_ = 0;
  for (auto& homes : homes_) homes.clear();
  alarms_.clear();
  for (const auto& link : stage_.links)
    if (link) link->begin_surge();
  std::vector<Entry*> all;
  all.reserve(entries_.size());
  for (auto& [name, entry] : entries_) all.push_back(entry.get());
  for (auto* entry : all) {
    entry->instance = 0;
    entry->home = rendezvous_.home_of(entry->name);
    const bool inherits = inherits_from_gone(*entry, view);
    const auto result = engine_->step(*entry, stage_,
                                      {.kind = Event::Kind::adopt,
                                       .gone = &gone,
                                       .missing = entry->home == self ? &everybody : nullptr,
                                       .inherits = inherits});
    if (inherits) come_into(*entry, result.inherited);
    carry_out(*entry, result, true);
  }
  // Of all else this node's users have nothing.
  for (std::size_t i = 0; i < view.size(); ++i)
    if (NodeId{i} != self) send(NodeId{i}, 0, NoteKind::reported);
  for (const auto& link : stage_.links)
    if (link) link->end_surge();
}

void Table::end_delay() {
  const Locked locked(*this);
  stage_.ledger.delayed = false;
  std::vector<Entry*> here;
  for (auto& [name, entry] : entries_)
    if (entry->home == stage_.self) here.push_back(entry.get());
  for (auto* entry : here) step(*entry, {.kind = Event::Kind::delay_over});
}

void Table::send(NodeId to, std::uint64_t instance, NoteKind kind) {
  const auto& link = stage_.links[to.index()];
  if (link->append(stage_.epoch, instance, frame_kind(thing_, kind), [](wire::Writer&) {}))
    stage_.waiting_links.push_back(link);
}

// ---- frames

bool Table::receive(NodeId from, const wire::Frame& frame) {
  const Locked locked(*this, Locked::Who::network);
  if (!is_of_a_desk(frame.kind) || thing_of(frame.kind) != thing_) return false;
  const auto kind = note_kind(frame.kind);
  if (kind == NoteKind::reported) {
    receive_reported(from);
    return true;
  }
  return route_of(kind).named ? receive_named(from, kind, frame)
                              : receive_numbered(from, kind, frame);
}

// A frame that names its thing.
bool Table::receive_named(NodeId from, NoteKind kind, const wire::Frame& frame) {
  wire::Reader body(frame.body);
  const auto name = body.bytes();
  if (!body.ok() || name.empty() || name.size() > longest_name) return false;
  const auto home = rendezvous_.home_of(name);
  if (home != (route_of(kind).way == Route::Way::to_home ? stage_.self : from)) return false;
  if (kind == NoteKind::opened && (home_of_instance(frame.lock) != from || frame.lock == 0))
    return false;
  const bool says_no = kind == NoteKind::busy || kind == NoteKind::unknown;
  if (says_no && find(name) == nullptr) return true;
  auto& entry = find_or_make(name);
  if (kind == NoteKind::opened) adopt_foundling(entry, frame.lock);
  const auto result =
      engine_->receive(entry, stage_, from, kind, instance_at_home(frame.lock), body);
  if (!result) {  // what was adopted for it would have no bound
    const auto nobody = engine_->make_entry();
    engine_->take_orphans(*nobody, entry);
  }
  carry_out(entry, result ? *result : engine_->look(entry, stage_), true);
  return result.has_value();
}

// A frame about an instance.
bool Table::receive_numbered(NodeId from, NoteKind kind, const wire::Frame& frame) {
  const auto home = home_of_instance(frame.lock);
  if (home.index() >= stage_.size() || instance_at_home(frame.lock) == 0) return false;
  const auto way = route_of(kind).way;
  if (way == Route::Way::to_home && home != stage_.self) return false;
  if (way == Route::Way::from_home && home != from) return false;
  const auto found = instances_.find(frame.lock);
  if (found == instances_.end()) return receive_stray(from, kind, frame);
  auto& entry = *found->second;
  wire::Reader body(frame.body);
  const auto result =
      engine_->receive(entry, stage_, from, kind, instance_at_home(frame.lock), body);
  if (kind == NoteKind::held) note_held(entry);
  const bool used = kind != NoteKind::protocol || !engine_->info().circulates;
  if (result) {
    carry_out(entry, *result, used);
  } else if (kind == NoteKind::protocol) {
    step(entry, {.kind = Event::Kind::spoil});
  }
  return result.has_value();
}

// Of an instance that this node does not know, yet or any more.
bool Table::receive_stray(NodeId from, NoteKind kind, const wire::Frame& frame) {
  if (kind == NoteKind::query) send(from, frame.lock, NoteKind::gone);
  if (kind == NoteKind::gone) drop_foundling(frame.lock);
  if (kind != NoteKind::protocol || home_of_instance(frame.lock) == stage_.self) return true;
  return keep_foundling(from, frame);
}

bool Table::keep_foundling(NodeId from, const wire::Frame& frame) {
  const auto home = home_of_instance(frame.lock);
  const bool known = foundlings_.contains(frame.lock);
  if (orphans_ >= most_orphans || (!known && foundlings_.size() >= most_foundlings)) {
    send(home, frame.lock, NoteKind::spoilt);
    return false;
  }
  auto& entry = foundlings_[frame.lock];
  if (!entry) {
    entry = engine_->make_entry();
    entry->home = home;
  }
  wire::Reader body(frame.body);
  const auto before = engine_->orphans(*entry);
  const bool understood =
      engine_->receive(*entry, stage_, from, NoteKind::protocol, instance_at_home(frame.lock), body)
          .has_value();
  orphans_ += engine_->orphans(*entry) - before;
  if (!understood) send(home, frame.lock, NoteKind::spoilt);
  if (engine_->orphans(*entry) == 0) drop_foundling(frame.lock);
  return understood;
}

void Table::adopt_foundling(Entry& entry, std::uint64_t instance) {
  const auto found = foundlings_.find(instance);
  if (found == foundlings_.end()) return;
  orphans_ -= engine_->orphans(*found->second);
  engine_->take_orphans(entry, *found->second);
  foundlings_.erase(found);
}
void Table::drop_foundling(std::uint64_t instance) {
  const auto found = foundlings_.find(instance);
  if (found == foundlings_.end()) return;
  orphans_ -= engine_->orphans(*found->second);
  foundlings_.erase(found);
}

void Table::receive_reported(NodeId from) {
  stage_.ledger.unreported.erase(from);
  const cluster::Note reported{.kind = NoteKind::reported};
  std::vector<Entry*> here;
  for (auto& [name, entry] : entries_)
    if (entry->home == stage_.self) here.push_back(entry.get());
  for (auto* entry : here)
    step(*entry, {.kind = Event::Kind::receive, .from = from, .note = &reported}, false);
}

}  // namespace turno::table
