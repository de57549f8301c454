// The home of a store: which types its instances know, with how many instances each.
#include <algorithm>
#include <utility>

#include "cluster/home.h"

namespace turno::cluster {

// Nobody shares an instance: who says so second is not believed.
void Home::take_store(NodeId from, const Note& note) {
  terms.seats = std::max(terms.seats, std::min(note.terms.seats, most_seats));
  for (const auto& holding : note.holdings) {
    Holding believed{.seat = from};
    const auto has = taken();
    for (const auto unit : holding.units) {
      const auto resource = resource_of(note.terms.groups, unit);
      if (!resource) continue;
      const auto* type = find(note.terms.groups, resource->type);
      if (find(terms.groups, type->name) == nullptr && fits(*type)) terms.groups.push_back(*type);
      const auto number = number_through(terms.groups, *resource);
      if (number && (*number >= has.size() || !has[*number])) believed.units.push_back(*number);
    }
    if (!believed.units.empty()) holdings.push_back(believed);
  }
}

bool Home::fits(const Group& type) const {
  return terms.groups.size() < most_types &&
         count_instances(terms.groups) + type.capacity <= most_instances;
}

// A type that somebody wants, with the number of its instances: what was known, or else what
// somebody says.
Group Home::settled(const Group& wish, const Groups& known) const {
  if (const auto* type = find(known, wish.name)) return *type;
  auto type = wish;
  for (const auto& [member, other] : wanted)
    if (type.capacity == 0 && other.name == wish.name) type.capacity = other.capacity;
  return type;
}

// The types of the instance: those of which somebody has an instance, then what is wanted, and then
// as many of those known before as there is room for, so that who wants one of them again need not
// end the instance.
void Home::stock(Letters& letters) {
  const auto known = std::exchange(remembered, {});
  for (const auto& [member, wish] : wanted) {
    if (find(terms.groups, wish.name) != nullptr) continue;
    const auto type = settled(wish, known);
    if (type.capacity != 0 && fits(type)) {
      terms.groups.push_back(type);
    } else {
      letters.push_back({member, {.kind = Note::Kind::unknown, .terms = {.groups = {type}}}});
    }
  }
  wanted.clear();
  for (const auto& type : known)
    if (find(terms.groups, type.name) == nullptr && fits(type)) terms.groups.push_back(type);
}

// What no living member has reported, a dead one may have.
void Home::keep_instances_for_the_dead(const Context& context) {
  Holding kept{.seat = context.self};
  const auto has = taken();
  for (std::uint32_t unit = 0; unit < count_instances(terms.groups); ++unit)
    if (unit >= has.size() || !has[unit]) kept.units.push_back(unit);
  if (!kept.units.empty()) holdings.push_back(kept);
}

// No other instance would be born for a type of which nobody says how many there are.
void Home::refuse_unknown(NodeId from, Terms& wishes_for, Letters& letters) const {
  std::erase_if(wishes_for.groups, [&](const Group& wish) {
    if (wish.capacity != 0 || find(terms.groups, wish.name) != nullptr) return false;
    letters.push_back({from, {.kind = Note::Kind::unknown, .terms = {.groups = {wish}}}});
    return true;
  });
}

}  // namespace turno::cluster
