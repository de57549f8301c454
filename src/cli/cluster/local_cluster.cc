#include "cli/cluster/local_cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fstream>
#include <system_error>
#include <utility>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/local_members.h"
#include "cli/cluster/node_query.h"
#include "core/usage_error.h"
#include "net/fd.h"
#include "net/socket.h"
#include "registry/embedded/embedded_registry.h"
#include "registry/embedded/safe_directory.h"

namespace turno::cli {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto look_again = 3ms;
constexpr std::string_view prefix = "node-";

tl::unexpected<Error> failure(std::string message) {
  return tl::unexpected(Error{Error::Code::unavailable, std::move(message)});
}

tl::unexpected<Error> interrupted() {
  return tl::unexpected(Error{Error::Code::cancelled, "stopped by a signal"});
}

// What a node said since it was started, at most ten lines, indented.
std::string tail_of(const fs::path& log, std::uintmax_t from) {
  std::ifstream file(log);
  file.seekg(static_cast<std::streamoff>(from));
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > 10) lines.pop_front();
  }
  std::string text;
  for (const auto& line : lines) text += "\n  " + line;
  if (!text.empty()) return text;
  // A full disk keeps it from saying why; then nor can we write there.
  const net::Fd probe(::open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (probe.get() < 0 || ::write(probe.get(), "\n", 1) != 1)
    return fmt::format(" it could say nothing, for {} cannot be written: {}", log.string(),
                       std::generic_category().message(errno));
  return " (it said nothing)";
}

// The ports of a node of that name that ran here before, if they are free: clients and scrapers
// know them.
struct Ports {
  std::string client, http;
};

fs::path ports_file(const fs::path& directory, const std::string& name) {
  return directory / "ports" / name;
}

Ports former_ports(const fs::path& directory, const std::string& name) {
  Ports ports;
  std::ifstream(ports_file(directory, name)) >> ports.client >> ports.http;
  for (auto* address : {&ports.client, &ports.http})
    if (!address->empty() && !net::listen(*address)) address->clear();
  return ports;
}

// A port that is not remembered is no harm.
void remember_ports(const fs::path& directory, const cluster::Member& member) {
  if (member.client_address.empty() || member.http_address.empty()) return;
  std::error_code ignored;
  fs::create_directory(directory / "ports", ignored);
  std::ofstream(ports_file(directory, member.name)) << member.client_address << "\n"
                                                    << member.http_address << "\n";
}

NodeOptions checked(NodeOptions options) {
  options.name = std::string(prefix) + "1";
  static_cast<void>(options.settings());
  return options;
}

}  // namespace

LocalCluster::LocalCluster(NodeOptions options, const Interruption& interruption)
    : options_(checked(std::move(options))),
      interruption_(interruption),
      place_(cluster_place(options_.place)),
      directory_(place_.state) {}

std::vector<std::string> LocalCluster::arguments_for(const std::string& name) const {
  std::vector<std::string> words{
      "node",        "--name",           name,         "--longest-turn", options_.longest_turn,
      "--log-level", options_.log_level, "--log-file", log_of(name)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  if (place_.system) {
    words.emplace_back("--system");
  } else {
    words.insert(words.end(), {"--dir", place_.runtime.native(), "--state", place_.state.native()});
  }
  if (options_.tcp) words.emplace_back("--tcp");
  if (options_.no_tcp) words.emplace_back("--no-tcp");
  add("--lock-delay", options_.lock_delay);
  add("--idle", options_.idle);
  if (!options_.settings().client_address.empty()) {
    const auto ports = former_ports(directory_, name);
    add("--client", ports.client);
    add("--http", ports.http);
  }
  add("--algorithm", options_.algorithm);
  add("--allocator", options_.allocator);
  // The nodes may stay when this process, and where it was, are gone.
  if (!options_.deadlock.empty()) add("--deadlock", options_.deadlock);
  if (!options_.configuration.empty())
    add("--config", fs::absolute(options_.configuration).native());
  for (const auto& each : options_.latency) words.insert(words.end(), {"--latency", each});
  return words;
}

// What can be said before anything is started.
tl::expected<void, Error> LocalCluster::prepare(std::size_t count) {
  auto view = live_members(directory_);
  if (!view) return tl::unexpected(view.error());
  view_ = std::move(*view);
  if (view_.size() + count > cluster::most_members)
    return failure(fmt::format("{} already has {} nodes, and a cluster has at most {}",
                               directory_.string(), view_.size(), cluster::most_members));
  if (view_.size() > 0 && !options_.algorithm.empty() && options_.algorithm != view_.algorithm)
    return failure(
        fmt::format("the cluster in {} runs {}, not {}: leave --algorithm out, stop it "
                    "first (turno down), or take another --dir",
                    directory_.string(), view_.algorithm, options_.algorithm));
  if (view_.size() > 0 && !options_.allocator.empty() && options_.allocator != view_.allocator)
    return failure(
        fmt::format("the cluster in {} reserves by {}, not {}: leave --allocator out, stop it "
                    "first (turno down), or take another --dir",
                    directory_.string(), view_.allocator, options_.allocator));
  if (auto same = check_settings(); !same) return same;
  for (const auto& directory : {directory_, directory_ / "logs"})
    if (const auto made = registry::make_directory(directory); !made)
      return failure(made.error().message);
  return prepare_place(place_);
}

// What the first node of a running cluster has fixed.
tl::expected<void, Error> LocalCluster::check_settings() const {
  if (view_.size() == 0) return {};
  const auto wanted = options_.settings();
  const auto other = [&](const char* option, const char* what, std::int64_t has_ms) {
    return failure(
        fmt::format("the cluster in {} has {} of {} ms: leave {} out, stop it first (turno "
                    "down), or take another --dir",
                    directory_.string(), what, has_ms, option));
  };
  if (!options_.lock_delay.empty() && wanted.lock_delay.count() != view_.lock_delay_ms)
    return other("--lock-delay", "a lock delay", view_.lock_delay_ms);
  if (!options_.idle.empty() && wanted.idle.count() != view_.idle_ms)
    return other("--idle", "an idle time", view_.idle_ms);
  return {};
}

// The first that nobody has.
std::vector<std::string> LocalCluster::free_names(std::size_t count) const {
  std::vector<std::string> names;
  for (std::size_t number = 1; names.size() < count; ++number)
    if (auto name = fmt::format("{}{}", prefix, number); view_.find(name) == nullptr)
      names.push_back(std::move(name));
  return names;
}

tl::expected<void, Error> LocalCluster::start(std::size_t count, bool dies_with_parent) {
  auto result = prepare(count);
  const auto names = free_names(count);
  for (const auto& name : options_.latency_names())
    if (result && view_.find(name) == nullptr &&
        std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError("--latency: there is no node '" + name + "'");
  for (const auto& name : names)
    if (result) result = start_node(name, dies_with_parent);
  if (result) result = wait_until_ready();
  for (const auto& node : nodes_)
    if (const auto* member = view_.find(node.name); result && member != nullptr)
      remember_ports(directory_, *member);
  if (!result) stop();
  return result;
}

tl::expected<void, Error> LocalCluster::start_node(const std::string& name, bool dies_with_parent) {
  Node node{.name = name, .log = log_of(name)};
  const net::Fd log(::open(node.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                           S_IRUSR | S_IWUSR));
  struct stat before {};
  if (log.get() < 0 || ::fstat(log.get(), &before) != 0)
    return failure(fmt::format("cannot write {}: {}", node.log.string(),
                               std::generic_category().message(errno)));
  const auto child = launch({.arguments = arguments_for(name),
                             .output = log.get(),
                             .dies_with_parent = dies_with_parent});
  if (!child) return tl::unexpected(child.error());
  node.pid = *child;
  nodes_.push_back(node);
  return wait_for_member(node, static_cast<std::uintmax_t>(before.st_size));
}

tl::expected<void, Error> LocalCluster::wait_for_member(const Node& node,
                                                        std::uintmax_t log_begins) {
  registry::EmbeddedRegistry registry(directory_);
  for (const auto begin = Clock::now(); Clock::now() - begin < time_to_start;) {
    if (interruption_.wait(look_again)) return interrupted();
    for (const auto& ended : newly_ended())
      if (ended.name == node.name)
        return failure(
            fmt::format("{} did not start:{}", node.name, tail_of(node.log, log_begins)));
    if (const auto view = registry.current()) {
      const auto* member = view->find(node.name);
      if (member != nullptr && member->pid == node.pid) return {};
    }
  }
  return failure(fmt::format("{} did not start within {} s:{}", node.name, time_to_start.count(),
                             tail_of(node.log, log_begins)));
}

bool LocalCluster::all_ready() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    const auto* member = view_.find(node.name);
    if (member == nullptr || member->pid != node.pid) return false;
    auto query = NodeQuery::open(client_address(*member), NodeQuery::for_one);
    if (!query) return false;
    const auto info = query->info();
    return info && info->number("ready") == 1 && info->number("epoch") == view_.epoch;
  });
}

tl::expected<void, Error> LocalCluster::wait_until_ready() {
  for (const auto begin = Clock::now(); Clock::now() - begin < time_to_start;) {
    if (interruption_.wait(look_again)) return interrupted();
    if (const auto ended = newly_ended(); !ended.empty())
      return failure(fmt::format("{} ended with {} while the others started; see {}",
                                 ended.front().name, how_it_ended(*ended.front().status),
                                 ended.front().log.string()));
    auto view = live_members(directory_);
    if (!view) return tl::unexpected(view.error());
    view_ = std::move(*view);
    if (all_ready()) return {};
  }
  return failure(fmt::format("the nodes were not ready within {} s; see {}", time_to_start.count(),
                             (directory_ / "logs").string()));
}

std::vector<LocalCluster::Node> LocalCluster::newly_ended() {
  std::vector<Node> ended;
  for (auto& node : nodes_) {
    int status = 0;
    if (node.status || ::waitpid(node.pid, &status, WNOHANG) != node.pid) continue;
    node.status = status;
    ended.push_back(node);
  }
  return ended;
}

bool LocalCluster::all_ended() const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [](const Node& node) { return node.status.has_value(); });
}

void LocalCluster::stop() {
  const auto send = [&](int number) {
    for (const auto& node : nodes_)
      if (!node.status) ::kill(node.pid, number);  // not yet waited for, so the pid is still its
  };
  static_cast<void>(newly_ended());
  if (all_ended()) return;
  send(SIGTERM);
  for (const auto begin = Clock::now(); !all_ended() && Clock::now() - begin < time_to_stop;) {
    if (interruption_.wait(100ms)) break;
    static_cast<void>(newly_ended());
  }
  if (all_ended()) return;
  send(SIGKILL);
  for (auto& node : nodes_) {
    int status = 0;
    if (!node.status && ::waitpid(node.pid, &status, 0) == node.pid) node.status = status;
  }
  // So that nobody waits for them to be noticed.
  static_cast<void>(registry::EmbeddedRegistry(directory_).reconsider(false));
}

}  // namespace turno::cli
