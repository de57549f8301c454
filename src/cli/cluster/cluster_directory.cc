#include "cli/cluster/cluster_directory.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "registry/embedded/safe_directory.h"

namespace turno::cli {

namespace fs = std::filesystem;

namespace {

std::string environment(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::string group_name() { return environment("TURNO_SYSTEM_GROUP", "turno"); }

fs::path home() {
  if (auto path = environment("HOME"); !path.empty()) return path;
  const auto* entry = ::getpwuid(::getuid());
  return entry == nullptr ? "/" : entry->pw_dir;
}

bool is_plain_directory(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool may_look_into(const fs::path& path) { return ::access(path.c_str(), R_OK | X_OK) == 0; }

tl::unexpected<Error> failure(std::string message) {
  return tl::unexpected(Error{Error::Code::unavailable, std::move(message)});
}

}  // namespace

ClusterPlace system_place() {
  return {environment("TURNO_SYSTEM_RUNTIME", "/run/turno"),
          environment("TURNO_SYSTEM_STATE", "/var/lib/turno"), true};
}

// Sockets do not outlive a reboot, and must be on this machine; what fences are made of must
// outlive it.
ClusterPlace own_place() {
  const auto runtime = environment("XDG_RUNTIME_DIR");
  const auto state = environment("XDG_STATE_HOME");
  return {runtime.empty() ? fs::path("/tmp") / ("turno-" + std::to_string(::getuid()))
                          : fs::path(runtime) / "turno",
          (state.empty() ? home() / ".local" / "state" : fs::path(state)) / "turno"};
}

ClusterPlace cluster_place(const AskedPlace& asked) {
  if (asked.system) return system_place();
  const auto directory = asked.directory.empty() ? environment("TURNO_DIR") : asked.directory;
  if (!directory.empty()) {
    const auto runtime = fs::absolute(directory);
    if (asked.state.empty() && runtime == system_place().runtime) return system_place();
    return {runtime, asked.state.empty() ? runtime : fs::absolute(asked.state)};
  }
  auto place = system_place();
  if (!is_plain_directory(place.runtime) || !may_look_into(place.runtime)) place = own_place();
  if (!asked.state.empty()) place.state = fs::absolute(asked.state);
  return place;
}

fs::path cluster_directory(const std::string& asked) {
  return cluster_place({.directory = asked}).state;
}

tl::expected<void, Error> prepare_place(const ClusterPlace& place) {
  registry::DirectoryAccess access;
  if (place.system) {
    const auto* group = ::getgrnam(group_name().c_str());
    if (group == nullptr)
      return failure(
          fmt::format("there is no group '{0}', whose members may use the locks of a "
                      "system-wide cluster: groupadd --system {0}",
                      group_name()));
    // Its members may connect to the sockets; they can neither remove them nor make others. What
    // is made here is the group's, whatever group the node has.
    access = {.mode = 02750, .group = group->gr_gid};
  }
  if (const auto made = registry::make_directory(place.runtime, access); !made)
    return failure(made.error().message);
  return {};
}

std::string closed_system_hint() {
  const auto place = system_place();
  if (!is_plain_directory(place.runtime) || may_look_into(place.runtime)) return {};
  return fmt::format(
      "; there is a system-wide cluster in {}, but {} is not in its group: usermod "
      "--append --groups {} {}, and log in again",
      place.runtime.string(), registry::name_of_user(::geteuid()), group_name(),
      registry::name_of_user(::geteuid()));
}

}  // namespace turno::cli
