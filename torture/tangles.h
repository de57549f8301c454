// Many sessions that take several things of several kinds in any order, so that they deadlock, or
// are kept from it by somebody who sees them all. Judged by what they are told: in the end nobody
// waits, and who cannot be in a deadlock is never told of one.
#pragma once

#include "run.h"

namespace turno::torture {

struct Tangles {
  // abort, ordered: the policy of the nodes. none: they abort what they take for a deadlock, but
  // nobody asks for anything that could close a circle.
  std::string mode;
  std::uint32_t sessions = 1000, things = 1500;
  bool without_confirmation = false;  // the nodes take rumours for deadlocks; needs torture-node

  [[nodiscard]] bool kept_apart() const { return mode == "none"; }
};

Report tangle(const Options& options, const Tangles& tangles);

}  // namespace turno::torture
