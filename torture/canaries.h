// Canaries: clusters that are wrong in one known way. A torture that does not notice them is none.
#pragma once

#include <span>
#include <string_view>

#include "run.h"

namespace turno::torture {

struct Canary {
  std::string_view name;  // of a rule of recovery, or of a wrong version of the algorithm
  std::string_view algorithm = "nxr-bh";  // with which it is shown
  std::string_view flaw;
  enum class Kind : std::uint8_t { rule, departure } kind = Kind::rule;
  // The directed run that shows it (plays.h).
  std::string_view play = {};
  // Empty, or why real processes do not show it.
  std::string_view hidden = {};
};

std::span<const Canary> canaries();

// What was seen of it. Nothing: it was not caught.
Report look_for(const Canary& canary, Options options);

}  // namespace turno::torture
