// The commands for locks, and those that tell who has them.
#include <array>

#include "port/findings.h"
#include "port/resp/commands.h"

namespace turno::port {

bool good_name(Connection& connection, std::string_view thing, std::string_view name) {
  if (!name.empty() && name.size() <= LockTable::longest_name) return true;
  connection.reply().error(
      "ERR",
      name.empty()
          ? (thing == "election" ? "an " : "a ") + std::string(thing) + " needs a name"
          : "the name is too long: at most " + std::to_string(LockTable::longest_name) + " bytes");
  return false;
}

std::optional<Fence> fence_in(Connection& connection, std::string_view text) {
  const auto value = number<std::uint64_t>(text);
  if (!value || *value == 0) {
    connection.reply().error("ERR", "'" + std::string(text) + "' is no fence");
    return {};
  }
  return Fence{*value};
}

std::optional<bool> WaitOptions::take(Connection& connection, Arguments arguments, std::size_t& i,
                                      Connection::Wanted& wanted) {
  auto& out = connection.reply();
  const auto option = arguments[i];
  const bool async = same(option, "ASYNC"), timeout = same(option, "TIMEOUT");
  if (!async && !timeout && !same(option, "TTL")) return {};
  auto& given = async ? wanted.async : timeout ? has_timeout : has_ttl;
  if (std::exchange(given, true)) {
    out.error("ERR", std::string(async     ? "ASYNC"
                                 : timeout ? "TIMEOUT"
                                           : "TTL") +
                         " is given twice");
    return false;
  }
  if (async) return true;
  const auto value = i + 1 < arguments.size() ? milliseconds(arguments[++i]) : std::nullopt;
  if (!value || (!timeout && value->count() == 0)) {
    out.error("ERR", timeout ? "TIMEOUT needs a number of milliseconds, 0 or above"
                             : "TTL needs a number of milliseconds above 0");
    return false;
  }
  (timeout ? wanted.timeout : wanted.ttl) = *value;
  return true;
}

void ask(Connection& connection, std::string_view name, std::optional<Thing> thing,
         WriteFindings write) {
  connection.hold_replies();
  connection.host().ask(name, [&connection, alive = connection.alive(), write, thing,
                               name = std::string(name)](Findings findings) {
    if (!*alive) return;
    if (const auto kind = thing ? thing : thing_found(findings); kind && !name.empty())
      findings = only(std::move(findings), *kind);
    connection.host().loop().later(
        [&connection, alive, write, name, findings = std::move(findings)] {
          if (!*alive) return;
          write(connection.reply(), name, findings);
          connection.go_on();
        });
  });
}

std::optional<Thing> thing_in(Connection& connection, std::string_view text) {
  constexpr std::array<std::string_view, table::thing_names.size()> names = {
      "LOCK", "SEMAPHORE", "ELECTION", "ROOM", "STORE"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (same(text, names[i])) return static_cast<Thing>(i);
  connection.reply().error("ERR", "'" + std::string(text.substr(0, 64)) +
                                      "' is no kind of thing: there are LOCK, SEMAPHORE, "
                                      "ELECTION, ROOM and STORE");
  return {};
}

namespace {

void lock(Connection& connection, Arguments arguments) {
  Connection::Wanted wanted{.name = arguments[1]};
  if (!good_name(connection, "lock", wanted.name)) return;
  WaitOptions options;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto option = arguments[i];
    const auto taken = options.take(connection, arguments, i, wanted);
    if (!taken)
      return connection.reply().error("ERR", "unknown option '" + std::string(option) +
                                                 "': there are TIMEOUT ms, TTL ms and ASYNC");
    if (!*taken) return;
  }
  connection.lock(wanted);
}

void unlock(Connection& connection, Arguments arguments) {
  Fence fence;
  if (arguments.size() > 2) {
    const auto given = fence_in(connection, arguments[2]);
    if (!given) return;
    fence = *given;
  }
  connection.reply().integer(connection.session().unlock(arguments[1], fence) ? 1 : 0);
}

void renew(Connection& connection, Arguments arguments) {
  const auto ttl = milliseconds(arguments[2]);
  if (!ttl || ttl->count() == 0)
    return connection.reply().error("ERR", "RENEW needs a number of milliseconds above 0");
  Fence fence;
  std::optional<Thing> only;
  if (arguments.size() > 3) {
    const auto given = fence_in(connection, arguments[3]);
    if (!given) return;
    fence = *given;
  }
  if (arguments.size() > 4 && !(only = thing_in(connection, arguments[4]))) return;
  auto& session = connection.session();
  const auto renew_one = [&](Thing thing) {
    if (only && *only != thing) return false;
    if (table::several_have(thing))
      return session.renew_permits(thing, arguments[1], *ttl, fence) > 0;
    return session.renew(arguments[1], *ttl, fence, thing);
  };
  const bool renewed = renew_one(Thing::lock) || renew_one(Thing::semaphore) ||
                       renew_one(Thing::election) || renew_one(Thing::room) ||
                       renew_one(Thing::store);
  connection.reply().integer(renewed ? 1 : 0);
}

void cancel(Connection& connection, Arguments arguments) {
  const auto ticket = number<std::uint64_t>(arguments[1]);
  if (!ticket) return connection.reply().error("ERR", "a ticket is a number");
  connection.reply().integer(connection.session().cancel(*ticket) ? 1 : 0);
}

// How an ASYNC wait stands, for who cannot be told.
void ticket(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  const auto given = number<std::uint64_t>(arguments[1]);
  if (!given) return out.error("ERR", "a ticket is a number");
  const auto standing = connection.session().standing(*given);
  if (!standing) return out.null();
  using State = Session::Standing::State;
  const bool has_more = standing->state == State::granted || standing->state == State::failed;
  constexpr std::array<std::string_view, 4> names = {"waiting", "granted", "timeout", "failed"};
  const bool has_permits = !standing->permits.empty(), has_resources = !standing->resources.empty();
  out.array(has_permits || has_resources ? 4 : has_more ? 3 : 2);
  out.bulk(names[static_cast<std::size_t>(standing->state)]);
  out.bulk(standing->lock);
  if (standing->state == State::granted) out.fence(standing->fence.value);
  if (standing->state == State::failed) out.bulk(standing->reason);
  if (has_permits) write_permits(out, standing->permits, standing->fence);
  if (has_resources) write_resources(out, standing->resources);
}

// WHO and WAITERS.
void ask_about(Connection& connection, Arguments arguments, WriteFindings write) {
  std::optional<Thing> thing;
  if (!good_name(connection, "lock", arguments[1]) ||
      (arguments.size() > 2 && !(thing = thing_in(connection, arguments[2]))))
    return;
  ask(connection, arguments[1], thing, write);
}

void who(Connection& connection, Arguments arguments) {
  ask_about(connection, arguments, write_who);
}

void waiters(Connection& connection, Arguments arguments) {
  ask_about(connection, arguments, write_waiters);
}

void locks(Connection& connection, Arguments) { ask(connection, "", {}, write_locks); }

void members(Connection& connection, Arguments) {
  write_members(connection.reply(), connection.host());
}

constexpr std::array all = {
    Command{"LOCK", lock, For::session, 2, 7, "LOCK name [TIMEOUT ms] [TTL ms] [ASYNC]", "turno",
            "Take a lock, waiting for it"},
    Command{"UNLOCK", unlock, For::session, 2, 3, "UNLOCK name [fence]", "turno",
            "Give a lock back"},
    Command{
        "RENEW", renew, For::session, 3, 5,
        "RENEW name ms [fence [LOCK|SEMAPHORE|ELECTION|ROOM|STORE]]", "turno",
        "Begin the time to live of a lock, of permits, a leader, a visit or a reservation again"},
    Command{"CANCEL", cancel, For::session, 2, 2, "CANCEL ticket", "turno",
            "Withdraw an ASYNC wait"},
    Command{"TICKET", ticket, For::session, 2, 2, "TICKET ticket", "turno",
            "How an ASYNC wait stands"},
    Command{"WHO", who, For::anybody, 2, 3, "WHO name [LOCK|SEMAPHORE|ELECTION|ROOM|STORE]",
            "turno",
            "Who holds a lock, has permits of a semaphore, leads, is in a room, or has resources"},
    Command{"WAITERS", waiters, For::anybody, 2, 3,
            "WAITERS name [LOCK|SEMAPHORE|ELECTION|ROOM|STORE]", "turno",
            "Who waits for a lock, a semaphore, a room or resources, or to lead"},
    Command{"LOCKS", locks, For::anybody, 1, 1, "LOCKS", "turno",
            "All that is held in the cluster, of all kinds"},
    Command{"MEMBERS", members, For::anybody, 1, 1, "MEMBERS", "turno", "The nodes of the cluster"},
};

}  // namespace

std::span<const Command> lock_commands() { return all; }

}  // namespace turno::port
