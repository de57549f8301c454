// INFO: what a node says of itself, in the sections and with the words that Redis clients know.
#include <fmt/format.h>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

// The version of Redis whose protocol and replies these are, for clients that ask.
constexpr std::string_view redis_version = "7.0.15";

class Text {
 public:
  explicit Text(Arguments sections) : sections_(sections) {}

  // Whether this section is wanted.
  bool begin(std::string_view name) {
    const bool wanted =
        sections_.empty() || std::any_of(sections_.begin(), sections_.end(), [&](auto section) {
          return same(section, "ALL") || same(section, "EVERYTHING") || same(section, "DEFAULT") ||
                 (section.size() == name.size() &&
                  std::equal(section.begin(), section.end(), name.begin(),
                             [](char a, char b) { return (a | 32) == (b | 32); }));
        });
    if (wanted) text_ += fmt::format("{}# {}\r\n", text_.empty() ? "" : "\r\n", name);
    return wanted;
  }
  template <class T>
  void line(std::string_view key, const T& value) {
    text_ += fmt::format("{}:{}\r\n", key, value);
  }
  std::string take() { return std::move(text_); }

 private:
  Arguments sections_;
  std::string text_;
};

void write_server(Text& text, Connection& connection) {
  const auto& host = connection.host();
  text.line("redis_version", redis_version);
  text.line("redis_mode", "standalone");
  text.line("turno_version", TURNO_VERSION);
  text.line("node", host.self().name);
  text.line("process_id", host.self().pid);
  text.line("run_id", host.self().id);
  const auto address = connection.local_address();
  if (!address.starts_with("unix:")) text.line("tcp_port", address.substr(address.rfind(':') + 1));
  text.line(
      "uptime_in_seconds",
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - host.started()).count());
}

void write_troubles(Text& text, const Host& host) {
  if (const auto trouble = host.registry_trouble(); !trouble.empty())
    text.line("registry_trouble", trouble);
  const auto& crashed = host.view().casualties;
  for (std::size_t i = 0; i < crashed.size(); ++i)
    text.line(fmt::format("crashed{}", i),
              fmt::format("pid={},epoch={},at_ms={},name={}", crashed[i].pid, crashed[i].epoch,
                          crashed[i].at_ms, crashed[i].name));
}

void write_locks(Text& text, LockTable& locks) {
  auto& statistics = locks.statistics();
  std::uint64_t acquired = 0, messages = 0;
  for (const auto& bucket : statistics.waits) acquired += bucket.load();
  for (const auto& count : locks.engine().messages()) messages += count.count;
  text.line("known_locks", locks.size());
  text.line("held_here", statistics.holders.load());
  text.line("waiting_here", statistics.waiters.load());
  text.line("acquired", acquired);
  text.line("released", statistics.released.load());
  text.line("withdrawn", statistics.withdrawn.load());
  text.line("lost", statistics.lost.load());
  text.line("messages_sent", messages);
  text.line("control_messages_sent", locks.engine().control_messages());
}

}  // namespace

std::string info_text(Connection& connection, Arguments sections) {
  auto& host = connection.host();
  auto& clients = connection.clients();
  Text text(sections);
  if (text.begin("Server")) write_server(text, connection);
  if (text.begin("Clients")) {
    text.line("connected_clients", clients.size());
    text.line("open_sessions", clients.leases().size());
    text.line("total_connections_received", clients.connections());
    text.line("total_commands_processed", clients.commands());
  }
  if (text.begin("Persistence")) text.line("loading", 0);
  if (text.begin("Replication")) {
    text.line("role", "master");
    text.line("connected_slaves", 0);
  }
  if (text.begin("Cluster")) {
    text.line("cluster_enabled", 0);
    text.line("algorithm", host.algorithm());
    text.line("epoch", host.view().epoch);
    text.line("members", host.view().size());
    text.line("draining", host.draining() ? 1 : 0);
    text.line("ready", host.ready() ? 1 : 0);
    text.line("lock_delay_ms", host.lock_delay().count());
    text.line("idle_ms", host.idle().count());
    write_troubles(text, host);
  }
  if (text.begin("Locks")) write_locks(text, host.locks());
  if (text.begin("Semaphores")) {
    text.line("known_semaphores", host.semaphores().size());
    text.line("declared_semaphores", host.declarations().size());
    text.line("permits_held_here", host.semaphores().statistics().holders.load());
    text.line("permits_waited_for_here", host.semaphores().statistics().waiters.load());
  }
  if (text.begin("Elections")) {
    text.line("known_elections", host.elections().size());
    text.line("leaders_here", host.elections().statistics().holders.load());
    text.line("campaigners_here", host.elections().statistics().waiters.load());
  }
  if (text.begin("Rooms")) {
    text.line("known_rooms", host.rooms().size());
    text.line("declared_rooms", host.declarations().rooms());
    text.line("inside_from_here", host.rooms().statistics().holders.load());
    text.line("waiting_for_rooms_here", host.rooms().statistics().waiters.load());
  }
  if (text.begin("Stores")) {
    text.line("allocator", host.allocator());
    text.line("known_stores", host.stores().size());
    text.line("declared_resources", host.declarations().resources());
    text.line("reservations_held_here", host.stores().statistics().holders.load());
    text.line("reservations_waited_for_here", host.stores().statistics().waiters.load());
  }
  return text.take();
}

}  // namespace turno::port
