// turno: the command line. It parses and prints; the work is elsewhere.
#include <fmt/core.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalogue/system.h"
#include "cli/command.h"
#include "cli/command_words.h"
#include "cli/commands.h"
#include "cli/suggestion.h"

namespace {

constexpr auto description =
    "turno: locks for processes on one machine or many, by published algorithms that are run,\n"
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
    "  turno quorums 13                     quorums, beside the smallest possible\n";

int run(int argc, char** argv) {
  turno::cli::CommandLine line("turno", description, TURNO_VERSION);
  const auto app = line.root();
  turno::cli::Job job;
  std::vector<std::string> command;
  turno::cli::add_lock(app, job, command);
  turno::cli::add_up(app, job);
  turno::cli::add_down(app, job);
  turno::cli::add_node(app, job);
  turno::cli::add_status(app, job);
  turno::cli::add_members(app, job);
  turno::cli::add_locks(app, job);
  turno::cli::add_waiters(app, job);
  turno::cli::add_why(app, job);
  turno::cli::add_demo(app, job);
  turno::cli::add_algorithms(app, job);
  turno::cli::add_sim(app, job);
  turno::cli::add_check(app, job);
  turno::cli::add_compare(app, job);
  turno::cli::add_quorums(app, job);
  turno::cli::add_completion(app, job);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    fmt::print("{}", line.help());
    return 0;
  }
  if (argc > 1) turno::cli::refuse_unknown_command(app, argv[1]);
  auto words = turno::cli::split_words(app, {argv + 1, argv + argc});
  command = std::move(words.command);
  if (!line.parse(std::move(words.own))) return 0;
  return job();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const turno::UsageError& error) {
    fmt::print(stderr, "turno: {}\n", error.what());
    return turno::cli::exit_usage;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "turno: {}\n", error.what());
    return turno::cli::exit_usage;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "turno: out of memory\n");
    return turno::cli::exit_own_error;
  } catch (const std::exception& error) {
    fmt::print(stderr, "turno: {}\n", error.what());
    return turno::cli::exit_own_error;
  }
}
