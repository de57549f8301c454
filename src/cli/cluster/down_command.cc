// turno down: stop the cluster of a directory. turno drain: make one node leave in good order.
#include <fmt/core.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/cluster/ask_options.h"
#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/commands.h"
#include "cli/cluster/local_members.h"
#include "cli/cluster/member_process.h"
#include "cli/cluster/node_query.h"
#include "cli/frame/duration.h"
#include "cli/frame/readable.h"
#include "core/text/json.h"
#include "registry/embedded/embedded_registry.h"

namespace turno::cli {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct DownOptions {
  AskedPlace place;
  std::string kill_after = "10s";
  bool json = false;
};

// A node to be stopped, and what becomes of it.
struct Target {
  cluster::Member member;
  std::optional<MemberProcess> process;
  bool killed = false;
  std::string trouble;  // why it is left alone
};

std::vector<Target> find_all(const std::filesystem::path& directory, const cluster::View& view) {
  std::vector<Target> targets;
  for (const auto& member : view.members) {
    auto& target = targets.emplace_back(Target{.member = member});
    if (auto process = MemberProcess::find(directory, member)) {
      target.process = std::move(*process);
    } else {
      target.trouble = process.error();
    }
  }
  return targets;
}

void stop_all(std::vector<Target>& targets, std::chrono::milliseconds kill_after) {
  for (auto& target : targets)
    if (target.process) target.trouble = target.process->send(SIGTERM);
  const auto end = Clock::now() + kill_after;
  for (auto& target : targets) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (!target.process || !target.trouble.empty() || target.process->ends_within(left)) continue;
    target.killed = true;
    target.trouble = target.process->send(SIGKILL);
    if (target.trouble.empty() && !target.process->ends_within(5s))
      target.trouble = "it does not end";
  }
}

void print(const std::vector<Target>& targets, const std::string& directory, bool json) {
  std::vector<Json> list;
  std::size_t stopped = 0;
  for (const auto& [member, process, killed, trouble] : targets) {
    const auto who = fmt::format("{} (pid {})", printable(member.name), member.pid);
    if (trouble.empty()) ++stopped;
    if (!trouble.empty()) {
      fmt::print(stderr, "turno: {} was not stopped: {}\n", who, trouble);
    } else if (!json) {
      fmt::print("{} {}\n", killed ? "killed " : "stopped", who);
    }
    list.push_back(Json()
                       .add("name", printable(member.name))
                       .add("pid", member.pid)
                       .add("stopped", trouble.empty())
                       .add("killed", killed));
  }
  if (json) {
    fmt::print("{}\n", Json().add("directory", printable(directory)).add("nodes", list).text());
  } else if (targets.empty()) {
    fmt::print("No node runs in {}.\n", directory);
  } else {
    fmt::print("{} of {} stopped.\n", stopped, counted(targets.size(), "node"));
  }
}

int run(const DownOptions& options) {
  const auto kill_after = parse_duration("--kill-after", options.kill_after);
  const auto place = cluster_place(options.place);
  const auto& directory = place.state;
  const auto view = live_members(directory);
  if (!view) {
    fmt::print(stderr, "turno: {}\n", view.error().message);
    return exit_own_error;
  }
  auto targets = find_all(directory, *view);
  stop_all(targets, kill_after);
  bool failed = false, killed = false;
  for (const auto& target : targets) {
    failed = failed || !target.trouble.empty();
    killed = killed || target.killed;
  }
  // Nobody else may be left to notice that they are gone.
  if (killed) static_cast<void>(registry::EmbeddedRegistry(directory).reconsider(false));
  print(targets, place.runtime.native(), options.json);
  return failed ? exit_own_error : 0;
}

// ---- drain

struct DrainOptions : AskOptions {
  std::string name;
  std::string timeout = "30s";
};

tl::expected<cluster::Member, Error> find(NodeQuery& query, const std::string& name) {
  const auto members = query.members();
  if (!members) return tl::unexpected(members.error());
  std::string known;
  for (const auto& member : *members) {
    if (member.name == name) return member;
    known += (known.empty() ? "" : ", ") + printable(member.name);
  }
  return tl::unexpected(Error{Error::Code::invalid,
                              "there is no node '" + printable(name) + "'; there are " + known});
}

// The node hangs up on everybody when it has left.
bool leaves_within(const NodeQuery& node, std::chrono::milliseconds time) {
  const auto end = Clock::now() + time;
  while (node.is_open() && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !node.is_open();
}

int drain(const DrainOptions& options) {
  const auto timeout = parse_duration("--timeout", options.timeout);
  auto query = NodeQuery::reach(options.node, options.place());
  if (!query) return complain(query.error());
  const auto member = find(*query, options.name);
  if (!member) return complain(member.error());
  auto node = NodeQuery::open(client_address(*member), NodeQuery::for_one);
  if (!node) return complain(node.error());
  const auto began = Clock::now();
  if (const auto told = node->drain(); !told) return complain(told.error());
  if (!leaves_within(*node, timeout))
    return complain(Error{Error::Code::timeout,
                          "node '" + printable(options.name) +
                              "' was told to leave, and has not "
                              "left within " +
                              options.timeout + "; it goes on trying: " + program() + " status"});
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
  if (options.json) {
    fmt::print("{}\n", Json()
                           .add("name", printable(member->name))
                           .add("pid", member->pid)
                           .add("milliseconds", took.count())
                           .text());
  } else {
    fmt::print("{} (pid {}) has left, after {}.\n", printable(member->name), member->pid,
               readable(took));
  }
  return 0;
}

}  // namespace

void add_down(Command app, Job& job) {
  auto command = app.add_subcommand("down", "Stop the cluster on this machine");
  auto options = std::make_shared<DownOptions>();
  command.add_option("--dir", options->place.directory,
                     "Directory of the cluster (default: as for turno up)");
  command.add_option("--state", options->place.state, "Directory of its registry, if not in --dir");
  command.add_flag("--system", options->place.system, "The cluster for all users of this machine");
  command.exclusive("--system", "--dir");
  command.add_option("--kill-after", options->kill_after, "From SIGTERM to SIGKILL")
      .capture_default_str();
  command.add_flag("--json", options->json, "Print JSON");
  command.footer(
      "\nStops all nodes in the directory, whoever started them. It is no error if there are "
      "none.\n"
      "\nExample:\n  turno down --kill-after 2s\n");
  command.callback([&job, options] { job = [options] { return run(*options); }; });
}

void add_drain(Command app, Job& job) {
  auto command = app.add_subcommand("drain", "Make one node leave without losing what it holds");
  auto options = std::make_shared<DrainOptions>();
  command.add_option("NODE", options->name, "Its name").required();
  options->add_to(command);
  command.add_option("--timeout", options->timeout, "Wait so long until it has left")
      .capture_default_str();
  command.footer(
      "\nThe node gives out nothing more. Clients that can move to another node (turno lock and\n"
      "turno::Client can) take their locks and waits along; the others are told that their locks "
      "are\nlost, and get the lock delay to stop. Then the node leaves, and its process ends.\n"
      "\nExample:\n  turno drain node-2 && turno up -n 1 --detach     # upgrade one node\n");
  command.callback([&job, options] { job = [options] { return drain(*options); }; });
}

}  // namespace turno::cli
