// The commands for rooms: group locks.
#include <array>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

void enter(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  Connection::Wanted wanted{.name = arguments[1], .thing = Thing::room, .group = arguments[2]};
  if (!good_name(connection, "room", wanted.name)) return;
  if (!good_name(connection, "group", wanted.group)) return;
  WaitOptions options;
  bool has_capacity = false;
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    const auto option = arguments[i];
    if (same(option, "CAPACITY")) {
      if (std::exchange(has_capacity, true)) return out.error("ERR", "CAPACITY is given twice");
      const auto value =
          i + 1 < arguments.size() ? number<std::uint32_t>(arguments[++i]) : std::nullopt;
      if (!value || *value < 1 || *value > cluster::most_permits)
        return out.error("ERR", "CAPACITY needs a number of users, 1 to " +
                                    std::to_string(cluster::most_permits));
      wanted.permits = *value;
      continue;
    }
    const auto taken = options.take(connection, arguments, i, wanted);
    if (!taken)
      return out.error("ERR", "unknown option '" + std::string(option) +
                                  "': there are CAPACITY n, TIMEOUT ms, TTL ms and ASYNC");
    if (!*taken) return;
  }
  const auto& declarations = connection.host().declarations();
  if (const auto* declared = declarations.group(wanted.name, wanted.group)) {
    if (has_capacity && wanted.permits != declared->capacity)
      return out.error("ERR", "of group '" + std::string(wanted.group) + "' of room '" +
                                  std::string(wanted.name) + "' " +
                                  std::to_string(declared->capacity) +
                                  " are declared to be let in (" + declared->where + "), not " +
                                  std::to_string(wanted.permits));
    wanted.permits = declared->capacity;
  }
  connection.lock(wanted);
}

void leave(Connection& connection, Arguments arguments) {
  Fence fence;
  if (arguments.size() > 2) {
    const auto given = fence_in(connection, arguments[2]);
    if (!given) return;
    fence = *given;
  }
  connection.reply().integer(
      static_cast<std::int64_t>(connection.session().give_back(Thing::room, arguments[1], fence)));
}

constexpr std::array all = {
    Command{"ENTER", enter, For::session, 3, 10,
            "ENTER name group [CAPACITY n] [TIMEOUT ms] [TTL ms] [ASYNC]", "turno",
            "Enter a room with others of a group, waiting until no other group is inside"},
    Command{"LEAVE", leave, For::session, 2, 3, "LEAVE name [fence]", "turno", "Leave a room"},
};

}  // namespace

std::span<const Command> room_commands() { return all; }

}  // namespace turno::port
