// turno leader: who leads an election, now or from now on.
#include <fmt/core.h>
#include <signal.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/cluster/ask_options.h"
#include "cli/cluster/node_address.h"
#include "cli/cluster/node_query.h"
#include "cli/frame/readable.h"
#include "client/holder.h"
#include "core/text/json.h"
#include "turno/turno.h"

namespace turno::cli {

namespace {

constexpr int exit_nobody = 1;

struct LeaderQuestion : AskOptions {
  std::string name;
  bool follow = false;
};

Json json_of(const std::string& name, const std::optional<Leader>& leader) {
  Json json;
  json.add("election", printable(name));
  if (!leader) return json.add("leader", nullptr);
  return json.add("leader", Json()
                                .add("term", Fence{leader->term})
                                .add("value", printable(leader->value))
                                .add("node", printable(leader->node))
                                .add("client", printable(leader->client)));
}

std::string text_of(const std::optional<Leader>& leader) {
  if (!leader) return "nobody";
  return fmt::format("{} (term {}, {} at {})", printable(leader->value), leader->term,
                     leader->client.empty() ? "(unnamed)" : printable(leader->client),
                     printable(leader->node));
}

int ask_once(const LeaderQuestion& options) {
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto who = query->who(options.name, "election");
  if (!who) return complain(who.error());
  std::optional<Leader> leader;
  if (who->holder && who->holder->fence != 0)
    leader = Leader{.term = who->holder->fence,
                    .value = who->holder->value,
                    .node = who->holder->node,
                    .client = who->holder->client};
  // A node that does not answer has told others of a leader of its own.
  const bool perhaps = who->holder && !who->holder->told_by.empty();
  const bool complete = who->complete && !perhaps;
  if (options.json) {
    fmt::print("{}\n", json_of(options.name, leader).add("complete", complete).text());
  } else if (leader) {
    fmt::print("{}\n", text_of(leader));
  } else if (who->holder) {  // kept, or perhaps at a silent node
    fmt::print(stderr, "turno: nobody is known to lead '{}': it is {}\n", printable(options.name),
               printable(client::describe(*who->holder)));
  } else {
    fmt::print(stderr, "turno: {}\n",
               complete ? "nobody leads '" + printable(options.name) + "'"
                        : "nobody that answered leads '" + printable(options.name) +
                              "', but not all did: turno why " + printable(options.name));
  }
  if (leader) return 0;
  return complete ? exit_nobody : exit_incomplete;
}

// Until a signal ends it, as tail -f.
int follow(const LeaderQuestion& options) {
  const auto addresses = node_addresses(options.node, options.place());
  if (!addresses) return complain(addresses.error());
  // The threads of the client leave these to this one.
  sigset_t ends{};
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGINT);
  ::sigaddset(&ends, SIGTERM);
  ::sigaddset(&ends, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  Client::Options client_options;
  client_options.name = "turno-leader";
  client_options.find_nodes = [&] {
    return node_addresses(options.node, options.place()).value_or(std::vector<std::string>());
  };
  auto client = Client::connect(*addresses, client_options);
  if (!client) return complain(client.error());
  Election election(**client, options.name);
  const auto observed = election.observe([&](const std::optional<Leader>& leader) {
    fmt::print("{}\n", options.json ? json_of(options.name, leader).text() : text_of(leader));
    std::fflush(stdout);
  });
  if (!observed) return complain(observed.error());
  int signal = 0;
  ::sigwait(&ends, &signal);
  std::fflush(nullptr);
  std::_Exit(exit_signal + signal);  // whatever node does not answer
}

}  // namespace

void add_leader(Command app, Job& job) {
  auto command = app.add_subcommand("leader", "Tell who leads an election");
  auto options = std::make_shared<LeaderQuestion>();
  command.add_option("NAME", options->name, "The election").required();
  options->add_to(command);
  command.add_flag("-f,--follow", options->follow,
                   "Go on: a line whenever it changes; \"nobody\" if nobody leads");
  command.footer(
      "\nPrints the leader's value, its term, and where it is. With --json an object a line.\n"
      "\nExit status: 0; 1 nobody leads; 2 not known, because a node does not answer; 125 Turno's\n"
      "own error.\n"
      "\nExamples:\n  turno leader scheduler\n  turno leader scheduler --follow --json\n");
  command.callback([&job, options] {
    job = [options] { return options->follow ? follow(*options) : ask_once(*options); };
  });
}

}  // namespace turno::cli
