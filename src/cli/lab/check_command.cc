// turno check: explore every interleaving of a small system.
#include <fmt/core.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "catalogue/catalogue.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/progress.h"
#include "cli/frame/suggestion.h"
#include "cli/lab/algorithm_choice.h"
#include "cli/lab/commands.h"
#include "cli/lab/options/fault_options.h"
#include "cli/lab/options/primitive_options.h"
#include "cli/lab/options/system_options.h"
#include "cli/lab/options/workload_options.h"
#include "cli/lab/trace_file.h"
#include "core/text/json.h"

namespace turno::cli {

namespace {

constexpr std::uint64_t most_nodes = 16;

double physical_memory_gib() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<double>(::sysconf(_SC_PAGE_SIZE)) / (1024.0 * 1024 * 1024);
}

struct Request {
  std::string algorithm;
  System system{.nodes = 3};
  PrimitiveOptions primitive;
  FaultBudget faults;
  std::uint64_t requests = 1;
  bool forever = false, overlapping = false, count_messages = false;
  std::string channels, requesters, holder, property;
  TraceOptions trace;
  std::string as_published, without;
  std::uint64_t max_states = 1'000'000'000;
  double memory_gib = std::min(8.0, 0.75 * physical_memory_gib());
  bool json = false, nodes_given = false;
  std::vector<std::string> about_users;  // options that are given
};

const std::vector<std::string>& properties() {
  static const std::vector<std::string> names = {"exclusion", "token",      "fence",    "invariant",
                                                 "addressee", "assertion",  "deadlock", "goal",
                                                 "trap",      "starvation", "sometimes"};
  return names;
}

struct Chosen {
  const Algorithm* algorithm;
  const Departure* departure = nullptr;  // null: the algorithm itself
  std::uint8_t number = 0;
};

Chosen choose(const Request& request) {
  const auto& algorithm = require_algorithm(request.algorithm);
  const bool published = !request.as_published.empty();
  if (!published && request.without.empty()) return {&algorithm};
  if (published && !request.without.empty())
    throw UsageError("--as-published and --without exclude each other");
  const auto& wanted = published ? request.as_published : request.without;
  std::vector<std::string> known;
  for (const auto& wrong : refutable()) {
    if (wrong.published != published || wrong.algorithm->info.name != request.algorithm) continue;
    if (wanted == wrong.departure->name || wanted == "*")
      return {wrong.algorithm, wrong.departure, wrong.number};
    known.emplace_back(wrong.departure->name);
  }
  if (known.empty())
    throw UsageError(published ? "nothing is printed wrongly about " + request.algorithm
                               : "no rule of " + request.algorithm + " can be taken away");
  unknown(published ? "reading" : "rule", wanted, known);
}

check::Options make_options(const Request& request, const Algorithm& algorithm) {
  PrimitiveOptions::refuse_users(algorithm.info, request.about_users);
  check::Options options;
  options.channels = parse_channels(request.channels, algorithm.info);
  request.faults.apply(algorithm, request.system.nodes, options);
  options.count_messages = request.count_messages;
  options.forever = request.forever;
  options.overlapping = request.overlapping;
  options.property = request.property;
  options.trace_states = request.trace.with_states();
  options.max_states = request.max_states;
  if (!(request.memory_gib > 0)) throw UsageError("--memory: a search needs more than 0 GiB");
  options.max_bytes = static_cast<std::uint64_t>(request.memory_gib * 1024 * 1024 * 1024);
  if (request.requests < 1 || request.requests > 1000) throw UsageError("--requests is 1 to 1000");
  options.requests = static_cast<std::uint16_t>(request.requests);
  if (request.system.nodes < 1 || request.system.nodes > most_nodes)
    throw UsageError(fmt::format("the checker explores 1 to {} nodes, not {}", most_nodes,
                                 request.system.nodes));
  if (request.forever && algorithm.info.growing)
    throw UsageError("the numbers of " + std::string(algorithm.info.name) +
                     " grow for ever, so an endless run never repeats a state and --forever would "
                     "not finish; use --requests");
  if (request.overlapping && request.forever)
    throw UsageError("--overlapping and --forever exclude each other");
  if (request.overlapping && algorithm.info.overlap == Overlap::never)
    throw UsageError(std::string(algorithm.info.name) +
                     " serves one request of a node at a time; --overlapping is for nxr, nxr-b and "
                     "nxr-bh");
  if (!request.requesters.empty())
    for (auto node : parse_nodes(request.requesters, request.system.nodes))
      options.requesters.insert(node);
  if (!request.holder.empty()) {
    if (algorithm.info.primitive != Primitive::lock)
      throw UsageError(std::string(algorithm.info.name) + " is no lock: leave --holder away");
    for (auto node : parse_nodes(request.holder, request.system.nodes))
      options.holdings.push_back({.seat = node});
    if (options.holdings.size() != 1) throw UsageError("a lock has one --holder");
  }
  if (!request.property.empty() &&
      std::find(properties().begin(), properties().end(), request.property) == properties().end())
    unknown("property", request.property, properties());
  return options;
}

std::string topology_of(const Request& request, const Chosen& chosen) {
  return request.system.topology.empty() ? std::string(default_topology(chosen.algorithm->info))
                                         : request.system.topology;
}

Json to_json(const Request& request, const check::Options& options, const Chosen& chosen,
             const check::Result& result) {
  Json json;
  json.add("algorithm", chosen.algorithm->info.name);
  if (chosen.departure != nullptr) json.add("variant", chosen.departure->name);
  json.add("nodes", request.system.nodes);
  if (options.forever) {
    json.add_raw("requests", "\"forever\"");
  } else {
    json.add("requests", options.requests);
  }
  if (!request.requesters.empty()) json.add("requesters", request.requesters);
  if (!request.holder.empty()) json.add("holder", request.holder);
  if (!request.system.quorums.empty()) json.add("quorums", request.system.quorums);
  if (request.system.carry) json.add("carry", *request.system.carry);
  if (options.overlapping) json.add("overlapping", true);
  request.primitive.describe(*chosen.algorithm, json);
  request.faults.describe(json);
  if (!options.property.empty()) json.add("only_property", options.property);
  json.add("topology", topology_of(request, chosen))
      .add("channels", options.channels == check::Channels::fifo ? "fifo" : "unordered")
      .add("states", result.states)
      .add("transitions", result.transitions)
      .add("depth", result.depth)
      .add("acyclic", result.acyclic)
      .add("verdict", name(result.verdict))
      .add("property", result.property)
      .add("explanation", result.explanation)
      .add("seconds", result.cpu_seconds)
      .add("states_per_second",
           result.cpu_seconds > 0 ? static_cast<double>(result.states) / result.cpu_seconds : 0.0)
      .add("memory_bytes", result.bytes);
  if (result.messages)
    json.add("messages_least", result.messages->least).add("messages_most", result.messages->most);
  if (result.verdict == check::Verdict::violated) {
    json.add("steps", result.trace.size());
    if (result.cycle_states > 0)
      json.add("cycle_from", result.cycle_from).add("cycle_states", result.cycle_states);
    std::string steps;
    for (const auto& step : result.trace) steps += (steps.empty() ? "" : ",") + json_line(step);
    json.add_raw("trace", "[" + steps + "]");
  }
  return json;
}

std::string meaning(const Info& info, const check::Options& options, const check::Result& result) {
  if (!options.property.empty()) return "no violation of '" + options.property + "' is reachable";
  if (options.forever) return "nothing bad is reachable, and nobody starves";
  if (info.primitive == Primitive::election && result.transitions == 0)
    return "nothing happens: an election needs --crashes, or --dead and somebody who lives";
  if (!has_users(info.primitive))
    return result.acyclic ? "nothing bad is reachable, and every run ends with the goal met"
                          : "nothing bad is reachable, and the goal can always still be met";
  return result.acyclic ? "nothing bad is reachable, and every run ends with everybody served"
                        : "nothing bad is reachable, and everybody can always still be served";
}

std::string requests_text(const Request& request, const Info& info, const check::Options& options) {
  if (!has_users(info.primitive)) return "";
  if (info.primitive == Primitive::room) return request.primitive.room.text() + ", ";
  if (options.forever) return "requests for ever, ";
  if (const auto& counts = request.primitive.semaphore.counts; !counts.empty())
    return "requests for " + counts + " permits, ";
  return fmt::format("{} request{} each, ", options.requests, options.requests == 1 ? "" : "s");
}

void print_text(const Request& request, const check::Options& options, const Chosen& chosen,
                const check::Result& result) {
  fmt::print("{}{}, {} nodes, {}{}, {} channels{}\n", chosen.algorithm->info.name,
             chosen.departure != nullptr ? fmt::format(" ({})", chosen.departure->name) : "",
             request.system.nodes, requests_text(request, chosen.algorithm->info, options),
             topology_of(request, chosen),
             options.channels == check::Channels::fifo ? "fifo" : "unordered",
             request.primitive.text(*chosen.algorithm) + request.faults.text());
  const auto rate =
      result.cpu_seconds > 0 ? static_cast<double>(result.states) / result.cpu_seconds : 0;
  fmt::print("{} states, {} transitions, depth {}, {:.2f} s, {} states/s, {} MiB\n", result.states,
             result.transitions, result.depth, result.cpu_seconds, brief(rate), result.bytes >> 20);
  switch (result.verdict) {
    case check::Verdict::holds:
      fmt::print("holds: {}\n", meaning(chosen.algorithm->info, options, result));
      if (result.messages)
        fmt::print("messages of a run without faults: {} to {}\n", result.messages->least,
                   result.messages->most);
      return;
    case check::Verdict::limit:
      fmt::print("limit reached: {}; nothing bad among the states seen\n", result.explanation);
      return;
    case check::Verdict::violated:
      break;
  }
  fmt::print("violated: {}: {}\n", result.property, result.explanation);
  if (chosen.departure != nullptr) fmt::print("as expected of: {}\n", chosen.departure->flaw);
  const auto middle = result.trace.begin() + static_cast<std::ptrdiff_t>(result.cycle_from);
  if (result.cycle_states == 0) {
    fmt::print("\nThe shortest way there, {} steps:\n\n{}", result.trace.size(),
               conversation(result.trace));
    return;
  }
  fmt::print("\nA way there, {} steps:\n\n{}", result.cycle_from,
             conversation({result.trace.begin(), middle}));
  fmt::print("\nand from then on, for ever (within {} states):\n\n{}", result.cycle_states,
             conversation({middle, result.trace.end()}));
}

int exit_status(check::Verdict verdict) {
  switch (verdict) {
    case check::Verdict::holds:
      return 0;
    case check::Verdict::violated:
      return exit_violated;
    case check::Verdict::limit:
      break;
  }
  return exit_limit;
}

check::Result explore(const Algorithm& algorithm, check::Options options, ProgressLine& line) {
  if (line.visible())
    options.progress = [&](const check::Progress& progress) {
      if (!line.due()) return;
      line.show(fmt::format("{} states, {} waiting, depth {}, {} states/s",
                            brief(static_cast<double>(progress.states)),
                            brief(static_cast<double>(progress.waiting)), progress.depth,
                            brief(static_cast<double>(progress.states) / line.seconds())));
    };
  auto result = algorithm.check(options);
  line.clear();
  return result;
}

void write_trace(TraceFile& file, const check::Result& result) {
  for (const auto& step : result.trace) file.write(step);
  Json violation;
  violation.add("property", result.property).add("explanation", result.explanation);
  if (result.cycle_states > 0) violation.add("cycle_from", result.cycle_from);
  file.violated(violation);
  file.commit();
}

// The results of several trees as one: sums, and the first that does not hold.
check::Result combined(const std::vector<check::Result>& results) {
  auto all = results.front();
  for (std::size_t i = 1; i < results.size(); ++i) {
    const auto& next = results[i];
    if (all.verdict == check::Verdict::holds && next.verdict != check::Verdict::holds) {
      auto worse = next;
      worse.states = all.states, worse.transitions = all.transitions, worse.bytes = all.bytes;
      worse.cpu_seconds = all.cpu_seconds, worse.depth = all.depth;
      all = std::move(worse);
    }
    all.states += next.states;
    all.transitions += next.transitions;
    all.cpu_seconds += next.cpu_seconds;
    all.depth = std::max(all.depth, next.depth);
    all.bytes = std::max(all.bytes, next.bytes);
    all.acyclic = all.acyclic && next.acyclic;
  }
  return all;
}

int run_check(Request request) {
  const auto chosen = choose(request);
  const auto& algorithm = *chosen.algorithm;
  request.primitive.semaphore.count_nodes(algorithm, request.system);
  request.primitive.room.count_nodes(algorithm, request.system);
  request.primitive.reservation.count_nodes(request.system, request.nodes_given);
  auto options = make_options(request, algorithm);
  const bool all_trees = request.system.topology == "all";
  const auto setups = all_trees ? make_setups_of_all_trees(algorithm.info, request.system)
                                : std::vector<Setup>{make_setup(algorithm.info, request.system)};
  ProgressLine line;
  std::vector<check::Result> results;
  for (const auto& setup : setups) {
    options.setup = setup;
    request.primitive.apply(algorithm, options.setup);
    request.primitive.semaphore.apply(algorithm, options);
    request.primitive.room.apply(algorithm, options);
    request.primitive.reservation.apply(algorithm, options);
    request.primitive.election.apply(algorithm, options);
    if (has_detector(options.setup))
      throw UsageError(
          "the checker has no clock and tells of crashes itself: leave --detector away");
    options.setup.departure = chosen.number;
    results.push_back(explore(algorithm, options, line));
    if (results.back().verdict == check::Verdict::violated) break;
  }
  const auto result = combined(results);
  std::optional<TraceFile> trace;
  if (request.trace.wanted() && result.verdict == check::Verdict::violated) {
    trace.emplace(request.trace, request.algorithm);
    write_trace(*trace, result);
  }
  if (request.trace.alone()) return exit_status(result.verdict);
  if (request.json) {
    auto json = to_json(request, options, chosen, result);
    if (all_trees) {
      std::string states;
      for (const auto& tree : results)
        states += (states.empty() ? "" : ",") + std::to_string(tree.states);
      json.add("trees", results.size()).add_raw("states_by_tree", "[" + states + "]");
    }
    fmt::print("{}\n", json.text());
  } else {
    if (all_trees) fmt::print("{} trees, together:\n", results.size());
    print_text(request, options, chosen, result);
    const auto& path = request.trace.path;
    if (!path.empty())
      fmt::print("\n{} {}.\n", trace ? "Written to" : "No counterexample; nothing written to",
                 path);
    if (request.trace.open && (!trace || result.trace.empty()))
      fmt::print("\n{}.\n", trace ? "Not a single step leads there; nothing to open"
                                  : "No counterexample; nothing to open");
  }
  if (trace && !result.trace.empty()) trace->show();
  return exit_status(result.verdict);
}

}  // namespace

void add_check(Command app, Job& job) {
  auto command = add_lab_command(app, "check");
  auto request = std::make_shared<Request>();
  command.add_option("ALGORITHM", request->algorithm, "See 'turno algorithms'").required();
  add_system_options(command, request->system);
  command.option("--topology")
      .description(
          "Initial shape, or 'all': every rooted tree (default: what suits the algorithm)");
  command.add_option("-r,--requests", request->requests, "Requests of each node")
      .capture_default_str();
  command.add_flag(
      "--forever", request->forever,
      "Requests without end: looks for starvation (a fair cycle in which a node waits)");
  command.add_flag("--overlapping", request->overlapping,
                   "A node may ask again before it has been served");
  command.add_option("--channels", request->channels,
                     "fifo or unordered (default: what the algorithm promises)");
  command.add_option("--requesters", request->requesters, "Who asks, as in 0-2,4 (default: all)");
  command.add_option("--holder", request->holder, "Who is inside at the start (default: nobody)");
  request->primitive.add_to(command);
  request->primitive.semaphore.add_to_check(command);
  request->primitive.room.add_to_check(command);
  request->primitive.reservation.add_to_check(command);
  request->primitive.election.add_to_check(command);
  request->faults.add_to(command);
  command.add_flag("--count-messages", request->count_messages,
                   "Say how many messages the cheapest and the dearest run need");
  command.add_option("--property", request->property,
                     "Look only at this one: exclusion, token, fence, invariant, addressee, "
                     "deadlock, goal, trap, starvation, sometimes");
  command
      .add_option("--as-published", request->as_published,
                  "What is printed instead, by name (default: the first reading)")
      .bare_value("*");
  command.add_option("--without", request->without, "The algorithm without one of its rules");
  command.add_option("--max-states", request->max_states, "Give up beyond").capture_default_str();
  command.add_option("--memory", request->memory_gib, "Give up beyond, in GiB")
      .capture_default_str();
  command.add_flag("--json", request->json, "Print JSON");
  request->trace.add_to(
      command, "Write the counterexample to this file, as JSON Lines ('-': standard output)");
  request->trace.add_states_to(command);
  command.footer(
      "\nExamples:\n"
      "  turno check naimi-trehel --nodes 4 --requests 1 --topology line\n"
      "  turno check nxr --nodes 5 --topology all\n"
      "  turno check nxr-bh --nodes 4 --forever\n"
      "  turno check nxr --as-published kept-on-exit --nodes 2 --requests 2 --open\n"
      "  turno check maekawa --as-published --nodes 5 --quorums 034,134,234,34,34 --requesters "
      "0-2\n"
      "\nExit status: 0 it holds, 1 it is violated, 2 a limit was reached.\n");
  command.callback([&job, request, command] {
    request->nodes_given = command.option("--nodes").given();
    request->about_users = command.given(
        {"--requests", "--forever", "--overlapping", "--requesters", "--holder", "--staying"});
    job = [request] { return run_check(*request); };
  });
}

}  // namespace turno::cli
