#include "port/resp/lock_replies.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "port/findings.h"

namespace turno::port {

namespace {

std::uint64_t ms(const NodeSighting& seen) {
  return static_cast<std::uint64_t>(seen.sighting.age.count());
}

// Of a lock or an election. REQUIRES: it is not free. `more` pairs follow.
void write_lock(wire::ReplyWriter& out, std::string_view name, Thing thing,
                const ThingFindings& lock, std::uint64_t waiting, std::size_t more = 0) {
  Pairs pairs{out};
  const bool election = thing == Thing::election;
  const auto begin = [&](std::size_t own, const NodeSighting& seen) {
    out.map(own + more + 1);
    pairs.text("name", name);
    pairs.text("kind", table::name(thing));
    pairs.text("node", seen.node);
  };
  if (const auto* holder = lock.holder) {
    begin(election ? 9 : 8, *holder);
    pairs.integer("session", holder->sighting.session);
    pairs.text("client", holder->sighting.client);
    pairs.text("from", holder->sighting.from);
    pairs.fence(election ? "term" : "fence", holder->sighting.fence.value);
    if (election) pairs.text("value", holder->sighting.value);
    pairs.integer("held_ms", ms(*holder));
  } else if (const auto* kept = lock.kept) {
    begin(5, *kept);
    pairs.text("kept_for", kept->sighting.client);
    pairs.integer("free_in_ms", ms(*kept));
  } else if (lock.leaving != nullptr) {
    begin(4, *lock.leaving);
    pairs.boolean("leaving", true);
  } else {
    begin(5, *lock.noted);
    pairs.text("told_by", lock.noted->sighting.client);
    pairs.integer("told_ms", ms(*lock.noted));
  }
  pairs.integer("waiting", waiting);
}

void write_silent(wire::ReplyWriter& out, const SilentMember& silent) {
  out.map(3);
  Pairs pairs{out};
  pairs.text("silent", silent.name);
  pairs.integer("pid", static_cast<std::uint64_t>(silent.pid));
  pairs.text("state", cluster::text_of(silent.state));
}

// At the end of a list: what may be missing in it.
std::size_t gaps(const Findings& findings) { return findings.silent.size() + findings.cut.size(); }
void write_gaps(wire::ReplyWriter& out, const Findings& findings) {
  for (const auto& silent : findings.silent) write_silent(out, silent);
  for (const auto& node : findings.cut) {
    out.map(1);
    Pairs{out}.text("cut", node);
  }
}

// Of a semaphore, a room, or a store. `complete`: whether it is, if that is to be said.
void write_many(wire::ReplyWriter& out, std::string_view name, Thing thing,
                const ThingFindings& many, std::uint64_t waiting,
                std::optional<bool> complete = {}) {
  const bool room = thing == Thing::room;
  out.map(complete ? 6 : 5);
  Pairs pairs{out};
  pairs.text("name", name);
  pairs.text("kind", table::name(thing));
  pairs.integer(room ? "inside" : "in_use", many.in_use());
  pairs.integer("waiting", waiting);
  if (complete) pairs.boolean("complete", *complete);
  out.bulk("holders");
  out.array(many.holders.size());
  for (const auto* holder : many.holders) {
    const auto& seen = holder->sighting;
    const bool kept = seen.is(Sighting::Kind::kept);
    out.map(kept ? 4 : 7);
    pairs.text("node", holder->node);
    if (kept) {
      pairs.text("kept_for", seen.client);
      pairs.integer("free_in_ms", ms(*holder));
    } else {
      pairs.integer("session", seen.session);
      pairs.text("client", seen.client);
      pairs.text("from", seen.from);
      pairs.fence("fence", seen.fence.value);
      pairs.integer("held_ms", ms(*holder));
    }
    if (room) {
      pairs.text("group", seen.group);
      continue;
    }
    if (thing == Thing::store) {
      out.bulk("resources");
      write_resources(out, seen.resources);
      continue;
    }
    out.bulk("permits");
    out.array(seen.permits.size());
    for (const auto permit : seen.permits) out.integer(permit);
  }
}

void write_one(wire::ReplyWriter& out, std::string_view name, Thing thing,
               const Findings& findings) {
  const auto lock = put_in_order(findings.found, thing);
  if (lock.is_free() && findings.complete()) return out.null();
  if (lock.is_free())
    return out.error(
        "INCOMPLETE",
        fmt::format("nobody that answered {0} '{1}', but {2}; {3}",
                    thing == Thing::election ? "leads" : "holds", name,
                    thing == Thing::election ? "somebody else may" : "it may be held elsewhere",
                    describe_silent(findings.silent)));
  write_lock(out, name, thing, lock, findings.waiting, findings.complete() ? 1 : 2);
  Pairs{out}.boolean("complete", findings.complete());
  if (findings.complete()) return;
  out.bulk("silent");
  out.array(findings.silent.size());
  for (const auto& silent : findings.silent) write_silent(out, silent);
}

}  // namespace

void write_permits(wire::ReplyWriter& out, std::span<const std::uint32_t> permits, Fence fence) {
  out.array(permits.size());
  for (const auto permit : permits) {
    out.array(2);
    out.integer(permit);
    out.fence(fence.value);
  }
}

void write_resources(wire::ReplyWriter& out, std::span<const Resource> resources) {
  out.array(resources.size());
  for (const auto& resource : resources) {
    out.array(3);
    out.bulk(resource.type);
    out.integer(resource.number);
    out.fence(resource.fence.value);
  }
}

void write_who(wire::ReplyWriter& out, std::string_view name, const Findings& findings) {
  const auto thing = thing_found(findings).value_or(Thing::lock);
  if (table::several_have(thing))
    return write_many(out, name, thing, put_in_order(findings.found, thing), findings.waiting,
                      findings.complete());
  write_one(out, name, thing, findings);
}

void write_leader(wire::ReplyWriter& out, std::string_view name, const Findings& findings) {
  write_one(out, name, Thing::election, findings);
}

void write_waiters(wire::ReplyWriter& out, std::string_view, const Findings& findings) {
  const auto thing = thing_found(findings).value_or(Thing::lock);
  const auto lock = put_in_order(findings.found, thing);
  out.array(lock.waiters.size() + gaps(findings));
  std::uint64_t position = 0;
  for (const auto* waiter : lock.waiters) {
    out.map(table::several_have(thing) ? 7 : 6);
    Pairs pairs{out};
    pairs.text("node", waiter->node);
    pairs.integer("session", waiter->sighting.session);
    pairs.text("client", waiter->sighting.client);
    pairs.text("from", waiter->sighting.from);
    pairs.integer("waiting_ms", ms(*waiter));
    pairs.integer("position", ++position);
    if (thing == Thing::semaphore) pairs.integer("count", waiter->sighting.count);
    if (thing == Thing::room) pairs.text("group", waiter->sighting.group);
    if (thing == Thing::store) pairs.text("wants", claims_of(waiter->sighting.resources));
  }
  write_gaps(out, findings);
}

void write_locks(wire::ReplyWriter& out, std::string_view, const Findings& findings) {
  auto things = put_in_order(findings);
  std::erase_if(things, [](const auto& each) { return each.second.is_free(); });
  out.array(things.size() + gaps(findings));
  for (const auto& [name, found] : things) {
    const auto waiting = found.waiters.size();
    table::several_have(name.second) ? write_many(out, name.first, name.second, found, waiting)
                                     : write_lock(out, name.first, name.second, found, waiting);
  }
  write_gaps(out, findings);
}

void write_members(wire::ReplyWriter& out, const Host& host) {
  const auto& view = host.view();
  out.array(view.size());
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto& member = view.members[i];
    const auto link = host.peers().link(member.id);
    const auto quiet = link ? link->quiet_for() : Clock::duration::zero();
    out.map(11);
    Pairs pairs{out};
    pairs.integer("index", i);
    pairs.text("name", member.name);
    pairs.integer("id", member.id);
    pairs.integer("pid", static_cast<std::uint64_t>(member.pid));
    pairs.text("peer", member.peer_address);
    pairs.text("client", member.client_address);
    pairs.text("socket", member.client_socket);
    pairs.text("http", member.http_address);
    pairs.boolean("self", member.id == host.self().id);
    pairs.integer("quiet_ms", static_cast<std::uint64_t>(quiet / std::chrono::milliseconds(1)));
    pairs.text("process", cluster::text_of(cluster::process_state(member.pid)));
  }
}

void write_member_addresses(wire::ReplyWriter& out, const cluster::View& view) {
  out.array(view.size());
  for (const auto& member : view.members) {
    out.map(4);
    Pairs pairs{out};
    pairs.text("name", member.name);
    pairs.integer("id", member.id);
    pairs.text("client", member.client_address);
    pairs.text("socket", member.client_socket);
  }
}

}  // namespace turno::port
