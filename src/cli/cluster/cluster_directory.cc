#include "cli/cluster/cluster_directory.h"

#include <unistd.h>

#include <cstdlib>

namespace turno::cli {

std::filesystem::path cluster_directory(const std::string& asked) {
  if (!asked.empty()) return std::filesystem::absolute(asked);
  if (const char* directory = std::getenv("TURNO_DIR"); directory != nullptr && *directory != '\0')
    return std::filesystem::absolute(directory);
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime != '\0')
    return std::filesystem::path(runtime) / "turno";
  return std::filesystem::path("/tmp") / ("turno-" + std::to_string(::getuid()));
}

}  // namespace turno::cli
