// Who leads, for a program in which the node is embedded.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "node/daemon.h"
#include "turno/service.h"

namespace turno::node {

tl::expected<std::optional<Leader>, Error> leader_of(Daemon& daemon, std::string_view election);
tl::expected<std::unique_ptr<Observation>, Error> observe(Daemon& daemon, std::string_view election,
                                                          Service::LeaderChanged changed);

}  // namespace turno::node
