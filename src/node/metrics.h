// What a node tells Prometheus: see docs/metrics.md.
#pragma once

#include <string>

#include "node/clients.h"
#include "node/daemon.h"

namespace turno::node {

// In the loop's thread.
std::string metrics_text(Daemon& daemon, const Clients& clients);

}  // namespace turno::node
