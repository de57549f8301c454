// The commands of the client port.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "port/resp/connection.h"

namespace turno::port {

namespace {

using Arguments = Connection::Arguments;

bool same(std::string_view text, std::string_view capitals) {
  return text.size() == capitals.size() &&
         std::equal(text.begin(), text.end(), capitals.begin(), [](char a, char b) {
           return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 32) : a) == b;
         });
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

constexpr std::uint64_t longest_ms = std::uint64_t{1000} * 3600 * 24 * 365;

std::optional<std::chrono::milliseconds> milliseconds(std::string_view text) {
  const auto value = number<std::uint64_t>(text);
  if (!value || *value > longest_ms) return {};
  return std::chrono::milliseconds(*value);
}

bool good_name(Connection& connection, std::string_view name) {
  if (!name.empty() && name.size() <= LockTable::longest_name) return true;
  connection.reply().error("ERR", name.empty()
                                      ? std::string("a lock needs a name")
                                      : "the name is too long: at most " +
                                            std::to_string(LockTable::longest_name) + " bytes");
  return false;
}

// As in Redis, so that lists of clients can be read by programs. Letters of any language will do.
bool good_client_name(std::string_view name) {
  return name.size() <= 256 && std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
         });
}
constexpr std::string_view bad_client_name =
    "a client name has at most 256 bytes, no spaces and no control characters";

std::optional<Fence> fence_in(Connection& connection, std::string_view text) {
  const auto value = number<std::uint64_t>(text);
  if (!value || *value == 0) {
    connection.reply().error("ERR", "'" + std::string(text) + "' is no fence");
    return {};
  }
  return Fence{*value};
}

void lock(Connection& connection, Arguments arguments) {
  Connection::Wanted wanted{.name = arguments[1]};
  if (!good_name(connection, wanted.name)) return;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto option = arguments[i];
    if (same(option, "ASYNC")) {
      if (connection.reply().protocol() < 3)
        return connection.reply().error("ERR", "ASYNC needs RESP3: say HELLO 3 first");
      wanted.async = true;
      continue;
    }
    const bool timeout = same(option, "TIMEOUT");
    if (!timeout && !same(option, "TTL"))
      return connection.reply().error("ERR", "unknown option '" + std::string(option) +
                                                 "': there are TIMEOUT ms, TTL ms and ASYNC");
    const auto value = i + 1 < arguments.size() ? milliseconds(arguments[++i]) : std::nullopt;
    if (!value || (!timeout && value->count() == 0))
      return connection.reply().error(
          "ERR", std::string(timeout ? "TIMEOUT" : "TTL") + " needs a number of milliseconds");
    (timeout ? wanted.timeout : wanted.ttl) = *value;
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
    return connection.reply().error("ERR", "RENEW needs a number of milliseconds");
  Fence fence;
  if (arguments.size() > 3) {
    const auto given = fence_in(connection, arguments[3]);
    if (!given) return;
    fence = *given;
  }
  connection.reply().integer(connection.session().renew(arguments[1], *ttl, fence) ? 1 : 0);
}

void cancel(Connection& connection, Arguments arguments) {
  const auto ticket = number<std::uint64_t>(arguments[1]);
  if (!ticket) return connection.reply().error("ERR", "a ticket is a number");
  connection.reply().integer(connection.session().cancel(*ticket) ? 1 : 0);
}

// Pairs of a map.
struct Pairs {
  wire::ReplyWriter& out;
  void text(std::string_view key, std::string_view value) {
    out.bulk(key);
    out.bulk(value);
  }
  void integer(std::string_view key, std::uint64_t value) {
    out.bulk(key);
    out.integer(static_cast<std::int64_t>(value));
  }
};

void write_holder(wire::ReplyWriter& out, const NodeSighting& holder, std::uint64_t waiting) {
  out.map(7);
  Pairs pairs{out};
  pairs.text("name", holder.sighting.lock);
  pairs.text("node", holder.node);
  pairs.integer("session", holder.sighting.session);
  pairs.text("client", holder.sighting.client);
  pairs.integer("fence", holder.sighting.fence.value);
  pairs.integer("held_ms", static_cast<std::uint64_t>(holder.sighting.age.count()));
  pairs.integer("waiting", waiting);
}

// Answers when all members have answered.
void ask(Connection& connection, std::string_view name,
         void (*write)(wire::ReplyWriter&, std::vector<NodeSighting>&)) {
  connection.hold_replies();
  connection.host().ask(name, [&connection, alive = connection.alive(), write](
                                  std::vector<NodeSighting> found, bool) {
    if (!*alive) return;
    connection.host().loop().later([&connection, alive, write, found = std::move(found)]() mutable {
      if (!*alive) return;
      write(connection.reply(), found);
      connection.go_on();
    });
  });
}

void who(Connection& connection, Arguments arguments) {
  if (!good_name(connection, arguments[1])) return;
  ask(connection, arguments[1], [](wire::ReplyWriter& out, std::vector<NodeSighting>& found) {
    const auto waiting = static_cast<std::uint64_t>(std::count_if(
        found.begin(), found.end(), [](const auto& other) { return !other.sighting.holds; }));
    // Two can be seen when the lock changed hands between two answers: the larger fence is later.
    const NodeSighting* holder = nullptr;
    for (const auto& other : found)
      if (other.sighting.holds &&
          (holder == nullptr || other.sighting.fence > holder->sighting.fence))
        holder = &other;
    if (holder == nullptr) return out.null();
    write_holder(out, *holder, waiting);
  });
}

void waiters(Connection& connection, Arguments arguments) {
  if (!good_name(connection, arguments[1])) return;
  ask(connection, arguments[1], [](wire::ReplyWriter& out, std::vector<NodeSighting>& found) {
    found.erase(std::remove_if(found.begin(), found.end(),
                               [](const auto& other) { return other.sighting.holds; }),
                found.end());
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.sighting.age > b.sighting.age; });
    out.array(found.size());
    std::uint64_t position = 0;
    for (const auto& waiter : found) {
      out.map(5);
      Pairs pairs{out};
      pairs.text("node", waiter.node);
      pairs.integer("session", waiter.sighting.session);
      pairs.text("client", waiter.sighting.client);
      pairs.integer("waiting_ms", static_cast<std::uint64_t>(waiter.sighting.age.count()));
      pairs.integer("position", ++position);
    }
  });
}

void locks(Connection& connection, Arguments) {
  ask(connection, "", [](wire::ReplyWriter& out, std::vector<NodeSighting>& found) {
    boost::unordered_flat_map<std::string_view, std::uint64_t> waiting;
    for (const auto& other : found)
      if (!other.sighting.holds) ++waiting[other.sighting.lock];
    std::vector<const NodeSighting*> holders;
    for (const auto& other : found)
      if (other.sighting.holds) holders.push_back(&other);
    std::sort(holders.begin(), holders.end(), [](const auto* a, const auto* b) {
      return std::pair(std::string_view(a->sighting.lock), b->sighting.fence) <
             std::pair(std::string_view(b->sighting.lock), a->sighting.fence);
    });
    out.array(holders.size());
    for (const auto* holder : holders) write_holder(out, *holder, waiting[holder->sighting.lock]);
  });
}

void members(Connection& connection, Arguments) {
  auto& out = connection.reply();
  const auto& view = connection.host().view();
  out.array(view.size());
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto& member = view.members[i];
    out.map(9);
    Pairs pairs{out};
    pairs.integer("index", i);
    pairs.text("name", member.name);
    pairs.integer("id", member.id);
    pairs.integer("pid", static_cast<std::uint64_t>(member.pid));
    pairs.text("peer", member.peer_address);
    pairs.text("client", member.client_address);
    pairs.text("socket", member.client_socket);
    pairs.text("http", member.http_address);
    out.bulk("self");
    out.boolean(member.id == connection.host().self().id);
  }
}

void ping(Connection& connection, Arguments arguments) {
  if (arguments.size() > 1) return connection.reply().bulk(arguments[1]);
  connection.reply().simple("PONG");
}

void hello(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  int protocol = out.protocol();
  std::optional<std::string_view> name;
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
      next += 2;  // there are no passwords yet
    } else if (same(arguments[next], "SETNAME") && next + 1 < arguments.size()) {
      name = arguments[++next];
      if (!good_client_name(*name)) return out.error("ERR", bad_client_name);
    } else {
      return out.error("ERR",
                       "Syntax error in HELLO option '" + std::string(arguments[next]) + "'");
    }
  }
  if (name) connection.session().set_name(*name);
  out.set_protocol(protocol);
  const auto& host = connection.host();
  out.map(8);
  Pairs pairs{out};
  pairs.text("server", "turno");
  pairs.text("version", TURNO_VERSION);
  pairs.integer("proto", static_cast<std::uint64_t>(protocol));
  pairs.integer("id", connection.id());
  pairs.text("mode", "cluster");
  pairs.text("role", "master");
  pairs.text("node", host.self().name);
  out.bulk("modules");
  out.array(0);
}

std::string client_info(Connection& connection) {
  return "id=" + std::to_string(connection.id()) + " addr=" + connection.from() +
         " name=" + connection.session().name() +
         " locks=" + std::to_string(connection.session().holds()) +
         " resp=" + std::to_string(connection.reply().protocol());
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
  if (same(what, "SETINFO") && arguments.size() == 4) return out.simple("OK");
  if (same(what, "REPLY") || same(what, "NO-EVICT") || same(what, "NO-TOUCH"))
    return out.error("ERR", "CLIENT " + std::string(what) + " is not supported");
  out.error("ERR",
            "unknown CLIENT subcommand or wrong number of arguments: there are SETNAME "
            "name, GETNAME, ID, INFO, SETINFO");
}

std::string info_text(Connection& connection) {
  auto& host = connection.host();
  auto& locks = host.locks();
  auto& statistics = locks.statistics();
  std::uint64_t acquired = 0;
  for (const auto& bucket : statistics.waits) acquired += bucket.load();
  std::uint64_t messages = 0;
  for (const auto& count : locks.engine().messages()) messages += count.count;
  std::string text;
  const auto line = [&](std::string_view key, const auto& value) {
    text += fmt::format("{}:{}\r\n", key, value);
  };
  text += "# Server\r\n";
  line("turno_version", TURNO_VERSION);
  line("node", host.self().name);
  line("process_id", host.self().pid);
  line("uptime_in_seconds",
       std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - host.started()).count());
  text += "\r\n# Clients\r\n";
  line("connected_clients", connection.clients().size());
  line("total_connections_received", connection.clients().connections());
  line("total_commands_processed", connection.clients().commands());
  text += "\r\n# Cluster\r\n";
  line("algorithm", host.algorithm());
  line("epoch", host.view().epoch);
  line("members", host.view().size());
  line("ready", locks.ready() ? 1 : 0);
  line("lock_delay_ms", host.lock_delay().count());
  line("idle_ms", host.idle().count());
  text += "\r\n# Locks\r\n";
  line("known_locks", locks.size());
  line("held_here", statistics.holders.load());
  line("waiting_here", statistics.waiters.load());
  line("acquired", acquired);
  line("released", statistics.released.load());
  line("withdrawn", statistics.withdrawn.load());
  line("lost", statistics.lost.load());
  line("messages_sent", messages);
  line("control_messages_sent", locks.engine().control_messages());
  return text;
}

void info(Connection& connection, Arguments) { connection.reply().bulk(info_text(connection)); }

void select(Connection& connection, Arguments arguments) {
  if (arguments[1] == "0") return connection.reply().simple("OK");
  connection.reply().error("ERR", "there is only database 0");
}

void config(Connection& connection, Arguments) { connection.reply().map(0); }

void quit(Connection& connection, Arguments) {
  connection.reply().simple("OK");
  connection.quit();
}

void command(Connection& connection, Arguments arguments);

struct Command {
  std::string_view name;
  void (*run)(Connection&, Arguments);
  std::size_t least, most;  // arguments, with the name
  std::string_view usage;
};

constexpr std::size_t any = wire::RequestParser::max_arguments;
constexpr std::array all = {
    Command{"LOCK", lock, 2, 7, "LOCK name [TIMEOUT ms] [TTL ms] [ASYNC]"},
    Command{"UNLOCK", unlock, 2, 3, "UNLOCK name [fence]"},
    Command{"RENEW", renew, 3, 4, "RENEW name ms [fence]"},
    Command{"CANCEL", cancel, 2, 2, "CANCEL ticket"},
    Command{"PING", ping, 1, 2, "PING [text]"},
    Command{"ECHO", ping, 2, 2, "ECHO text"},  // how redis-cli --pipe finds the end
    Command{"WHO", who, 2, 2, "WHO name"},
    Command{"WAITERS", waiters, 2, 2, "WAITERS name"},
    Command{"LOCKS", locks, 1, 1, "LOCKS"},
    Command{"MEMBERS", members, 1, 1, "MEMBERS"},
    Command{"HELLO", hello, 1, any, "HELLO [2|3 [AUTH user password] [SETNAME name]]"},
    Command{"CLIENT", client, 2, any, "CLIENT SETNAME name|GETNAME|ID|INFO"},
    Command{"COMMAND", command, 1, any, "COMMAND [COUNT|DOCS|LIST]"},
    Command{"INFO", info, 1, any, "INFO"},
    Command{"SELECT", select, 2, 2, "SELECT 0"},
    Command{"CONFIG", config, 2, any, "CONFIG GET name"},
    Command{"QUIT", quit, 1, 1, "QUIT"},
};

void command(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  const auto what = arguments.size() > 1 ? arguments[1] : std::string_view();
  if (same(what, "COUNT")) return out.integer(static_cast<std::int64_t>(all.size()));
  if (same(what, "LIST")) {
    out.array(all.size());
    for (const auto& each : all) out.bulk(each.name);
    return;
  }
  if (same(what, "DOCS")) {
    out.map(all.size());
    for (const auto& each : all) {
      out.bulk(each.name);
      out.map(1);
      Pairs{out}.text("summary", each.usage);
    }
    return;
  }
  out.array(all.size());
  for (const auto& each : all) {
    out.array(6);
    out.bulk(each.name);
    // As in Redis: the exact number, or the least as a negative one.
    const auto least = static_cast<std::int64_t>(each.least);
    out.integer(each.least == each.most ? least : -least);
    out.array(0);
    for (int i = 0; i < 3; ++i) out.integer(0);
  }
}

}  // namespace

void execute(Connection& connection, Arguments arguments) {
  for (const auto& each : all) {
    if (!same(arguments[0], each.name)) continue;
    if (arguments.size() >= each.least && arguments.size() <= each.most)
      return each.run(connection, arguments);
    return connection.reply().error("ERR",
                                    "wrong number of arguments; usage: " + std::string(each.usage));
  }
  // A web page that makes a browser send commands here gets no further.
  if (same(arguments[0], "POST") || same(arguments[0], "HOST:")) connection.quit();
  connection.reply().error("ERR", "unknown command '" + std::string(arguments[0].substr(0, 64)) +
                                      "'; COMMAND LIST tells what there is");
}

}  // namespace turno::port
