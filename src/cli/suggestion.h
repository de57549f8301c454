// Mistyped names get an answer with the near ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "cli/command.h"

namespace turno::cli {

[[noreturn]] inline void unknown(std::string_view what, std::string_view name,
                                 const std::vector<std::string>& known) {
  const auto near = near_names(name, known);
  std::string list;
  for (const auto& candidate : near.empty() ? known : near)
    list += (list.empty() ? "" : ", ") + candidate;
  throw UsageError("there is no " + std::string(what) + " '" + std::string(name) + "'; " +
                   (near.empty() ? "there are " : "did you mean ") + list +
                   (near.empty() ? "" : "?"));
}

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

inline void refuse_unknown_command(Command app, std::string_view name) {
  if (name.empty() || name.front() == '-') return;
  std::vector<std::string> known;
  for (const auto& command : app.subcommands()) known.push_back(command.name());
  for (const auto& command : known)
    if (command == name) return;
  unknown("command", name, known);
}

}  // namespace turno::cli
