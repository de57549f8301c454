// The options of a node, for `turno node` and `turno up`.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster/cluster_directory.h"
#include "cli/frame/command.h"
#include "node/daemon.h"

namespace turno::cli {

struct NodeOptions {
  AskedPlace place;
  std::string name, algorithm, allocator;
  std::string peer = "127.0.0.1:0", client, http, socket;
  bool tcp = false, no_tcp = false, expose = false;
  std::string lock_delay, idle;  // empty: the cluster's, or the default
  std::string longest_turn = "10ms";
  std::vector<std::string> latency;
  std::string log_level = "info", log_file;
  std::string configuration;  // a file
  std::string deadlock;       // empty: as the file says, or the default

  // Those that all nodes of a cluster have in common.
  void add_common_to(Command command);
  void add_to(Command command);
  // The nodes that --latency names.
  [[nodiscard]] std::vector<std::string> latency_names() const;
  // Throws UsageError for what makes no sense.
  [[nodiscard]] node::Settings settings() const;

 private:
  [[nodiscard]] std::string tcp_address(const std::string& asked, bool system) const;
};

}  // namespace turno::cli
