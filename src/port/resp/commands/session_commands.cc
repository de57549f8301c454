// The commands for sessions that are no connections, and for hearing what happens to a session.
#include <array>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

constexpr std::size_t most_shown = 1000;  // locks, in SESSION INFO

// Of the word `what`: above 0, and at most a day.
std::optional<std::chrono::milliseconds> session_ttl(Connection& connection,
                                                     std::string_view text) {
  const auto ttl = milliseconds(text);
  if (ttl && ttl->count() > 0 && *ttl <= Leases::longest) return ttl;
  connection.reply().error("ERR", "a session needs a number of milliseconds above 0, at most " +
                                      std::to_string(Leases::longest.count()));
  return {};
}

void open(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  if (connection.host().draining()) return connection.say_draining();
  const auto ttl = session_ttl(connection, arguments[2]);
  if (!ttl) return;
  auto& clients = connection.clients();
  const auto opener = connection.origin();
  if (const auto objection = clients.leases().objection_to(opener); !objection.empty())
    return out.error("ERR", objection);
  auto& session = clients.make_session();
  session.set_origin(connection.from());
  session.set_name(connection.session().name());
  const auto& lease = clients.leases().open(session, opener, *ttl);
  out.array(2);
  out.bulk(lease.id);
  out.bulk(lease.secret);
}

void join(Connection& connection, Arguments arguments) {
  if (join_session(connection, arguments[2], arguments[3])) connection.reply().simple("OK");
}

// False: there is none but the connection's own, and that has been said.
bool has_lease(Connection& connection) {
  if (connection.lease() != nullptr) return true;
  connection.reply().error("NOSESSION",
                           "this connection speaks for itself only: SESSION JOIN id secret");
  return false;
}

void keep(Connection& connection, Arguments arguments) {
  if (!has_lease(connection)) return;
  auto& lease = *connection.lease();
  auto ttl = std::optional(lease.ttl);
  if (arguments.size() > 2) ttl = session_ttl(connection, arguments[2]);
  if (!ttl) return;
  connection.clients().leases().keep(lease, *ttl);
  connection.reply().simple("OK");
}

void close(Connection& connection, Arguments) {
  if (!has_lease(connection)) return;
  connection.clients().break_off(connection.session(), "was closed");
  connection.reply().simple("OK");
}

void information(Connection& connection, Arguments) {
  auto& session = connection.session();
  auto& out = connection.reply();
  const auto* lease = connection.lease();
  out.map(8);
  Pairs pairs{out};
  pairs.text("id", connection.clients().leases().id_of(session));
  pairs.text("node", connection.host().self().name);
  pairs.text("client", session.name());
  pairs.integer("ttl_ms", lease == nullptr ? 0 : static_cast<std::uint64_t>(lease->ttl.count()));
  pairs.integer("left_ms",
                lease == nullptr ? 0 : static_cast<std::uint64_t>(lease->left().count()));
  pairs.integer("connections", session.speakers());
  pairs.integer("waits", session.waits());
  out.bulk("holds");
  auto holdings = session.holdings();
  holdings.resize(std::min(holdings.size(), most_shown));
  out.array(holdings.size());
  for (const auto& holding : holdings) {
    out.map(4);
    pairs.text("name", holding.name);
    pairs.text("kind", table::name(holding.thing));
    pairs.fence("fence", holding.fence.value);
    pairs.integer("ttl_ms", static_cast<std::uint64_t>(holding.ttl.count()));
  }
}

void session(Connection& connection, Arguments arguments) {
  struct Kind {
    std::string_view name;
    void (*run)(Connection&, Arguments);
    For whom;
    std::size_t least, most;
  };
  constexpr std::array kinds = {Kind{"OPEN", open, For::anybody, 3, 3},
                                Kind{"JOIN", join, For::anybody, 4, 4},
                                Kind{"KEEP", keep, For::session, 2, 3},
                                Kind{"CLOSE", close, For::session, 2, 2},
                                Kind{"INFO", information, For::session, 2, 2},
                                Kind{"INHERIT", inherit, For::session, 2, 2},
                                Kind{"BEQUEATH", bequeath, For::session, 4, 4},
                                Kind{"HELD", held, For::session, 3, any_number}};
  for (const auto& kind : kinds)
    if (same(arguments[1], kind.name) && arguments.size() >= kind.least &&
        arguments.size() <= kind.most) {
      if (kind.whom == For::anybody || !refuse_gone(connection)) kind.run(connection, arguments);
      return;
    }
  connection.reply().error("ERR",
                           "unknown SESSION subcommand or wrong number of arguments: there are "
                           "OPEN ms, JOIN id secret, KEEP [ms], CLOSE, INFO, INHERIT, "
                           "BEQUEATH node ticket and HELD name ...");
}

// ---- subscriptions

// As Redis answers: what was done, to which, and how many there are now.
void confirm(Connection& connection, std::string_view what, std::string_view name) {
  auto& out = connection.reply();
  out.push(3);
  out.bulk(what);
  out.bulk(name);
  out.integer(static_cast<std::int64_t>(connection.subscriptions().size()));
}

// Who leads now, as far as this node has heard: to who asks for it by subscribing to it.
void tell_leaders(Connection& connection, std::string_view channel, bool pattern) {
  constexpr std::string_view prefix = "turno:leader:";
  const auto& leaders = connection.host().leaders();
  if (!pattern && channel.starts_with(prefix)) {
    if (const auto* leader = leaders.leader_of(channel.substr(prefix.size())))
      connection.publish_leader(*leader);
  } else if (pattern && channel.starts_with(prefix)) {
    for (const auto& leader : leaders.all())
      if (matches(channel, std::string(prefix) + leader.election))
        connection.publish_leader(leader);
  }
}

void add(Connection& connection, Arguments arguments, std::string_view what,
         Subscriptions::Names& names) {
  for (const auto name : arguments.subspan(1)) {
    if (connection.subscriptions().size() >= Subscriptions::most)
      return connection.reply().error(
          "ERR", "too many subscriptions: at most " + std::to_string(Subscriptions::most));
    if (name.size() > Subscriptions::longest_name)
      return connection.reply().error("ERR", "the name of a channel, or a pattern, has at most " +
                                                 std::to_string(Subscriptions::longest_name) +
                                                 " bytes");
    Subscriptions::add(names, name);
    confirm(connection, what, name);
    tell_leaders(connection, name, what == "psubscribe");
  }
}

void remove(Connection& connection, Arguments arguments, std::string_view what,
            Subscriptions::Names& names) {
  if (arguments.size() > 1) {
    for (const auto name : arguments.subspan(1)) {
      Subscriptions::remove(names, name);
      confirm(connection, what, name);
    }
    return;
  }
  if (names.empty()) {
    auto& out = connection.reply();
    out.push(3);
    out.bulk(what);
    out.null();
    return out.integer(static_cast<std::int64_t>(connection.subscriptions().size()));
  }
  while (!names.empty()) {
    const auto name = std::move(names.back());
    names.pop_back();
    confirm(connection, what, name);
  }
}

void subscribe(Connection& connection, Arguments arguments) {
  add(connection, arguments, "subscribe", connection.subscriptions().channels());
}
void unsubscribe(Connection& connection, Arguments arguments) {
  remove(connection, arguments, "unsubscribe", connection.subscriptions().channels());
}
void psubscribe(Connection& connection, Arguments arguments) {
  add(connection, arguments, "psubscribe", connection.subscriptions().patterns());
}
void punsubscribe(Connection& connection, Arguments arguments) {
  remove(connection, arguments, "punsubscribe", connection.subscriptions().patterns());
}

constexpr std::array all = {
    Command{"SESSION", session, For::anybody, 2, any_number,
            "SESSION OPEN ms|JOIN id secret|KEEP [ms]|CLOSE|INFO|INHERIT|BEQUEATH node ticket|"
            "HELD name ...",
            "turno", "Sessions that are no connections: any connection can speak for one"},
    Command{"SUBSCRIBE", subscribe, For::session, 2, any_number, "SUBSCRIBE channel ...", "pubsub",
            "Hear of turno:granted, turno:timeout, turno:failed, turno:lost, turno:refused, "
            "turno:deadlock, turno:draining and turno:leader:NAME"},
    Command{"UNSUBSCRIBE", unsubscribe, For::anybody, 1, any_number, "UNSUBSCRIBE [channel ...]",
            "pubsub", "Hear of it no more"},
    Command{"PSUBSCRIBE", psubscribe, For::session, 2, any_number, "PSUBSCRIBE pattern ...",
            "pubsub", "Hear of all channels that match, such as turno:*"},
    Command{"PUNSUBSCRIBE", punsubscribe, For::anybody, 1, any_number, "PUNSUBSCRIBE [pattern ...]",
            "pubsub", "Hear of them no more"},
};

}  // namespace

bool join_session(Connection& connection, std::string_view id, std::string_view secret) {
  auto& out = connection.reply();
  auto& leases = connection.clients().leases();
  auto* lease = leases.find(id, secret);
  if (lease == nullptr) {
    out.error("NOSESSION", leases.why_missing(id));
    return false;
  }
  if (connection.lease() == lease) return true;
  auto& own = connection.session();
  if (connection.lease() == nullptr && own.holds() + own.waits() > 0) {
    out.error("ERR",
              "this connection holds locks or waits for some itself: give them back before it "
              "speaks for another session");
    return false;
  }
  connection.speak_for(*lease);
  return true;
}

std::span<const Command> session_commands() { return all; }

}  // namespace turno::port
