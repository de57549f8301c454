// turno-mpi lab: the simulations of an experiment, spread over the ranks of MPI.
#pragma once

#include "cli/experiments/workers.h"

namespace turno::cli {

// At the first rank: gives out the runs, one at a time to each of the others.
void run_on_ranks(const std::vector<lab::Task>& tasks, std::size_t jobs, const Done& done);
// At the others: runs what is given out, until there is no more.
void serve_runs();
// At the first rank, in the end.
void dismiss_ranks();

}  // namespace turno::cli
