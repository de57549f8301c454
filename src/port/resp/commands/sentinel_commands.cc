// What clients ask a sentinel of Redis: where is the master? Every node is one and says so of
// itself, so a client that knows several nodes goes to the next when its node dies.
#include <array>
#include <vector>

#include "net/address.h"
#include "port/resp/commands.h"

namespace turno::port {

namespace {

constexpr std::string_view master_name = "turno";

struct Place {
  std::string host, port, id;
};

std::optional<Place> place(std::string_view text, std::uint64_t id) {
  const auto address = net::parse_address(text);
  if (text.empty() || !address || address->is_local()) return {};
  return Place{address->host, std::to_string(address->port), std::to_string(id)};
}

// Of this node, as the client has reached it; of another one if this node has no TCP port or
// leaves.
std::optional<Place> master(Connection& connection) {
  const auto& self = connection.host().self();
  if (connection.host().draining())
    for (const auto& member : connection.host().view().members)
      if (auto there = place(member.client_address, member.id); there && member.id != self.id)
        return there;
  if (auto here = place(connection.local_address(), self.id)) return here;
  if (auto here = place(self.client_address, self.id)) return here;
  for (const auto& member : connection.host().view().members)
    if (auto there = place(member.client_address, member.id)) return there;
  return {};
}

std::vector<Place> others(Connection& connection) {
  std::vector<Place> found;
  for (const auto& member : connection.host().view().members) {
    if (member.id == connection.host().self().id) continue;
    if (auto there = place(member.client_address, member.id)) found.push_back(*there);
  }
  return found;
}

void write_master(Connection& connection, const Place& place) {
  auto& out = connection.reply();
  out.map(16);
  Pairs pairs{out};
  pairs.text("name", master_name);
  pairs.text("ip", place.host);
  pairs.text("port", place.port);
  pairs.text("runid", place.id);
  pairs.text("flags", "master");
  for (const auto* zero :
       {"link-pending-commands", "link-refcount", "last-ping-sent", "last-ok-ping-reply",
        "last-ping-reply", "info-refresh", "config-epoch", "num-slaves"})
    pairs.text(zero, "0");
  pairs.text("num-other-sentinels", std::to_string(others(connection).size()));
  pairs.text("quorum", "1");
  pairs.text("role-reported", "master");
}

void write_sentinel(Connection& connection, const Place& place) {
  connection.reply().map(7);
  Pairs pairs{connection.reply()};
  pairs.text("name", place.host + ":" + place.port);
  pairs.text("ip", place.host);
  pairs.text("port", place.port);
  pairs.text("runid", place.id);
  pairs.text("flags", "sentinel");
  pairs.text("last-ok-ping-reply", "0");
  pairs.text("voted-leader", "?");
}

void sentinel(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  const auto what = arguments[1];
  const bool is_list = same(what, "MASTERS") && arguments.size() == 2;
  const bool is_named = arguments.size() == 3;
  const auto here = master(connection);
  if (is_list) {
    out.array(here ? 1 : 0);
    if (here) write_master(connection, *here);
    return;
  }
  if (same(what, "MYID") && arguments.size() == 2)
    return out.bulk(std::to_string(connection.host().self().id));
  const bool known = is_named && arguments[2] == master_name && here;
  if (same(what, "GET-MASTER-ADDR-BY-NAME") && is_named) {
    if (!known) return out.null();
    out.array(2);
    out.bulk(here->host);
    return out.bulk(here->port);
  }
  const bool sentinels = same(what, "SENTINELS");
  const bool replicas = same(what, "REPLICAS") || same(what, "SLAVES");
  if (is_named && (same(what, "MASTER") || sentinels || replicas)) {
    if (!known) return out.error("ERR", "No such master with that name");
    if (replicas) return out.array(0);
    if (!sentinels) return write_master(connection, *here);
    const auto found = others(connection);
    out.array(found.size());
    for (const auto& other : found) write_sentinel(connection, other);
    return;
  }
  out.error("ERR",
            "unknown SENTINEL subcommand or wrong number of arguments: there are "
            "GET-MASTER-ADDR-BY-NAME turno, MASTERS, MASTER turno, SENTINELS turno, REPLICAS turno "
            "and MYID");
}

void role(Connection& connection, Arguments) {
  auto& out = connection.reply();
  out.array(3);
  out.bulk("master");
  out.integer(0);
  out.array(0);
}

void cluster(Connection& connection, Arguments) {
  connection.reply().error("ERR", "This instance has cluster support disabled");
}

constexpr std::array all = {
    Command{"SENTINEL", sentinel, For::anybody, 2, 3,
            "SENTINEL GET-MASTER-ADDR-BY-NAME turno|MASTERS|MASTER turno|SENTINELS turno",
            "sentinel", "Where a living node is, for clients that know sentinels"},
    Command{"ROLE", role, For::anybody, 1, 1, "ROLE", "server", "Every node is a master"},
    Command{"CLUSTER", cluster, For::anybody, 1, any_number, "CLUSTER", "cluster",
            "Refused: to clients each node is a server of its own"},
};

}  // namespace

std::span<const Command> sentinel_commands() { return all; }

}  // namespace turno::port
