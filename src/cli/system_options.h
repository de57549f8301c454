// Options that describe a system, shared by the commands.
#pragma once

#include <CLI/CLI.hpp>

#include "catalogue/system.h"

namespace turno::cli {

void add_system_options(CLI::App& command, System& system);

}  // namespace turno::cli
