// The options of the commands that only ask a node.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/commands.h"
#include "cli/frame/command.h"
#include "turno/error.h"

namespace turno::cli {

struct AskOptions {
  std::vector<std::string> node;
  std::string directory;
  bool json = false, system = false;

  [[nodiscard]] std::string place() const {
    return system ? system_place().runtime.string() : directory;
  }
  void add_to(Command command) {
    command
        .add_option("--node", node,
                    "HOST:PORT or unix:PATH of a node to ask; several are tried in turn (default: "
                    "TURNO_NODE_ADDRESS, or those in --dir)")
        .repeatable();
    command.add_option("--dir", directory,
                       "Directory of the cluster on this machine (default: as for turno up)");
    command.add_flag("--system", system, "The cluster for all users of this machine");
    command.add_flag("--json", json, "Print JSON");
  }
};

// The exit status of a question that was not answered.
inline int complain(const Error& error) {
  fmt::print(stderr, "turno: {}\n", error.message);
  return exit_own_error;
}

}  // namespace turno::cli
