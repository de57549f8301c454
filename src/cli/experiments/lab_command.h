// turno lab: the papers' experiments, run and judged.
#pragma once

#include "cli/experiments/workers.h"
#include "cli/frame/command.h"
#include "cli/frame/job.h"

namespace turno::cli {

void add_lab(Command app, Job& job, const Executors& run = {});

}  // namespace turno::cli
