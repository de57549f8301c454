// turno up: a cluster on this machine.
#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/commands.h"
#include "cli/cluster/local_cluster.h"
#include "cli/cluster/member_output.h"
#include "cli/frame/readable.h"
#include "core/text/json.h"
#include "core/usage_error.h"

namespace turno::cli {

namespace {

using namespace std::chrono_literals;

struct UpOptions {
  NodeOptions node;
  std::size_t nodes = 3;
  bool detach = false, json = false;
};

void print_json(const LocalCluster& cluster) {
  std::vector<std::string> started;
  for (const auto& node : cluster.nodes()) started.push_back(node.name);
  std::vector<Json> members;
  for (const auto& member : cluster.view().members) members.push_back(member_json(member));
  fmt::print("{}\n", Json()
                         .add("directory", printable(cluster.place().runtime.native()))
                         .add("state", printable(cluster.place().state.native()))
                         .add("algorithm", cluster.view().algorithm)
                         .add("epoch", cluster.view().epoch)
                         .add("started", started)
                         .add("members", members)
                         .text());
}

void print_next_steps(const LocalCluster& cluster, bool detach) {
  const auto me = program();
  const auto& first = cluster.view().members.front();
  fmt::print("\n{}:\n", detach ? "Try" : "Try, in another terminal");
  if (cluster.place() != cluster_place({}))
    fmt::print("  export TURNO_DIR={}\n", shell_word(cluster.place().runtime.native()));
  fmt::print("  {} lock backup -- sleep 10\n", me);
  fmt::print("  {0} why backup; {0} status\n", me);
  if (!first.client_socket.empty())
    fmt::print("  redis-cli -s {} LOCK backup TIMEOUT 1000\n", shell_word(first.client_socket));
  if (!first.http_address.empty()) fmt::print("  curl http://{}/metrics\n", first.http_address);
  fmt::print("\nLogs: {}\n", (cluster.place().state / "logs").string());
  if (detach) {
    fmt::print("The nodes run in the background; {} down stops them.\n", me);
  } else {
    fmt::print("Ctrl-C stops the nodes.\n");
  }
}

void print(const LocalCluster& cluster, const UpOptions& options) {
  if (options.json) {
    print_json(cluster);
  } else {
    fmt::print("{} in {}, algorithm {}\n\n{}", counted(cluster.view().size(), "node"),
               cluster.place().runtime.string(), cluster.view().algorithm,
               members_table(cluster.view().members));
    print_next_steps(cluster, options.detach);
  }
  std::fflush(stdout);
}

// Until a signal, or until no node is left. The exit status.
int watch_over(LocalCluster& cluster, const Interruption& interruption) {
  bool crashed = false;
  for (;;) {
    if (interruption.wait(1h)) {
      fmt::print(stderr, "turno: stopping the nodes\n");
      cluster.stop();
      return 0;
    }
    for (const auto& node : cluster.newly_ended()) {
      crashed = crashed || *node.status != 0;
      fmt::print(stderr, "turno: {} (pid {}) ended with {}{}\n", node.name, node.pid,
                 how_it_ended(*node.status),
                 cluster.all_ended() ? "" : "; the others go on. Log: " + node.log.string());
    }
    if (!cluster.all_ended()) continue;
    fmt::print(stderr, "turno: no node is left\n");
    return crashed ? exit_own_error : 0;
  }
}

int run(const UpOptions& options) {
  if (options.nodes < 1 || options.nodes > cluster::most_members)
    throw UsageError(fmt::format("a cluster has 1 to {} nodes", cluster::most_members));
  const Interruption interruption;
  LocalCluster cluster(options.node, interruption);
  if (const auto started = cluster.start(options.nodes, !options.detach); !started) {
    fmt::print(stderr, "turno: {}\n", started.error().message);
    return exit_own_error;
  }
  print(cluster, options);
  if (!options.detach) return watch_over(cluster, interruption);
  cluster.let_go();
  return 0;
}

}  // namespace

void add_up(Command app, Job& job) {
  auto command = app.add_subcommand("up", "Start a cluster on this machine");
  auto options = std::make_shared<UpOptions>();
  command.add_option("-n,--nodes", options->nodes, "How many nodes").capture_default_str();
  command.add_flag("--detach,-d", options->detach,
                   "Leave the nodes running in the background (turno down stops them)");
  options->node.add_common_to(command);
  command.add_flag("--json", options->json, "Print JSON");
  command.footer(
      "\nThe nodes are named node-1, node-2, ... If a cluster already runs in the directory, the\n"
      "new nodes join it. Without --detach they end with this command.\n"
      "\nExamples:\n  turno up -n 5\n  sudo turno up --system --detach\n  turno up -n 5 --detach "
      "--algorithm naimi-trehel\n"
      "  turno up --latency node-1,node-3:50ms\n");
  command.callback([&job, options] { job = [options] { return run(*options); }; });
}

}  // namespace turno::cli
