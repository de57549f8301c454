// Shows a trace in a browser of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "cli/frame/command.h"
#include "cli/frame/job.h"

namespace turno::cli {

// Serves the page, and `path` if it is not empty, on loopback until SIGINT or SIGTERM. Port 0 takes
// any free one. Returns the exit status.
int show_page(const std::string& path, std::uint16_t port = 0);

// `turno ui`
void add_ui(Command app, Job& job);

}  // namespace turno::cli
