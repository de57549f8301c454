#include "cli/lab/options/room_options.h"

#include <string_view>

#include "protocols/group/quorum_group.h"

namespace turno::cli {

using namespace protocols;

namespace {

constexpr std::uint64_t default_groups = 3;

bool is_room(const Algorithm& algorithm) { return algorithm.info.primitive == Primitive::room; }

Door door_named(const std::string& name) {
  if (name.empty() || name == "demand") return Door::demand;
  if (name == "leader") return Door::leader;
  if (name == "closed") return Door::closed;
  throw UsageError("--door is demand, leader or closed, not '" + name + "'");
}

}  // namespace

void RoomOptions::add_to(Command command) {
  command.add_option("--groups", groups, "Rooms: how many groups (default: 3)");
  command.add_option("--door", door,
                     "Rooms: who comes while his group is inside is let in: demand (while no other "
                     "group is known to ask, or the first is inside), leader (while the first is "
                     "inside), closed (never) (default: demand)");
  command.add_option("--capacity", capacity,
                     "Rooms: how many of each group may be inside, as in 1,-,2 (default: any)");
  command.add_flag("--separate-fences", separate_fences,
                   "Rooms: fences have a clock of their own, not that of requests");
}

void RoomOptions::add_to_check(Command command) {
  command.add_option("--visits", visits,
                     "Rooms: one list of groups a process, as in 00,11 (default: each group once)");
  command.add_option("--overtakings", overtakings,
                     "Rooms: how often a group may overtake a request known to an arbiter of both "
                     "(default: not counted)");
}

void RoomOptions::add_to_sim(Command command) {
  command.add_option("--visitors", visitors,
                     "Rooms: how many processes visit them (default: two a group; total: those who "
                     "arrive)");
  command.add_option("--sessions", sessions, "Rooms: end the run after so many sessions");
}

bool RoomOptions::given() const {
  return groups || visitors || sessions || overtakings || separate_fences || !door.empty() ||
         !capacity.empty() || !visits.empty();
}

void RoomOptions::count_nodes(const Algorithm& algorithm, System& system, bool open) const {
  if (!is_room(algorithm)) {
    if (given())
      throw UsageError(std::string(algorithm.info.name) +
                       " has no rooms: --groups, --door, --visits and the like are for them");
    return;
  }
  system.groups = groups.value_or(default_groups);
  if (system.groups < 1 || system.groups > 10'000)
    throw UsageError("there are 1 to 10000 groups, not " + std::to_string(system.groups));
  system.nodes = system.groups + visitors.value_or(open ? 0 : 2 * system.groups);
  if (!visits.empty()) system.nodes = parse_visits(visits, system.groups).size();
}

void RoomOptions::apply(const Algorithm& algorithm, Setup& setup) const {
  if (!is_room(algorithm)) return;
  auto& config = setup.configure<QuorumGroup::Config>();
  config.door = door_named(door);
  config.separate_fences = separate_fences;
  if (!capacity.empty()) setup.room.capacity = parse_capacities(capacity, setup.room.groups);
  if (overtakings && *overtakings < 1) throw UsageError("--overtakings is 1 or more");
  setup.configure<OvertakingLimit>().most = overtakings.value_or(0);
}

void RoomOptions::apply(const Algorithm& algorithm, check::Options& options) const {
  if (!is_room(algorithm)) return;
  const auto managers = options.setup.room.groups;
  options.setup.configure<QuorumGroup::Config>().duplicates = options.faults.duplicates > 0;
  if (!visits.empty()) {
    options.scripts = parse_visits(visits, managers);
    return;
  }
  options.scripts.assign(managers, {});
  for (std::uint32_t group = 0; group < managers; ++group)
    options.scripts.push_back({options.requests, Wish{.group = group}});
}

void RoomOptions::apply(const Algorithm& algorithm, sim::Options& options) const {
  const bool open = options.arrivals.kind == sim::Arrivals::Kind::total;
  if (!is_room(algorithm)) {
    if (open) throw UsageError("total arrivals are for rooms: use poisson or closed");
    return;
  }
  if (open && visitors)
    throw UsageError("with total arrivals each is a new process: leave --visitors away");
  if (sessions && *sessions < 1) throw UsageError("--sessions is 1 or more");
  const auto managers = options.setup.room.groups;
  if (!open && options.setup.size() <= managers)
    throw UsageError("a room needs processes: --visitors is 1 or more");
  options.sessions = sessions.value_or(0);
  if (options.requesters.empty() && !open)
    for (std::size_t i = managers; i < options.setup.size(); ++i)
      options.requesters.insert(NodeId{i});
  options.wish = [managers](NodeId, Random& random) {
    return Wish{.group = static_cast<std::uint32_t>(random.below(managers))};
  };
}

std::string RoomOptions::text() const {
  return std::to_string(groups.value_or(default_groups)) + " groups, " +
         (door.empty() ? "demand" : door) + " door" + (visits.empty() ? "" : ", visits " + visits);
}

void RoomOptions::describe(const Algorithm& algorithm, Json& json) const {
  if (!is_room(algorithm)) return;
  json.add("groups", groups.value_or(default_groups)).add("door", door.empty() ? "demand" : door);
  if (!capacity.empty()) json.add("capacity", capacity);
  if (!visits.empty()) json.add("visits", visits);
  if (overtakings) json.add("overtakings", *overtakings);
  if (separate_fences) json.add("separate_fences", true);
}

}  // namespace turno::cli
