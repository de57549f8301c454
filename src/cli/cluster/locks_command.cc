// turno locks, turno waiters, turno why: who holds what, and who waits for it.
#include <fmt/core.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/cluster/ask_options.h"
#include "cli/cluster/commands.h"
#include "cli/cluster/node_query.h"
#include "cli/frame/readable.h"
#include "cli/frame/table.h"
#include "core/text/json.h"

namespace turno::cli {

namespace {

using std::chrono::milliseconds;

struct LockQuestion : AskOptions {
  std::string name;
};

std::string named(const std::string& client) {
  return client.empty() ? "(unnamed)" : printable(client);
}

Json holder_json(const Holder& holder) {
  return Json()
      .add("client", printable(holder.client))
      .add("node", printable(holder.node))
      .add("session", printable(holder.session))
      .add("fence", holder.fence)
      .add("held_ms", holder.held.count());
}

Json waiter_json(const WaitingClient& waiter, std::size_t position) {
  return Json()
      .add("position", position)
      .add("client", printable(waiter.client))
      .add("node", printable(waiter.node))
      .add("session", std::to_string(waiter.session))
      .add("waiting_ms", waiter.waiting.count());
}

int locks(const AskOptions& options) {
  auto query = NodeQuery::reach(options.node, options.directory);
  if (!query) return complain(query.error());
  const auto held = query->locks();
  if (!held) return complain(held.error());
  if (options.json) {
    std::vector<Json> list;
    for (const auto& [name, holder] : *held) {
      auto json = Json().add("name", printable(name));
      list.push_back(json.add("holder", holder_json(holder)).add("waiting", holder.waiting));
    }
    fmt::print("{}\n", Json().add("locks", list).text());
    return 0;
  }
  if (held->empty()) {
    fmt::print("No lock is held.\n");
    return 0;
  }
  Table table({"lock", "held by", "node", "session", "fence", "for", "waiting"});
  for (const auto& [name, holder] : *held)
    table.add({printable(name), named(holder.client), printable(holder.node),
               printable(holder.session), std::to_string(holder.fence), readable(holder.held),
               std::to_string(holder.waiting)});
  fmt::print("{}", table.text());
  return 0;
}

std::vector<Json> list_of(const std::vector<WaitingClient>& waiters) {
  std::vector<Json> list;
  list.reserve(waiters.size());
  for (const auto& waiter : waiters) list.push_back(waiter_json(waiter, list.size() + 1));
  return list;
}

int waiters(const LockQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.directory);
  if (!query) return complain(query.error());
  const auto found = query->waiters(options.name);
  if (!found) return complain(found.error());
  if (options.json) {
    fmt::print("{}\n",
               Json().add("name", printable(options.name)).add("waiters", list_of(*found)).text());
    return 0;
  }
  if (found->empty()) {
    fmt::print("Nobody waits for '{}'.\n", printable(options.name));
    return 0;
  }
  Table table({"#", "waiting", "node", "session", "for"});
  for (std::size_t i = 0; i < found->size(); ++i) {
    const auto& waiter = (*found)[i];
    table.add({std::to_string(i + 1), named(waiter.client), printable(waiter.node),
               std::to_string(waiter.session), readable(waiter.waiting)});
  }
  fmt::print("{}", table.text());
  return 0;
}

// ---- why

struct Situation {
  std::string name;
  std::optional<Holder> holder;
  std::vector<WaitingClient> waiters;
  std::optional<cluster::Member> holder_node;
  bool ready = true;  // the node that was asked knows of all locks
  milliseconds lock_delay{0};
};

tl::expected<Situation, Error> situation(NodeQuery& query, const std::string& name) {
  Situation now{.name = name};
  auto holder = query.who(name);
  if (!holder) return tl::unexpected(holder.error());
  auto waiters = query.waiters(name);
  if (!waiters) return tl::unexpected(waiters.error());
  const auto info = query.info();
  if (!info) return tl::unexpected(info.error());
  const auto members = query.members();
  if (!members) return tl::unexpected(members.error());
  now.holder = std::move(*holder);
  now.waiters = std::move(*waiters);
  now.ready = info->number("ready") == 1;
  now.lock_delay = milliseconds(info->number("lock_delay_ms"));
  for (const auto& member : *members)
    if (now.holder && member.name == now.holder->node) now.holder_node = member;
  return now;
}

// turno lock names its session after its process.
std::optional<int> process_of(std::string_view client) {
  constexpr std::string_view prefix = "turno-lock/";
  if (!client.starts_with(prefix)) return std::nullopt;
  client.remove_prefix(prefix.size());
  int pid = 0;
  const auto [end, error] = std::from_chars(client.data(), client.data() + client.size(), pid);
  if (error != std::errc() || end != client.data() + client.size()) return std::nullopt;
  return pid;
}

// No session has it: its home keeps it for a node that died, and says for which and how long.
bool is_kept(const Situation& now) { return now.holder && now.holder->session == "0"; }

void explain_holder(const Situation& now) {
  const auto& holder = *now.holder;
  if (is_kept(now)) {
    fmt::print("'{}' is {}: the clients of a node that died may still use it.\n",
               printable(now.name), printable(holder.client));
    return;
  }
  fmt::print("'{}' is held by {}, session {} at {}, for {} (fence {}).\n", printable(now.name),
             named(holder.client), printable(holder.session), printable(holder.node),
             readable(holder.held), holder.fence);
}

void explain_free(const Situation& now) {
  const auto name = printable(now.name);
  if (!now.ready) {
    fmt::print(
        "Nobody is known to hold '{}', but the node that was asked does not know of all "
        "locks yet:\na node joined, left or crashed a moment ago. Ask again.\n",
        name);
  } else if (now.waiters.empty()) {
    fmt::print("'{}' is free: nobody holds it, and nobody waits.\n", name);
  } else {
    fmt::print(
        "Nobody holds '{}' at this moment, though somebody waits. Either it is just being\n"
        "handed over, or a node that may have held it crashed, and it stays closed for the "
        "lock\ndelay of {}. Ask again.\n",
        name, readable(now.lock_delay));
  }
}

void explain_waiters(const Situation& now) {
  if (now.waiters.empty()) {
    if (now.holder) fmt::print("Nobody waits for it.\n");
    return;
  }
  fmt::print(
      "\n{} for it, the longest waiting first:\n",
      now.waiters.size() == 1 ? "One waits" : counted(now.waiters.size(), "client") + " wait");
  std::size_t position = 0;
  for (const auto& waiter : now.waiters)
    fmt::print("  {}. {}, session {} at {}, for {}\n", ++position, named(waiter.client),
               waiter.session, printable(waiter.node), readable(waiter.waiting));
  if (now.waiters.size() > 1)
    fmt::print(
        "Those at one node are served in this order; between nodes the algorithm decides.\n");
}

void advise(const Situation& now) {
  fmt::print("\n");
  if (!now.holder) {
    if (now.waiters.empty() && now.ready)
      fmt::print("Take it: {} lock {} -- COMMAND\n", program(), shell_word(printable(now.name)));
    return;
  }
  if (is_kept(now)) {
    fmt::print("It becomes free by itself, when the lock delay is over.\n");
    return;
  }
  fmt::print(
      "It becomes free when its holder unlocks it, disconnects, or lets its time to live run "
      "out.\n");
  if (const auto pid = process_of(now.holder->client)) {
    fmt::print(
        "The holder is process {0}, on the machine from which it connected to {1}:\n"
        "  ps -p {0}       what it is\n  kill {0}        end it and its command; the lock is "
        "free then\n",
        *pid, printable(now.holder->node));
  } else if (now.holder_node) {
    fmt::print("The holder is a client of {} (pid {}, {}).\n", printable(now.holder->node),
               now.holder_node->pid, printable(now.holder_node->client_address));
  }
}

int why(const LockQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.directory);
  if (!query) return complain(query.error());
  const auto now = situation(*query, options.name);
  if (!now) return complain(now.error());
  if (options.json) {
    Json json;
    json.add("name", printable(now->name)).add("held", now->holder.has_value());
    if (now->holder) json.add("holder", holder_json(*now->holder));
    fmt::print("{}\n", json.add("waiters", list_of(now->waiters)).add("ready", now->ready).text());
    return 0;
  }
  now->holder ? explain_holder(*now) : explain_free(*now);
  explain_waiters(*now);
  advise(*now);
  return 0;
}

void add_question(Command app, Job& job, const char* command_name, const char* title,
                  int (*run)(const LockQuestion&)) {
  auto command = app.add_subcommand(command_name, title);
  auto options = std::make_shared<LockQuestion>();
  command.add_option("NAME", options->name, "The lock").required();
  options->add_to(command);
  command.footer(fmt::format("\nExample:\n  turno {} backup\n", command_name));
  command.callback([&job, options, run] { job = [options, run] { return run(*options); }; });
}

}  // namespace

void add_locks(Command app, Job& job) {
  auto command = app.add_subcommand("locks", "List the locks that are held");
  auto options = std::make_shared<AskOptions>();
  options->add_to(command);
  command.footer("\nAt most 1000 of each node are listed.\n\nExample:\n  turno locks --json\n");
  command.callback([&job, options] { job = [options] { return locks(*options); }; });
}

void add_waiters(Command app, Job& job) {
  add_question(app, job, "waiters", "List who waits for a lock", waiters);
}

void add_why(Command app, Job& job) {
  add_question(app, job, "why", "Explain who holds a lock, who waits, and what to do", why);
}

}  // namespace turno::cli
