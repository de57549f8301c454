// turno why: who holds it and for what the holder waits, who waits for it, and what to do.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "cli/cluster/holders/holder_output.h"
#include "cli/frame/command.h"
#include "cli/frame/readable.h"

namespace turno::cli {

namespace {

using std::chrono::milliseconds;

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

  // Of what several have there may be a sum, and nobody who has any.
  [[nodiscard]] bool nobody_has_it() const { return !holder || (many() && permit_holders.empty()); }
  [[nodiscard]] bool surely_free() const { return nobody_has_it() && gaps.complete() && ready; }
  [[nodiscard]] const std::string& kind() const { return holder ? holder->kind : asked_kind; }
  [[nodiscard]] bool is(std::string_view other) const { return kind() == other; }
  [[nodiscard]] bool is_election() const { return is("election"); }
  // Somebody has some of it, or waits for it, and several may.
  [[nodiscard]] bool many() const { return holder && several_have(holder->kind); }
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

tl::expected<Situation, Error> situation(NodeQuery& query, const ThingQuestion& options) {
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
  } else if (holder.leaving) {
    fmt::print("'{}' is kept by {}, which leaves: nobody gets it before that node is gone.\n", name,
               printable(holder.node));
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

void explain_many(const Situation& now) {
  const auto* least = now.gaps.complete() ? "" : "at least ";
  if (now.is("store")) {
    fmt::print("Of store '{}' {}{} {} in use:\n", printable(now.name), least,
               counted(now.holder->in_use, "resource"), now.holder->in_use == 1 ? "is" : "are");
  } else if (now.is("room")) {
    fmt::print("In room '{}' {}{} {}:\n", printable(now.name), least,
               counted(now.holder->inside, "user"), now.holder->inside == 1 ? "is" : "are");
  } else {
    fmt::print("Of semaphore '{}' {}{} {} in use:\n", printable(now.name), least,
               counted(now.holder->in_use, "permit"), now.holder->in_use == 1 ? "is" : "are");
  }
  for (const auto& who : now.permit_holders) {
    const auto& holder = who.holder;
    if (!holder.kept_for.empty()) {
      fmt::print("  {} kept for {}, free in {}\n", share_of(who, now.kind()),
                 printable(holder.kept_for), readable(holder.free_in));
    } else {
      fmt::print("  {} {} {}, session {} at {}, for {} (fence {})\n", share_of(who, now.kind()),
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
               readable(waiter.waiting), wish_of(waiter).empty() ? "" : ", wants ",
               wish_of(waiter));
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

// The command, and what it has to be told.
std::string how_to_take(std::string_view kind, const std::string& name) {
  if (kind == "semaphore") return "semaphore " + name + " --permits K";
  if (kind == "room") return "room " + name + " --group GROUP";
  if (kind == "store") return "reserve TYPE:COUNT --store " + name;
  return (kind == "election" ? "elect " : "lock ") + name;
}

void advise(const Situation& now) {
  if (!now.holder) {
    if (now.waiters.empty() && now.surely_free())
      fmt::print("\nTake it: {} {} -- COMMAND\n", program(),
                 how_to_take(now.kind(), shell_word(printable(now.name))));
    return;
  }
  const std::string_view holder = now.is_election() ? "leader" : "holder";
  if (!now.holder->told_by.empty()) return;  // what to do was said of who does not answer
  if (!now.holder->kept_for.empty()) {
    fmt::print("\nIt becomes free by itself, when the lock delay is over.\n");
    return;
  }
  if (now.holder->leaving) {
    fmt::print(
        "\nIt becomes free by itself, when that node has left; others keep it from leaving "
        "for a while.\n");
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

// True: held, or kept for the dead or by who leaves. Null: not known.
void add_held(Json& json, const Situation& now) {
  if (!now.nobody_has_it() && now.holder->told_by.empty()) {
    json.add("held", true);
  } else if (now.surely_free()) {
    json.add("held", false);
  } else {
    json.add("held", nullptr);
  }
}

}  // namespace

int why(const ThingQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto now = situation(*query, options);
  if (!now) return complain(now.error());
  if (options.json) {
    Json json;
    json.add("name", printable(now->name));
    if (!now->kind().empty()) json.add("kind", printable(now->kind()));
    add_held(json, *now);
    if (now->many()) {
      add_holders(json, *now->holder, now->permit_holders);
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
  const bool many = now->many();
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

}  // namespace turno::cli
