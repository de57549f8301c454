// WHY: who waits for whom.
#include <array>
#include <set>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

void write(wire::ReplyWriter& out, std::string_view name, const DeadlockWatch::Chain& chain) {
  out.map(3);
  Pairs pairs{out};
  pairs.text("name", name);
  out.bulk("chain");
  out.array(chain.links.size());
  const auto write_thing = [&](std::string_view key, std::string_view kind_key,
                               const std::optional<cluster::NamedThing>& thing) {
    out.bulk(key);
    thing ? out.bulk(thing->name) : out.null();
    out.bulk(kind_key);
    thing ? out.bulk(table::name(static_cast<Thing>(thing->kind))) : out.null();
  };
  for (const auto& link : chain.links) {
    out.map(10);
    pairs.text("node", link.node);
    pairs.integer("session", link.who.party.session);
    pairs.text("client", link.who.client);
    pairs.text("from", link.who.from);
    write_thing("has", "has_kind", link.has);
    write_thing("waits_for", "waits_for_kind", link.wants);
    pairs.integer("waiting_ms", link.waiting_ms);
    pairs.boolean("stuck", link.stuck);
  }
  out.bulk("deadlock");
  chain.deadlock.empty() ? out.null() : out.bulk(chain.deadlock);
}

void why(Connection& connection, Arguments arguments) {
  std::optional<Thing> thing;
  if (!good_name(connection, "lock", arguments[1]) ||
      (arguments.size() > 2 && !(thing = thing_in(connection, arguments[2]))))
    return;
  const std::string name(arguments[1]);
  connection.hold_replies();
  connection.clients().deadlocks().trace(
      DeadlockWatch::called(name, thing),
      [&connection, alive = connection.alive(), name](const DeadlockWatch::Chain& chain) {
        if (!*alive) return;
        write(connection.reply(), name, chain);
        connection.go_on();
      });
}

constexpr std::array all = {
    Command{"WHY", why, For::anybody, 2, 3, "WHY name [LOCK|SEMAPHORE|ELECTION|ROOM|STORE]",
            "turno", "Who has a thing, for what each of them waits, who has that, and so on"},
};

}  // namespace

std::span<const Command> deadlock_commands() { return all; }

}  // namespace turno::port
