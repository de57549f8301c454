// Where the nodes of a machine meet.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "turno/error.h"

namespace turno::cli {

struct ClusterPlace {
  std::filesystem::path runtime;  // the nodes' sockets
  std::filesystem::path state;    // the registry, and the logs of `turno up`
  bool system = false;            // for all users of this machine

  bool operator==(const ClusterPlace&) const = default;
};

// What the options --dir, --state and --system of a command said.
struct AskedPlace {
  std::string directory = {}, state = {};
  bool system = false;
};

// As asked: --system, or --dir (for both, unless --state says otherwise). Else $TURNO_DIR; else the
// system-wide one, if it is there and this user may look into it; else the user's own.
ClusterPlace cluster_place(const AskedPlace& asked);
ClusterPlace own_place();
// /run/turno and /var/lib/turno, unless $TURNO_SYSTEM_RUNTIME and $TURNO_SYSTEM_STATE say otherwise
// (for tests).
ClusterPlace system_place();

// The directory of its registry.
std::filesystem::path cluster_directory(const std::string& asked);

// Makes and checks the directory of the sockets, for who wants to run a node there.
tl::expected<void, Error> prepare_place(const ClusterPlace& place);

// A hint for who found no node: a system-wide cluster that is closed to this user. Or nothing.
std::string closed_system_hint();

}  // namespace turno::cli
