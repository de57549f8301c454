// turno sim: simulate one algorithm. turno run: the same on real processes.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>

#include "catalogue/catalogue.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/progress.h"
#include "cli/lab/commands.h"
#include "cli/lab/options/run_options.h"
#include "cli/lab/run_report.h"
#include "cli/lab/trace_file.h"
#include "field/run.h"

namespace turno::cli {

namespace {

using RunOnce = std::function<void(const PreparedRun&, Runs&)>;

int run_all(const RunRequest& asked, const RunOnce& run_once, Runs runs, bool speaks = true) {
  PreparedRun prepared(asked);
  const auto& request = prepared.request;
  auto& options = prepared.options;
  std::optional<TraceFile> trace;
  if (request.trace.wanted()) {
    if (speaks) trace.emplace(request.trace, request.algorithm);
    // Whoever does not write it must be asked for it too: only then nodes keep what is in it.
    options.trace = [&](const TraceStep& step) {
      if (trace) trace->write(step);
    };
    options.trace_states = request.trace.with_states();
  }
  ProgressLine line(speaks && (!request.json || !request.trace.alone()));
  for (std::uint64_t i = 0; i < request.repeat; ++i) {
    prepared.repeat(i);
    if (line.visible())
      options.progress = [&](std::uint64_t entries) {
        if (!line.due()) return;
        const auto done = static_cast<double>(i) +
                          static_cast<double>(entries) / static_cast<double>(options.entries);
        line.show(fmt::format(
            "{} {:.0f} %, run {} of {}", bar(done / static_cast<double>(request.repeat)),
            100 * done / static_cast<double>(request.repeat), i + 1, request.repeat));
      };
    run_once(prepared, runs);
  }
  line.clear();
  const auto violation = runs.violation();
  if (trace && !violation.empty()) trace->violated(Json().add("explanation", violation));
  if (trace) trace->commit();
  if (speaks && !request.trace.alone()) report(request, options, *prepared.algorithm, runs);
  if (trace) trace->show();
  return violation.empty() ? 0 : exit_violated;
}

int simulate(const RunRequest& request) {
  return run_all(request,
                 [](const PreparedRun& prepared, Runs& runs) {
                   runs.results.push_back(prepared.algorithm->simulate(prepared.options));
                 },
                 {});
}

int run_in_field(const RunRequest& request, const FieldOptions& given, FieldRunner run,
                 bool speaks) {
  const auto plan = given.plan();
  return run_all(
      request,
      [&](const PreparedRun& prepared, Runs& runs) {
        const auto& cast = *field::find_cast(prepared.algorithm->info.name, prepared.published());
        const auto outcome = run(cast, prepared.options, plan);
        runs.results.push_back(outcome.result);
        runs.real.push_back({outcome.processes, outcome.real_seconds, outcome.lag_mean_ms,
                             outcome.lag_p99_ms, outcome.lag_max_ms});
      },
      {.scale = plan.scale}, speaks);
}

}  // namespace

void add_sim(Command app, Job& job) {
  auto command = add_lab_command(app, "sim");
  auto request = std::make_shared<RunRequest>();
  add_run_options(command, *request);
  request->trace.add_states_to(command);
  command.footer(
      "\nDurations: 10ms, 1.5s, 200us. Distributions: 10ms, uniform:0ms:100ms, exp:5s.\n"
      "\nExamples:\n"
      "  turno sim nxr --nodes 31 --topology binary-tree --arrivals poisson:0.5 --repeat 10\n"
      "  turno sim raymond --topology star --arrivals closed:exp:2s --delay constant:1ms\n"
      "  turno sim naimi-trehel --nodes 5 --entries 20 --trace run.jsonl\n"
      "  turno sim naimi-trehel --nodes 5 --entries 20 --open\n"
      "\nExit status: 0, or 1 if exclusion, fences or progress were violated.\n");
  command.callback([&job, request, command] {
    note_given(command, *request);
    job = [request] { return simulate(*request); };
  });
}

void add_run(Command app, Job& job, FieldRunner run, bool speaks) {
  auto command = add_lab_command(app, "run");
  auto request = std::make_shared<RunRequest>();
  auto given = std::make_shared<FieldOptions>();
  request->workload.entries = field_entries;
  add_run_options(command, *request);
  given->add_to(command);
  command.footer(
      "\nThe options are those of 'turno sim', and so is what is printed. Each node is a process,\n"
      "messages go over sockets and are kept until their delay is over, a crash is kill -9.\n"
      "\nExamples:\n"
      "  turno run nxr --nodes 8 --delay constant:5ms --scale 0.1\n"
      "  turno run grid --nodes 12 --sites 3 --arrivals closed:500ms --scale 0.1\n"
      "  turno run bully --nodes 5 --crash 1s:4 --recover 20s:4 --scale 0.1\n"
      "  turno run k-out-of-m --nodes 5 --permits 1 --without all-replies\n"
      "\nExit status: 0, or 1 if exclusion, fences or progress were violated.\n");
  command.callback([&job, request, given, command, run, speaks] {
    note_given_in_field(command, *request);
    job = [request, given, run, speaks] { return run_in_field(*request, *given, run, speaks); };
  });
}

}  // namespace turno::cli
