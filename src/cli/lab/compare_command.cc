// turno compare: all lock algorithms on the same workloads, one table.
#include <fmt/core.h>

#include <cstdlib>
#include <memory>

#include "catalogue/catalogue.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/output_file.h"
#include "cli/frame/progress.h"
#include "cli/frame/suggestion.h"
#include "cli/frame/table.h"
#include "cli/lab/algorithm_choice.h"
#include "cli/lab/commands.h"
#include "cli/lab/options/system_options.h"
#include "cli/lab/options/workload_options.h"
#include "core/text/json.h"
#include "sim/statistics.h"

namespace turno::cli {

namespace {

struct Request {
  System system;
  Workload workload;
  std::vector<std::string> arrivals = {"poisson:0.5"};
  std::vector<std::string> only;
  std::uint64_t repeat = 1;
  std::string csv;
  bool check = false, json = false;
};

struct Measured {
  std::string arrivals;
  sim::Estimate messages, wait_ms, entries_per_second;
  std::string violation;
};

struct Row {
  const Algorithm* algorithm;
  std::string topology;
  double alone = -1;  // by formula; negative: there is none
  check::Result checked;
  std::vector<Measured> measured;
};

// --topology is for the algorithms that run on trees; the others have only one shape.
System system_for(const Info& info, const Request& request) {
  auto system = request.system;
  if (info.shape != Shape::tree) system.topology.clear();
  if (!info.voting) system.quorums.clear();
  if (info.name != "nxr-b") system.carry.reset();
  return system;
}

Measured measure(const Algorithm& algorithm, const Request& request, const std::string& arrivals) {
  auto workload = request.workload;
  workload.arrivals = arrivals;
  auto options = workload.options(request.system.nodes);
  options.fifo = algorithm.info.fifo;
  std::vector<double> messages, waits, throughput;
  Measured measured{.arrivals = arrivals};
  for (std::uint64_t i = 0; i < request.repeat; ++i) {
    auto system = system_for(algorithm.info, request);
    system.seed += i;
    options.seed = system.seed;
    options.setup = make_setup(algorithm.info, system);
    const auto result = algorithm.simulate(options);
    messages.push_back(result.messages_per_entry());
    waits.push_back(result.wait_mean_ms);
    throughput.push_back(result.entries_per_second());
    if (measured.violation.empty()) measured.violation = result.violation;
  }
  measured.messages = sim::estimate(messages);
  measured.wait_ms = sim::estimate(waits);
  measured.entries_per_second = sim::estimate(throughput);
  return measured;
}

// Three nodes with two requests each: every interleaving, in about a second for all algorithms.
check::Result check_small(const Info& info, const Algorithm& algorithm) {
  check::Options options;
  System system{.nodes = 3};
  options.setup = make_setup(info, system);
  options.requests = 2;
  options.channels = parse_channels("", info);
  return algorithm.check(options);
}

std::string number(const sim::Estimate& estimate, std::uint64_t repeat, int digits) {
  auto text = fmt::format("{:.{}f}", estimate.mean, digits);
  return repeat > 1 ? text + fmt::format(" +-{:.{}f}", estimate.ci95, digits) : text;
}

Table make_table(const std::vector<Row>& rows, const Request& request) {
  std::vector<std::string> header = {"algorithm", "topology"};
  if (request.check) header.insert(header.end(), {"checked 3x2", "states"});
  header.insert(header.end(), {"alone, formula", "= messages"});
  for (const auto& arrivals : request.arrivals)
    header.insert(header.end(), {"messages " + arrivals, "wait ms", "entries/s"});
  Table table(header);
  for (const auto& row : rows) {
    const auto& info = row.algorithm->info;
    std::vector<std::string> cells = {std::string(info.name), row.topology};
    if (request.check) {
      cells.emplace_back(name(row.checked.verdict));
      cells.push_back(std::to_string(row.checked.states));
    }
    cells.emplace_back(info.low);
    cells.push_back(row.alone < 0 ? "" : fmt::format("{:.3f}", row.alone));
    for (const auto& measured : row.measured) {
      cells.push_back(number(measured.messages, request.repeat, 3));
      cells.push_back(number(measured.wait_ms, request.repeat, 1));
      cells.push_back(fmt::format("{:.3g}", measured.entries_per_second.mean));
    }
    table.add(cells);
  }
  return table;
}

void print_json(const std::vector<Row>& rows, const Request& request) {
  std::vector<Json> list;
  for (const auto& row : rows) {
    Json json;
    json.add("algorithm", row.algorithm->info.name).add("topology", row.topology);
    json.add("formula", row.algorithm->info.low);
    if (row.alone >= 0) json.add("messages_alone", row.alone);
    if (request.check)
      json.add("verdict", name(row.checked.verdict)).add("states", row.checked.states);
    std::vector<Json> workloads;
    for (const auto& measured : row.measured)
      workloads.push_back(Json()
                              .add("arrivals", measured.arrivals)
                              .add("messages_per_entry", measured.messages.mean)
                              .add("messages_per_entry_ci95", measured.messages.ci95)
                              .add("wait_ms", measured.wait_ms.mean)
                              .add("wait_ms_ci95", measured.wait_ms.ci95)
                              .add("entries_per_second", measured.entries_per_second.mean)
                              .add("violation", measured.violation));
    list.push_back(json.add("workloads", workloads));
  }
  fmt::print("{}\n", Json()
                         .add("nodes", request.system.nodes)
                         .add("entries", request.workload.entries)
                         .add("hold", request.workload.hold)
                         .add("delay", request.workload.delay)
                         .add("busy", request.workload.busy)
                         .add("seed", request.system.seed)
                         .add("repeat", request.repeat)
                         .add("algorithms", list)
                         .text());
}

int compare(const Request& request) {
  if (request.repeat < 1) throw UsageError("--repeat is 1 or more");
  std::vector<const Algorithm*> chosen;
  for (const auto& name : request.only) chosen.push_back(&require_lock(name));
  if (chosen.empty())
    for (const auto& algorithm : locks()) chosen.push_back(&algorithm);

  ProgressLine line;
  std::vector<Row> rows;
  bool good = true;
  for (const auto* algorithm : chosen) {
    const auto& info = algorithm->info;
    line.show(fmt::format(
        "{} {} {}", bar(static_cast<double>(rows.size()) / static_cast<double>(chosen.size())),
        rows.size(), info.name));
    const auto system = system_for(info, request);
    Row row{.algorithm = algorithm,
            .topology =
                system.topology.empty() ? std::string(default_topology(info)) : system.topology};
    const auto setup = make_setup(info, system);
    if (algorithm->alone != nullptr) row.alone = algorithm->alone(setup);
    if (request.check) {
      row.checked = check_small(info, *algorithm);
      good = good && row.checked.verdict == check::Verdict::holds;
    }
    for (const auto& arrivals : request.arrivals) {
      row.measured.push_back(measure(*algorithm, request, arrivals));
      good = good && row.measured.back().violation.empty();
    }
    rows.push_back(std::move(row));
  }
  line.clear();
  const auto table = make_table(rows, request);
  if (!request.csv.empty()) {
    OutputFile file(request.csv);
    file.write(table.csv());
    file.commit();
  }
  if (request.csv == "-") return good ? 0 : exit_violated;
  if (request.json) {
    print_json(rows, request);
  } else {
    fmt::print("{} nodes, {} entries, hold {}, delay {}{}\n\n{}", request.system.nodes,
               request.workload.entries, request.workload.hold, request.workload.delay,
               request.repeat > 1 ? fmt::format(", {} runs, 95 % confidence", request.repeat) : "",
               table.text());
    for (const auto& row : rows)
      for (const auto& measured : row.measured)
        if (!measured.violation.empty())
          fmt::print("VIOLATED: {} with {}: {}\n", row.algorithm->info.name, measured.arrivals,
                     measured.violation);
  }
  return good ? 0 : exit_violated;
}

}  // namespace

void add_compare(Command app, Job& job) {
  auto command = add_lab_command(app, "compare");
  auto request = std::make_shared<Request>();
  command.add_option("ALGORITHM", request->only, "Only these (default: all)");
  add_system_options(command, request->system);
  request->workload.add_to(command);
  command.remove_option("--arrivals");
  command
      .add_option("--arrivals", request->arrivals,
                  "poisson:R or closed:THINK; give several for several columns")
      .repeatable()
      .default_str("poisson:0.5");
  command.add_option("--seed", request->system.seed, "Draws everything")
      .capture_default_str()
      .non_negative();
  command.add_option("--repeat", request->repeat, "Runs, for 95 % confidence intervals")
      .capture_default_str();
  command.add_flag("--check", request->check,
                   "Also explore every interleaving of 3 nodes with 2 requests each");
  command.add_option("--csv", request->csv, "Write the table to this file ('-': standard output)");
  command.add_flag("--json", request->json, "Print JSON");
  command.footer(
      "\nExamples:\n"
      "  turno compare --nodes 31 --arrivals poisson:0.01 --arrivals poisson:1\n"
      "  turno compare nxr naimi-trehel raymond --topology star --repeat 10 --csv star.csv\n"
      "  turno compare --check\n"
      "\nExit status: 0, or 1 if an algorithm violated exclusion, fences or progress.\n");
  command.callback([&job, request] { job = [request] { return compare(*request); }; });
}

}  // namespace turno::cli
