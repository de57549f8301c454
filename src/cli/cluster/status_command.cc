// turno status, turno members: the nodes of a cluster.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <future>
#include <memory>
#include <optional>

#include "cli/cluster/ask_options.h"
#include "cli/cluster/commands.h"
#include "cli/cluster/gaps.h"
#include "cli/cluster/local_members.h"
#include "cli/cluster/member_output.h"
#include "cli/cluster/node_query.h"
#include "cli/frame/readable.h"
#include "cli/frame/table.h"
#include "core/text/json.h"

namespace turno::cli {

namespace {

using std::chrono::milliseconds;

struct MembersQuestion : AskOptions {
  bool names = false;
};

int members(const MembersQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto members = query->members();
  if (!members) return complain(members.error());
  if (options.names) {
    for (const auto& member : *members) fmt::print("{}\n", printable(member.name));
    return 0;
  }
  if (!options.json) {
    fmt::print("{}", members_table(*members));
    return 0;
  }
  std::vector<Json> list;
  for (const auto& member : *members) list.push_back(member_json(member));
  fmt::print("{}\n", Json().add("members", list).text());
  return 0;
}

// A member and what it told about itself, if it did.
struct Seen {
  cluster::Member member;
  std::optional<NodeInfo> info;
  std::uint64_t clients = 0;  // connected, without us
  MemberState known{};        // to the node that was asked first

  [[nodiscard]] std::string state() const {
    if (!info) return "no answer";
    return info->number("ready") == 1 ? "ready" : "recovering";
  }
};

// A member that died, as the living remember it.
struct Crash {
  std::string name;
  std::uint64_t pid = 0, epoch = 0;
  std::chrono::system_clock::time_point at;
};

// "crashed0:pid=7,epoch=4,at_ms=1700000000000,name=node-2"
std::vector<Crash> crashes_in(const NodeInfo& info) {
  std::vector<Crash> crashes;
  for (std::size_t i = 0;; ++i) {
    const auto line = info.text(fmt::format("crashed{}", i));
    if (line.empty()) return crashes;
    const auto field = [&](const std::string& key) {
      const auto at = ("," + line).find("," + key + "=");
      return at == std::string::npos ? std::string() : line.substr(at + key.size() + 1);
    };
    const auto number = [&](const std::string& key) {
      return std::strtoull(field(key).c_str(), nullptr, 10);
    };
    crashes.push_back({.name = field("name"),
                       .pid = number("pid"),
                       .epoch = number("epoch"),
                       .at = std::chrono::system_clock::time_point(milliseconds(number("at_ms")))});
  }
}

std::string time_text(std::chrono::system_clock::time_point at) {
  const auto seconds = std::chrono::system_clock::to_time_t(at);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// What is wrong, a line for each thing.
void print_troubles(const NodeInfo& asked, const std::vector<Seen>& all) {
  for (const auto& each : all)
    if (!each.info)
      fmt::print("{}\n",
                 describe(SilentNode{each.member.name, each.member.pid, each.known.process}));
  if (const auto trouble = asked.text("registry_trouble"); !trouble.empty())
    fmt::print("The members stay as they are, though some may have died: {}\n", printable(trouble));
  for (const auto& crash : crashes_in(asked)) {
    const auto ago = std::chrono::system_clock::now() - crash.at;
    fmt::print("crashed: {} (pid {}), {} ago, at {}\n", printable(crash.name), crash.pid,
               readable(std::chrono::duration_cast<std::chrono::seconds>(ago)),
               time_text(crash.at));
  }
}

std::optional<NodeInfo> info_of(const cluster::Member& member) {
  auto query = NodeQuery::open(client_address(member), NodeQuery::for_one);
  if (!query) return std::nullopt;
  auto info = query->info();
  return info ? std::optional(std::move(*info)) : std::nullopt;
}

// All at once: each that is silent takes a second.
std::vector<Seen> look_at(const std::vector<cluster::Member>& members,
                          const std::vector<MemberState>& states, const NodeInfo& asked) {
  std::vector<std::future<std::optional<NodeInfo>>> answers;
  answers.reserve(members.size());
  for (const auto& member : members)
    answers.push_back(std::async(std::launch::async, [&member] { return info_of(member); }));
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto& each = seen.emplace_back(Seen{members[i], answers[i].get()});
    for (const auto& state : states)
      if (state.name == each.member.name) each.known = state;
    const std::uint64_t ours = asked.text("node") == each.member.name ? 2 : 1;
    if (each.info) each.clients = std::max(each.info->number("connected_clients"), ours) - ours;
  }
  return seen;
}

struct Totals {
  std::uint64_t held = 0, led = 0, permits = 0, inside = 0, reserved = 0, waiting = 0, silent = 0;
};

// Of every kind.
std::uint64_t waiting_at(const NodeInfo& node) {
  std::uint64_t sum = 0;
  for (const auto* key : {"waiting_here", "campaigners_here", "permits_waited_for_here",
                          "waiting_for_rooms_here", "reservations_waited_for_here"})
    sum += node.number(key);
  return sum;
}

std::uint64_t held_at(const NodeInfo& node) {
  std::uint64_t sum = 0;
  for (const auto* key : {"held_here", "leaders_here", "permits_held_here", "inside_from_here",
                          "reservations_held_here"})
    sum += node.number(key);
  return sum;
}

Totals totals_of(const std::vector<Seen>& all) {
  Totals totals;
  for (const auto& each : all) {
    totals.silent += each.info ? 0 : 1;
    if (!each.info) continue;
    totals.held += each.info->number("held_here");
    totals.led += each.info->number("leaders_here");
    totals.permits += each.info->number("permits_held_here");
    totals.inside += each.info->number("inside_from_here");
    totals.reserved += each.info->number("reservations_held_here");
    totals.waiting += waiting_at(*each.info);
  }
  return totals;
}

void print_text(const NodeInfo& asked, const std::vector<Seen>& all) {
  fmt::print("{}, algorithm {}, epoch {}, lock delay {}\n\n", counted(all.size(), "node"),
             printable(asked.text("algorithm")), asked.number("epoch"),
             readable(milliseconds(asked.number("lock_delay_ms"))));
  Table table({"node", "pid", "state", "clients (RESP)", "HTTP", "connected", "held", "waiting",
               "acquired", "up for"});
  for (const auto& each : all) {
    const auto& member = each.member;
    const auto& info = each.info;
    const auto number = [&](const char* key) {
      return info ? std::to_string(info->number(key)) : "-";
    };
    const auto up = std::chrono::seconds(info ? info->number("uptime_in_seconds") : 0);
    table.add({printable(member.name), std::to_string(member.pid),
               info ? each.state() : fmt::format("no answer: {}", text_of(each.known.process)),
               printable(member.client_address), printable(member.http_address),
               info ? std::to_string(each.clients) : "-",
               info ? std::to_string(held_at(*info)) : "-",
               info ? std::to_string(waiting_at(*info)) : "-", number("acquired"),
               info ? readable(up) : "-"});
  }
  fmt::print("{}", table.text());
  const auto totals = totals_of(all);
  const auto some = [](std::uint64_t count, std::string_view noun, std::string_view more) {
    return count == 0 ? "" : fmt::format(", {}{}", counted(count, noun), more);
  };
  fmt::print(
      "\n{} held{}{}{}{}, {} waiting{}\n", counted(totals.held, "lock"),
      some(totals.led, "election", " led"), some(totals.permits, "grant", " of permits"),
      some(totals.inside, "guest", " in rooms"), some(totals.reserved, "reservation", ""),
      counted(totals.waiting, "client"),
      totals.silent == 0 ? "" : fmt::format("; {} did not answer", counted(totals.silent, "node")));
  print_troubles(asked, all);
}

void print_json(const NodeQuery& query, const NodeInfo& asked, const std::vector<Seen>& all) {
  std::vector<Json> members;
  for (const auto& each : all) {
    auto json = member_json(each.member);
    json.add("answers", each.info.has_value())
        .add("state", each.state())
        .add("process", text_of(each.known.process))
        .add("quiet_ms", each.known.quiet.count());
    if (each.info)
      json.add("epoch", each.info->number("epoch"))
          .add("held", each.info->number("held_here"))
          .add("waiting", each.info->number("waiting_here"))
          .add("leaders", each.info->number("leaders_here"))
          .add("campaigners", each.info->number("campaigners_here"))
          .add("permit_grants", each.info->number("permits_held_here"))
          .add("room_guests", each.info->number("inside_from_here"))
          .add("reservations", each.info->number("reservations_held_here"))
          .add("waiting_for_anything", waiting_at(*each.info))
          .add("known_locks", each.info->number("known_locks"))
          .add("acquired", each.info->number("acquired"))
          .add("lost", each.info->number("lost"))
          .add("messages_sent", each.info->number("messages_sent"))
          .add("connected_clients", each.clients)
          .add("uptime_seconds", each.info->number("uptime_in_seconds"));
    members.push_back(json);
  }
  std::vector<Json> crashed;
  for (const auto& crash : crashes_in(asked))
    crashed.push_back(Json()
                          .add("name", printable(crash.name))
                          .add("pid", crash.pid)
                          .add("epoch", crash.epoch)
                          .add("at", time_text(crash.at)));
  const auto totals = totals_of(all);
  fmt::print("{}\n", Json()
                         .add("asked", printable(query.address()))
                         .add("algorithm", printable(asked.text("algorithm")))
                         .add("epoch", asked.number("epoch"))
                         .add("lock_delay_ms", asked.number("lock_delay_ms"))
                         .add("idle_ms", asked.number("idle_ms"))
                         .add("held", totals.held)
                         .add("led", totals.led)
                         .add("waiting", totals.waiting)
                         .add("registry_trouble", printable(asked.text("registry_trouble")))
                         .add("members", members)
                         .add("crashed", crashed)
                         .text());
}

int status(const AskOptions& options) {
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto members = query->members();
  if (!members) return complain(members.error());
  const auto info = query->info();
  if (!info) return complain(info.error());
  const auto states = query->member_states();
  if (!states) return complain(states.error());
  const auto seen = look_at(*members, *states, *info);
  options.json ? print_json(*query, *info, seen) : print_text(*info, seen);
  const bool complete =
      std::all_of(seen.begin(), seen.end(), [](const Seen& each) { return each.info.has_value(); });
  return complete ? 0 : exit_incomplete;
}

}  // namespace

void add_status(Command app, Job& job) {
  auto command = app.add_subcommand(
      "status", "Show the cluster: its nodes, whether they answer, what they hold");
  auto options = std::make_shared<AskOptions>();
  options->add_to(command);
  command.footer("\nExample:\n  turno status --json\n");
  command.callback([&job, options] { job = [options] { return status(*options); }; });
}

void add_members(Command app, Job& job) {
  auto command =
      app.add_subcommand("members", "List the nodes of the cluster and where they listen");
  auto options = std::make_shared<MembersQuestion>();
  options->add_to(command);
  command.add_flag("--names", options->names, "Print the names only, one a line");
  command.footer("\nExample:\n  turno members --node 127.0.0.1:7000\n");
  command.callback([&job, options] { job = [options] { return members(*options); }; });
}

}  // namespace turno::cli
