// Where the nodes of a machine meet: the directory of their registry.
#pragma once

#include <filesystem>
#include <string>

namespace turno::cli {

// As asked, or $TURNO_DIR, or $XDG_RUNTIME_DIR/turno, or one of the user's own in /tmp.
std::filesystem::path cluster_directory(const std::string& asked);

}  // namespace turno::cli
