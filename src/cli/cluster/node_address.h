// Which node a command talks to.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "turno/error.h"

namespace turno::cli {

// In this order: the option --node; the option --dir; the environment's TURNO_NODE_ADDRESS; the
// live nodes in cluster_directory(). Never returns an empty list.
tl::expected<std::vector<std::string>, Error> node_addresses(const std::string& node_option,
                                                             const std::string& directory);
// The first of them.
tl::expected<std::string, Error> node_address(const std::string& node_option,
                                              const std::string& directory);

}  // namespace turno::cli
