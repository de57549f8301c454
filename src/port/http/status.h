// What a node tells people and their programs about itself and the cluster, as JSON: see
// docs/metrics.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "port/host.h"
#include "port/resp/clients.h"

namespace turno::port {

// In the loop's thread.
std::string status_json(Host& host, const Clients& clients);

// Of what Host::ask() found, for all locks or for one; of one also who waits for whom.
std::string locks_json(const Findings& findings);
std::string lock_json(std::string_view name, const Findings& findings,
                      const DeadlockWatch::Chain& chain = {});

// Why the node is not ready; empty if it is.
std::string unready_reason(Host& host);
// Members that say nothing, so that some locks may stand still; empty if there are none.
std::string quiet_text(const Host& host);

}  // namespace turno::port
