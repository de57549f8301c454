// The commands of turno-lab. Each adds itself to the command line and, when chosen, sets what to
// run.
#pragma once

#include "cli/frame/command.h"
#include "cli/frame/job.h"
#include "field/run.h"

namespace turno::cli {

void add_algorithms(Command app, Job& job);
void add_sim(Command app, Job& job);
// On processes, or on whatever else `run` is. Of several processes that all run the command, one
// speaks: it prints what came of it and writes the trace.
using FieldRunner = field::Outcome (*)(const field::Cast&, const sim::Options&, const field::Plan&);
void add_run(Command app, Job& job, FieldRunner run = field::run, bool speaks = true);
void add_check(Command app, Job& job);
void add_compare(Command app, Job& job);
void add_quorums(Command app, Job& job);

}  // namespace turno::cli
