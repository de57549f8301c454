// The home of a room: which groups its instances know. And, of a store too, how many seats the
// members' users have.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "cluster/home.h"

namespace turno::cluster {

// All who are inside are of one group: who says otherwise second is not believed.
void Home::take_room(NodeId from, const Note& note) {
  terms.seats = std::max(terms.seats, std::min(note.terms.seats, most_seats));
  for (const auto& holding : note.holdings) {
    if (holding.group >= note.terms.groups.size()) continue;
    const auto& group = note.terms.groups[holding.group];
    if (terms.groups.empty()) terms.groups.push_back(group);
    const auto& inside = terms.groups.front();
    if (inside.name != group.name || holdings.size() >= inside.capacity) continue;
    holdings.push_back({.seat = from});
    terms.fence = std::max(terms.fence, note.terms.fence);
  }
}

bool Home::serves(const Terms& wishes_for) const {
  return std::min(wishes_for.seats, most_seats) <= terms.seats &&
         std::all_of(wishes_for.groups.begin(), wishes_for.groups.end(),
                     [&](const Group& group) { return find(terms.groups, group.name) != nullptr; });
}

void Home::want(NodeId from, const Terms& wishes_for) {
  terms.seats = std::max(terms.seats, std::min(wishes_for.seats, most_seats));
  for (const auto& group : wishes_for.groups) {
    const bool known = std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& other) {
      return other.member == from && other.group.name == group.name;
    });
    // A peer cannot make the home keep more than its members could want.
    if (!known && wanted.size() < 2 * most_groups) wanted.push_back({from, group});
  }
}

// The groups of the instance: first that of those inside, then what was wished for.
void Home::furnish(Letters& letters) {
  for (const auto& [member, group] : std::exchange(wanted, {})) {
    if (find(terms.groups, group.name) != nullptr) continue;
    if (terms.groups.size() < most_groups) {
      terms.groups.push_back(group);
    } else {
      letters.push_back({member, {.kind = Note::Kind::unknown, .terms = {.groups = {group}}}});
    }
  }
  for (auto& group : terms.groups)
    if (group.capacity == 0) group.capacity = RoomSetup::unlimited;
}

// As many for each member as the one with the most users needs.
void Home::count_seats(const Context& context) {
  std::map<NodeId, std::uint32_t> visits;
  for (const auto& holding : holdings) terms.seats = std::max(terms.seats, ++visits[holding.seat]);
  terms.seats = std::bit_ceil(std::max(terms.seats, context.rules.seats));
}

// What no living member has reported, a dead one may have: of the group that is inside as many
// places as there are, or else any group, so that nobody gets in.
void Home::keep_visit_for_the_dead(const Context& context) {
  if (terms.groups.empty()) terms.groups.push_back({.capacity = 1});
  const auto& inside = terms.groups.front();
  if (holdings.size() >= inside.capacity) {
    clear = true;
    return;
  }
  terms.kept = true;
  holdings.push_back({.seat = context.self});
}

// The managers of groups take part from the beginning, whoever asks.
void Home::tell_managers(const Context& context, Letters& letters) {
  const auto size = context.setup->size();
  for (std::size_t group = 0; group < std::min(terms.groups.size(), size); ++group)
    tell_opened(NodeId{(context.home.index() + group) % size}, letters);
}

}  // namespace turno::cluster
