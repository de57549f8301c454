#include "cli/cluster/node_options.h"

#include <unistd.h>

#include "cli/cluster/cluster_directory.h"
#include "cli/frame/duration.h"
#include "cli/frame/suggestion.h"
#include "core/usage_error.h"
#include "net/address.h"
#include "net/log.h"

namespace turno::cli {

namespace {

// a,b:50ms - between the nodes a and b, both ways; this node is one of them, or it is none of its
// business.
void add_latency(const std::string& text, const std::string& self,
                 std::map<std::string, std::chrono::milliseconds>& latency) {
  const auto colon = text.rfind(':');
  const auto comma = text.find(',');
  if (colon == std::string::npos || comma == std::string::npos || comma > colon)
    throw UsageError("--latency: '" + text + "' is not as in node-1,node-2:50ms");
  const auto one = text.substr(0, comma);
  const auto other = text.substr(comma + 1, colon - comma - 1);
  const auto time = parse_duration("--latency", text.substr(colon + 1));
  if (one == self) latency[other] = time;
  if (other == self) latency[one] = time;
}

}  // namespace

void NodeOptions::add_common_to(Command command) {
  command.add_option("--dir", directory,
                     "Where the nodes of this machine meet (default: $TURNO_DIR, or turno in "
                     "$XDG_RUNTIME_DIR, or /tmp/turno-UID)");
  command.add_option(
      "--algorithm,-a", algorithm,
      "The lock algorithm of the cluster (turno algorithms); the first node decides");
  command
      .add_option("--lock-delay", lock_delay,
                  "How long a lock that a crashed node may have held stays closed")
      .capture_default_str();
  command.add_option("--idle", idle, "After this time without use a lock is forgotten")
      .capture_default_str();
  command
      .add_option("--longest-turn", longest_turn,
                  "How long a node serves its own waiters before others get their turn")
      .capture_default_str();
  command.add_option("--latency", latency,
                     "Add a delay between two nodes, for experiments: node-1,node-2:50ms");
  command.add_option("--log-level", log_level, "debug, info, warning, error, off")
      .capture_default_str();
}

void NodeOptions::add_to(Command command) {
  add_common_to(command);
  command.add_option("--name", name, "The name of the node (default: node-PID)");
  command.add_option("--peer", peer, "Where to listen for other nodes").capture_default_str();
  command.add_option("--client", client, "Where to listen for clients (RESP); '' for nowhere")
      .capture_default_str();
  command.add_option("--socket", socket,
                     "The Unix socket for clients (default: NAME.sock in the directory; none)");
  command.add_option("--http", http, "Where to listen for HTTP (metrics, health, status)")
      .capture_default_str();
}

node::Settings NodeOptions::settings() const {
  const auto level = log::level_named(log_level);
  if (!level)
    throw UsageError("--log-level: '" + log_level +
                     "' is none of debug, info, warning, error, off");
  log::set_level(*level);
  node::Settings settings;
  settings.directory = cluster_directory(directory);
  settings.name = name.empty() ? "node-" + std::to_string(::getpid()) : name;
  settings.algorithm = algorithm;
  if (!algorithm.empty() && table::make_engine(algorithm) == nullptr) {
    const auto names = table::engine_names();
    unknown("lock algorithm", algorithm, {names.begin(), names.end()});
  }
  settings.peer_address = peer;
  settings.client_address = client;
  settings.http_address = http;
  settings.client_socket = socket;
  if (socket.empty()) {
    settings.client_socket = settings.directory / (settings.name + ".sock");
    if (settings.client_socket.size() > net::longest_socket_path) {
      log::warning("no Unix socket for clients: {} is too long a path", settings.client_socket);
      settings.client_socket.clear();
    }
  }
  if (socket == "none") settings.client_socket.clear();
  settings.lock_delay = parse_duration("--lock-delay", lock_delay);
  settings.idle = parse_duration("--idle", idle);
  settings.longest_turn = parse_duration("--longest-turn", longest_turn);
  if (settings.idle.count() <= 0) throw UsageError("--idle must be more than nothing");
  for (const auto& each : latency) add_latency(each, settings.name, settings.latency);
  return settings;
}

}  // namespace turno::cli
