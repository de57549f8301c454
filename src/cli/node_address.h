// Which node a command talks to.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "turno/error.h"

namespace turno::cli {

// In this order: the option --node, the environment's TURNO_NODE_ADDRESS, a node of the cluster in
// `directory`.
tl::expected<std::string, Error> node_address(const std::string& node_option,
                                              const std::string& directory);

}  // namespace turno::cli
