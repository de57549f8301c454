// turno-lab: the simulator and the checker. `turno sim` runs it too, and then it is called turno.
#include <filesystem>

#include "catalogue/catalogue.h"
#include "cli/experiments/lab_command.h"
#include "cli/frame/completion_command.h"
#include "cli/frame/program.h"
#include "cli/lab/commands.h"
#include "lab/shelf.h"

namespace turno::cli {

namespace {

constexpr auto description =
    "turno-lab: published algorithms of mutual exclusion, simulated and checked exhaustively.\n"
    "\n"
    "  turno-lab algorithms                 what there is\n"
    "  turno-lab sim nxr --nodes 31         simulate one algorithm\n"
    "  turno-lab run nxr --nodes 8          the same on real processes\n"
    "  turno-lab check nxr --nodes 4        explore every interleaving of a small system\n"
    "  turno-lab compare                    all lock algorithms on one workload\n"
    "  turno-lab lab run nxr-messages       a paper's experiment again, and whether it comes out\n"
    "  turno-lab quorums 13                 quorums, beside the smallest possible\n"
    "\n"
    "With 'turno' installed beside it, 'turno sim' is the same as 'turno-lab sim'.\n";

void add_commands(Command app, Job& job, const std::vector<std::string>&) {
  add_algorithms(app, job);
  add_sim(app, job);
  add_run(app, job);
  add_check(app, job);
  add_compare(app, job);
  add_lab(app, job);
  add_quorums(app, job);
  std::vector<std::string> names;
  for (const auto& algorithm : algorithms()) names.emplace_back(algorithm.info.name);
  std::vector<std::string> experiments;
  for (const auto& one : lab::shelf()) experiments.emplace_back(one.name);
  add_completion(app, job, {.algorithms = std::move(names), .experiments = std::move(experiments)});
}

}  // namespace
}  // namespace turno::cli

int main(int argc, char** argv) {
  const auto called = std::filesystem::path(argc > 0 ? argv[0] : "turno-lab").filename().string();
  return turno::cli::run_program(
      {called == "turno" ? called : "turno-lab", turno::cli::description, turno::cli::add_commands},
      argc, argv);
}
