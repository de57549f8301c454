// Finds the command, and whether it may be done now.
#include "port/resp/commands.h"

#include <array>
#include <vector>

namespace turno::port {

namespace {

void command(Connection& connection, Arguments arguments);

constexpr std::array own = {Command{"COMMAND", command, For::anybody, 1, any_number,
                                    "COMMAND [COUNT|LIST|INFO [name ...]|DOCS [name ...]]",
                                    "server", "The commands that there are"}};

// Locks first: they are what is asked for most.
const std::array<std::span<const Command>, 11>& kinds() {
  static const std::array<std::span<const Command>, 11> all = {lock_commands(),
                                                               permit_commands(),
                                                               room_commands(),
                                                               reservation_commands(),
                                                               deadlock_commands(),
                                                               election_commands(),
                                                               session_commands(),
                                                               moving_commands(),
                                                               redis_commands(),
                                                               sentinel_commands(),
                                                               own};
  return all;
}

const Command* find(std::string_view name) {
  for (const auto& kind : kinds())
    for (const auto& each : kind)
      if (same(name, each.name)) return &each;
  return nullptr;
}

std::vector<const Command*> all_commands() {
  std::vector<const Command*> all;
  for (const auto& kind : kinds())
    for (const auto& each : kind) all.push_back(&each);
  return all;
}

void write_info(wire::ReplyWriter& out, const Command* each) {
  if (each == nullptr) return out.null();
  out.array(6);
  out.bulk(each->name);
  // As in Redis: the exact number, or the least as a negative one.
  const auto least = static_cast<std::int64_t>(each->least);
  out.integer(each->least == each->most ? least : -least);
  out.array(0);
  for (int i = 0; i < 3; ++i) out.integer(0);
}

void write_docs(wire::ReplyWriter& out, const Command& each) {
  out.bulk(each.name);
  out.map(4);
  Pairs pairs{out};
  pairs.text("summary", std::string(each.summary) + ": " + std::string(each.usage));
  pairs.text("since", "0.1.0");
  pairs.text("group", each.group);
  pairs.text("complexity", "O(1)");
}

void command(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  const auto what = arguments.size() > 1 ? arguments[1] : std::string_view();
  const auto all = all_commands();
  if (same(what, "COUNT")) return out.integer(static_cast<std::int64_t>(all.size()));
  if (same(what, "LIST")) {
    out.array(all.size());
    for (const auto* each : all) out.bulk(each->name);
    return;
  }
  const bool docs = same(what, "DOCS"), infos = same(what, "INFO");
  if (!what.empty() && !docs && !infos)
    return out.error("ERR", "unknown COMMAND subcommand: there are COUNT, LIST, INFO and DOCS");
  auto wanted = all;
  if (arguments.size() > 2) {
    wanted.clear();
    for (const auto name : arguments.subspan(2)) wanted.push_back(find(name));
    if (docs) std::erase(wanted, nullptr);
  }
  if (docs) {
    out.map(wanted.size());
    for (const auto* each : wanted) write_docs(out, *each);
    return;
  }
  out.array(wanted.size());
  for (const auto* each : wanted) write_info(out, each);
}

// How many letters are to be changed, added or left out.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto changed = corner + (same(a.substr(i - 1, 1), b.substr(j - 1, 1)) ? 0U : 1U);
      corner = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

void refuse_unknown(Connection& connection, std::string_view name) {
  // A web page that makes a browser send commands here gets no further.
  if (same(name, "POST") || same(name, "HOST:")) connection.quit();
  const Command* nearest = nullptr;
  std::size_t best = name.size() <= 16 ? 2 + (name.size() > 3 ? 1U : 0U) : 0;
  for (const auto* each : all_commands())
    if (const auto far = best == 0 ? best : distance(name, each->name); far < best) {
      best = far;
      nearest = each;
    }
  connection.reply().error(
      "ERR", "unknown command '" + std::string(name.substr(0, 64)) + "'; " +
                 (nearest != nullptr ? "did you mean " + std::string(nearest->name) + "? " : "") +
                 "COMMAND LIST tells what there is");
}

// True: it is not the time for this command, and that has been said.
bool refuse_now(Connection& connection, const Command* found, std::string_view name) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return found != nullptr && std::find(names.begin(), names.end(), found->name) != names.end();
  };
  auto& out = connection.reply();
  if (auto* lease = connection.lease(); lease != nullptr)
    lease->touch(connection.host().loop().now());
  if (connection.transaction().begun &&
      !is_one_of({"MULTI", "EXEC", "DISCARD", "WATCH", "RESET", "QUIT"})) {
    connection.transaction().spoilt = true;
    out.error("ERR", "'" + std::string(name.substr(0, 64)) +
                         "' is not done inside MULTI: there are no transactions here");
    return true;
  }
  if (!connection.subscriptions().empty() && out.protocol() < 3 &&
      !is_one_of(
          {"SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "PING", "QUIT", "RESET"})) {
    std::string lower(name.substr(0, 64));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    out.error("ERR", "Can't execute '" + lower +
                         "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
                         "allowed in this context");
    return true;
  }
  return found != nullptr && found->whom == For::session && refuse_gone(connection);
}

}  // namespace

bool refuse_gone(Connection& connection) {
  if (connection.gone().empty()) return false;
  connection.reply().error("NOSESSION", connection.gone() +
                                            ": what it held is released; SESSION JOIN another one, "
                                            "or RESET");
  return true;
}

void execute(Connection& connection, Arguments arguments) {
  const auto* found = find(arguments[0]);
  if (connection.is_special() && refuse_now(connection, found, arguments[0])) return;
  if (found == nullptr) return refuse_unknown(connection, arguments[0]);
  if (arguments.size() >= found->least && arguments.size() <= found->most)
    return found->run(connection, arguments);
  connection.reply().error("ERR", "wrong number of arguments; usage: " + std::string(found->usage));
}

}  // namespace turno::port
