// The nodes of this machine, as their registry knows them. Nobody joins to look.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cluster/view.h"
#include "turno/error.h"

namespace turno::cli {

// The current view without those who are certainly dead. No cluster is a view without members.
tl::expected<cluster::View, Error> live_members(const std::filesystem::path& directory);

// The sockets of a directory on which a node listens, for those who may not read its registry.
// Those that this user may not use are an error if there are no others.
tl::expected<std::vector<std::string>, Error> listening_sockets(
    const std::filesystem::path& directory);

// Where a client can talk to it: its Unix socket if it has one. Empty if it listens nowhere.
const std::string& client_address(const cluster::Member& member);

}  // namespace turno::cli
