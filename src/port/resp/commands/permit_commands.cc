// The commands for semaphores.
#include <algorithm>
#include <array>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

// A number of permits, from 1 on.
std::optional<std::uint32_t> permits_in(Connection& connection, std::string_view option,
                                        Arguments arguments, std::size_t& i) {
  const auto value =
      i + 1 < arguments.size() ? number<std::uint32_t>(arguments[++i]) : std::nullopt;
  if (value && *value >= 1 && *value <= cluster::most_permits) return value;
  connection.reply().error("ERR", std::string(option) + " needs a number of permits, 1 to " +
                                      std::to_string(cluster::most_permits));
  return {};
}

void permit(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  Connection::Wanted wanted{.name = arguments[1], .thing = Thing::semaphore};
  if (!good_name(connection, "semaphore", wanted.name)) return;
  WaitOptions options;
  bool has_count = false, has_of = false;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto option = arguments[i];
    const bool count = same(option, "COUNT");
    if (count || same(option, "OF")) {
      const std::string_view name = count ? "COUNT" : "OF";
      if (std::exchange(count ? has_count : has_of, true))
        return out.error("ERR", std::string(name) + " is given twice");
      const auto value = permits_in(connection, name, arguments, i);
      if (!value) return;
      (count ? wanted.count : wanted.permits) = *value;
      continue;
    }
    const auto taken = options.take(connection, arguments, i, wanted);
    if (!taken)
      return out.error("ERR", "unknown option '" + std::string(option) +
                                  "': there are COUNT n, OF n, TIMEOUT ms, TTL ms and ASYNC");
    if (!*taken) return;
  }
  if (wanted.permits != 0 && wanted.count > wanted.permits)
    return out.error("ERR", "COUNT " + std::to_string(wanted.count) + " is more than OF " +
                                std::to_string(wanted.permits));
  if (const auto* declared = connection.host().declarations().semaphore(wanted.name)) {
    // It may have been resized since.
    const auto there = connection.host().pools(Thing::semaphore).most(wanted.name, {});
    const auto asked = has_of ? wanted.permits : wanted.count;
    if (has_of ? asked != declared->permits && asked != there
               : asked > std::max(declared->permits, there))
      return out.error("ERR", "semaphore '" + std::string(wanted.name) + "' is declared to have " +
                                  std::to_string(declared->permits) +
                                  (declared->permits == 1 ? " permit (" : " permits (") +
                                  declared->where + "), not " + std::to_string(asked));
    wanted.permits = declared->permits;
    wanted.by_default = true;
  }
  connection.lock(wanted);
}

void release(Connection& connection, Arguments arguments) {
  Fence fence;
  if (arguments.size() > 2) {
    const auto given = fence_in(connection, arguments[2]);
    if (!given) return;
    fence = *given;
  }
  connection.reply().integer(static_cast<std::int64_t>(
      connection.session().give_back(Thing::semaphore, arguments[1], fence)));
}

void resize(Connection& connection, Arguments arguments) {
  Connection::Wanted wanted{.name = arguments[1], .thing = Thing::semaphore, .resizes = true};
  if (!good_name(connection, "semaphore", wanted.name)) return;
  std::size_t at = 1;
  const auto permits = permits_in(connection, "RESIZE", arguments, at);
  if (!permits) return;
  wanted.permits = *permits;
  WaitOptions options;
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    const bool timeout = same(arguments[i], "TIMEOUT");
    const auto taken = timeout ? options.take(connection, arguments, i, wanted) : std::nullopt;
    if (!taken)
      return connection.reply().error(
          "ERR", "unknown option '" + std::string(arguments[i]) + "': there is TIMEOUT ms");
    if (!*taken) return;
  }
  connection.lock(wanted);
}

constexpr std::array all = {
    Command{"PERMIT", permit, For::session, 2, 11,
            "PERMIT name [COUNT n] [OF n] [TIMEOUT ms] [TTL ms] [ASYNC]", "turno",
            "Take permits of a semaphore, waiting for them"},
    Command{"RELEASE", release, For::session, 2, 3, "RELEASE name [fence]", "turno",
            "Give permits of a semaphore back"},
    Command{"RESIZE", resize, For::session, 3, 5, "RESIZE name permits [TIMEOUT ms]", "turno",
            "Say how many permits a semaphore has from now on"},
};

}  // namespace

std::span<const Command> permit_commands() { return all; }

}  // namespace turno::port
