// The home of a room: which groups its instances know, and how many seats the members' users have.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "cluster/home.h"

namespace turno::cluster {

namespace {

// Its number among these, or their number: there is none of this name.
std::size_t number_of(const std::vector<Group>& groups, std::string_view name) {
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& each) { return each.name == name; });
  return static_cast<std::size_t>(found - groups.begin());
}

}  // namespace

// All who are inside are of one group: who says otherwise second is not believed.
void Home::take_room(NodeId from, const Note& note) {
  room.seats = std::max(room.seats, std::min(note.room.seats, most_seats));
  for (const auto& holding : note.holdings) {
    if (holding.group >= note.room.groups.size()) continue;
    const auto& group = note.room.groups[holding.group];
    if (room.groups.empty()) room.groups.push_back(group);
    const auto& inside = room.groups.front();
    if (inside.name != group.name || holdings.size() >= inside.capacity) continue;
    holdings.push_back({.seat = from});
    room.fence = std::max(room.fence, note.room.fence);
  }
}

bool Home::serves(const RoomTerms& wishes_for) const {
  return std::min(wishes_for.seats, most_seats) <= room.seats &&
         std::all_of(wishes_for.groups.begin(), wishes_for.groups.end(), [&](const Group& group) {
           return number_of(room.groups, group.name) < room.groups.size();
         });
}

void Home::want(NodeId from, const RoomTerms& wishes_for) {
  room.seats = std::max(room.seats, std::min(wishes_for.seats, most_seats));
  for (const auto& group : wishes_for.groups) {
    const bool known = std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& other) {
      return other.member == from && other.group.name == group.name;
    });
    // A peer cannot make the home keep more than its members could want.
    if (!known && wanted.size() < 2 * most_groups) wanted.push_back({from, group});
  }
}

// The groups of the instance: first that of those inside, then what was wished for; and as many
// seats for each member as the one with the most users needs.
void Home::furnish(const Context& context, Letters& letters) {
  for (const auto& [member, group] : std::exchange(wanted, {})) {
    if (number_of(room.groups, group.name) < room.groups.size()) continue;
    if (room.groups.size() < most_groups) {
      room.groups.push_back(group);
    } else {
      letters.push_back({member, {.kind = Note::Kind::unknown, .room = {.groups = {group}}}});
    }
  }
  for (auto& group : room.groups)
    if (group.capacity == 0) group.capacity = RoomSetup::unlimited;
  std::map<NodeId, std::uint32_t> visits;
  for (const auto& holding : holdings) room.seats = std::max(room.seats, ++visits[holding.seat]);
  room.seats = std::bit_ceil(std::max(room.seats, context.rules.seats));
}

// What no living member has reported, a dead one may have: of the group that is inside as many
// places as there are, or else any group, so that nobody gets in.
void Home::keep_visit_for_the_dead(const Context& context) {
  if (room.groups.empty()) room.groups.push_back({.capacity = 1});
  const auto& inside = room.groups.front();
  if (holdings.size() >= inside.capacity) {
    clear = true;
    return;
  }
  room.kept = true;
  holdings.push_back({.seat = context.self});
}

// The managers of groups take part from the beginning, whoever asks.
void Home::tell_managers(const Context& context, Letters& letters) {
  const auto size = context.setup->size();
  for (std::size_t group = 0; group < std::min(room.groups.size(), size); ++group)
    tell_opened(NodeId{(context.home.index() + group) % size}, letters);
}

}  // namespace turno::cluster
