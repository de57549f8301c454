#include "node/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <span>

#include "node/json.h"
#include "node/sightings.h"

namespace turno::node {

namespace {

void write_addresses(Json& json, const cluster::Member& member) {
  json.object("addresses", [&] {
    json.text("peer", member.peer_address);
    json.text("client", member.client_address);
    json.text("socket", member.client_socket);
    json.text("http", member.http_address);
  });
}

void write_cluster(Json& json, Daemon& daemon) {
  const auto& view = daemon.view();
  json.number("epoch", view.epoch);
  json.text("algorithm", daemon.settings().algorithm);
  json.number("lock_delay_ms", daemon.settings().lock_delay.count());
  json.number("idle_ms", daemon.settings().idle.count());
  json.boolean("delayed", daemon.delayed());
  json.array("members", [&] {
    for (const auto& member : view.members) {
      const auto link = daemon.peers().link(member.id);
      json.object({}, [&] {
        json.text("name", member.name);
        json.number("pid", member.pid);
        write_addresses(json, member);
        json.boolean("self", member.id == daemon.self().id);
        json.boolean("link_up", link == nullptr || link->up());
        json.number("backlog", link == nullptr ? 0 : link->backlog());
      });
    }
  });
}

void write_locks(Json& json, LockTable& locks) {
  const auto& statistics = locks.statistics();
  json.number("known", locks.size());
  json.number("held", statistics.holders.load());
  json.number("waiting", statistics.waiters.load());
  json.number("acquired",
              std::accumulate(statistics.waits.begin(), statistics.waits.end(), std::uint64_t{0}));
  json.number("released", statistics.released.load());
  json.number("withdrawn", statistics.withdrawn.load());
  json.number("refused", statistics.refused.load());
  json.number("lost", statistics.lost.load());
  json.number("retired", statistics.retired.load());
}

// All that was found of one lock, or nothing.
void write_lock(Json& json, std::string_view name, std::span<const NodeSighting> found) {
  json.text("name", name);
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
  const auto who = [&](const NodeSighting& sighted) {
    json.text("node", sighted.node);
    json.number("session", sighted.sighting.session);
    json.text("client", sighted.sighting.client);
  };
  if (holder == nullptr) {
    json.null("holder");
  } else {
    json.object("holder", [&] {
      who(*holder);
      json.number("fence", holder->sighting.fence.value);
      json.number("held_ms", holder->sighting.age.count());
    });
  }
  json.array("waiters", [&] {
    for (const auto* waiter : waiters)
      json.object({}, [&] {
        who(*waiter);
        json.number("waiting_ms", waiter->sighting.age.count());
      });
  });
}

// A member tells no more than so many.
bool truncated(const std::vector<NodeSighting>& found) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& other : found)
    if (++counts[other.node] >= most_sightings) return true;
  return false;
}

}  // namespace

std::string status_json(Daemon& daemon, const Clients& clients) {
  using std::chrono::duration_cast;
  const auto& self = daemon.self();
  const auto& engine = daemon.locks().engine();
  return Json::document([&](Json& json) {
    json.object("node", [&] {
      json.text("name", self.name);
      // More than the 53 bits that many readers of JSON keep of a number.
      json.text("id", std::to_string(self.id));
      json.number("pid", self.pid);
      json.text("version", TURNO_VERSION);
      json.number("uptime_s",
                  duration_cast<std::chrono::seconds>(Clock::now() - daemon.started()).count());
      json.boolean("ready", daemon.locks().ready());
      write_addresses(json, self);
    });
    json.object("cluster", [&] { write_cluster(json, daemon); });
    json.object("locks", [&] { write_locks(json, daemon.locks()); });
    json.object("messages", [&] {
      for (const auto& message : engine.messages()) json.number(message.kind, message.count);
      for (const auto& message : engine.control())
        json.number(control_kind(message.kind), message.count);
    });
    json.object("clients", [&] {
      json.number("connected", clients.size());
      json.number("connections", clients.connections());
      json.number("commands", clients.commands());
    });
  });
}

std::string locks_json(std::vector<NodeSighting> found, bool complete) {
  std::stable_sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
    return one.sighting.lock < other.sighting.lock;
  });
  return Json::document([&](Json& json) {
    json.boolean("complete", complete);
    json.boolean("truncated", truncated(found));
    json.array("locks", [&] {
      for (std::span<const NodeSighting> rest = found; !rest.empty();) {
        const auto& name = rest.front().sighting.lock;
        const auto end = std::find_if(rest.begin(), rest.end(), [&](const auto& other) {
          return other.sighting.lock != name;
        });
        const auto size = static_cast<std::size_t>(end - rest.begin());
        json.object({}, [&] { write_lock(json, name, rest.first(size)); });
        rest = rest.subspan(size);
      }
    });
  });
}

std::string lock_json(std::string_view name, std::vector<NodeSighting> found, bool complete) {
  return Json::document([&](Json& json) {
    write_lock(json, name, found);
    json.boolean("complete", complete);
    json.boolean("truncated", truncated(found));
  });
}

std::string unready_reason(Daemon& daemon) {
  if (daemon.locks().ready()) return {};
  const auto& view = daemon.view();
  const auto unreported = daemon.locks().unreported();
  std::string names;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!unreported.contains(NodeId{i})) continue;
    const auto& member = view.members[i];
    const auto link = daemon.peers().link(member.id);
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", member.name,
                         link && !link->up() ? " (not connected)" : "");
  }
  return fmt::format("in view {} there is no report yet from {}", view.epoch, names);
}

}  // namespace turno::node
