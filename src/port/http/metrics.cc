#include "port/http/metrics.h"

#include <array>

#include "port/http/exposition.h"
#include "port/http/process.h"

namespace turno::port {

namespace {

void write_locks(Exposition& out, LockTable& locks) {
  const auto& statistics = locks.statistics();
  std::array<std::uint64_t, std::tuple_size_v<decltype(Statistics::waits)>> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = statistics.waits[i].load();
  out.histogram("turno_lock_acquire_duration_seconds",
                "Time from asking for a lock to its grant, of this node's users.",
                Statistics::bounds_us, counts,
                static_cast<double>(statistics.waited_us.load()) / 1e6);
  out.gauge("turno_holders", "Locks held by this node's users.").sample(statistics.holders.load());
  out.gauge("turno_waiters", "Users of this node that wait for a lock.")
      .sample(statistics.waiters.load());
  out.gauge("turno_locks_known", "Locks in this node's memory.").sample(locks.size());
  out.counter("turno_locks_lost_total", "Locks taken away from their holders.")
      .sample(statistics.lost.load());
}

void write_semaphores(Exposition& out, PoolTable& semaphores) {
  const auto& statistics = semaphores.statistics();
  std::array<std::uint64_t, std::tuple_size_v<decltype(Statistics::waits)>> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = statistics.waits[i].load();
  out.histogram("turno_permit_acquire_duration_seconds",
                "Time from asking for permits to their grant, of this node's users.",
                Statistics::bounds_us, counts,
                static_cast<double>(statistics.waited_us.load()) / 1e6);
  out.gauge("turno_permit_holders", "Grants of permits held by this node's users.")
      .sample(statistics.holders.load());
  out.gauge("turno_permit_waiters", "Users of this node that wait for permits.")
      .sample(statistics.waiters.load());
  out.gauge("turno_semaphores_known", "Semaphores in this node's memory.")
      .sample(semaphores.size());
  out.counter("turno_permits_lost_total", "Grants of permits taken away from their holders.")
      .sample(statistics.lost.load());
}

void write_elections(Exposition& out, ElectionTable& elections) {
  const auto& statistics = elections.statistics();
  std::array<std::uint64_t, std::tuple_size_v<decltype(Statistics::waits)>> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = statistics.waits[i].load();
  out.histogram("turno_campaign_duration_seconds",
                "Time from a campaign to its win, of this node's users.", Statistics::bounds_us,
                counts, static_cast<double>(statistics.waited_us.load()) / 1e6);
  out.gauge("turno_leaders", "Elections in which a user of this node leads.")
      .sample(statistics.holders.load());
  out.gauge("turno_campaigners", "Users of this node that wait to lead.")
      .sample(statistics.waiters.load());
  out.gauge("turno_elections_known", "Elections in this node's memory.").sample(elections.size());
  out.counter("turno_leaderships_lost_total", "Leaders that were told to lead no more.")
      .sample(statistics.lost.load());
}

void write_rooms(Exposition& out, PoolTable& rooms) {
  const auto& statistics = rooms.statistics();
  std::array<std::uint64_t, std::tuple_size_v<decltype(Statistics::waits)>> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = statistics.waits[i].load();
  out.histogram("turno_room_enter_duration_seconds",
                "Time from asking to enter a room to being let in, of this node's users.",
                Statistics::bounds_us, counts,
                static_cast<double>(statistics.waited_us.load()) / 1e6);
  out.gauge("turno_room_guests", "Users of this node that are inside rooms.")
      .sample(statistics.holders.load());
  out.gauge("turno_room_waiters", "Users of this node that wait to enter a room.")
      .sample(statistics.waiters.load());
  out.gauge("turno_rooms_known", "Rooms in this node's memory.").sample(rooms.size());
  out.counter("turno_room_guests_lost_total", "Users that were inside, and were taken out.")
      .sample(statistics.lost.load());
}

void write_stores(Exposition& out, PoolTable& stores) {
  const auto& statistics = stores.statistics();
  std::array<std::uint64_t, std::tuple_size_v<decltype(Statistics::waits)>> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = statistics.waits[i].load();
  out.histogram("turno_reservation_duration_seconds",
                "Time from asking for resources to their grant, of this node's users.",
                Statistics::bounds_us, counts,
                static_cast<double>(statistics.waited_us.load()) / 1e6);
  out.gauge("turno_reservations", "Reservations held by this node's users.")
      .sample(statistics.holders.load());
  out.gauge("turno_reservation_waiters", "Users of this node that wait for resources.")
      .sample(statistics.waiters.load());
  out.gauge("turno_stores_known", "Stores in this node's memory.").sample(stores.size());
  out.counter("turno_reservations_lost_total", "Reservations taken away from their holders.")
      .sample(statistics.lost.load());
}

void write_messages(Exposition& out, Host& host) {
  out.counter("turno_messages_sent_total", "Messages about locks and so on sent to other nodes.");
  for (auto* things : host.tables()) {
    const auto& engine = things->engine();
    const auto thing = table::name(things->thing());
    for (const auto& message : engine.messages())
      out.sample({{"thing", thing}, {"algorithm", engine.info().name}, {"kind", message.kind}},
                 message.count);
    for (const auto& message : engine.control())
      out.sample({{"thing", thing},
                  {"algorithm", engine.info().name},
                  {"kind", table::control_kind(message.kind)}},
                 message.count);
  }
}

// What is counted alike of all kinds.
void write_each_kind(Exposition& out, Host& host) {
  const auto of_each = [&](std::atomic<std::uint64_t> Statistics::*counter) {
    for (auto* things : host.tables())
      out.sample({{"thing", table::name(things->thing())}}, (things->statistics().*counter).load());
  };
  out.counter("turno_grants_released_total", "Grants that were given back.");
  of_each(&Statistics::released);
  out.counter("turno_waits_withdrawn_total", "Waits that ended without a grant.");
  of_each(&Statistics::withdrawn);
  out.counter("turno_tries_refused_total",
              "Requests that were refused, mostly tries with somebody in the way.");
  of_each(&Statistics::refused);
  out.counter("turno_things_retired_total", "Idle things forgotten by this node, their home.");
  of_each(&Statistics::retired);
  out.counter("turno_spoilt_instances_total",
              "Things that began again because a peer sent what cannot be.");
  of_each(&Statistics::spoilt);
  out.counter("turno_strange_frames_total", "Frames of peers that made no sense and were dropped.");
  of_each(&Statistics::strange_frames);
  out.sample({{"thing", "none"}}, host.strange_frames());
}

void write_cluster(Exposition& out, Host& host) {
  const auto& view = host.view();
  out.gauge("turno_ready", "1 if every member has reported to this node in this view.")
      .sample(std::uint64_t{host.ready() ? 1U : 0U});
  out.gauge("turno_view_epoch", "The number of the view.").sample(std::uint64_t{view.epoch});
  out.gauge("turno_view_members", "Nodes in the view.").sample(view.size());
  out.counter("turno_view_changes_total", "Views that this node has adopted.")
      .sample(host.view_changes());
  const auto each_peer = [&](const auto& value) {
    for (const auto& member : view.members)
      if (const auto link = host.peers().link(member.id))
        out.sample({{"peer", member.name}}, value(*link));
  };
  out.gauge("turno_peer_up", "1 if the link to the peer is connected.");
  each_peer([](const net::Link& link) { return std::uint64_t{link.up() ? 1U : 0U}; });
  out.gauge("turno_peer_silent_seconds",
            "Time since the peer last said something. It is pinged every second.");
  each_peer([](const net::Link& link) {
    return std::chrono::duration<double>(link.quiet_for()).count();
  });
  out.gauge("turno_peer_backlog_frames", "Frames that the peer has not acknowledged.");
  each_peer([](const net::Link& link) { return std::uint64_t{link.backlog()}; });
  out.counter("turno_peer_reconnections_total", "Times the link to the peer was made again.");
  each_peer([](const net::Link& link) { return link.reconnections(); });
  out.counter("turno_peer_gaps_total", "Times frames to the peer were lost: a new view follows.");
  each_peer([](const net::Link& link) { return link.gaps(); });
  out.gauge("turno_registry_failing",
            "1 if the registry cannot be used, so that the dead stay members.")
      .sample(std::uint64_t{host.registry_trouble().empty() ? 0U : 1U});
  out.gauge("turno_last_crash_timestamp_seconds",
            "When a member's crash was last noticed, in seconds since 1970; 0 if never.")
      .sample(view.casualties.empty() ? 0.0
                                      : static_cast<double>(view.casualties.back().at_ms) / 1000);
  out.counter("turno_refused_peer_connections_total",
              "Connections to the port for peers that were refused.")
      .sample(host.peers().refused());
}

void write_clients(Exposition& out, const Clients& clients) {
  out.gauge("turno_clients", "Clients connected now.").sample(clients.size());
  out.counter("turno_client_connections_total", "Connections that clients made.")
      .sample(clients.connections());
  out.counter("turno_client_commands_total", "Commands that clients sent.")
      .sample(clients.commands());
}

void write_deadlocks(Exposition& out, const DeadlockWatch& deadlocks) {
  out.counter("turno_deadlocks_found_total",
              "Deadlocks in which a wait of this node's clients was the youngest.")
      .sample(deadlocks.found());
  out.counter("turno_deadlocks_aborted_total", "Those of them that were ended by ending this wait.")
      .sample(deadlocks.aborted());
  out.counter("turno_requests_out_of_turn_total",
              "Requests that were refused by the policies ordered and collective.")
      .sample(deadlocks.refused());
  out.counter("turno_deadlock_pursuits_total",
              "Times this node asked all others for what its clients wait.")
      .sample(deadlocks.pursuits());
}

void write_process(Exposition& out) {
  out.gauge("process_resident_memory_bytes", "Memory of the process that is in use.")
      .sample(resident_bytes());
  out.counter("process_cpu_seconds_total", "Time of processors that the process used.")
      .sample(cpu_seconds());
  out.gauge("process_start_time_seconds", "When the process began, in seconds since 1970.")
      .sample(start_time_seconds());
  out.gauge("turno_build_info", "Always 1; the version is a label.")
      .sample({{"version", TURNO_VERSION}}, std::uint64_t{1});
}

}  // namespace

std::string metrics_text(Host& host, const Clients& clients) {
  Exposition out;
  write_locks(out, host.locks());
  write_semaphores(out, host.semaphores());
  write_elections(out, host.elections());
  write_rooms(out, host.rooms());
  write_stores(out, host.stores());
  write_each_kind(out, host);
  write_messages(out, host);
  write_cluster(out, host);
  write_clients(out, clients);
  write_deadlocks(out, clients.deadlocks());
  write_process(out);
  return out.take();
}

}  // namespace turno::port
