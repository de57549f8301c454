#include "cli/experiments/lab_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "catalogue/catalogue.h"
#include "cli/experiments/folder.h"
#include "cli/experiments/laboratory.h"
#include "cli/frame/lab_program.h"
#include "cli/frame/output_file.h"
#include "cli/frame/suggestion.h"
#include "cli/frame/table.h"
#include "core/usage_error.h"

namespace turno::cli {

namespace {

struct Request {
  std::string name;
  bool quick = false, real = false, json = false, commands = false, no_figures = false;
  std::uint64_t jobs = 0;
  std::string results = "results", without;
  std::vector<std::string> replace;
};

lab::Sabotage sabotage(const Request& request) {
  lab::Sabotage sabotage{.without = request.without};
  for (const auto& each : request.replace) {
    const auto equals = each.find('=');
    if (equals == std::string::npos) throw UsageError("--replace is as in --replace nxr=raymond");
    for (const auto& name : {each.substr(0, equals), each.substr(equals + 1)})
      if (find_algorithm(name) == nullptr) throw UsageError("there is no algorithm " + name);
    sabotage.by[each.substr(0, equals)] = each.substr(equals + 1);
  }
  if (request.without.empty()) return sabotage;
  std::vector<std::string> rules;
  for (const auto& wrong : refutable()) {
    if (wrong.published) continue;
    rules.emplace_back(wrong.departure->name);
    if (request.without == wrong.departure->name)
      sabotage.without_it.emplace_back(wrong.algorithm->info.name);
  }
  if (sabotage.without_it.empty()) unknown("rule", request.without, rules);
  return sabotage;
}

Conditions conditions(const Request& request, const Executors& run) {
  Conditions conditions{.mode = {request.quick, request.real, sabotage(request)},
                        .jobs = request.jobs,
                        .results = request.results,
                        .figures = !request.no_figures,
                        .run = run};
  if (conditions.jobs == 0)
    conditions.jobs = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  if (conditions.jobs > 1024) throw UsageError("--jobs is 1 to 1024");
  return conditions;
}

std::string how_many(const lab::Finding& finding) {
  return finding.met == finding.of ? fmt::format("{}", finding.of)
                                   : fmt::format("{} of {}", finding.met, finding.of);
}

void print(const lab::Judgement& judgement, std::string_view where) {
  if (judgement.verdict == lab::Verdict::not_judged) return;
  fmt::print("\n  {}: {}\n", where, name(judgement.verdict));
  if (!judgement.violation.empty()) fmt::print("    VIOLATED: {}\n", judgement.violation);
  for (const auto& finding : judgement.findings) {
    if (!finding.judged()) continue;
    fmt::print("    {} {}\n", finding.holds() ? "met    " : "NOT MET", finding.claim->text);
    fmt::print("            {}: {}, at {} points; worst at {}\n", finding.figure->name,
               finding.claim->condition, how_many(finding), finding.detail);
    if (!finding.holds() && !finding.claim->because.empty())
      fmt::print("            why: {}\n", finding.claim->because);
    if (!finding.expected())
      fmt::print("            CHANGED: this was {} before\n", finding.holds() ? "not met" : "met");
  }
}

void print(const lab::FigureValues& figure) {
  std::vector<std::string> header = {figure.figure->x.label};
  for (const auto& curve : figure.curves) {
    const auto& label = curve.curve->label.empty() ? curve.curve->name : curve.curve->label;
    header.push_back(label);
    if (!curve.real.empty()) header.push_back(label + ", real");
  }
  Table table(header);
  for (const auto i : figure.points) {
    std::vector<std::string> row = {figure.figure->points[i].label};
    for (const auto& curve : figure.curves) {
      row.push_back(lab::number(curve.at[i].mean));
      if (!curve.real.empty()) row.push_back(lab::number(curve.real[i].mean));
    }
    table.add(row);
  }
  fmt::print("\n{}, {}\n\n{}", figure.figure->title, figure.figure->y.label, table.text());
}

int list(const Request& request) {
  const auto all = all_experiments();
  if (request.json) {
    std::vector<Json> entries;
    entries.reserve(all.size());
    for (const auto& one : all)
      entries.push_back(Json()
                            .add("name", one.name)
                            .add("title", one.title)
                            .add("source", one.source)
                            .add("figures", one.figures.size())
                            .add("runs", lab::all_tasks(one, {}).size())
                            .add("quick_runs", lab::all_tasks(one, {.quick = true}).size())
                            .add("real", one.has_real()));
    fmt::print("{}\n", Json().add("experiments", entries).text());
    return 0;
  }
  Table table({"experiment", "what", "runs", "quick", "--real"});
  for (const auto& one : all)
    table.add({one.name, one.title, std::to_string(lab::all_tasks(one, {}).size()),
               std::to_string(lab::all_tasks(one, {.quick = true}).size()),
               one.has_real() ? "yes" : ""});
  fmt::print("{}", table.text());
  return 0;
}

int show(const Request& request) {
  const auto experiment = find_experiment(request.name);
  if (!request.commands) {
    fmt::print("{}", experiment.text);
    return 0;
  }
  for (const auto& task : lab::all_tasks(experiment, {request.quick, request.real, {}}))
    fmt::print("turno {}\n", task.line());
  return 0;
}

int run_one(const Request& request, const Executors& run) {
  const auto experiment = find_experiment(request.name);
  if (request.real && !experiment.has_real())
    throw UsageError(experiment.name + " has nothing for real processes");
  const auto given = conditions(request, run);
  if (!given.mode.sabotage.empty() &&
      lab::all_tasks(experiment, given.mode) ==
          lab::all_tasks(experiment, {request.quick, request.real, {}}))
    throw UsageError(experiment.name + " runs no algorithm that this is about");
  Laboratory laboratory(given);
  const auto reported = laboratory.run(experiment, "", "");
  const auto& results = reported.results;
  if (request.json) {
    fmt::print("{}",
               read_file(std::filesystem::path(laboratory.folder()) / ResultFolder::result_name));
  } else {
    fmt::print("{}: {}\n", experiment.name, experiment.title);
    for (const auto& figure : results.figures) print(figure);
    print(results.simulated, "simulated");
    print(results.real, "on real processes");
    fmt::print("\n  {}/report.html\n", laboratory.folder());
  }
  return results.expected() ? 0 : exit_violated;
}

// All of one time, so that after a kill all go on.
std::string common_time(const std::filesystem::path& results, const std::string& made_by) {
  const auto mark = results / "unfinished";
  const auto text = read_file(mark);
  const auto end = text.find('\n');
  if (end != std::string::npos && text.substr(end + 1) == made_by) return text.substr(0, end);
  std::filesystem::create_directories(results);
  auto time = time_now();
  OutputFile file(mark.string());
  file.write(time + "\n" + made_by);
  file.commit();
  return time;
}

int run_all_experiments(const Request& request, const Executors& run) {
  const auto given = conditions(request, run);
  const auto time = common_time(
      request.results, fmt::format("{} {} {} {} {}", this_program(), request.quick, request.real,
                                   request.without, fmt::join(request.replace, " ")));
  Laboratory laboratory(given);
  const auto experiments = all_experiments();
  std::vector<lab::Reported> all;
  bool expected = true;
  std::size_t number = 0;
  for (const auto& experiment : experiments) {
    ++number;
    if (request.real && !experiment.has_real()) continue;
    all.push_back(
        laboratory.run(experiment, time, fmt::format(", {} of {}", number, experiments.size())));
    const auto& results = all.back().results;
    expected = expected && results.expected();
    const auto verdict =
        fmt::format("{}{}", results.verdicts(), results.expected() ? "" : "  CHANGED");
    if (!request.json) fmt::print("{:<24} {}\n", experiment.name, verdict);
    std::fflush(stdout);
  }
  const std::filesystem::path results = request.results;
  OutputFile report((results / "report.html").string());
  report.write(lab::report(all, laboratory.made()));
  report.commit();
  std::filesystem::remove(results / "unfinished");
  if (request.json) {
    std::vector<Json> entries;
    entries.reserve(all.size());
    for (const auto& one : all) entries.push_back(lab::json(one.results));
    fmt::print("{}\n", Json().add("experiments", entries).text());
  } else {
    fmt::print("\n{}\n", (results / "report.html").string());
  }
  return expected ? 0 : exit_violated;
}

void add_conditions(Command command, Request& request) {
  command.add_flag("--quick", request.quick, "Few points, few seeds, few entries: a test");
  command.add_flag("--real", request.real, "On real processes too, where the experiment says how");
  command.add_option("--jobs,-j", request.jobs, "Simulations at a time (default: one a processor)");
  command.add_option("--results", request.results, "The folder that results are written into")
      .capture_default_str();
  command.add_flag("--no-figures", request.no_figures, "Do not draw");
  command.add_option("--without", request.without,
                     "Take this rule away from the algorithms that have it: a wrong algorithm must "
                     "be noticed");
  command.add_option("--replace", request.replace, "One algorithm by another, as in nxr=raymond")
      .repeatable();
  command.add_flag("--json", request.json, "Print JSON");
}

}  // namespace

void add_lab(Command app, Job& job, const Executors& run) {
  auto lab = add_lab_command(app, "lab");
  auto request = std::make_shared<Request>();

  auto list_command = lab.add_subcommand("list", "List the experiments");
  list_command.add_flag("--json", request->json, "Print JSON");
  list_command.callback([&job, request] { job = [request] { return list(*request); }; });

  auto show_command = lab.add_subcommand("show", "Print an experiment as it is written");
  show_command.add_option("NAME", request->name, "See 'turno lab list'; or a file").required();
  show_command.add_flag("--commands", request->commands, "Print every run as a command instead");
  show_command.add_flag("--quick", request->quick, "Those of --quick");
  show_command.add_flag("--real", request->real, "Those of --real too");
  show_command.callback([&job, request] { job = [request] { return show(*request); }; });

  auto run_command = lab.add_subcommand("run", "Run an experiment and judge it");
  run_command.add_option("NAME", request->name, "See 'turno lab list'; or a file").required();
  add_conditions(run_command, *request);
  run_command.callback(
      [&job, request, run] { job = [request, run] { return run_one(*request, run); }; });

  auto all_command = lab.add_subcommand("all", "Run all experiments and judge them");
  add_conditions(all_command, *request);
  all_command.callback([&job, request, run] {
    job = [request, run] { return run_all_experiments(*request, run); };
  });

  lab.footer(
      "\nResults are in results/NAME/TIME, the newest also as results/NAME/latest: report.html, "
      "figures,\n"
      "CSV, JSON. A run that was killed goes on where it was. docs/lab.md tells how experiments "
      "are\n"
      "written; `turno lab show NAME > my.experiment` is a beginning of your own.\n"
      "\nExamples:\n"
      "  turno lab list\n"
      "  turno lab run nxr-messages --quick\n"
      "  turno lab run grid-5.3 --real\n"
      "  turno lab run nxr-sizes --quick --replace nxr=raymond      must not be reproduced\n"
      "  turno lab all --jobs 2\n"
      "\nExit status: 0 if everything came out as the experiments expect, 1 if not.\n");
  lab.callback([lab] {
    if (!lab.subcommand_chosen())
      throw UsageError("what of the lab? list, show NAME, run NAME or all");
  });
}

}  // namespace turno::cli
