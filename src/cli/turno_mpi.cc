// turno-mpi: `turno run` with the ranks of MPI for processes, on one machine or many; and `turno
// lab` with its runs spread over them. Built only by `make mpi`.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cli/experiments/lab_command.h"
#include "cli/frame/program.h"
#include "cli/lab/commands.h"
#include "cli/mpi/lab.h"
#include "cli/mpi/ranks.h"

namespace turno::cli {

namespace {

bool is_first() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

void add_commands(Command app, Job& job, const std::vector<std::string>&) {
  add_run(app, job, run_nodes_on_ranks, is_first());
  add_lab(app, job, {.simulated = simulate_on_ranks, .real = run_on_ranks});
}

}  // namespace
}  // namespace turno::cli

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // One rank speaks for all.
  const bool first = turno::cli::is_first();
  if (!first && std::freopen("/dev/null", "w", stdout) == nullptr) return 2;
  // Of the lab, the first rank does everything but the runs.
  const bool lab = argc > 1 && std::string_view(argv[1]) == "lab";
  if (lab && !first) {
    turno::cli::serve_runs();
    MPI_Finalize();
    return 0;
  }
  const auto status = turno::cli::run_program(
      {"turno-mpi",
       "turno-mpi: published algorithms on the ranks of MPI, one node a rank.\n\n"
       "  mpirun -n 8 turno-mpi run grid --nodes 8 --sites 2\n"
       "  mpirun -n 8 turno-mpi lab run grid-5.3      an experiment, its runs spread over the "
       "ranks\n",
       turno::cli::add_commands},
      argc, argv);
  if (lab) turno::cli::dismiss_ranks();
  MPI_Finalize();
  return status;
}
