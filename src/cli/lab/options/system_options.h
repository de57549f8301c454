// Options that describe a system, shared by the commands.
#pragma once

#include "catalogue/system.h"
#include "cli/frame/command.h"

namespace turno::cli {

void add_system_options(Command command, System& system);

}  // namespace turno::cli
