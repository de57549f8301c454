// The lock files of the members, in one directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "registry/embedded/lock_file.h"
#include "registry/embedded/view_table.h"

namespace turno::registry {

// Where the pids of this process mean something (its pid namespace), or nothing. Two containers may
// share a directory but not this.
[[nodiscard]] std::string process_space();

class MemberFiles {
 public:
  explicit MemberFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::filesystem::path path_of(std::uint64_t id) const;

  [[nodiscard]] bool certainly_dead(const StoredView& stored, std::size_t index) const;

  void remove(std::uint64_t id) const;

  // Removes the files of those who are neither members nor alive. REQUIRES: inside a transaction
  // that writes. Who joins makes its file inside one too, so no file is half made.
  void sweep(const View& view) const;

  // Whether somebody lives who is no member. REQUIRES: as above.
  [[nodiscard]] bool any_stranger(const View& view) const;

 private:
  // The files of those who are no members and whose locks are in this state.
  [[nodiscard]] std::vector<std::filesystem::path> strangers(const View& view,
                                                             LockState state) const;

  std::filesystem::path directory_;
};

}  // namespace turno::registry
