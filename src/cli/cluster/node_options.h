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
  std::string lock_delay = "1s", idle = "60s", longest_turn = "10ms";
  std::vector<std::string> latency;
  std::string log_level = "info";

  // Those that all nodes of a cluster have in common.
  void add_common_to(Command command);
  void add_to(Command command);
  // Throws UsageError for what makes no sense.
  [[nodiscard]] node::Settings settings() const;
};

}  // namespace turno::cli
