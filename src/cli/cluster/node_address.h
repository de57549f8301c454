// Which nodes a command can talk to.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "turno/error.h"

namespace turno::cli {

// In this order: the options --node; the option --dir; the environment's TURNO_NODE_ADDRESS, which
// may have several, with commas between; the live nodes in cluster_place(). Never returns an
// empty list.
tl::expected<std::vector<std::string>, Error> node_addresses(
    const std::vector<std::string>& node_options, const std::string& directory);

}  // namespace turno::cli
