#include "registry/embedded/view_table.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "core/assert.h"
#include "core/fence.h"

namespace turno::registry {

namespace {

constexpr std::int64_t schema_version = 4;

// Apart from the rest, for programs that knew no such table made registries too.
constexpr const char* crash_schema = R"(
  CREATE TABLE IF NOT EXISTS crash (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL,
    boot TEXT NOT NULL,
    moment_ns INTEGER NOT NULL
  ) STRICT;
)";

constexpr const char* casualty_schema = R"(
  CREATE TABLE IF NOT EXISTS casualty (
    position INTEGER PRIMARY KEY,
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    pid INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;
)";

constexpr const char* schema = R"(
  CREATE TABLE cluster (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL,
    fences_from INTEGER NOT NULL,
    last_crash INTEGER NOT NULL,
    algorithm TEXT NOT NULL,
    allocator TEXT NOT NULL,
    wire INTEGER NOT NULL,
    key INTEGER NOT NULL,
    lock_delay_ms INTEGER NOT NULL,
    idle_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE member (
    position INTEGER PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    peer_address TEXT NOT NULL,
    client_address TEXT NOT NULL,
    client_socket TEXT NOT NULL,
    http_address TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_space TEXT NOT NULL
  ) STRICT;
  INSERT INTO cluster VALUES (1, 0, 0, 0, '', '', 0, 0, 0, 0);
  PRAGMA user_version = 4;
)";

Error damaged(std::string message) { return {Error::Kind::damaged, std::move(message)}; }

// What is read from a file is input.
bool plausible(const View& view, std::int64_t epoch, std::int64_t last_crash) {
  if (epoch < 0 || epoch > epoch_limit || last_crash < 0 || last_crash > epoch) return false;
  if (view.fences_from > Fence::last_epoch - static_cast<std::uint64_t>(epoch)) return false;
  if (view.lock_delay_ms < 0 || view.idle_ms < 0) return false;
  for (const auto& member : view.members) {
    if (member.id == 0 || member.id >> 63 != 0 || member.name.empty()) return false;
    if (member.pid <= 0 || member.pid > std::numeric_limits<int>::max()) return false;
  }
  return true;
}

void read_members(Database& database, StoredView& stored) {
  Statement rows(database,
                 "SELECT id, name, peer_address, client_address, client_socket, http_address, pid, "
                 "process_space FROM member ORDER BY position");
  while (rows.row()) {
    auto& member = stored.view.members.emplace_back();
    member.id = static_cast<std::uint64_t>(rows.number());
    member.name = rows.text();
    member.peer_address = rows.text();
    member.client_address = rows.text();
    member.client_socket = rows.text();
    member.http_address = rows.text();
    member.pid = rows.number();
    stored.process_spaces.push_back(rows.text());
  }
}

// Nothing if it was written down for another crash than the last one, or not at all.
std::optional<Moment> read_crash(Database& database, std::int64_t epoch) {
  if (database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'crash'") == 0) return {};
  Statement row(database, "SELECT boot, moment_ns FROM crash WHERE epoch = ?");
  row << epoch;
  if (!row.row()) return {};
  Moment moment;
  moment.boot = row.text();
  moment.ns = row.number();
  return moment;
}

void write_crash(Database& database, const View& view) {
  database.run(crash_schema);
  Statement insert(database, "INSERT OR REPLACE INTO crash VALUES (1, ?, ?, ?)");
  insert << std::int64_t{view.last_crash} << std::string_view(view.crash_moment->boot)
         << view.crash_moment->ns;
  insert.execute();
}

void read_casualties(Database& database, View& view) {
  if (database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'casualty'") == 0) return;
  Statement rows(database, "SELECT id, name, pid, epoch, at_ms FROM casualty ORDER BY position");
  while (rows.row() && view.casualties.size() < cluster::most_casualties) {
    auto& casualty = view.casualties.emplace_back();
    casualty.id = static_cast<std::uint64_t>(rows.number());
    casualty.name = rows.text();
    casualty.pid = rows.number();
    casualty.epoch = static_cast<std::uint32_t>(rows.number());
    casualty.at_ms = rows.number();
  }
}

void write_casualties(Database& database, const View& view) {
  database.run(casualty_schema);
  database.run("DELETE FROM casualty");
  for (std::size_t i = 0; i < view.casualties.size(); ++i) {
    const auto& casualty = view.casualties[i];
    Statement insert(database, "INSERT INTO casualty VALUES (?, ?, ?, ?, ?, ?)");
    insert << static_cast<std::int64_t>(i) << static_cast<std::int64_t>(casualty.id)
           << std::string_view(casualty.name) << casualty.pid << std::int64_t{casualty.epoch}
           << casualty.at_ms;
    insert.execute();
  }
}

}  // namespace

Expected<void> create_view_table(Database& database) {
  const auto version = database.number("PRAGMA user_version");
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  if (version == 0 && tables == 0) {
    database.run(schema);
    // Now, for later the disk may be full.
    database.run(crash_schema);
    database.run(casualty_schema);
  }
  if (!database.ok()) return tl::unexpected(database.error());
  return {};
}

Expected<StoredView> load_view(Database& database) {
  const auto version = database.number("PRAGMA user_version");
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  if (!database.ok()) return tl::unexpected(database.error());
  if (version == 0 && tables == 0) {
    return tl::unexpected(
        Error{Error::Kind::absent, database.message("no node has joined here yet")});
  }
  if (version != schema_version) {
    return tl::unexpected(damaged(database.message(fmt::format(
        "it has schema version {}, this program knows {}: use the program that made it, "
        "or another directory",
        version, schema_version))));
  }
  StoredView stored;
  auto& view = stored.view;
  std::int64_t epoch = -1;
  std::int64_t last_crash = 0;
  {
    Statement row(database,
                  "SELECT epoch, fences_from, last_crash, algorithm, allocator, wire, key, "
                  "lock_delay_ms, idle_ms FROM cluster");
    if (row.row()) {
      epoch = row.number();
      view.fences_from = static_cast<std::uint64_t>(row.number());
      last_crash = row.number();
      view.algorithm = row.text();
      view.allocator = row.text();
      view.wire = static_cast<std::uint32_t>(row.number());
      view.key = static_cast<std::uint64_t>(row.number());
      view.lock_delay_ms = row.number();
      view.idle_ms = row.number();
    }
  }
  view.crash_moment = read_crash(database, last_crash);
  read_casualties(database, view);
  read_members(database, stored);
  if (!database.ok()) return tl::unexpected(database.error());
  if (!plausible(view, epoch, last_crash)) {
    return tl::unexpected(damaged(database.message("it holds values that no node wrote")));
  }
  view.epoch = static_cast<std::uint32_t>(epoch);
  view.last_crash = static_cast<std::uint32_t>(last_crash);
  view.crashed = epoch > 0 && epoch == last_crash;
  return stored;
}

Expected<void> store_view(Database& database, const StoredView& stored) {
  const auto& view = stored.view;
  TURNO_ASSERT(view.members.size() == stored.process_spaces.size());
  TURNO_ASSERT(view.epoch <= epoch_limit);
  Statement update(database,
                   "UPDATE cluster SET epoch = ?, fences_from = ?, last_crash = ?, algorithm = ?, "
                   "allocator = ?, wire = ?, key = ?, lock_delay_ms = ?, idle_ms = ?");
  update << std::int64_t{view.epoch} << static_cast<std::int64_t>(view.fences_from)
         << std::int64_t{view.last_crash} << std::string_view(view.algorithm)
         << std::string_view(view.allocator) << std::int64_t{view.wire}
         << static_cast<std::int64_t>(view.key) << view.lock_delay_ms << view.idle_ms;
  update.execute();
  if (view.crashed && view.crash_moment) write_crash(database, view);
  if (view.crashed) write_casualties(database, view);
  database.run("DELETE FROM member");
  for (std::size_t i = 0; i < view.members.size(); ++i) {
    const auto& member = view.members[i];
    Statement insert(database, "INSERT INTO member VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert << static_cast<std::int64_t>(i) << static_cast<std::int64_t>(member.id)
           << std::string_view(member.name) << std::string_view(member.peer_address)
           << std::string_view(member.client_address) << std::string_view(member.client_socket)
           << std::string_view(member.http_address) << member.pid
           << std::string_view(stored.process_spaces[i]);
    insert.execute();
  }
  if (!database.ok()) return tl::unexpected(database.error());
  return {};
}

}  // namespace turno::registry
