// The process of a member of a cluster on this machine, found by what its registry tells.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "cluster/view.h"
#include "net/fd.h"

namespace turno::cli {

// Stands for that process even when its number is given to another.
class MemberProcess {
 public:
  // The registry may tell an old number, or one of another container: only a process that has the
  // member's lock file open is the member. If none can be found, why.
  static tl::expected<MemberProcess, std::string> find(const std::filesystem::path& directory,
                                                       const cluster::Member& member);

  // Nothing, or why it could not be sent. Who has ended needs no signal.
  [[nodiscard]] std::string send(int signal) const;
  // Waits until it has ended, at most so long.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds time) const;

 private:
  explicit MemberProcess(net::Fd process) : process_(std::move(process)) {}
  net::Fd process_;
};

}  // namespace turno::cli
