// What a node tells Prometheus: see docs/metrics.md.
#pragma once

#include <string>

#include "port/host.h"
#include "port/resp/clients.h"

namespace turno::port {

// In the loop's thread.
std::string metrics_text(Host& host, const Clients& clients);

}  // namespace turno::port
