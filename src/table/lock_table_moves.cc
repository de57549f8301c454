// The lock table and users that move from one node to another, because the first one leaves. What
// they have is theirs at every moment, whoever dies: cluster/desk.h says how.
#include "table/lock_table.h"
#include "table/locked_table.h"

namespace turno::table {

std::optional<Bequest> LockTable::bequeath(std::string_view name, const Owner& owner, Fence fence) {
  const Locked locked(*this);
  auto* entry = find(name);
  if (entry == nullptr || entry->owner != &owner || entry->fence != fence) return {};
  const auto result =
      engine_->step(*entry, stage_, {.kind = Event::Kind::bequeath, .fence = fence});
  if (result.done) entry->owner = &moved_;
  carry_out(*entry, result, true);
  if (!result.done) return {};
  return Bequest{
      .lock = entry->name,
      .fence = fence,
      .held = std::chrono::floor<std::chrono::milliseconds>(Clock::now() - entry->held_since),
      .thing = thing(),
      .value = value_of(*entry, fence)};
}

void LockTable::reclaim(std::string_view name, const Owner& owner, Fence fence) {
  const Locked locked(*this);
  auto* entry = find(name);
  if (entry == nullptr || entry->owner != &moved_ || entry->fence != fence) return;
  entry->owner = &owner;
  step(*entry, {.kind = Event::Kind::reclaim, .fence = fence});
  begins(*entry, fence, owner, value_of(*entry, fence));
}

bool LockTable::inherits(std::string_view name, const Owner& owner) {
  const Locked locked(*this);
  return find_inherited(name, owner, {}) != nullptr;
}

bool LockTable::inherit(const Bequest& bequest, const Owner& owner, std::uint64_t member) {
  const Locked locked(*this);
  if (ended_) return false;
  auto& entry = find_or_make(bequest.lock);
  const auto result = engine_->step(entry, stage_,
                                    {.kind = Event::Kind::inherit,
                                     .user = reinterpret_cast<std::uintptr_t>(&owner),
                                     .fence = bequest.fence});
  if (result.done) {
    entry.inheritance = std::make_unique<Inheritance>(Inheritance{&owner, bequest.fence, member});
    begins(entry, bequest.fence, owner, bequest.value);
    entry.held_since = Clock::now() - bequest.held;
  }
  carry_out(entry, result, true);
  return result.done;
}

void LockTable::disinherit(std::string_view name, const Owner& owner) {
  const Locked locked(*this);
  auto* entry = find_inherited(name, owner, {});
  if (entry == nullptr) return;
  const auto fence = entry->inheritance->fence;
  entry->inheritance.reset();
  stays_away(*entry, fence);
  step(*entry, {.kind = Event::Kind::inherit, .fence = fence});
}

Entry* LockTable::find_inherited(std::string_view name, const Owner& owner, Fence fence) {
  auto* entry = find(name);
  const bool here = entry != nullptr && entry->inheritance && entry->inheritance->owner == &owner &&
                    (fence == Fence{} || fence == entry->inheritance->fence);
  return here ? entry : nullptr;
}

void LockTable::let_go_of_inherited(Entry& entry) {
  entry.inheritance->owner = nullptr;
  ends(entry, entry.inheritance->fence);
  step(entry, {.kind = Event::Kind::leave, .fence = entry.inheritance->fence});
}

bool LockTable::inherits_from_gone(const Entry& entry, const cluster::View& view) const {
  return entry.inheritance && view.index_of(entry.inheritance->member) == nobody;
}

// The member that it comes from is gone.
void LockTable::come_into(Entry& entry, bool inside) {
  const auto inheritance = std::move(entry.inheritance);
  if (inheritance->owner == nullptr) return;
  if (!inside) {
    ends(entry, inheritance->fence);
    tell_lost(*inheritance->owner, entry.name, inheritance->fence, "another node has it");
    return;
  }
  entry.owner = inheritance->owner;
  entry.fence = entry.turn = inheritance->fence;
  entry.turn_since = now();
  Statistics::add<std::int64_t>(statistics_.holders);
  watch(entry);
}

}  // namespace turno::table
