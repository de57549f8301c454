// The home of a semaphore: what the dead may have, and how many permits there are.
#include <algorithm>
#include <iterator>
#include <utility>

#include "cluster/home.h"

namespace turno::cluster {

using Without = Rules::Without;

std::uint32_t Home::count_members_but(const NodeSet& gone) const {
  std::uint32_t left = 0;
  members.for_each([&](NodeId member) { left += gone.contains(member) ? 0U : 1U; });
  return left;
}

namespace {

// For the checker, and for tests that must notice it.
void forget(const Context& context, LastSeen& gone) {
  if (context.without(Without::held)) gone.held.clear();
  if (context.without(Without::last_request)) gone.answered = false;
  if (context.without(Without::answers)) gone.told.clear();
  if (context.without(Without::others_gone)) gone.most = 0;
  if (!context.without(Without::releases)) return;
  for (auto fact : Facts(gone.told)) {
    fact.freed = false;
    gone.told.set(fact);
  }
}

}  // namespace

// The permits that those who are gone may have, those of a crash before included. All, unless each
// member that lives and was part of the last instance has said what it knows. Who was not told of
// that instance has answered nobody in it, so nobody was granted anything.
std::vector<std::uint32_t> Home::weigh(const Context& context) {
  Instance last = 0;
  for (const auto& each : evidence) last = std::max(last, each.instance);
  std::erase_if(evidence, [&](const Evidence& each) { return each.instance < last; });
  std::vector<AllLastSeen> witnesses;
  bool enough = context.without(Without::witnesses) && !evidence.empty();
  for (const auto& each : evidence) enough |= each.witnesses <= evidence.size();
  for (auto& each : evidence) {
    enough &= each.gone.size() == evidence.front().gone.size();
    for (auto& gone : each.gone) forget(context, gone);
    witnesses.push_back(each.gone);
  }
  const auto all = context.without(Without::old_numbers) ? permits : std::max(permits, numbers);
  auto may_have = enough ? may_be_gone(witnesses, all) : std::vector<bool>(all, true);
  for (const auto& each : evidence)
    for (const auto unit : each.kept)
      if (unit < all && !context.without(Without::kept_before)) may_have[unit] = true;
  std::vector<std::uint32_t> units;
  for (std::uint32_t unit = 0; unit < all; ++unit)
    if (may_have[unit]) units.push_back(unit);
  return units;
}

// To what the home's own member has.
void Home::add_own(const Holding& more) {
  const auto mine = std::find_if(holdings.begin(), holdings.end(),
                                 [&](const Holding& holding) { return holding.seat == more.seat; });
  if (mine == holdings.end()) return holdings.push_back(more);
  mine->units.insert(mine->units.end(), more.units.begin(), more.units.end());
}

void Home::keep_permits_for_the_dead(const Context& context) {
  const auto has = taken();
  const auto is_free = [&](std::uint32_t unit) { return unit >= has.size() || !has[unit]; };
  if (!std::exchange(weighed, true)) {
    perhaps = weigh(context);
    std::erase_if(perhaps, [&](std::uint32_t unit) { return !is_free(unit); });
  }
  evidence.clear();
  Holding kept{.seat = context.self};
  std::copy_if(perhaps.begin(), perhaps.end(), std::back_inserter(kept.units), is_free);
  if (!kept.units.empty()) add_own(kept);
}

// Who resizes it is told of the instance that has so many; or that nobody uses it.
void Home::resize(const Context& context, NodeId from, std::uint32_t so_many, Letters& letters) {
  if (context.kind != Primitive::semaphore || so_many == 0) return;
  if (lives() && permits == so_many) return tell_opened(from, letters);
  const bool used = lives() || !missing.empty() || !holdings.empty() || !wishes.empty();
  if (!used) return letters.push_back({from, {.kind = Note::Kind::unknown}});
  resize_to = so_many;
  wishes.insert(from);
  if (lives()) end_instance(context, letters);
  conclude(context, letters);
}

// What is had beyond the number of permits keeps its number until it is released. What lies
// between, the home has for nobody.
void Home::number_permits(const Context& context) {
  if (resize_to != 0) {
    permits = std::exchange(resize_to, 0);
    resized = true;
  }
  const auto has = taken();
  numbers = std::max(permits, static_cast<std::uint32_t>(has.size()));
  Holding surplus{.seat = context.self};
  for (auto unit = permits; unit < numbers; ++unit)
    if (!has[unit]) surplus.units.push_back(unit);
  if (!surplus.units.empty() && !context.without(Without::surplus)) add_own(surplus);
}

}  // namespace turno::cluster
