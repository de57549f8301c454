// The numbers of an experiment as text: CSV, JSON.
#pragma once

#include <string>

#include "core/text/json.h"
#include "lab/verdict.h"

namespace turno::lab {

// What came out, whole.
struct Results {
  const Experiment* experiment;
  Mode mode;
  std::vector<FigureValues> figures;
  Judgement simulated, real;  // real: not judged unless it was run

  [[nodiscard]] bool expected() const { return simulated.expected() && real.expected(); }
  // "reproduced", or with real processes "reproduced; on real processes: direction reproduced".
  [[nodiscard]] std::string verdicts() const;
  // The command that makes it again.
  [[nodiscard]] std::string command() const;
};

Results results_of(const Experiment& experiment, const Mode& mode, const Finished& finished);

// One line a point: each curve, and half its 95 % interval.
std::string csv(const FigureValues& figure);
// One line a value of a run, in the order of the plan; times that runs took are not in it.
std::string runs_csv(const Experiment& experiment, const Mode& mode, const Finished& finished);
// All parameters, all values, all findings.
Json json(const Results& results);

// For people: as many digits as matter.
std::string number(double value);

}  // namespace turno::lab
