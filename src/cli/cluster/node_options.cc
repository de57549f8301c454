#include "cli/cluster/node_options.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <utility>

#include "cli/cluster/cluster_directory.h"
#include "cli/configuration/configuration.h"
#include "cli/frame/duration.h"
#include "cli/frame/suggestion.h"
#include "core/usage_error.h"
#include "net/address.h"
#include "net/log.h"

namespace turno::cli {

namespace {

constexpr auto default_lock_delay = "1s", default_idle = "60s";

// a,b:50ms - between the nodes a and b, both ways.
struct Latency {
  std::string one, other;
  std::chrono::milliseconds time{};
};

Latency parse_latency(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto comma = text.find(',');
  if (colon == std::string::npos || comma == std::string::npos || comma > colon)
    throw UsageError("--latency: '" + text + "' is not as in node-1,node-2:50ms");
  return {.one = text.substr(0, comma),
          .other = text.substr(comma + 1, colon - comma - 1),
          .time = parse_duration("--latency", text.substr(colon + 1))};
}

std::string address_for(const char* option, std::string text) {
  if (text.empty()) return text;
  if (const auto address = net::parse_address(text); !address)
    throw UsageError(std::string(option) + ": " + address.error());
  return text;
}

[[noreturn]] void refuse_algorithm(std::string_view what, const std::string& name,
                                   const std::vector<std::string_view>& names) {
  const std::vector<std::string> known(names.begin(), names.end());
  const auto near = near_names(name, known);
  throw UsageError(
      fmt::format("nodes do not run the {} '{}' ('turno algorithms' lists more than they run); {} "
                  "{}{}",
                  what, name, near.empty() ? "there are" : "did you mean",
                  fmt::join(near.empty() ? known : near, ", "), near.empty() ? "" : "?"));
}

}  // namespace

void NodeOptions::add_common_to(Command command) {
  command.add_option("--dir", place.directory,
                     "Where the nodes of this machine meet (default: $TURNO_DIR, or the "
                     "system-wide cluster if it is there, or the user's own)");
  command.add_option("--state", place.state,
                     "Where the registry and the logs are, if not in --dir");
  command.add_flag("--system", place.system,
                   "The cluster for all users of this machine: /run/turno and /var/lib/turno, for "
                   "the group turno");
  command.exclusive("--system", "--dir");
  command.add_flag("--no-tcp", no_tcp, "No TCP ports for clients and HTTP, but Unix sockets");
  command.add_flag("--tcp", tcp,
                   "TCP ports of this machine for clients and HTTP, which every user can reach "
                   "(the default without --system)");
  command.exclusive("--tcp", "--no-tcp");
  command.add_option(
      "--algorithm,-a", algorithm,
      "The lock algorithm of the cluster (turno algorithms); the first node decides");
  command.add_option("--allocator", allocator,
                     "The algorithm of reservations: central-allocator, brokered, grid or "
                     "bouabdallah-laforest; the first node decides");
  command
      .add_option("--lock-delay", lock_delay,
                  "How long a lock that a crashed node may have held stays closed; the first node "
                  "decides")
      .default_str(default_lock_delay);
  command
      .add_option("--idle", idle,
                  "After this time without use a lock is forgotten; the first node decides")
      .default_str(default_idle);
  command
      .add_option("--longest-turn", longest_turn,
                  "How long a node serves its own waiters before others get their turn")
      .capture_default_str();
  command.add_option("--latency", latency,
                     "Add a delay between two nodes, for experiments: node-1,node-2:50ms");
  command.add_option("--config", configuration,
                     "A file (TOML) that declares semaphores, resources and more: "
                     "[semaphores.NAME] permits = 4, [resources.TYPE] instances = 8");
  command.add_option("--deadlock", deadlock,
                     "What is done about deadlocks: detect (they are reported; the default), abort "
                     "(and the youngest wait ends), ordered or collective (requests that could "
                     "lead to one are refused)");
  command.add_option("--log-level", log_level, "debug, info, warning, error, off")
      .capture_default_str();
}

void NodeOptions::add_to(Command command) {
  add_common_to(command);
  command.add_option("--name", name, "The name of the node (default: node-PID)");
  command.add_option("--peer", peer, "Where to listen for other nodes").capture_default_str();
  command.add_option("--client", client,
                     "Where to listen for clients (RESP), or none (default: 127.0.0.1:0)");
  command.add_option("--socket", socket,
                     "The Unix socket for clients, or none (default: NAME.sock in the directory)");
  command.add_option("--log-file", log_file,
                     "Write the log to this file (default: standard error); SIGHUP opens it again");
  command.add_option("--http", http,
                     "Where to listen for HTTP (metrics, health, status), or none (default: "
                     "127.0.0.1:0)");
  command.add_flag("--expose", expose,
                   "Let --client, --http and --peer be addresses that other machines can reach; "
                   "nobody is asked for a password");
}

std::string NodeOptions::tcp_address(const std::string& asked, bool system) const {
  if (asked == "none") return {};
  if (!asked.empty()) return asked;
  return no_tcp || (system && !tcp) ? "" : "127.0.0.1:0";
}

std::vector<std::string> NodeOptions::latency_names() const {
  std::vector<std::string> names;
  for (const auto& each : latency) {
    const auto parsed = parse_latency(each);
    names.insert(names.end(), {parsed.one, parsed.other});
  }
  return names;
}

node::Settings NodeOptions::settings() const {
  const auto level = log::level_named(log_level);
  if (!level)
    throw UsageError("--log-level: '" + log_level +
                     "' is none of debug, info, warning, error, off");
  log::set_level(*level);
  node::Settings settings;
  const auto where = cluster_place(place);
  settings.directory = where.state;
  settings.name = name.empty() ? "node-" + std::to_string(::getpid()) : name;
  if (const auto wrong = cluster::wrong_with_name(settings.name); !wrong.empty())
    throw UsageError("--name: " + wrong);
  settings.algorithm = algorithm;
  if (!configuration.empty()) {
    auto declarations = read_configuration(configuration);
    if (!declarations) throw UsageError("--config: " + declarations.error());
    settings.declarations = std::move(*declarations);
  }
  settings.allocator = allocator;
  if (!deadlock.empty()) {
    const auto policy = port::policy_named(deadlock);
    if (!policy)
      throw UsageError(fmt::format("--deadlock: '{}' is none of {}", deadlock,
                                   fmt::join(port::deadlock_policies, ", ")));
    settings.declarations.declare_deadlocks(*policy);
  }
  if (!algorithm.empty() && table::make_engine(algorithm) == nullptr)
    refuse_algorithm("algorithm", algorithm, table::engine_names());
  if (!allocator.empty() && table::make_store_engine(allocator) == nullptr)
    refuse_algorithm("allocator", allocator, table::store_engine_names());
  settings.peer_address = address_for("--peer", peer);
  settings.client_address = address_for("--client", tcp_address(client, where.system));
  settings.http_address = address_for("--http", tcp_address(http, where.system));
  settings.exposed = expose;
  settings.socket_mode = where.system ? 0660 : 0600;
  settings.client_socket = socket;
  if (socket.empty()) {
    settings.client_socket = where.runtime / (settings.name + ".sock");
    if (settings.client_socket.size() > net::longest_socket_path) {
      log::warning("no Unix socket for clients: {} is too long a path", settings.client_socket);
      settings.client_socket.clear();
    }
  }
  if (socket == "none") settings.client_socket.clear();
  settings.lock_delay =
      parse_duration("--lock-delay", lock_delay.empty() ? default_lock_delay : lock_delay);
  settings.idle = parse_duration("--idle", idle.empty() ? default_idle : idle);
  settings.longest_turn = parse_duration("--longest-turn", longest_turn);
  if (settings.idle.count() <= 0) throw UsageError("--idle must be more than nothing");
  for (const auto& each : latency) {
    const auto [one, other, time] = parse_latency(each);
    if (one == settings.name) settings.latency[other] = time;
    if (other == settings.name) settings.latency[one] = time;
  }
  return settings;
}

}  // namespace turno::cli
