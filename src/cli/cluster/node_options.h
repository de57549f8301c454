// The options of a node, for `turno node` and `turno up`.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "node/daemon.h"

namespace turno::cli {

struct NodeOptions {
  std::string directory, name, algorithm;
  std::string peer = "127.0.0.1:0", client = "127.0.0.1:0", http = "127.0.0.1:0";
  std::string socket;
  std::string lock_delay, idle;  // empty: the cluster's, or the default
  std::string longest_turn = "10ms";
  std::vector<std::string> latency;
  std::string log_level = "info", log_file;

  // Those that all nodes of a cluster have in common.
  void add_common_to(Command command);
  void add_to(Command command);
  // The nodes that --latency names.
  [[nodiscard]] std::vector<std::string> latency_names() const;
  // Throws UsageError for what makes no sense.
  [[nodiscard]] node::Settings settings() const;
};

}  // namespace turno::cli
