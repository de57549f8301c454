// turno: nodes, clients and the commands for them. It parses and prints; the work is elsewhere.
#include <memory>
#include <string_view>

#include "cli/cluster/commands.h"
#include "cli/frame/completion_command.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/program.h"
#include "cli/ui/show.h"
#include "table/engine_names.h"

namespace turno::cli {

namespace {

constexpr auto description =
    "turno: locks for the processes of one machine, by published algorithms that are run,\n"
    "simulated and checked exhaustively.\n"
    "\n"
    "  turno demo shared-file               see it work: five processes write one file in turns\n"
    "  turno up -n 5                        start a cluster on this machine\n"
    "  turno lock backup -- make backup     run a command while holding a lock\n"
    "  turno why backup                     who holds it, who waits, what to do\n"
    "  turno status                         the nodes and what they hold\n"
    "  turno down                           stop the cluster\n"
    "\n"
    "  turno algorithms                     what there is\n"
    "  turno sim nxr --nodes 31             simulate one algorithm\n"
    "  turno check nxr --nodes 4            explore every interleaving of a small system\n"
    "  turno compare                        all lock algorithms on one workload\n"
    "  turno quorums 13                     quorums, beside the smallest possible\n"
    "  turno ui run.jsonl                   look at a recorded run or a counterexample\n";

void add_commands(Command app, Job& job, const std::vector<std::string>& command) {
  add_lock(app, job, command);
  add_semaphore(app, job, command);
  add_elect(app, job, command);
  add_room(app, job, command);
  add_reserve(app, job, command);
  add_leader(app, job);
  add_up(app, job);
  add_down(app, job);
  add_drain(app, job);
  add_node(app, job);
  add_status(app, job);
  add_members(app, job);
  add_locks(app, job);
  add_waiters(app, job);
  add_why(app, job);
  add_set(app, job);
  add_demo(app, job);
  add_ui(app, job);
  // For help and completion: turno-lab does the work.
  for (const auto& each : lab_commands)
    app.add_subcommand(std::string(each.name), std::string(each.help) + " (turno-lab)");
  const auto locks = table::engine_names();
  add_completion(app, job, {.algorithms = {locks.begin(), locks.end()}, .asks_lab = true});
}

}  // namespace
}  // namespace turno::cli

int main(int argc, char** argv) {
  using namespace turno::cli;
  if (argc > 1 && is_lab_command(argv[1])) return become_lab(argv);
  if (argc > 2 && std::string_view(argv[1]) == "help" && is_lab_command(argv[2]))
    return become_lab(argv);
  return run_program({"turno", description, add_commands}, argc, argv);
}
