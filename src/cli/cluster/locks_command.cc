// turno locks, turno waiters, turno why: who holds what, and who waits for it.
#include <fmt/core.h>

#include <algorithm>
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
#include "core/usage_error.h"

namespace turno::cli {

namespace {

using std::chrono::milliseconds;

struct LocksQuestion : AskOptions {
  bool names = false;
};

struct LockQuestion : AskOptions {
  std::string name, kind;
};

std::string named(const std::string& client) {
  return client.empty() ? "(unnamed)" : printable(client);
}
// The name that it gave itself, and where it is.
std::string named(const std::string& client, const std::string& from) {
  return named(client) + (from.empty() || from == client ? "" : " (" + printable(from) + ")");
}

// Adds who has it: a holder, or what is known in its place.
void add_holder(Json& json, const Holder& holder) {
  if (!holder.kept_for.empty()) {
    json.add(
        "kept",
        Json().add("for", printable(holder.kept_for)).add("free_in_ms", holder.free_in.count()));
    return;
  }
  if (!holder.told_by.empty()) {
    json.add("perhaps_held", Json()
                                 .add("node", printable(holder.node))
                                 .add("told_by", printable(holder.told_by))
                                 .add("told_ms", holder.held.count()));
    return;
  }
  auto who = Json()
                 .add("client", printable(holder.client))
                 .add("from", printable(holder.from))
                 .add("node", printable(holder.node))
                 .add("session", printable(holder.session))
                 .add("fence", Fence{holder.fence})
                 .add("held_ms", holder.held.count());
  if (!holder.value.empty()) who.add("value", printable(holder.value));
  json.add("holder", who);
}

Json waiter_json(const WaitingClient& waiter, std::size_t position) {
  auto json = Json()
                  .add("position", position)
                  .add("client", printable(waiter.client))
                  .add("from", printable(waiter.from))
                  .add("node", printable(waiter.node))
                  .add("session", std::to_string(waiter.session))
                  .add("waiting_ms", waiter.waiting.count());
  if (!waiter.wants.empty()) json.add("wants", printable(waiter.wants));
  return json;
}

std::vector<std::string> row_of(const std::string& name, const Holder& holder) {
  const auto waiting = std::to_string(holder.waiting);
  if (!holder.kept_for.empty())
    return {printable(name),
            printable(holder.kind),
            "(kept for " + printable(holder.kept_for) + ")",
            "-",
            "-",
            "-",
            "free in " + readable(holder.free_in),
            waiting};
  if (!holder.told_by.empty())
    return {printable(name),
            printable(holder.kind),
            "(perhaps)",
            printable(holder.node),
            "-",
            "-",
            "told " + readable(holder.held) + " ago",
            waiting};
  return {printable(name),           printable(holder.kind),
          named(holder.client),      printable(holder.node),
          printable(holder.session), std::to_string(holder.fence),
          readable(holder.held),     waiting};
}

int locks(const LocksQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto held = query->locks();
  if (!held) return complain(held.error());
  if (options.json) {
    std::vector<Json> list;
    for (const auto& [name, holder] : held->list) {
      auto json = Json().add("name", printable(name)).add("kind", printable(holder.kind));
      add_holder(json, holder);
      list.push_back(json.add("waiting", holder.waiting));
    }
    auto json = Json().add("locks", list);
    add_gaps(json, held->gaps);
    fmt::print("{}\n", json.text());
    return status_of(held->gaps);
  }
  if (options.names) {
    for (const auto& [name, holder] : held->list) fmt::print("{}\n", printable(name));
    return tell_gaps(held->gaps);
  }
  if (held->list.empty()) {
    fmt::print("{}\n", held->gaps.complete() ? "No lock is held."
                                             : "No lock is held at the nodes that answered.");
    return tell_gaps(held->gaps);
  }
  Table table({"name", "kind", "held by", "node", "session", "fence", "for", "waiting"});
  for (const auto& [name, holder] : held->list) table.add(row_of(name, holder));
  fmt::print("{}", table.text());
  return tell_gaps(held->gaps);
}

std::vector<Json> list_of(const std::vector<WaitingClient>& waiters) {
  std::vector<Json> list;
  list.reserve(waiters.size());
  for (const auto& waiter : waiters) list.push_back(waiter_json(waiter, list.size() + 1));
  return list;
}

int waiters(const LockQuestion& options) {
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
  Table table({"#", "waiting", "node", "session", "for"});
  for (std::size_t i = 0; i < found->list.size(); ++i) {
    const auto& waiter = found->list[i];
    table.add({std::to_string(i + 1), named(waiter.client), printable(waiter.node),
               std::to_string(waiter.session), readable(waiter.waiting)});
  }
  fmt::print("{}", table.text());
  return tell_gaps(found->gaps);
}

// ---- why

struct Situation {
  std::string name;
  std::string asked_kind;  // empty: any
  std::optional<Holder> holder;
  std::vector<PermitHolder> permit_holders;  // of a semaphore, a room or a store
  std::vector<WaitingClient> waiters;
  Chain chain;  // for what its holders wait, and so on
  Gaps gaps;
  std::optional<cluster::Member> holder_node;
  bool ready = true;  // the node that was asked knows of all locks
  milliseconds lock_delay{0};

  [[nodiscard]] bool surely_free() const { return !holder && gaps.complete() && ready; }
  [[nodiscard]] bool is(std::string_view kind) const {
    return (holder ? holder->kind : asked_kind) == kind;
  }
  [[nodiscard]] bool is_election() const { return is("election"); }
};

// Who holds and who waits are two questions. If somebody began to answer in between, they are asked
// again.
tl::expected<void, Error> ask_twice(NodeQuery& query, Situation& now) {
  for (int i = 0; i < 3; ++i) {
    auto who = query.who(now.name, now.asked_kind);
    if (!who) return tl::unexpected(who.error());
    auto waiters = query.waiters(now.name, now.asked_kind);
    if (!waiters) return tl::unexpected(waiters.error());
    now.holder = std::move(who->holder);
    now.permit_holders = std::move(who->holders);
    now.waiters = std::move(waiters->list);
    now.gaps = std::move(waiters->gaps);
    if (now.holder || who->complete == now.gaps.complete()) return {};
  }
  return tl::unexpected(Error{Error::Code::unavailable, "nodes come and go; ask again"});
}

tl::expected<Situation, Error> situation(NodeQuery& query, const LockQuestion& options) {
  Situation now{.name = options.name, .asked_kind = options.kind};
  if (const auto asked = ask_twice(query, now); !asked) return tl::unexpected(asked.error());
  auto chain = query.chain(now.name, now.holder ? now.holder->kind : now.asked_kind);
  if (!chain) return tl::unexpected(chain.error());
  now.chain = std::move(*chain);
  const auto info = query.info();
  if (!info) return tl::unexpected(info.error());
  const auto members = query.members();
  if (!members) return tl::unexpected(members.error());
  now.ready = info->number("ready") == 1;
  now.lock_delay = milliseconds(info->number("lock_delay_ms"));
  for (const auto& member : *members)
    if (now.holder && member.name == now.holder->node) now.holder_node = member;
  return now;
}

// What the kernel has told the node of a client on a Unix socket; a name could be any.
std::optional<int> process_of(const Holder& holder) {
  for (const std::string_view prefix : {"unix:pid=", "embedded:pid="}) {
    if (!holder.from.starts_with(prefix)) continue;
    const auto digits = std::string_view(holder.from).substr(prefix.size());
    int pid = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
    if (end.ec == std::errc()) return pid;
  }
  return std::nullopt;
}

void explain_holder(const Situation& now) {
  const auto& holder = *now.holder;
  const auto name = printable(now.name);
  if (!holder.kept_for.empty()) {
    fmt::print("'{}' is kept for {}, free in {}: clients of a node that died may still use it.\n",
               name, printable(holder.kept_for), readable(holder.free_in));
  } else if (!holder.told_by.empty()) {
    fmt::print("'{}' is perhaps held at {}: it told {} so {} ago, and does not answer now.\n", name,
               printable(holder.node), printable(holder.told_by), readable(holder.held));
  } else if (now.is_election()) {
    fmt::print("{} leads '{}', session {} at {}, for {} (term {}{}{}).\n",
               named(holder.client, holder.from), name, printable(holder.session),
               printable(holder.node), readable(holder.held), holder.fence,
               holder.value.empty() ? "" : ", value ", printable(holder.value));
  } else {
    fmt::print("'{}' is held by {}, session {} at {}, for {} (fence {}).\n", name,
               named(holder.client, holder.from), printable(holder.session), printable(holder.node),
               readable(holder.held), holder.fence);
  }
}

std::string listed(const std::vector<std::uint64_t>& permits) {
  std::string text = permits.size() == 1 ? "permit " : "permits ";
  for (std::size_t i = 0; i < permits.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(permits[i]);
  return text;
}

std::string listed(const std::vector<Resource>& resources) {
  std::string text;
  for (const auto& each : resources)
    text += (text.empty() ? "" : ", ") + printable(each.type) + ":" + std::to_string(each.number);
  return text;
}

// What it has, for people.
std::string share_of(const PermitHolder& who, const Situation& now) {
  if (now.is("room"))
    return who.holder.kept_for.empty() ? "group " + printable(who.group) : "it is";
  return now.is("store") ? listed(who.resources) : listed(who.permits);
}

void explain_many(const Situation& now) {
  if (now.is("store")) {
    fmt::print("Of store '{}' {} {} in use:\n", printable(now.name),
               counted(now.holder->in_use, "resource"), now.holder->in_use == 1 ? "is" : "are");
  } else if (now.is("room")) {
    fmt::print("In room '{}' {} {}:\n", printable(now.name), counted(now.holder->inside, "user"),
               now.holder->inside == 1 ? "is" : "are");
  } else {
    fmt::print("Of semaphore '{}' {} {} in use:\n", printable(now.name),
               counted(now.holder->in_use, "permit"), now.holder->in_use == 1 ? "is" : "are");
  }
  for (const auto& who : now.permit_holders) {
    const auto& holder = who.holder;
    if (!holder.kept_for.empty()) {
      fmt::print("  {} kept for {}, free in {}\n", share_of(who, now), printable(holder.kept_for),
                 readable(holder.free_in));
    } else {
      fmt::print("  {} {} {}, session {} at {}, for {} (fence {})\n", share_of(who, now),
                 now.is("room") ? "with" : "held by", named(holder.client, holder.from),
                 printable(holder.session), printable(holder.node), readable(holder.held),
                 holder.fence);
    }
  }
}

void explain_free(const Situation& now) {
  const auto name = printable(now.name);
  if (!now.gaps.complete()) {
    fmt::print("Nobody that answered holds '{}', but it may be held elsewhere: not all answered.\n",
               name);
  } else if (!now.ready) {
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

void explain_gaps(const Situation& now) {
  if (!now.gaps.complete()) fmt::print("\n");
  for (const auto& node : now.gaps.silent) fmt::print("{}\n", describe(node));
  for (const auto& node : now.gaps.cut)
    fmt::print("More wait at {} than it tells at once.\n", printable(node));
}

void explain_waiters(const Situation& now) {
  if (now.waiters.empty()) {
    if (now.holder) fmt::print("Nobody waits for it.\n");
    return;
  }
  const auto count =
      now.holder ? std::max(now.holder->waiting, now.waiters.size()) : now.waiters.size();
  fmt::print("\n{}:\n", count == 1 ? "One waits for it"
                                   : counted(count, "client") + " wait for it, the longest first");
  std::size_t position = 0;
  for (const auto& waiter : now.waiters)
    fmt::print("  {}. {}, session {} at {}, for {}{}{}\n", ++position,
               named(waiter.client, waiter.from), waiter.session, printable(waiter.node),
               readable(waiter.waiting), waiter.wants.empty() ? "" : ", wants ",
               printable(waiter.wants));
  if (now.waiters.size() > 1)
    fmt::print(
        "Those at one node are served in this order; between nodes the algorithm decides.\n");
}

void explain_chain(const Situation& now) {
  const auto& [links, deadlock] = now.chain;
  const bool waits =
      std::ranges::any_of(links, [](const auto& link) { return !link.waits_for.empty(); });
  if (!waits) return;
  fmt::print("\nWho has it waits, too:\n");
  for (const auto& link : links) {
    fmt::print("  {}, session {} at {}, has {} '{}' and ", named(link.client, link.from),
               link.session, printable(link.node), printable(link.has_kind), printable(link.has));
    if (link.waits_for.empty()) {
      fmt::print("waits for nothing\n");
    } else {
      fmt::print("waits for {} '{}', for {}\n", printable(link.waits_for_kind),
                 printable(link.waits_for), readable(link.waiting));
    }
  }
  if (!deadlock.empty())
    fmt::print(
        "This is a deadlock, nobody in it can go on: {}.\nEnd one of them. Clusters that end one "
        "by "
        "themselves: {} up --deadlock abort\n",
        printable(deadlock), program());
}

Json link_json(const ChainLink& link) {
  const auto thing = [](const std::string& kind, const std::string& name) {
    return Json().add("kind", printable(kind)).add("name", printable(name));
  };
  auto json = Json()
                  .add("node", printable(link.node))
                  .add("session", std::to_string(link.session))
                  .add("client", printable(link.client))
                  .add("from", printable(link.from))
                  .add("has", thing(link.has_kind, link.has));
  if (link.waits_for.empty()) {
    json.add("waits_for", nullptr);
  } else {
    json.add("waits_for", thing(link.waits_for_kind, link.waits_for))
        .add("waiting_ms", link.waiting.count());
  }
  return json.add("stuck", link.stuck);
}

void add_chain(Json& json, const Chain& chain) {
  std::vector<Json> links;
  for (const auto& link : chain.links) links.push_back(link_json(link));
  json.add("chain", links);
  if (chain.deadlock.empty()) {
    json.add("deadlock", nullptr);
  } else {
    json.add("deadlock", printable(chain.deadlock));
  }
}

void advise(const Situation& now) {
  if (!now.holder) {
    if (now.waiters.empty() && now.surely_free())
      fmt::print("\nTake it: {} {} {} -- COMMAND\n", program(),
                 now.is_election() ? "elect" : "lock", shell_word(printable(now.name)));
    return;
  }
  const std::string_view holder = now.is_election() ? "leader" : "holder";
  if (!now.holder->told_by.empty()) return;  // what to do was said of who does not answer
  if (!now.holder->kept_for.empty()) {
    fmt::print("\nIt becomes free by itself, when the lock delay is over.\n");
    return;
  }
  fmt::print("\nIt becomes free when its {} {}, disconnects, or lets its time to live run out.\n",
             holder, now.is_election() ? "resigns" : "unlocks it");
  if (const auto pid = process_of(*now.holder)) {
    const auto state = cluster::process_state(*pid);
    const bool stopped = state == cluster::ProcessState::stopped;
    fmt::print("The {3} is process {0}{2}, on the machine of {1}:\n  ps -p {0}       what it is\n",
               *pid, printable(now.holder->node), stopped ? ", which is stopped" : "", holder);
    if (stopped) fmt::print("  kill -CONT {0}  let it go on\n", *pid);
    fmt::print("  kill {1}{0}{2}  end it; the {3} is free then\n", *pid, stopped ? "-9 " : "",
               stopped ? "  " : "      ", now.is_election() ? "election" : "lock");
  } else if (now.holder_node) {
    fmt::print("The {} calls itself {} and is a client of {} (pid {}, {}).\n", holder,
               named(now.holder->client), printable(now.holder->node), now.holder_node->pid,
               printable(now.holder_node->client_address));
  }
}

// True: held, or kept for the dead. Null: not known.
void add_held(Json& json, const Situation& now) {
  if (now.holder && now.holder->told_by.empty()) {
    json.add("held", true);
  } else if (now.surely_free()) {
    json.add("held", false);
  } else {
    json.add("held", nullptr);
  }
}

void add_permits(Json& json, const Situation& now) {
  std::vector<Json> holders;
  for (const auto& [holder, permits, group, resources] : now.permit_holders) {
    Json each;
    add_holder(each, holder);
    std::vector<std::string> numbers;
    for (const auto permit : permits) numbers.push_back(std::to_string(permit));
    std::vector<Json> shares;
    for (const auto& [type, number, fence] : resources)
      shares.push_back(
          Json().add("type", printable(type)).add("number", number).add("fence", Fence{fence}));
    if (now.is("room")) {
      if (holder.kept_for.empty()) each.add("group", printable(group));
    } else if (now.is("store")) {
      each.add("resources", shares);
    } else {
      each.add_raw("permits", json_array(numbers));
    }
    holders.push_back(std::move(each));
  }
  const bool room = now.is("room");
  json.add(room ? "inside" : "in_use", room ? now.holder->inside : now.holder->in_use)
      .add("holders", holders);
}

int why(const LockQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto now = situation(*query, options);
  if (!now) return complain(now.error());
  if (options.json) {
    Json json;
    json.add("name", printable(now->name));
    const auto& kind = now->holder ? now->holder->kind : now->asked_kind;
    if (!kind.empty()) json.add("kind", printable(kind));
    add_held(json, *now);
    if (!now->permit_holders.empty()) {
      add_permits(json, *now);
    } else if (now->holder) {
      add_holder(json, *now->holder);
    }
    json.add("waiters", list_of(now->waiters));
    add_chain(json, now->chain);
    json.add("ready", now->ready);
    add_gaps(json, now->gaps);
    fmt::print("{}\n", json.text());
    return status_of(now->gaps);
  }
  const bool many = !now->permit_holders.empty();
  if (many) {
    explain_many(*now);
  } else {
    now->holder ? explain_holder(*now) : explain_free(*now);
  }
  explain_waiters(*now);
  explain_chain(*now);
  explain_gaps(*now);
  if (!many) advise(*now);
  return status_of(now->gaps);
}

void add_question(Command app, Job& job, const char* command_name, const char* title,
                  int (*run)(const LockQuestion&)) {
  auto command = app.add_subcommand(command_name, title);
  auto options = std::make_shared<LockQuestion>();
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
  auto command =
      app.add_subcommand("locks", "List the locks that are held, and the elections that are led");
  auto options = std::make_shared<LocksQuestion>();
  options->add_to(command);
  command.add_flag("--names", options->names, "Print the names only, one a line");
  command.footer("\nAt most 1000 of each node are listed.\n\nExample:\n  turno locks --json\n");
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
