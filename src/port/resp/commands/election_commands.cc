// The commands for elections.
#include <array>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

void campaign(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  Connection::Wanted wanted{.name = arguments[1], .thing = Thing::election, .value = arguments[2]};
  if (!good_name(connection, "election", wanted.name)) return;
  if (wanted.value.size() > table::longest_value)
    return out.error(
        "ERR", "a leader's value has at most " + std::to_string(table::longest_value) + " bytes");
  WaitOptions options;
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    const auto option = arguments[i];
    const auto taken = options.take(connection, arguments, i, wanted);
    if (!taken)
      return out.error("ERR", "unknown option '" + std::string(option) +
                                  "': there are TIMEOUT ms, TTL ms and ASYNC, behind the value");
    if (!*taken) return;
  }
  connection.lock(wanted);
}

void resign(Connection& connection, Arguments arguments) {
  Fence term;
  if (arguments.size() > 2) {
    const auto given = fence_in(connection, arguments[2]);
    if (!given) return;
    term = *given;
  }
  const bool led = connection.session().unlock(arguments[1], term, Thing::election);
  connection.reply().integer(led ? 1 : 0);
}

void leader(Connection& connection, Arguments arguments) {
  if (good_name(connection, "election", arguments[1]))
    ask(connection, arguments[1], Thing::election, write_leader);
}

// Of each name who leads now, as far as this node has heard, or null; then every change.
void observe(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  if (out.protocol() < 3)
    return out.error("ERR",
                     "OBSERVE needs version 3 of the protocol (HELLO 3); with version 2 SUBSCRIBE "
                     "to turno:leader:NAME");
  const auto names = arguments.subspan(1);
  for (const auto name : names)
    if (!good_name(connection, "election", name)) return;
  auto& observed = connection.observed();
  if (observed.size() + names.size() > Subscriptions::most)
    return out.error(
        "ERR", "too many elections are observed: at most " + std::to_string(Subscriptions::most));
  out.array(names.size());
  for (const auto name : names) {
    Subscriptions::add(observed, name);
    const auto* known = connection.host().leaders().leader_of(name);
    if (known == nullptr) {
      out.null();
      continue;
    }
    out.map(5);
    Pairs pairs{out};
    pairs.text("name", name);
    pairs.fence("term", known->term.value);
    pairs.text("value", known->value);
    pairs.text("node", connection.node_of(*known));
    pairs.text("client", known->client);
  }
}

// How many are observed no more: all, if none is named.
void unobserve(Connection& connection, Arguments arguments) {
  auto& observed = connection.observed();
  const auto before = observed.size();
  if (arguments.size() == 1) observed.clear();
  for (const auto name : arguments.subspan(1)) Subscriptions::remove(observed, name);
  connection.reply().integer(static_cast<std::int64_t>(before - observed.size()));
}

constexpr std::array all = {
    Command{"CAMPAIGN", campaign, For::session, 3, 8,
            "CAMPAIGN name value [TIMEOUT ms] [TTL ms] [ASYNC]", "turno",
            "Lead an election as soon as nobody else does; answers the term"},
    Command{"RESIGN", resign, For::session, 2, 3, "RESIGN name [term]", "turno", "Lead no more"},
    Command{"LEADER", leader, For::anybody, 2, 2, "LEADER name", "turno", "Who leads an election"},
    Command{"OBSERVE", observe, For::anybody, 2, any_number, "OBSERVE name ...", "turno",
            "Who leads these elections, now and whenever it changes"},
    Command{"UNOBSERVE", unobserve, For::anybody, 1, any_number, "UNOBSERVE [name ...]", "turno",
            "Be told of it no more"},
};

}  // namespace

std::span<const Command> election_commands() { return all; }

}  // namespace turno::port
