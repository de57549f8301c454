// The commands for locks, and those that tell who has them.
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

bool good_name(Connection& connection, std::string_view name) {
  if (!name.empty() && name.size() <= LockTable::longest_name) return true;
  connection.reply().error("ERR", name.empty()
                                      ? std::string("a lock needs a name")
                                      : "the name is too long: at most " +
                                            std::to_string(LockTable::longest_name) + " bytes");
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

void lock(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  Connection::Wanted wanted{.name = arguments[1]};
  if (!good_name(connection, wanted.name)) return;
  bool has_timeout = false, has_ttl = false;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto option = arguments[i];
    const bool async = same(option, "ASYNC"), timeout = same(option, "TIMEOUT");
    if (!async && !timeout && !same(option, "TTL"))
      return out.error("ERR", "unknown option '" + std::string(option) +
                                  "': there are TIMEOUT ms, TTL ms and ASYNC");
    auto& given = async ? wanted.async : timeout ? has_timeout : has_ttl;
    if (std::exchange(given, true))
      return out.error("ERR", std::string(async     ? "ASYNC"
                                          : timeout ? "TIMEOUT"
                                                    : "TTL") +
                                  " is given twice");
    if (async) continue;
    const auto value = i + 1 < arguments.size() ? milliseconds(arguments[++i]) : std::nullopt;
    if (!value || (!timeout && value->count() == 0))
      return out.error("ERR", timeout ? "TIMEOUT needs a number of milliseconds, 0 or above"
                                      : "TTL needs a number of milliseconds above 0");
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
    return connection.reply().error("ERR", "RENEW needs a number of milliseconds above 0");
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
  out.array(has_more ? 3 : 2);
  out.bulk(names[static_cast<std::size_t>(standing->state)]);
  out.bulk(standing->lock);
  if (standing->state == State::granted)
    out.integer(static_cast<std::int64_t>(standing->fence.value));
  if (standing->state == State::failed) out.bulk(standing->reason);
}

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

constexpr std::array all = {
    Command{"LOCK", lock, 2, 7, "LOCK name [TIMEOUT ms] [TTL ms] [ASYNC]", "turno",
            "Take a lock, waiting for it"},
    Command{"UNLOCK", unlock, 2, 3, "UNLOCK name [fence]", "turno", "Give a lock back"},
    Command{"RENEW", renew, 3, 4, "RENEW name ms [fence]", "turno",
            "Begin the time to live of a lock again"},
    Command{"CANCEL", cancel, 2, 2, "CANCEL ticket", "turno", "Withdraw an ASYNC wait"},
    Command{"TICKET", ticket, 2, 2, "TICKET ticket", "turno", "How an ASYNC wait stands"},
    Command{"WHO", who, 2, 2, "WHO name", "turno", "Who holds a lock"},
    Command{"WAITERS", waiters, 2, 2, "WAITERS name", "turno", "Who waits for a lock"},
    Command{"LOCKS", locks, 1, 1, "LOCKS", "turno", "All locks of the cluster that are held"},
    Command{"MEMBERS", members, 1, 1, "MEMBERS", "turno", "The nodes of the cluster"},
};

}  // namespace

std::span<const Command> lock_commands() { return all; }

}  // namespace turno::port
