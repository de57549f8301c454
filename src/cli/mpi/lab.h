// turno-mpi lab: the simulations of an experiment, spread over the ranks of MPI; and its real runs,
// each on all of them.
#pragma once

#include "cli/experiments/workers.h"

namespace turno::cli {

// At the first rank: gives out the simulations, one at a time to each of the others.
void simulate_on_ranks(const std::vector<lab::Task>& tasks, std::size_t jobs, const Done& done);
// At the first rank: lets all ranks run the nodes of each, one run after the other.
void run_on_ranks(const std::vector<lab::Task>& tasks, std::size_t jobs, const Done& done);
// At the others: does what is given out, until there is no more.
void serve_runs();
// At the first rank, in the end.
void dismiss_ranks();

}  // namespace turno::cli
