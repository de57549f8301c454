// turno sim: simulate one algorithm. turno run: the same on real processes.
#include <fmt/format.h>

#include <functional>
#include <limits>
#include <memory>

#include "catalogue/catalogue.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/output_file.h"
#include "cli/frame/progress.h"
#include "cli/frame/suggestion.h"
#include "cli/lab/algorithm_choice.h"
#include "cli/lab/commands.h"
#include "cli/lab/run_report.h"
#include "cli/lab/system_options.h"
#include "field/run.h"

namespace turno::cli {

namespace {

// How `turno run` is to be run, as given.
struct FieldOptions {
  double scale = 1;
  std::uint64_t hosts = 0;
  std::string patience = "30s", limit = "10min";
  bool clocks = false;

  // Throws UsageError.
  [[nodiscard]] field::Plan plan() const {
    field::Plan plan{.scale = scale, .processes = hosts, .clocks = clocks};
    if (!(scale > 0) || scale > 1000) throw UsageError("--scale is above 0 and up to 1000");
    set_time(plan.patience_ns, "--patience", patience);
    set_time(plan.limit_ns, "--limit", limit);
    return plan;
  }
};

// One of the wrong versions, as it is called; null: the algorithm itself. Of what is printed, those
// that are simulated; of the algorithm without a rule, all.
const Refutable* wrong_version(const RunRequest& request) {
  const bool published = !request.as_published.empty();
  const auto& wanted = request.variant();
  if (wanted.empty()) return nullptr;
  if (published && !request.without.empty())
    throw UsageError("--as-published and --without exclude each other");
  static const auto all = refutable();
  std::vector<std::string> known;
  for (const auto& wrong : all) {
    if (wrong.published != published || wrong.algorithm->simulate == nullptr ||
        wrong.algorithm->info.name != request.algorithm)
      continue;
    if (wanted == wrong.departure->name) return &wrong;
    known.emplace_back(wrong.departure->name);
  }
  if (known.empty())
    throw UsageError(published
                         ? "nothing that is printed about " + request.algorithm + " is simulated"
                         : "no rule of " + request.algorithm + " can be taken away");
  unknown(published ? "reading" : "rule", wanted, known);
}

using RunOnce = std::function<void(const Algorithm&, const sim::Options&, bool published, Runs&)>;

int run_all(RunRequest request, const RunOnce& run_once, Runs runs) {
  const auto* wrong = wrong_version(request);
  const auto& algorithm =
      wrong != nullptr ? *wrong->algorithm : require_algorithm(request.algorithm);
  PrimitiveOptions::refuse_users(algorithm.info, request.about_users);
  if (algorithm.info.primitive == Primitive::election && request.arrivals_given)
    PrimitiveOptions::refuse_users(algorithm.info, {"--arrivals"});
  const bool open = request.workload.arrivals.starts_with("total");
  request.primitive.semaphore.count_nodes(algorithm, request.system);
  request.primitive.room.count_nodes(algorithm, request.system, open);
  request.primitive.reservation.count_nodes(request.system, request.nodes_given);
  sim::Options options = request.workload.options(request.system.nodes);
  request.calamities.apply(algorithm, request.system.nodes, options);
  options.fifo = parse_channels(request.channels, algorithm.info) == check::Channels::fifo;
  if (request.repeat < 1) throw UsageError("--repeat is 1 or more");
  if (request.repeat > 1 && !request.trace.empty())
    throw UsageError("--trace writes one run; leave --repeat away");
  std::unique_ptr<OutputFile> trace;
  if (!request.trace.empty()) {
    trace = std::make_unique<OutputFile>(request.trace);
    options.trace = [&](const TraceStep& step) { trace->write(json_line(step) + "\n"); };
  }
  ProgressLine line(!request.json || request.trace != "-");
  for (std::uint64_t i = 0; i < request.repeat; ++i) {
    auto system = request.system;
    system.seed += i;
    options.seed = system.seed;
    options.setup = make_setup(algorithm.info, system);
    request.primitive.apply(algorithm, options.setup);
    request.primitive.semaphore.apply(algorithm, options);
    request.primitive.room.apply(algorithm, options);
    request.primitive.reservation.apply(algorithm, options);
    request.primitive.election.apply(algorithm, options);
    if (wrong != nullptr) options.setup.departure = wrong->number;
    if (line.visible())
      options.progress = [&](std::uint64_t entries) {
        if (!line.due()) return;
        const auto done = static_cast<double>(i) +
                          static_cast<double>(entries) / static_cast<double>(options.entries);
        line.show(fmt::format(
            "{} {:.0f} %, run {} of {}", bar(done / static_cast<double>(request.repeat)),
            100 * done / static_cast<double>(request.repeat), i + 1, request.repeat));
      };
    run_once(algorithm, options, wrong != nullptr && wrong->published, runs);
  }
  line.clear();
  if (trace) trace->commit();
  if (request.trace != "-") report(request, options, algorithm, runs);
  return runs.violation().empty() ? 0 : exit_violated;
}

int simulate(const RunRequest& request) {
  return run_all(request,
                 [](const Algorithm& algorithm, const sim::Options& options, bool, Runs& runs) {
                   runs.results.push_back(algorithm.simulate(options));
                 },
                 {});
}

int run_in_field(const RunRequest& request, const FieldOptions& given, FieldRunner run) {
  const auto plan = given.plan();
  return run_all(
      request,
      [&](const Algorithm& algorithm, const sim::Options& options, bool published, Runs& runs) {
        const auto outcome = run(*field::find_cast(algorithm.info.name, published), options, plan);
        runs.results.push_back(outcome.result);
        runs.real.push_back({outcome.processes, outcome.real_seconds, outcome.lag_mean_ms,
                             outcome.lag_p99_ms, outcome.lag_max_ms});
      },
      {.scale = plan.scale});
}

// What both have.
void add_run_options(Command command, RunRequest& request) {
  command.add_option("ALGORITHM", request.algorithm, "See 'turno algorithms'").required();
  add_system_options(command, request.system);
  request.workload.add_to(command);
  request.workload.add_details_to(command);
  request.primitive.add_to(command);
  request.primitive.semaphore.add_to_sim(command);
  request.primitive.room.add_to_sim(command);
  request.primitive.reservation.add_to_sim(command);
  request.primitive.election.add_to_sim(command);
  request.calamities.add_to(command);
  command.add_option("--seed", request.system.seed, "Draws everything")
      .capture_default_str()
      .non_negative();
  command.add_option("--channels", request.channels,
                     "fifo or unordered (default: what the algorithm needs)");
  command.add_option(
      "--as-published", request.as_published,
      "grid: what is printed instead, by name, as the published experiment needs it");
  command.add_option("--without", request.without, "The algorithm without one of its rules");
  command
      .add_option("--repeat", request.repeat,
                  "Runs, with seeds from --seed on; adds 95 % confidence intervals")
      .capture_default_str();
  command.add_option("--trace", request.trace,
                     "Write every event to this file, as JSON Lines ('-': standard output)");
  command.add_flag("--json", request.json, "Print JSON");
  command.exclusive("--delay", "--sites");  // which has --local and --remote
  command.exclusive("--entries", "--entries-per-node");
}

void note_given(Command command, RunRequest& request) {
  request.nodes_given = command.option("--nodes").given();
  request.about_users = command.given({"--hold", "--entries", "--entries-per-node", "--busy",
                                       "--requesters", "--first", "--interval", "--deaf"});
  request.arrivals_given = command.option("--arrivals").given();
}

}  // namespace

void add_sim(Command app, Job& job) {
  auto command = add_lab_command(app, "sim");
  auto request = std::make_shared<RunRequest>();
  add_run_options(command, *request);
  command.footer(
      "\nDurations: 10ms, 1.5s, 200us. Distributions: 10ms, uniform:0ms:100ms, exp:5s.\n"
      "\nExamples:\n"
      "  turno sim nxr --nodes 31 --topology binary-tree --arrivals poisson:0.5 --repeat 10\n"
      "  turno sim raymond --topology star --arrivals closed:exp:2s --delay constant:1ms\n"
      "  turno sim naimi-trehel --nodes 5 --entries 20 --trace run.jsonl\n"
      "\nExit status: 0, or 1 if exclusion, fences or progress were violated.\n");
  command.callback([&job, request, command] {
    note_given(command, *request);
    job = [request] { return simulate(*request); };
  });
}

void add_run(Command app, Job& job, FieldRunner run) {
  auto command = add_lab_command(app, "run");
  auto request = std::make_shared<RunRequest>();
  auto given = std::make_shared<FieldOptions>();
  request->workload.entries = 200;
  add_run_options(command, *request);
  command
      .add_option("--scale", given->scale,
                  "Of all times: 0.1 runs ten times faster; results are as without it")
      .capture_default_str();
  command.add_option("--hosts", given->hosts,
                     "Real processes, which share the nodes (default: one a node, up to 64)");
  command.add_flag("--clocks", given->clocks,
                   "Messages carry vector clocks, and exclusion is judged by these too");
  command
      .add_option("--patience", given->patience,
                  "End the run after so much real time without an entry")
      .capture_default_str();
  command.add_option("--limit", given->limit, "End the run after so much real time")
      .capture_default_str();
  command.footer(
      "\nThe options are those of 'turno sim', and so is what is printed. Each node is a process,\n"
      "messages go over sockets and are kept until their delay is over, a crash is kill -9.\n"
      "\nExamples:\n"
      "  turno run nxr --nodes 8 --delay constant:5ms --scale 0.1\n"
      "  turno run grid --nodes 12 --sites 3 --arrivals closed:500ms --scale 0.1\n"
      "  turno run bully --nodes 5 --crash 1s:4 --recover 20s:4 --scale 0.1\n"
      "  turno run k-out-of-m --nodes 5 --permits 1 --without all-replies\n"
      "\nExit status: 0, or 1 if exclusion, fences or progress were violated.\n");
  command.callback([&job, request, given, command, run] {
    note_given(command, *request);
    // A run that ends at a time ends there.
    if (command.option("--until").given() && !command.option("--entries").given())
      request->workload.entries = std::numeric_limits<std::uint32_t>::max();
    job = [request, given, run] { return run_in_field(*request, *given, run); };
  });
}

}  // namespace turno::cli
