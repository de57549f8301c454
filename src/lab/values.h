// The numbers of an experiment: what is to be run, and what comes of it for each curve and point.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/experiment.h"
#include "lab/measures.h"

namespace turno::lab {

// One run: the words after `turno sim` or `turno run`, with the seed.
struct Task {
  std::string command;
  bool real = false;

  // As a user would type it; also what names the run in the log.
  [[nodiscard]] std::string line() const { return (real ? "run " : "sim ") + command; }
  static Task of(const std::string& line) { return {line.substr(4), line.starts_with("run ")}; }
  bool operator==(const Task&) const = default;
};

// A wrong algorithm put in the place of a right one, to see that it is noticed.
struct Sabotage {
  std::string without;                    // a rule, of the algorithms that have it
  std::vector<std::string> without_it;    // these
  std::map<std::string, std::string> by;  // one algorithm by another
  [[nodiscard]] std::string apply(const std::string& command) const;
  [[nodiscard]] bool empty() const { return without.empty() && by.empty(); }
};

// How an experiment is run.
struct Mode {
  bool quick = false, real = false;
  Sabotage sabotage;
};

// The runs of a measured curve at a point, one a seed.
std::vector<Task> tasks_of(const Experiment& experiment, const Curve& curve, const Point& point,
                           bool real, const Mode& mode);
// All, each once; first those of the first seed.
std::vector<Task> all_tasks(const Experiment& experiment, const Mode& mode);

struct Value {
  double mean = 0, ci95 = 0;  // NaN: there is none
  std::size_t runs = 0;
};

// How late the events of real runs happened: processes are woken when the machine has time.
struct Lag {
  double mean_ms = 0, p99_ms = 0, max_ms = 0;  // NaN: nothing was run
};

struct CurveValues {
  const Curve* curve;
  std::vector<Value> at;        // each point, simulated
  std::vector<Value> real;      // on real processes; empty: it was not run so
  std::vector<Lag> lag;         // of those runs; only if it was measured
  double a = 0, b = 0, r2 = 0;  // of a fit
};

struct FigureValues {
  const Figure* figure;
  std::vector<std::size_t> points;  // those that were run
  std::vector<CurveValues> curves;

  [[nodiscard]] const CurveValues* find(const std::string& name) const;
  // Where a curve is also real, its real value, if `real`. NaN: there is none.
  [[nodiscard]] double value(const Expression& expression, std::size_t point, bool real) const;
};

using Finished = std::map<std::string, Measured>;  // by Task::line

// REQUIRES: all tasks are finished. Throws UsageError, with file and line.
std::vector<FigureValues> values_of(const Experiment& experiment, const Mode& mode,
                                    const Finished& finished);

}  // namespace turno::lab
