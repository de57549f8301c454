// Runs an experiment and writes down what came of it.
#pragma once

#include <string>
#include <vector>

#include "cli/experiments/workers.h"
#include "lab/experiment.h"
#include "lab/report.h"

namespace turno::cli {

struct Conditions {
  lab::Mode mode;
  std::size_t jobs = 1;
  std::string results = "results";
  bool figures = true;  // drawn, if gnuplot is there
  Executors run;
};

class Laboratory {
 public:
  explicit Laboratory(Conditions conditions);

  // `time` names the folder, or is empty: then the latest one is gone on with if it was not
  // finished. `place` is for the progress: ", 3 of 16".
  lab::Reported run(const lab::Experiment& experiment, const std::string& time,
                    const std::string& place);
  // The folder of the last one.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // By what, where, when.
  [[nodiscard]] std::string made() const;

 private:
  void run_tasks(const lab::Experiment& experiment, const std::string& place,
                 class ResultFolder& folder, lab::Finished& finished);

  Conditions conditions_;
  std::string gnuplot_, folder_;
};

// All that is built in, or a file of the user's if the name has a slash or ends in .experiment.
// Throws UsageError.
lab::Experiment find_experiment(const std::string& name);
std::vector<lab::Experiment> all_experiments();

}  // namespace turno::cli
