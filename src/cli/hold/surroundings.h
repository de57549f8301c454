// What a command finds in its environment about what it runs under, and what this process finds
// there itself, if it runs under another one of its kind.
#pragma once

#include <string>
#include <vector>

#include "cli/hold/hold.h"
#include "turno/turno.h"

namespace turno::cli {

[[nodiscard]] std::vector<std::string> environment_of(const Client& client, const Grant& grant,
                                                      const HoldOptions& options);
// This runs under what it asks for, so that it may wait for itself: says so, or nothing.
[[nodiscard]] std::string warning_of_itself(const HoldOptions& options, const Request& request);

}  // namespace turno::cli
