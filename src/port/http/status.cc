#include "port/http/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <span>

#include "core/text/json.h"
#include "table/sightings.h"

namespace turno::port {

namespace {

Json addresses_of(const cluster::Member& member) {
  return Json()
      .add("peer", member.peer_address)
      .add("client", member.client_address)
      .add("socket", member.client_socket)
      .add("http", member.http_address);
}

Json describe_member(Host& host, const cluster::Member& member) {
  const auto link = host.peers().link(member.id);
  return Json()
      .add("name", member.name)
      .add("pid", member.pid)
      .add("addresses", addresses_of(member))
      .add("self", member.id == host.self().id)
      .add("link_up", link == nullptr || link->up())
      .add("backlog", link == nullptr ? 0 : link->backlog());
}

Json describe_cluster(Host& host) {
  std::vector<Json> members;
  for (const auto& member : host.view().members) members.push_back(describe_member(host, member));
  return Json()
      .add("epoch", host.view().epoch)
      .add("algorithm", host.algorithm())
      .add("lock_delay_ms", host.lock_delay().count())
      .add("idle_ms", host.idle().count())
      .add("delayed", host.delayed())
      .add("members", members);
}

Json describe_locks(LockTable& locks) {
  const auto& statistics = locks.statistics();
  const auto& waits = statistics.waits;
  return Json()
      .add("known", locks.size())
      .add("held", statistics.holders.load())
      .add("waiting", statistics.waiters.load())
      .add("acquired", std::accumulate(waits.begin(), waits.end(), std::uint64_t{0}))
      .add("released", statistics.released.load())
      .add("withdrawn", statistics.withdrawn.load())
      .add("refused", statistics.refused.load())
      .add("lost", statistics.lost.load())
      .add("retired", statistics.retired.load());
}

Json describe_messages(const table::Engine& engine) {
  Json json;
  for (const auto& message : engine.messages()) json.add(message.kind, message.count);
  for (const auto& message : engine.control())
    json.add(table::control_kind(message.kind), message.count);
  return json;
}

Json who(const NodeSighting& sighted) {
  return Json()
      .add("node", sighted.node)
      .add("session", sighted.sighting.session)
      .add("client", sighted.sighting.client);
}

// All that was found of one lock, or nothing.
Json describe_lock(std::string_view name, std::span<const NodeSighting> found) {
  // Two can be seen when the lock changed hands between two answers: the larger fence is later.
  const NodeSighting* holder = nullptr;
  std::vector<const NodeSighting*> waiters;
  for (const auto& other : found) {
    if (!other.sighting.holds) {
      waiters.push_back(&other);
    } else if (holder == nullptr || other.sighting.fence > holder->sighting.fence) {
      holder = &other;
    }
  }
  std::stable_sort(waiters.begin(), waiters.end(), [](const auto* one, const auto* other) {
    return one->sighting.age > other->sighting.age;
  });
  Json json;
  json.add("name", name);
  if (holder == nullptr) {
    json.add("holder", nullptr);
  } else {
    json.add("holder", who(*holder)
                           .add("fence", holder->sighting.fence.value)
                           .add("held_ms", holder->sighting.age.count()));
  }
  std::vector<Json> waiting;
  for (const auto* waiter : waiters)
    waiting.push_back(who(*waiter).add("waiting_ms", waiter->sighting.age.count()));
  return json.add("waiters", waiting);
}

// A member tells no more than so many.
bool truncated(const std::vector<NodeSighting>& found) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& other : found)
    if (++counts[other.node] >= table::most_sightings) return true;
  return false;
}

std::string document(const Json& json) { return json.text() + "\n"; }

}  // namespace

std::string status_json(Host& host, const Clients& clients) {
  using std::chrono::duration_cast;
  const auto& self = host.self();
  const auto uptime = duration_cast<std::chrono::seconds>(Clock::now() - host.started());
  const auto node = Json()
                        .add("name", self.name)
                        // More than the 53 bits that many readers of JSON keep of a number.
                        .add("id", std::to_string(self.id))
                        .add("pid", self.pid)
                        .add("version", TURNO_VERSION)
                        .add("uptime_s", uptime.count())
                        .add("ready", host.locks().ready())
                        .add("addresses", addresses_of(self));
  const auto connected = Json()
                             .add("connected", clients.size())
                             .add("connections", clients.connections())
                             .add("commands", clients.commands());
  return document(Json()
                      .add("node", node)
                      .add("cluster", describe_cluster(host))
                      .add("locks", describe_locks(host.locks()))
                      .add("messages", describe_messages(host.locks().engine()))
                      .add("clients", connected));
}

std::string locks_json(std::vector<NodeSighting> found, bool complete) {
  std::stable_sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
    return one.sighting.lock < other.sighting.lock;
  });
  std::vector<Json> locks;
  for (std::span<const NodeSighting> rest = found; !rest.empty();) {
    const auto& name = rest.front().sighting.lock;
    const auto end = std::find_if(rest.begin(), rest.end(),
                                  [&](const auto& other) { return other.sighting.lock != name; });
    const auto size = static_cast<std::size_t>(end - rest.begin());
    locks.push_back(describe_lock(name, rest.first(size)));
    rest = rest.subspan(size);
  }
  return document(
      Json().add("complete", complete).add("truncated", truncated(found)).add("locks", locks));
}

std::string lock_json(std::string_view name, std::vector<NodeSighting> found, bool complete) {
  return document(
      describe_lock(name, found).add("complete", complete).add("truncated", truncated(found)));
}

std::string unready_reason(Host& host) {
  if (host.locks().ready()) return {};
  const auto& view = host.view();
  const auto unreported = host.locks().unreported();
  std::string names;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!unreported.contains(NodeId{i})) continue;
    const auto& member = view.members[i];
    const auto link = host.peers().link(member.id);
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", member.name,
                         link && !link->up() ? " (not connected)" : "");
  }
  return fmt::format("in view {} there is no report yet from {}", view.epoch, names);
}

}  // namespace turno::port
