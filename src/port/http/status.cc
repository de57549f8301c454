#include "port/http/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/text/json.h"
#include "port/findings.h"

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
      .add("quiet_ms", link == nullptr ? 0 : link->quiet_for() / std::chrono::milliseconds(1))
      .add("process", cluster::text_of(cluster::process_state(member.pid)))
      .add("backlog", link == nullptr ? 0 : link->backlog());
}

Json describe_cluster(Host& host) {
  std::vector<Json> members;
  for (const auto& member : host.view().members) members.push_back(describe_member(host, member));
  std::vector<Json> crashed;
  for (const auto& dead : host.view().casualties)
    crashed.push_back(Json()
                          .add("name", dead.name)
                          .add("pid", dead.pid)
                          .add("epoch", dead.epoch)
                          .add("at_ms", dead.at_ms));
  return Json()
      .add("epoch", host.view().epoch)
      .add("algorithm", host.algorithm())
      .add("lock_delay_ms", host.lock_delay().count())
      .add("idle_ms", host.idle().count())
      .add("delayed", host.delayed())
      .add("registry_trouble", host.registry_trouble())
      .add("members", members)
      .add("crashed", crashed);
}

Json describe_things(table::Table& things) {
  const auto& statistics = things.statistics();
  const auto& waits = statistics.waits;
  return Json()
      .add("known", things.size())
      .add("held", statistics.holders.load())
      .add("waiting", statistics.waiters.load())
      .add("acquired", std::accumulate(waits.begin(), waits.end(), std::uint64_t{0}))
      .add("released", statistics.released.load())
      .add("withdrawn", statistics.withdrawn.load())
      .add("refused", statistics.refused.load())
      .add("lost", statistics.lost.load())
      .add("retired", statistics.retired.load())
      .add("spoilt", statistics.spoilt.load())
      .add("ready", things.ready());
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
      .add("session", std::to_string(sighted.sighting.session))
      .add("client", sighted.sighting.client)
      .add("from", sighted.sighting.from);
}

Json kept(const NodeSighting& sighted) {
  return Json().add("for", sighted.sighting.client).add("free_in_ms", sighted.sighting.age.count());
}

// Its permits, its resources, or its group.
void add_share(Json& json, const Sighting& seen) {
  if (seen.thing == Thing::room) {
    if (seen.is(Sighting::Kind::holds)) json.add("group", seen.group);
  } else if (seen.thing == Thing::store) {
    std::vector<Json> resources;
    for (const auto& [type, number, fence] : seen.resources)
      resources.push_back(Json().add("type", type).add("number", number).add("fence", fence));
    json.add("resources", resources);
  } else {
    std::vector<std::string> permits;
    for (const auto permit : seen.permits) permits.push_back(std::to_string(permit));
    json.add_raw("permits", json_array(permits));
  }
}

// Who has some of a semaphore or a store, or is in a room.
void add_holders(Json& json, Thing thing, const ThingFindings& many) {
  std::vector<Json> holders;
  for (const auto* holder : many.holders) {
    const auto& seen = holder->sighting;
    auto one = seen.is(Sighting::Kind::kept)
                   ? Json().add("node", holder->node).add("kept", kept(*holder))
                   : who(*holder).add("fence", seen.fence).add("held_ms", seen.age.count());
    add_share(one, seen);
    holders.push_back(std::move(one));
  }
  json.add(thing == Thing::room ? "inside" : "in_use", many.in_use()).add("holders", holders);
}

Json describe_waiter(const NodeSighting& waiter) {
  const auto& seen = waiter.sighting;
  auto json = who(waiter).add("waiting_ms", seen.age.count());
  if (seen.thing == Thing::semaphore) json.add("count", seen.count);
  if (seen.thing == Thing::room) json.add("group", seen.group);
  if (seen.thing == Thing::store) json.add("wants", claims_of(seen.resources));
  return json;
}

Json describe_lock(std::string_view name, Thing thing, const ThingFindings& lock) {
  Json json;
  json.add("name", name).add("kind", table::name(thing));
  if (table::several_have(thing)) {
    add_holders(json, thing, lock);
  } else if (lock.holder == nullptr) {
    json.add("holder", nullptr);
  } else {
    auto holder = who(*lock.holder)
                      .add("fence", lock.holder->sighting.fence)
                      .add("held_ms", lock.holder->sighting.age.count());
    if (!lock.holder->sighting.value.empty()) holder.add("value", lock.holder->sighting.value);
    json.add("holder", holder);
  }
  if (lock.kept != nullptr) json.add("kept", kept(*lock.kept));
  if (lock.leaving != nullptr) json.add("leaving", Json().add("node", lock.leaving->node));
  if (lock.noted != nullptr)
    json.add("perhaps_held", Json()
                                 .add("node", lock.noted->node)
                                 .add("told_by", lock.noted->sighting.client)
                                 .add("told_ms", lock.noted->sighting.age.count()));
  std::vector<Json> waiting;
  for (const auto* waiter : lock.waiters) waiting.push_back(describe_waiter(*waiter));
  return json.add("waiters", waiting);
}

// Whether that was all.
void add_gaps(Json& json, const Findings& findings) {
  std::vector<Json> silent;
  for (const auto& [name, pid, state] : findings.silent)
    silent.push_back(
        Json().add("name", name).add("pid", pid).add("state", cluster::text_of(state)));
  json.add("complete", findings.complete())
      .add("silent", silent)
      .add("truncated", !findings.cut.empty());
}

Json describe_link(const DeadlockWatch::Chain::Link& link) {
  const auto thing = [](const cluster::NamedThing& named) {
    return Json().add("kind", table::name(static_cast<Thing>(named.kind))).add("name", named.name);
  };
  auto json = Json()
                  .add("node", link.node)
                  .add("session", std::to_string(link.who.party.session))
                  .add("client", link.who.client)
                  .add("from", link.who.from)
                  .add("has", thing(link.has));
  if (link.wants) {
    json.add("waits_for", thing(*link.wants)).add("waiting_ms", link.waiting_ms);
  } else {
    json.add("waits_for", nullptr);
  }
  return json.add("stuck", link.stuck);
}

void add_chain(Json& json, const DeadlockWatch::Chain& chain) {
  std::vector<Json> links;
  for (const auto& link : chain.links) links.push_back(describe_link(link));
  json.add("chain", links);
  if (chain.deadlock.empty()) {
    json.add("deadlock", nullptr);
  } else {
    json.add("deadlock", chain.deadlock);
  }
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
                        .add("ready", host.ready())
                        .add("addresses", addresses_of(self));
  const auto connected = Json()
                             .add("connected", clients.size())
                             .add("connections", clients.connections())
                             .add("commands", clients.commands());
  return document(Json()
                      .add("node", node)
                      .add("cluster", describe_cluster(host))
                      .add("locks", describe_things(host.locks()))
                      .add("semaphores", describe_things(host.semaphores()))
                      .add("elections", describe_things(host.elections()))
                      .add("rooms", describe_things(host.rooms()))
                      .add("stores", describe_things(host.stores()))
                      .add("deadlocks", Json()
                                            .add("found", clients.deadlocks().found())
                                            .add("aborted", clients.deadlocks().aborted())
                                            .add("refused", clients.deadlocks().refused()))
                      .add("messages", describe_messages(host.locks().engine()))
                      .add("clients", connected));
}

std::string locks_json(const Findings& findings) {
  std::vector<Json> locks;
  for (const auto& [name, lock] : put_in_order(findings))
    locks.push_back(describe_lock(name.first, name.second, lock));
  Json json;
  add_gaps(json, findings);
  return document(json.add("locks", locks));
}

std::string lock_json(std::string_view name, const Findings& all,
                      const DeadlockWatch::Chain& chain) {
  const auto thing = thing_found(all).value_or(Thing::lock);
  const auto findings = only(all, thing);
  auto json = describe_lock(name, thing, put_in_order(findings.found, thing));
  json.add("waiting", findings.waiting);
  add_chain(json, chain);
  add_gaps(json, findings);
  return document(json);
}

std::string quiet_text(const Host& host) {
  std::string text;
  for (const auto& [member, quiet_for] : quiet_members(host))
    text += fmt::format("silent: {} has said nothing for {} s, and locks that need it wait; {}\n",
                        cluster::describe_process(member.name, member.pid, member.state),
                        quiet_for.count() / 1000, cluster::remedy(member.pid, member.state));
  return text;
}

std::string unready_reason(Host& host) {
  if (host.draining()) return "this node leaves";
  if (host.ready()) return {};
  const auto& view = host.view();
  const auto unreported = host.unreported();
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
