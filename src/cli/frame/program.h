// What the two programs have in common: a line is parsed, what it names is done, and whatever goes
// wrong is told in one line with the exit status of its kind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/job.h"

namespace turno::cli {

struct Program {
  std::string name, description;
  // Adds the commands. `command` will be what such a one runs that runs a command.
  std::function<void(Command app, Job& job, const std::vector<std::string>& command)> add_commands;
};

int run_program(const Program& program, int argc, char** argv);

}  // namespace turno::cli
