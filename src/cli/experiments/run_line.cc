#include "cli/experiments/run_line.h"

#include <chrono>
#include <sstream>

#include "cli/frame/command.h"
#include "cli/lab/options/run_options.h"
#include "field/actor.h"

namespace turno::cli {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

PreparedRun prepare(const lab::Task& task, FieldOptions& how) {
  CommandLine line("turno", "", TURNO_VERSION);
  auto command = line.root().add_subcommand(task.real ? "run" : "sim", "");
  RunRequest request;
  if (task.real) request.workload.entries = field_entries;
  add_run_options(command, request);
  if (task.real) how.add_to(command);
  command.callback(
      [&] { task.real ? note_given_in_field(command, request) : note_given(command, request); });
  auto words = words_of(task.line());
  if (!line.parse(std::move(words))) throw UsageError("an experiment asks for help");
  if (request.repeat != 1) throw UsageError("an experiment repeats by its seeds, not by --repeat");
  return PreparedRun(std::move(request));
}

}  // namespace

void check_task(const lab::Task& task) {
  FieldOptions how;
  auto prepared = prepare(task, how);
  prepared.repeat(0);
  if (task.real) (void)how.plan();
}

lab::Measured run_task(const lab::Task& task, FieldRunner processes) {
  FieldOptions how;
  auto prepared = prepare(task, how);
  prepared.repeat(0);
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  lab::Measured measured;
  if (task.real) {
    const auto& cast = *field::find_cast(prepared.algorithm->info.name, prepared.published());
    const auto outcome = processes(cast, prepared.options, how.plan());
    measured = lab::measure(outcome.result);
    measured.values["lag_ms"] = outcome.lag_mean_ms;
    measured.values["lag_p99_ms"] = outcome.lag_p99_ms;
    measured.values["lag_max_ms"] = outcome.lag_max_ms;
  } else {
    measured = lab::measure(prepared.algorithm->simulate(prepared.options));
  }
  measured.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  return measured;
}

}  // namespace turno::cli
