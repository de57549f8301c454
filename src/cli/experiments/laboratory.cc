#include "cli/experiments/laboratory.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/experiments/folder.h"
#include "cli/experiments/pictures.h"
#include "cli/experiments/run_line.h"
#include "cli/frame/progress.h"
#include "cli/frame/suggestion.h"
#include "core/usage_error.h"
#include "lab/shelf.h"

namespace turno::cli {

namespace {

namespace fs = std::filesystem;

std::string machine() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{} {} on {} processors of {}", name.sysname, name.release,
                     ::sysconf(_SC_NPROCESSORS_ONLN), name.machine);
}

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return fmt::format("{:.0f} min", seconds / 60);
}

// Runs that differ only in their seed take as long as each other.
std::string without_seed(const std::string& line) { return line.substr(0, line.rfind(" --seed ")); }

// How long what is left will take, by what is done.
class Forecast {
 public:
  void add(const std::string& line, double seconds) {
    auto& one = known_[without_seed(line)];
    one.first += seconds;
    one.second += 1;
    all_.first += seconds;
    all_.second += 1;
  }
  [[nodiscard]] double of(const std::string& line) const {
    const auto found = known_.find(without_seed(line));
    const auto& [seconds, count] = found == known_.end() ? all_ : found->second;
    return count == 0 ? 0 : seconds / count;
  }

 private:
  std::map<std::string, std::pair<double, double>> known_;
  std::pair<double, double> all_;
};

// That all can be run, before the first one is. They differ in nothing but the seed from the first.
void check(const std::vector<lab::Task>& tasks) {
  for (const auto& task : tasks)
    if (task.command.ends_with(" --seed 1")) check_task(task);
}

}  // namespace

Laboratory::Laboratory(Conditions conditions) : conditions_(std::move(conditions)) {
  if (conditions_.figures) gnuplot_ = find_gnuplot();
  if (conditions_.figures && gnuplot_.empty())
    fmt::print(stderr,
               "turno: gnuplot is not installed, so there will be numbers but no figures; "
               "'apt-get install gnuplot-nox' brings it, and 'make lab' does so too\n");
}

std::string Laboratory::made() const {
  return fmt::format("Made by {} on {}, {}.", this_program(), machine(), time_now());
}

void Laboratory::run_tasks(const lab::Experiment& experiment, const std::string& place,
                           ResultFolder& folder, lab::Finished& finished) {
  const auto tasks = lab::all_tasks(experiment, conditions_.mode);
  std::vector<lab::Task> simulated, real;
  Forecast forecast;
  for (const auto& task : tasks) {
    if (const auto found = finished.find(task.line()); found != finished.end())
      forecast.add(task.line(), found->second.seconds);
    else
      (task.real ? real : simulated).push_back(task);
  }
  auto left = simulated;
  left.insert(left.end(), real.begin(), real.end());
  const auto before = tasks.size() - left.size();
  if (before > 0 && !left.empty())
    fmt::print(stderr, "{}: {} of {} runs are there already, from {}\n", experiment.name, before,
               tasks.size(), folder.path().string());
  ProgressLine line;
  const auto show = [&] {
    double seconds = 0;
    for (const auto& task : left)
      seconds += forecast.of(task.line()) /
                 static_cast<double>(task.real ? 1 : std::max<std::size_t>(conditions_.jobs, 1));
    const auto done = tasks.size() - left.size();
    line.show(fmt::format("{} {} of {} runs{}  {}",
                          bar(static_cast<double>(done) / static_cast<double>(tasks.size())), done,
                          tasks.size(), done > 0 ? ", about " + duration(seconds) + " left" : "",
                          experiment.name + place));
  };
  if (line.visible() && !left.empty()) show();
  const auto done = [&](const lab::Task& task, const lab::Measured& measured) {
    folder.add(task.line(), measured);
    finished.emplace(task.line(), measured);
    forecast.add(task.line(), measured.seconds);
    std::erase(left, task);
    if (line.due()) show();
  };
  conditions_.run.simulated(simulated, conditions_.jobs, done);
  // Real processes have the machine for themselves.
  conditions_.run.real(real, 1, done);
  line.clear();
}

lab::Reported Laboratory::run(const lab::Experiment& experiment, const std::string& time,
                              const std::string& place) {
  const auto command = lab::Results{.experiment = &experiment, .mode = conditions_.mode}.command();
  const auto made_by = this_program() + ", " + command;
  check(lab::all_tasks(experiment, conditions_.mode));
  ResultFolder folder(conditions_.results, experiment.name, time, made_by);
  folder_ = folder.path().string();
  auto finished = folder.finished();
  run_tasks(experiment, place, folder, finished);

  lab::Reported reported{.results = lab::results_of(experiment, conditions_.mode, finished)};
  const auto& results = reported.results;
  if (!gnuplot_.empty()) reported.pictures = draw(gnuplot_, results.figures, folder);
  for (const auto& figure : results.figures)
    folder.write(figure.figure->name + ".csv", lab::csv(figure));
  folder.write("runs.csv", lab::runs_csv(experiment, conditions_.mode, finished));
  folder.write("report.html", lab::report({&reported, 1}, made()));
  auto json = lab::json(results);
  json.add("program", this_program())
      .add("compiler", __VERSION__)
      .add("machine", machine())
      .add("finished", time_now())
      .add("text", experiment.text);
  // Last: an experiment with it is finished.
  folder.write(ResultFolder::result_name, json.text() + "\n");
  return reported;
}

lab::Experiment find_experiment(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".experiment")) {
    if (!fs::is_regular_file(name)) throw UsageError("there is no file " + name);
    auto experiment = lab::parse_experiment(name, read_file(name));
    experiment.called = name;
    return experiment;
  }
  std::vector<std::string> known;
  for (const auto& one : lab::shelf()) {
    if (one.name == name)
      return lab::parse_experiment(std::string(one.name) + ".experiment", std::string(one.text));
    known.emplace_back(one.name);
  }
  unknown("experiment", name, known);
}

std::vector<lab::Experiment> all_experiments() {
  std::vector<lab::Experiment> all;
  for (const auto& one : lab::shelf()) all.push_back(find_experiment(std::string(one.name)));
  return all;
}

}  // namespace turno::cli
