// completion: a script that completes the commands, options and algorithms of a program.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/job.h"

namespace turno::cli {

struct Completion {
  std::vector<std::string> algorithms;  // those that this program knows
  std::vector<std::string> experiments;
  bool asks_lab = false;  // turno-lab completes its commands for turno
};

void add_completion(Command app, Job& job, Completion completion);

}  // namespace turno::cli
