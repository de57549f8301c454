// turno locks, turno waiters: who holds what, and who waits for it. (turno why: holders/)
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/cluster/commands.h"
#include "cli/cluster/holders/holder_output.h"
#include "cli/frame/readable.h"
#include "cli/frame/table.h"
#include "core/usage_error.h"

namespace turno::cli {

namespace {

struct LocksQuestion : AskOptions {
  bool names = false;
};

// Of one that has it, or of one of those who do; `share`: what it has of it.
std::vector<std::string> row_of(const HeldLock& held, const Holder& holder,
                                const std::string& share) {
  const auto row = [&](std::string who, std::string node, std::string session, std::string fence,
                       std::string time) -> std::vector<std::string> {
    return {printable(held.name),
            printable(held.holder.kind),
            std::move(who),
            share,
            std::move(node),
            std::move(session),
            std::move(fence),
            std::move(time),
            std::to_string(held.holder.waiting)};
  };
  if (!holder.kept_for.empty())
    return row("(kept for " + printable(holder.kept_for) + ")", "-", "-", "-",
               "free in " + readable(holder.free_in));
  if (holder.leaving)
    return row("(free when its node has left)", printable(holder.node), "-", "-", "-");
  if (!holder.told_by.empty())
    return row("(perhaps)", printable(holder.node), "-", "-",
               "told " + readable(holder.held) + " ago");
  return row(named(holder.client), printable(holder.node), printable(holder.session),
             std::to_string(holder.fence), readable(holder.held));
}

void add_rows(Table& table, const HeldLock& held) {
  if (!several_have(held.holder.kind)) return table.add(row_of(held, held.holder, "-"));
  for (const auto& each : held.holders)
    table.add(row_of(held, each.holder, share_of(each, held.holder.kind)));
}

int locks(const LocksQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto held = query->locks();
  if (!held) return complain(held.error());
  if (options.json) {
    std::vector<Json> list;
    for (const auto& [name, holder, holders] : held->list) {
      auto json = Json().add("name", printable(name)).add("kind", printable(holder.kind));
      several_have(holder.kind) ? add_holders(json, holder, holders) : add_holder(json, holder);
      list.push_back(json.add("waiting", holder.waiting));
    }
    auto json = Json().add("locks", list);
    add_gaps(json, held->gaps);
    fmt::print("{}\n", json.text());
    return status_of(held->gaps);
  }
  if (options.names) {
    for (const auto& each : held->list) fmt::print("{}\n", printable(each.name));
    return tell_gaps(held->gaps);
  }
  if (held->list.empty()) {
    fmt::print("{}\n", held->gaps.complete() ? "Nothing is held."
                                             : "Nothing is held at the nodes that answered.");
    return tell_gaps(held->gaps);
  }
  Table table({"name", "kind", "held by", "has", "node", "session", "fence", "for", "waiting"});
  for (const auto& each : held->list) add_rows(table, each);
  fmt::print("{}", table.text());
  return tell_gaps(held->gaps);
}

int waiters(const ThingQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto found = query->waiters(options.name, options.kind);
  if (!found) return complain(found.error());
  if (options.json) {
    auto json = Json().add("name", printable(options.name)).add("waiters", list_of(found->list));
    add_gaps(json, found->gaps);
    fmt::print("{}\n", json.text());
    return status_of(found->gaps);
  }
  if (found->list.empty()) {
    fmt::print("Nobody waits for '{}'{}.\n", printable(options.name),
               found->gaps.complete() ? "" : " at the nodes that answered");
    return tell_gaps(found->gaps);
  }
  const bool wishes =
      std::ranges::any_of(found->list, [](const auto& each) { return !wish_of(each).empty(); });
  std::vector<std::string> columns{"#", "waiting", "node", "session", "for"};
  if (wishes) columns.emplace_back("wants");
  Table table(columns);
  for (std::size_t i = 0; i < found->list.size(); ++i) {
    const auto& waiter = found->list[i];
    std::vector<std::string> row{std::to_string(i + 1), named(waiter.client),
                                 printable(waiter.node), std::to_string(waiter.session),
                                 readable(waiter.waiting)};
    if (wishes) row.push_back(wish_of(waiter));
    table.add(row);
  }
  fmt::print("{}", table.text());
  return tell_gaps(found->gaps);
}

void add_question(Command app, Job& job, const char* command_name, const char* title,
                  int (*run)(const ThingQuestion&)) {
  auto command = app.add_subcommand(command_name, title);
  auto options = std::make_shared<ThingQuestion>();
  command.add_option("NAME", options->name, "The lock, semaphore, election, room or store")
      .required();
  command.add_option(
      "--kind", options->kind,
      "lock, semaphore, election, room or store, if several are called so (default: the first of "
      "these that somebody has or wants)");
  options->add_to(command);
  command.footer(fmt::format("\nExample:\n  turno {} backup\n", command_name));
  command.callback([&job, options, run] {
    const auto& kind = options->kind;
    if (!kind.empty() && kind != "lock" && kind != "semaphore" && kind != "election" &&
        kind != "room" && kind != "store")
      throw UsageError("--kind is lock, semaphore, election, room or store, not '" + kind + "'");
    job = [options, run] { return run(*options); };
  });
}

}  // namespace

void add_locks(Command app, Job& job) {
  auto command = app.add_subcommand("locks", "List what is held in the cluster, of all kinds");
  auto options = std::make_shared<LocksQuestion>();
  options->add_to(command);
  command.add_flag("--names", options->names, "Print the names only, one a line");
  command.footer(
      "\nLocks, permits of semaphores, leaders of elections, who is in rooms and resources of "
      "stores;\nat most 1000 of each node.\n\nExample:\n  turno locks --json\n");
  command.callback([&job, options] { job = [options] { return locks(*options); }; });
}

void add_waiters(Command app, Job& job) {
  add_question(app, job, "waiters",
               "List who waits for a lock, a semaphore, an election, a room or a store", waiters);
}

void add_why(Command app, Job& job) {
  add_question(app, job, "why", "Explain who holds a lock or leads, who waits, and what to do",
               why);
}

}  // namespace turno::cli
