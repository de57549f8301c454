// Canaries: clusters that are wrong in one known way. A torture that does not notice them is none.
#pragma once

#include <span>
#include <string_view>

#include "run.h"

namespace turno::torture {

struct Canary {
  std::string_view name;       // of a rule of recovery, or of a wrong version of the algorithm
  std::string_view algorithm;  // with which it is shown
  std::string_view flaw;
  enum class Kind : std::uint8_t { rule, departure } kind = Kind::rule;
  // How it is met: with these settings, or with many locks that are held (held.h).
  std::chrono::milliseconds idle{50};
  std::uint32_t held = 0;
  // Empty, or why real processes do not show it in the time of a test.
  std::string_view hidden = {};
};

std::span<const Canary> canaries();

// What was seen of it. Nothing: it was not caught.
std::string look_for(const Canary& canary, Options options);

}  // namespace turno::torture
