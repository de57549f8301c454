// What came of a simulation without users: elections and detectors of deadlock.
#pragma once

#include <span>
#include <string>

#include "core/protocol.h"
#include "core/text/json.h"
#include "sim/options.h"

namespace turno::cli {

void add_autonomous(const Info& info, std::span<const sim::Result> results, Json& json);
std::string autonomous_text(const Info& info, std::span<const sim::Result> results);

}  // namespace turno::cli
