// Directories that nobody else can change under a node, checked as tmux checks its own: the
// cluster's key is in one, and a node that runs as root writes into it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "registry/registry.h"

namespace turno::registry {

struct DirectoryAccess {
  mode_t mode = 0700;  // of a directory that is made
  // A directory for this group has exactly this mode; any other one only needs to be closed to the
  // writing of others.
  std::optional<gid_t> group = {};
};

// It exists, is no symbolic link, belongs to this user, and only this user can write into it. Else
// `refused` (or `absent`), with its owner and mode and what to do.
Expected<void> check_directory(const std::filesystem::path& directory,
                               const DirectoryAccess& access = {});

// Makes it and its parents if it is not there; then the same check.
Expected<void> make_directory(const std::filesystem::path& directory,
                              const DirectoryAccess& access = {});

// A regular file of this user, with no other name, that others can neither read nor write. A file
// that is not there is fine.
Expected<void> check_file(const std::filesystem::path& file);

// As the system knows it, else the number.
[[nodiscard]] std::string name_of_user(uid_t user);

}  // namespace turno::registry
