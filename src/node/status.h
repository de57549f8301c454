// What a node tells people and their programs about itself and the cluster, as JSON: see
// docs/metrics.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/clients.h"
#include "node/daemon.h"

namespace turno::node {

// In the loop's thread.
std::string status_json(Daemon& daemon, const Clients& clients);

// Of what Daemon::ask() found, for all locks or for one.
std::string locks_json(std::vector<NodeSighting> found, bool complete);
std::string lock_json(std::string_view name, std::vector<NodeSighting> found, bool complete);

// Why the node is not ready; empty if it is.
std::string unready_reason(Daemon& daemon);

}  // namespace turno::node
