// turno sim: simulate one algorithm.
#include <fmt/format.h>

#include <memory>

#include "catalogue/catalogue.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/output_file.h"
#include "cli/frame/progress.h"
#include "cli/frame/suggestion.h"
#include "cli/lab/algorithm_choice.h"
#include "cli/lab/autonomous_report.h"
#include "cli/lab/commands.h"
#include "cli/lab/fault_options.h"
#include "cli/lab/primitive_options.h"
#include "cli/lab/system_options.h"
#include "cli/lab/workload_options.h"
#include "core/text/json.h"
#include "sim/statistics.h"

namespace turno::cli {

namespace {

struct Request {
  std::string algorithm;
  System system;
  Workload workload;
  PrimitiveOptions primitive;
  Calamities calamities;
  std::string channels;
  std::string as_published;
  std::string trace;
  std::uint64_t repeat = 1;
  bool json = false, nodes_given = false, arrivals_given = false;
  std::vector<std::string> about_users;  // options that are given
};

struct Runs {
  std::vector<sim::Result> results;

  template <class Get>
  [[nodiscard]] sim::Estimate over(Get get) const {
    std::vector<double> values;
    for (const auto& result : results) values.push_back(get(result));
    return sim::estimate(values);
  }
  template <class Get>
  [[nodiscard]] auto total(Get get) const {
    auto sum = get(results.front());
    for (std::size_t i = 1; i < results.size(); ++i) sum += get(results[i]);
    return sum;
  }
  template <class Get>
  [[nodiscard]] auto largest(Get get) const {
    auto most = get(results.front());
    for (const auto& result : results) most = std::max(most, get(result));
    return most;
  }
  [[nodiscard]] std::string violation() const {
    for (const auto& result : results)
      if (!result.violation.empty()) return result.violation;
    return "";
  }
  // One run: its digest. Several: a digest of theirs.
  [[nodiscard]] std::string digest() const {
    if (results.size() == 1) return fmt::format("{:016x}", results.front().digest);
    Digest digest;
    for (const auto& result : results) digest.add(result.digest);
    return fmt::format("{:016x}", digest.value());
  }
};

#define TURNO_FIELD(name) [](const sim::Result& r) { return r.name; }

// One list for all runs: the sums, place by place.
std::vector<std::uint64_t> sums(const Runs& runs, std::vector<std::uint64_t> sim::Result::*counts) {
  std::vector<std::uint64_t> sum;
  for (const auto& result : runs.results) {
    const auto& next = result.*counts;
    sum.resize(std::max(sum.size(), next.size()));
    for (std::size_t i = 0; i < next.size(); ++i) sum[i] += next[i];
  }
  return sum;
}

std::string listed(const std::vector<std::uint64_t>& numbers, std::string_view separator) {
  return fmt::format("{}", fmt::join(numbers, separator));
}

std::uint64_t messages_of_kind(const Runs& runs, std::string_view wanted) {
  return runs.total([&](const sim::Result& result) {
    for (const auto& [kind, count] : result.messages_by_kind)
      if (kind == wanted) return count;
    return std::uint64_t{0};
  });
}

// What a failure detector inside the algorithm did.
Json detection(const Runs& runs) {
  return Json()
      .add("tests", messages_of_kind(runs, "ping"))
      .add("replies", messages_of_kind(runs, "pong"))
      .add("suspicions", runs.total(TURNO_FIELD(suspicions)))
      .add("latency_ms", Json()
                             .add("mean", runs.over(TURNO_FIELD(detection_mean_ms)).mean)
                             .add("max", runs.largest(TURNO_FIELD(detection_max_ms))));
}

double per_session(const Runs& runs, std::uint64_t count) {
  const auto sessions = runs.total(TURNO_FIELD(sessions));
  return sessions == 0 ? 0 : static_cast<double>(count) / static_cast<double>(sessions);
}

// What the managers of rooms send each other.
std::uint64_t messages_between_groups(const Runs& runs) {
  return runs.total(TURNO_FIELD(messages)) - messages_of_kind(runs, "join") -
         messages_of_kind(runs, "enter") - messages_of_kind(runs, "done");
}

void add_sessions(const Runs& runs, Json& json) {
  json.add("sessions", runs.total(TURNO_FIELD(sessions)))
      .add("messages_per_session", per_session(runs, runs.total(TURNO_FIELD(messages))))
      .add("group_messages_per_session", per_session(runs, messages_between_groups(runs)))
      .add("processes_per_session", per_session(runs, runs.total(TURNO_FIELD(entries))))
      .add("inside_mean", runs.over(TURNO_FIELD(inside_mean)).mean)
      .add("recalls", messages_of_kind(runs, "recall"));
}

std::string seeds(const Request& request) {
  const auto first = request.system.seed;
  return request.repeat == 1 ? fmt::format("{}", first)
                             : fmt::format("{} to {}", first, first + request.repeat - 1);
}

std::string delays(const sim::Options& options) {
  if (options.setup.sites.of.empty()) return options.delay.text();
  return fmt::format("{} within sites, {} between them", options.delay.text(),
                     options.sites.remote.text());
}

// Of what has no users.
void print_autonomous(const Request& request, const sim::Options& options,
                      const Algorithm& algorithm, const Runs& runs) {
  const auto& info = algorithm.info;
  const auto events = runs.total(TURNO_FIELD(events));
  if (!request.json) {
    fmt::print("{}: {}\n{} nodes{}, delay {}, seed {}, until {}\n\n{}", info.name, info.title,
               request.system.nodes, request.primitive.text(algorithm), options.delay.text(),
               seeds(request),
               options.until > 0 ? sim::duration_text(options.until) : "nothing happens any more",
               autonomous_text(info, runs.results));
    fmt::print("  events              {}\n  digest              {}\n", events, runs.digest());
    if (!runs.violation().empty()) fmt::print("\nVIOLATED: {}\n", runs.violation());
    return;
  }
  Json json;
  json.add("algorithm", info.name)
      .add("nodes", request.system.nodes)
      .add("channels", options.fifo ? "fifo" : "unordered");
  request.primitive.describe(algorithm, json);
  if (info.primitive == Primitive::detection) json.add("arrivals", options.arrivals.text());
  json.add("delay", options.delay.text()).add("seed", request.system.seed);
  if (options.until > 0) json.add("until", sim::duration_text(options.until));
  add_autonomous(info, runs.results, json);
  json.add("simulated_seconds", runs.total(TURNO_FIELD(simulated_seconds)))
      .add("digest", runs.digest())
      .add("events", events);
  if (runs.results.size() > 1) json.add("repeat", runs.results.size());
  if (!runs.violation().empty()) json.add("violation", runs.violation());
  fmt::print("{}\n", json.text());
}

void print_json(const Request& request, const sim::Options& options, const Algorithm& algorithm,
                const Runs& runs) {
  const auto& info = algorithm.info;
  Json kinds;
  for (std::size_t i = 0; i < runs.results.front().messages_by_kind.size(); ++i)
    kinds.add(runs.results.front().messages_by_kind[i].first,
              runs.total([&](const sim::Result& r) { return r.messages_by_kind[i].second; }));
  const auto per_entry = runs.over(TURNO_FIELD(messages_per_entry()));
  const auto wait = runs.over(TURNO_FIELD(wait_mean_ms));
  const auto p50 = runs.over(TURNO_FIELD(wait_p50_ms));
  const auto p99 = runs.over(TURNO_FIELD(wait_p99_ms));
  const auto events = runs.total(TURNO_FIELD(events));
  const auto cpu = runs.total(TURNO_FIELD(cpu_seconds));
  Json json;
  json.add("algorithm", info.name);
  if (!request.as_published.empty()) json.add("variant", request.as_published);
  json.add("nodes", request.system.nodes)
      .add("topology",
           request.system.topology.empty() ? default_topology(info) : request.system.topology)
      .add("channels", options.fifo ? "fifo" : "unordered");
  if (!request.system.quorums.empty()) json.add("quorums", request.system.quorums);
  if (request.system.carry) json.add("carry", *request.system.carry);
  request.primitive.describe(algorithm, json);
  json.add("arrivals", options.arrivals.text())
      .add("busy", options.busy == sim::Busy::lose ? "lose" : "queue")
      .add("hold", options.hold.text())
      .add("delay", options.delay.text())
      .add("seed", request.system.seed)
      .add("entries", runs.total(TURNO_FIELD(entries)))
      .add("messages", runs.total(TURNO_FIELD(messages)))
      .add("messages_per_entry", per_entry.mean)
      .add("messages_by_kind", kinds)
      .add("wait_ms", Json()
                          .add("mean", wait.mean)
                          .add("p50", p50.mean)
                          .add("p99", p99.mean)
                          .add("max", runs.largest(TURNO_FIELD(wait_max_ms))))
      .add("inside_max", runs.largest(TURNO_FIELD(inside_max)))
      .add("lost_arrivals", runs.total(TURNO_FIELD(lost_arrivals)))
      .add("waiting_at_end", runs.total(TURNO_FIELD(waiting_at_end)))
      .add("fairness", runs.over(TURNO_FIELD(fairness)).mean)
      .add("entries_per_second", runs.over(TURNO_FIELD(entries_per_second())).mean)
      .add("simulated_seconds", runs.total(TURNO_FIELD(simulated_seconds)))
      .add("digest", runs.digest())
      .add("events", events)
      .add("events_per_second", cpu > 0 ? static_cast<double>(events) / cpu : 0.0);
  if (info.primitive == Primitive::room) add_sessions(runs, json);
  add_reservations(runs.results, options, json);
  if (options.interval > 0)
    json.add_raw("entries_by_interval",
                 "[" + listed(sums(runs, &sim::Result::entries_by_interval), ",") + "]");
  if (has_detector(options.setup)) json.add("detector", detection(runs));
  if (runs.results.size() > 1)
    json.add("repeat", runs.results.size())
        .add("ci95",
             Json()
                 .add("messages_per_entry", per_entry.ci95)
                 .add("wait_ms",
                      Json().add("mean", wait.ci95).add("p50", p50.ci95).add("p99", p99.ci95)));
  if (!runs.violation().empty()) json.add("violation", runs.violation());
  fmt::print("{}\n", json.text());
}

std::string with_interval(const sim::Estimate& estimate, std::size_t runs, int digits) {
  auto text = fmt::format("{:.{}f}", estimate.mean, digits);
  return runs > 1 ? text + fmt::format(" +- {:.{}f}", estimate.ci95, digits) : text;
}

void print_text(const Request& request, const sim::Options& options, const Info& info,
                const Runs& runs) {
  const auto n = runs.results.size();
  const auto& reading = request.as_published;
  fmt::print("{}{}: {}\n", info.name, reading.empty() ? "" : fmt::format(" ({})", reading),
             info.title);
  fmt::print("{} nodes, {}, arrivals {}, hold {}, delay {}, seed {}\n\n", request.system.nodes,
             request.system.topology.empty() ? default_topology(info) : request.system.topology,
             options.arrivals.text(), options.hold.text(), delays(options), seeds(request));
  fmt::print("  entries             {}\n", runs.total(TURNO_FIELD(entries)));
  fmt::print("  messages per entry  {}{}\n",
             with_interval(runs.over(TURNO_FIELD(messages_per_entry())), n, 4),
             info.low.empty() ? "" : fmt::format("   (alone {}, crowded {})", info.low, info.high));
  for (std::size_t i = 0; i < runs.results.front().messages_by_kind.size(); ++i)
    fmt::print("    {:<17} {}\n", runs.results.front().messages_by_kind[i].first,
               runs.total([&](const sim::Result& r) { return r.messages_by_kind[i].second; }));
  fmt::print("  waiting, mean       {} ms\n",
             with_interval(runs.over(TURNO_FIELD(wait_mean_ms)), n, 3));
  fmt::print("    median            {} ms\n",
             with_interval(runs.over(TURNO_FIELD(wait_p50_ms)), n, 3));
  fmt::print("    99 %              {} ms\n",
             with_interval(runs.over(TURNO_FIELD(wait_p99_ms)), n, 3));
  fmt::print("    longest           {:.3f} ms\n", runs.largest(TURNO_FIELD(wait_max_ms)));
  fmt::print("  entries per second  {:.3f} of simulated time\n",
             runs.over(TURNO_FIELD(entries_per_second())).mean);
  fmt::print("  fairness (Jain)     {:.4f}\n", runs.over(TURNO_FIELD(fairness)).mean);
  if (info.primitive == Primitive::room)
    fmt::print(
        "  sessions            {}, of {:.3f} processes each, {:.3f} messages (between groups "
        "{:.3f})\n"
        "  inside              {:.3f} on average while somebody is, {} at most\n",
        runs.total(TURNO_FIELD(sessions)), per_session(runs, runs.total(TURNO_FIELD(entries))),
        per_session(runs, runs.total(TURNO_FIELD(messages))),
        per_session(runs, messages_between_groups(runs)), runs.over(TURNO_FIELD(inside_mean)).mean,
        runs.largest(TURNO_FIELD(inside_max)));
  fmt::print("{}", reservations_text(runs.results, options));
  fmt::print("  lost arrivals       {}\n", runs.total(TURNO_FIELD(lost_arrivals)));
  if (options.until > 0)
    fmt::print("  waiting at the end  {}\n", runs.total(TURNO_FIELD(waiting_at_end)));
  if (options.interval > 0)
    fmt::print("  entries each {:<6} {}\n", sim::duration_text(options.interval),
               listed(sums(runs, &sim::Result::entries_by_interval), " "));
  if (has_detector(options.setup))
    fmt::print("  crashes noticed     {} times, after {:.0f} ms on average, {:.0f} ms at most\n",
               runs.total(TURNO_FIELD(suspicions)), runs.over(TURNO_FIELD(detection_mean_ms)).mean,
               runs.largest(TURNO_FIELD(detection_max_ms)));
  const auto events = runs.total(TURNO_FIELD(events));
  const auto cpu = runs.total(TURNO_FIELD(cpu_seconds));
  fmt::print("  events              {}, {} a second of CPU time\n", events,
             brief(cpu > 0 ? static_cast<double>(events) / cpu : 0));
  fmt::print("  digest              {}\n", runs.digest());
  if (!runs.violation().empty()) fmt::print("\nVIOLATED: {}\n", runs.violation());
}

#undef TURNO_FIELD

// What is printed wrongly, where it must be simulated to understand what was published.
const Refutable* printed_reading(const Request& request) {
  static const auto all = refutable();
  std::vector<std::string> known;
  for (const auto& wrong : all) {
    if (!wrong.published || wrong.algorithm->simulate == nullptr ||
        wrong.algorithm->info.name != request.algorithm)
      continue;
    if (request.as_published == wrong.departure->name) return &wrong;
    known.emplace_back(wrong.departure->name);
  }
  if (known.empty())
    throw UsageError("nothing that is printed about " + request.algorithm + " is simulated");
  unknown("reading", request.as_published, known);
}

int simulate(Request request) {
  const auto* reading = request.as_published.empty() ? nullptr : printed_reading(request);
  const auto& algorithm =
      reading != nullptr ? *reading->algorithm : require_algorithm(request.algorithm);
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
  Runs runs;
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
    if (reading != nullptr) options.setup.departure = reading->number;
    if (line.visible())
      options.progress = [&](std::uint64_t entries) {
        if (!line.due()) return;
        const auto done = static_cast<double>(i) +
                          static_cast<double>(entries) / static_cast<double>(options.entries);
        line.show(fmt::format(
            "{} {:.0f} %, run {} of {}", bar(done / static_cast<double>(request.repeat)),
            100 * done / static_cast<double>(request.repeat), i + 1, request.repeat));
      };
    runs.results.push_back(algorithm.simulate(options));
  }
  line.clear();
  if (trace) trace->commit();
  if (request.trace == "-") return runs.violation().empty() ? 0 : exit_violated;
  if (!has_users(algorithm.info.primitive)) {
    print_autonomous(request, options, algorithm, runs);
  } else {
    request.json ? print_json(request, options, algorithm, runs)
                 : print_text(request, options, algorithm.info, runs);
  }
  return runs.violation().empty() ? 0 : exit_violated;
}

}  // namespace

void add_sim(Command app, Job& job) {
  auto command = add_lab_command(app, "sim");
  auto request = std::make_shared<Request>();
  command.add_option("ALGORITHM", request->algorithm, "See 'turno algorithms'").required();
  add_system_options(command, request->system);
  request->workload.add_to(command);
  request->workload.add_details_to(command);
  request->primitive.add_to(command);
  request->primitive.semaphore.add_to_sim(command);
  request->primitive.room.add_to_sim(command);
  request->primitive.reservation.add_to_sim(command);
  request->primitive.election.add_to_sim(command);
  request->calamities.add_to(command);
  command.add_option("--seed", request->system.seed, "Draws everything")
      .capture_default_str()
      .non_negative();
  command.add_option("--channels", request->channels,
                     "fifo or unordered (default: what the algorithm needs)");
  command.add_option(
      "--as-published", request->as_published,
      "grid: what is printed instead, by name, as the published experiment needs it");
  command
      .add_option("--repeat", request->repeat,
                  "Runs, with seeds from --seed on; adds 95 % confidence intervals")
      .capture_default_str();
  command.add_option("--trace", request->trace,
                     "Write every event to this file, as JSON Lines ('-': standard output)");
  command.add_flag("--json", request->json, "Print JSON");
  command.footer(
      "\nDurations: 10ms, 1.5s, 200us. Distributions: 10ms, uniform:0ms:100ms, exp:5s.\n"
      "\nExamples:\n"
      "  turno sim nxr --nodes 31 --topology binary-tree --arrivals poisson:0.5 --repeat 10\n"
      "  turno sim raymond --topology star --arrivals closed:exp:2s --delay constant:1ms\n"
      "  turno sim naimi-trehel --nodes 5 --entries 20 --trace run.jsonl\n"
      "\nExit status: 0, or 1 if exclusion, fences or progress were violated.\n");
  command.exclusive("--delay", "--sites");  // which has --local and --remote
  command.exclusive("--entries", "--entries-per-node");
  command.callback([&job, request, command] {
    request->nodes_given = command.option("--nodes").given();
    request->about_users = command.given({"--hold", "--entries", "--entries-per-node", "--busy",
                                          "--requesters", "--first", "--interval", "--deaf"});
    request->arrivals_given = command.option("--arrivals").given();
    job = [request] { return simulate(*request); };
  });
}

}  // namespace turno::cli
