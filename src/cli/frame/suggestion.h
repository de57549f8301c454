// Mistyped names get an answer with the near ones.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"

namespace turno::cli {

// Known names near to a mistyped one, best first.
std::vector<std::string> near_names(std::string_view name, std::span<const std::string> known);

// Throws UsageError.
[[noreturn]] void unknown(std::string_view what, std::string_view name,
                          const std::vector<std::string>& known);
void refuse_unknown_command(Command app, std::string_view name);

}  // namespace turno::cli
