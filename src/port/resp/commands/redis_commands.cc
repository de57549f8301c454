// What Redis clients send besides locks: when they connect, to keep a connection, for scripts.
#include <array>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

// As in Redis, so that lists of clients can be read by programs. Letters of any language will do.
bool good_client_name(std::string_view name) {
  return name.size() <= 256 && std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
         });
}
constexpr std::string_view bad_client_name =
    "a client name has at most 256 bytes, no spaces and no control characters";

void ping(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  if (!connection.subscriptions().empty() && out.protocol() < 3) {
    out.array(2);
    out.bulk("pong");
    return out.bulk(arguments.size() > 1 ? arguments[1] : "");
  }
  if (arguments.size() > 1) return out.bulk(arguments[1]);
  out.simple("PONG");
}

void echo(Connection& connection, Arguments arguments) { connection.reply().bulk(arguments[1]); }

// There are no users and passwords. What clients send as such can be a session's id and secret:
// then every connection that a pool makes speaks for it. True: it does; else the reply is written.
bool authenticate(Connection& connection, std::string_view user, std::string_view password) {
  if (Leases::is_id(user)) return join_session(connection, user, password);
  connection.reply().error("WRONGPASS", "invalid username-password pair or user is disabled.");
  return false;
}

void auth(Connection& connection, Arguments arguments) {
  if (arguments.size() == 2)
    return connection.reply().error(
        "ERR",
        "AUTH <password> called without any password configured for the default user. Are you sure "
        "your configuration is correct?");
  if (authenticate(connection, arguments[1], arguments[2])) connection.reply().simple("OK");
}

void hello(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  int protocol = out.protocol();
  std::optional<std::string_view> name, user, password;
  std::size_t next = 1;
  if (arguments.size() > 1) {
    const auto wanted = number<int>(arguments[1]);
    if (!wanted || *wanted < 2 || *wanted > 3)
      return out.error("NOPROTO", "unsupported protocol version");
    protocol = *wanted;
    next = 2;
  }
  for (; next < arguments.size(); ++next) {
    if (same(arguments[next], "AUTH") && next + 2 < arguments.size()) {
      user = arguments[++next];
      password = arguments[++next];
    } else if (same(arguments[next], "SETNAME") && next + 1 < arguments.size()) {
      name = arguments[++next];
      if (!good_client_name(*name)) return out.error("ERR", bad_client_name);
    } else {
      return out.error("ERR",
                       "Syntax error in HELLO option '" + std::string(arguments[next]) + "'");
    }
  }
  if (user && !authenticate(connection, *user, *password)) return;
  if (name) connection.session().set_name(*name);
  out.set_protocol(protocol);
  const auto& host = connection.host();
  out.map(10);
  Pairs pairs{out};
  pairs.text("server", "turno");
  pairs.text("version", TURNO_VERSION);
  pairs.integer("proto", static_cast<std::uint64_t>(protocol));
  pairs.integer("id", connection.id());
  pairs.text("mode", "standalone");  // to a client: there is no CLUSTER
  pairs.text("role", "master");
  pairs.text("node", host.self().name);
  pairs.integer("lock_delay_ms", static_cast<std::uint64_t>(host.lock_delay().count()));
  out.bulk("draining");
  out.boolean(host.draining());
  out.bulk("modules");
  out.array(0);
}

std::string client_info(Connection& connection) {
  return "id=" + std::to_string(connection.id()) + " addr=" + connection.from() +
         " name=" + connection.session().name() +
         " locks=" + std::to_string(connection.session().holds()) +
         " session=" + connection.clients().leases().id_of(connection.session()) +
         " sub=" + std::to_string(connection.subscriptions().channels().size()) +
         " psub=" + std::to_string(connection.subscriptions().patterns().size()) +
         " resp=" + std::to_string(connection.reply().protocol());
}

void choose_fences(wire::ReplyWriter& out, std::string_view form) {
  if (!same(form, "TEXT") && !same(form, "INTEGER"))
    return out.error("ERR", "there are CLIENT FENCES TEXT and CLIENT FENCES INTEGER");
  out.set_fences_as_text(same(form, "TEXT"));
  out.simple("OK");
}

void client(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  const auto what = arguments[1];
  if (same(what, "ID")) return out.integer(static_cast<std::int64_t>(connection.id()));
  if (same(what, "INFO")) return out.bulk(client_info(connection) + "\n");
  if (same(what, "GETNAME")) return out.bulk(connection.session().name());
  if (same(what, "SETNAME") && arguments.size() == 3) {
    if (!good_client_name(arguments[2])) return out.error("ERR", bad_client_name);
    connection.session().set_name(arguments[2]);
    return out.simple("OK");
  }
  if (same(what, "FENCES") && arguments.size() == 3) return choose_fences(out, arguments[2]);
  if (same(what, "SETINFO") && arguments.size() == 4) {
    // These make a double of every integer, which would cut off the last digits of a fence.
    if (same(arguments[2], "LIB-NAME") &&
        (arguments[3].starts_with("ioredis") || arguments[3].starts_with("node-redis")))
      out.set_fences_as_text(true);
    return out.simple("OK");
  }
  if (same(what, "CAPA")) {
    // A session that is not the connection's own may have others who do not know how to move.
    const auto words = arguments.subspan(2);
    const bool moves = std::any_of(words.begin(), words.end(),
                                   [](std::string_view word) { return same(word, "MOVE"); });
    if (connection.lease() == nullptr) connection.session().set_movable(moves);
    return out.simple("OK");
  }
  const bool has_switch =
      arguments.size() > 2 && (same(arguments[2], "ON") || same(arguments[2], "OFF"));
  // Nothing is ever evicted, touched or moved elsewhere here: both are true at once.
  if (has_switch &&
      (same(what, "NO-EVICT") || same(what, "NO-TOUCH") || same(what, "MAINT_NOTIFICATIONS")))
    return out.simple("OK");
  if (same(what, "REPLY") || same(what, "TRACKING"))
    return out.error("ERR", "CLIENT " + std::string(what) + " is not supported");
  out.error("ERR",
            "unknown CLIENT subcommand or wrong number of arguments: there are SETNAME "
            "name, GETNAME, ID, INFO, FENCES TEXT|INTEGER, SETINFO, CAPA [MOVE], NO-EVICT, "
            "NO-TOUCH, MAINT_NOTIFICATIONS");
}

void info(Connection& connection, Arguments arguments) {
  connection.reply().bulk(info_text(connection, arguments.subspan(1)));
}

void select(Connection& connection, Arguments arguments) {
  if (arguments[1] == "0") return connection.reply().simple("OK");
  connection.reply().error("ERR", "there is only database 0");
}

void config(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  if (!same(arguments[1], "GET") || arguments.size() < 3)
    return out.error("ERR", "CONFIG " + std::string(arguments[1]) +
                                " is not supported, only CONFIG GET name: a node is told what to "
                                "do when it starts (turno node --help)");
  // What clients and benchmarks ask for, and what is so.
  struct Setting {
    std::string_view name, value;
  };
  constexpr std::array settings = {Setting{"save", ""},
                                   Setting{"appendonly", "no"},
                                   Setting{"databases", "1"},
                                   Setting{"maxmemory", "0"},
                                   Setting{"requirepass", ""},
                                   Setting{"timeout", "0"},
                                   Setting{"cluster-enabled", "no"},
                                   Setting{"notify-keyspace-events", ""},
                                   Setting{"proto-max-bulk-len", "65536"}};
  const auto wanted = [&](const Setting& setting) {
    return std::any_of(arguments.begin() + 2, arguments.end(), [&](std::string_view pattern) {
      std::string lower(pattern);
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      return matches(lower, setting.name);
    });
  };
  out.map(static_cast<std::size_t>(std::count_if(settings.begin(), settings.end(), wanted)));
  for (const auto& setting : settings)
    if (wanted(setting)) Pairs{out}.text(setting.name, setting.value);
}

// ---- transactions: nothing of one is ever done

void multi(Connection& connection, Arguments) {
  auto& transaction = connection.transaction();
  if (transaction.begun) return connection.reply().error("ERR", "MULTI calls can not be nested");
  transaction = {.begun = true};
  connection.reply().simple("OK");
}

void exec(Connection& connection, Arguments) {
  const auto transaction = std::exchange(connection.transaction(), {});
  auto& out = connection.reply();
  if (!transaction.begun) return out.error("ERR", "EXEC without MULTI");
  if (!transaction.spoilt) return out.array(0);
  out.error("EXECABORT", "Transaction discarded because of previous errors.");
}

void discard(Connection& connection, Arguments) {
  const auto transaction = std::exchange(connection.transaction(), {});
  if (!transaction.begun) return connection.reply().error("ERR", "DISCARD without MULTI");
  connection.reply().simple("OK");
}

void watch(Connection& connection, Arguments) {
  connection.reply().error("ERR", "WATCH is not supported: there are no transactions here");
}

void reset(Connection& connection, Arguments) {
  connection.reset();
  connection.reply().simple("RESET");
}

void quit(Connection& connection, Arguments) {
  connection.reply().simple("OK");
  connection.quit();
}

constexpr std::array all = {
    Command{"PING", ping, For::anybody, 1, 2, "PING [text]", "connection", "Is anybody there"},
    Command{"ECHO", echo, For::anybody, 2, 2, "ECHO text", "connection", "The same text"},
    Command{"HELLO", hello, For::anybody, 1, any_number,
            "HELLO [2|3 [AUTH session-id secret] [SETNAME name]]", "connection",
            "Choose the version of the protocol"},
    Command{"AUTH", auth, For::anybody, 2, 3, "AUTH session-id secret", "connection",
            "The same as SESSION JOIN; there are no passwords"},
    Command{"CLIENT", client, For::anybody, 2, any_number,
            "CLIENT SETNAME name|GETNAME|ID|INFO|FENCES TEXT|INTEGER", "connection",
            "About this connection"},
    Command{"INFO", info, For::anybody, 1, any_number, "INFO [section ...]", "server",
            "About this node"},
    Command{"SELECT", select, For::anybody, 2, 2, "SELECT 0", "connection",
            "There is only database 0"},
    Command{"CONFIG", config, For::anybody, 2, any_number, "CONFIG GET name ...", "server",
            "What clients want to know"},
    Command{"MULTI", multi, For::anybody, 1, 1, "MULTI", "transactions",
            "Begin a transaction, in which nothing is done"},
    Command{"EXEC", exec, For::anybody, 1, 1, "EXEC", "transactions", "Refuse it as a whole"},
    Command{"DISCARD", discard, For::anybody, 1, 1, "DISCARD", "transactions", "Forget it"},
    Command{"WATCH", watch, For::anybody, 2, any_number, "WATCH", "transactions", "Refused"},
    Command{"RESET", reset, For::anybody, 1, 1, "RESET", "connection",
            "As if the connection were new: its own session ends"},
    Command{"QUIT", quit, For::anybody, 1, 1, "QUIT", "connection", "Say goodbye"},
};

}  // namespace

std::span<const Command> redis_commands() { return all; }

}  // namespace turno::port
