#include "cli/lab/options/run_options.h"

#include <limits>

#include "catalogue/catalogue.h"
#include "cli/frame/suggestion.h"
#include "cli/lab/algorithm_choice.h"
#include "cli/lab/options/system_options.h"

namespace turno::cli {

namespace {

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

}  // namespace

field::Plan FieldOptions::plan() const {
  field::Plan plan{.scale = scale, .processes = processes, .clocks = clocks};
  if (!(scale > 0) || scale > 1000) throw UsageError("--scale is above 0 and up to 1000");
  set_time(plan.patience_ns, "--patience", patience);
  set_time(plan.limit_ns, "--limit", limit);
  return plan;
}

void FieldOptions::add_to(Command command) {
  command
      .add_option("--scale", scale,
                  "Of all times: 0.1 runs ten times faster; results are as without it")
      .capture_default_str();
  command.add_option("--processes", processes,
                     "Real processes, which share the nodes (default: one a node, up to 64)");
  command.add_flag("--clocks", clocks,
                   "Messages carry vector clocks, and exclusion is judged by these too");
  command.add_option("--patience", patience, "End the run after so much real time without an entry")
      .capture_default_str();
  command.add_option("--limit", limit, "End the run after so much real time").capture_default_str();
}

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
  command.add_flag("--json", request.json, "Print JSON");
  request.trace.add_to(command,
                       "Write every event to this file, as JSON Lines ('-': standard output)");
  command.exclusive("--delay", "--sites");  // which has --local and --remote
  command.exclusive("--entries", "--entries-per-node");
}

void note_given(Command command, RunRequest& request) {
  request.nodes_given = command.option("--nodes").given();
  request.about_users = command.given({"--hold", "--entries", "--entries-per-node", "--busy",
                                       "--requesters", "--first", "--interval", "--deaf"});
  request.arrivals_given = command.option("--arrivals").given();
}

void note_given_in_field(Command command, RunRequest& request) {
  note_given(command, request);
  if (command.option("--until").given() && !command.option("--entries").given())
    request.workload.entries = std::numeric_limits<std::uint32_t>::max();
}

PreparedRun::PreparedRun(RunRequest asked)
    : request(std::move(asked)), wrong(wrong_version(request)) {
  algorithm = wrong != nullptr ? wrong->algorithm : &require_algorithm(request.algorithm);
  PrimitiveOptions::refuse_users(algorithm->info, request.about_users);
  if (algorithm->info.primitive == Primitive::election && request.arrivals_given)
    PrimitiveOptions::refuse_users(algorithm->info, {"--arrivals"});
  const bool open = request.workload.arrivals.starts_with("total");
  request.primitive.semaphore.count_nodes(*algorithm, request.system);
  request.primitive.room.count_nodes(*algorithm, request.system, open);
  request.primitive.reservation.count_nodes(request.system, request.nodes_given);
  options = request.workload.options(request.system.nodes);
  request.calamities.apply(*algorithm, request.system.nodes, options);
  options.fifo = parse_channels(request.channels, algorithm->info) == check::Channels::fifo;
  if (request.repeat < 1) throw UsageError("--repeat is 1 or more");
  if (request.repeat > 1 && request.trace.wanted())
    throw UsageError("--trace and --open are for one run; leave --repeat away");
}

void PreparedRun::repeat(std::uint64_t repetition) {
  auto system = request.system;
  system.seed += repetition;
  options.seed = system.seed;
  options.setup = make_setup(algorithm->info, system);
  request.primitive.apply(*algorithm, options.setup);
  request.primitive.semaphore.apply(*algorithm, options);
  request.primitive.room.apply(*algorithm, options);
  request.primitive.reservation.apply(*algorithm, options);
  request.primitive.election.apply(*algorithm, options);
  if (wrong != nullptr) options.setup.departure = wrong->number;
}

bool PreparedRun::published() const { return wrong != nullptr && wrong->published; }

}  // namespace turno::cli
