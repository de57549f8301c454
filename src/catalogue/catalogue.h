// Every algorithm by name, with what can be done with it. The templates of the simulator and the
// checker are instantiated here and nowhere else.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/options.h"
#include "core/protocol.h"
#include "sim/options.h"

namespace turno {

struct Algorithm {
  Info info;
  check::Result (*check)(const check::Options&) = nullptr;
  sim::Result (*simulate)(const sim::Options&) = nullptr;  // null for what is only to be refuted
  // Messages per entry when nobody competes, if there is an exact formula.
  double (*alone)(const Setup&) = nullptr;
  bool overlapping_requests = false;
};

// The lock algorithms, in the order of the list.
std::span<const Algorithm> locks();
// What is printed wrongly, and ours with a rule taken away.
std::span<const Algorithm> refuted();

// Null if there is none of that name.
const Algorithm* find_lock(std::string_view name);
std::vector<const Algorithm*> variants_of(std::string_view name);

// Known names near to a mistyped one, best first.
std::vector<std::string> near_names(std::string_view name, std::span<const std::string> known);

}  // namespace turno
