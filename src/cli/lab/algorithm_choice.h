// An algorithm as the user names it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogue/catalogue.h"
#include "cli/frame/suggestion.h"
#include "core/usage_error.h"

namespace turno::cli {

inline const Algorithm& require_algorithm(std::string_view name) {
  if (const auto* found = find_algorithm(name)) return *found;
  std::vector<std::string> known;
  for (const auto& algorithm : algorithms()) known.emplace_back(algorithm.info.name);
  unknown("algorithm", name, known);
}
inline const Algorithm& require_lock(std::string_view name) {
  const auto& algorithm = require_algorithm(name);
  if (algorithm.info.primitive != Primitive::lock)
    throw UsageError(std::string(name) + " is not a lock");
  return algorithm;
}

}  // namespace turno::cli
