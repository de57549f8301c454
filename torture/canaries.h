// Canaries: clusters that are wrong in one known way. A torture that does not notice them is none.
#pragma once

#include <span>
#include <string_view>

#include "run.h"

namespace turno::torture {

struct Canary {
  std::string_view name;
  std::string_view algorithm = "nxr-bh";  // with which it is shown
  std::string_view flaw;
  enum class Kind : std::uint8_t { rule, departure, news } kind = Kind::rule;
  std::uint32_t permits = 0;        // it is shown by semaphores with so many; 0: by locks
  std::string_view allocator = {};  // it is shown by stores of resources
  std::uint32_t groups = 0;         // it is shown by rooms
  bool elections = false;
  // Which one of these it is, if its name does not say it.
  std::string_view rule = {};
  // The directed run that shows it (plays.h).
  std::string_view play = {};
  // Empty, or why real processes do not show it.
  std::string_view hidden = {};
};

std::span<const Canary> canaries();

// What was seen of it. Nothing: it was not caught.
Report look_for(const Canary& canary, Options options);

}  // namespace turno::torture
