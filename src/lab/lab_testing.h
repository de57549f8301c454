// For tests: an experiment and its runs, without running anything.
#pragma once

#include "lab/verdict.h"

namespace turno::lab::testing {

inline const auto small = R"(experiment small
title  Two algorithms
source nowhere
seeds 2 quick 1
let entries = 100
let quick entries = 7

figure costs: Messages
x   nodes: 2 4 8
y   messages
paper printed "printed": 2 - 16
curve one "one" = messages of central --nodes {x} --entries {entries}
curve other "other" = messages - 1 of nxr --nodes {x} --entries {entries}
curve ratio = other / one
fit line = one to x
quick points 2 8
number one ~ printed within 10%: as printed
direction other < one: the other is cheaper
number line.r2 > 0.99: a straight line
)";

inline Experiment experiment(const std::string& text = small) {
  return parse_experiment("small.experiment", text);
}

// Each run counts what `count` says of its line.
template <class Count>
Finished run_all(const Experiment& experiment, const Mode& mode, Count count) {
  Finished finished;
  for (const auto& task : all_tasks(experiment, mode)) {
    Measured measured;
    measured.values["messages"] = count(task.line());
    finished[task.line()] = measured;
  }
  return finished;
}

// central sends twice as many messages as there are nodes.
inline double twice_the_nodes(const std::string& line) {
  return 2 * std::stod(line.substr(line.find("--nodes ") + 8));
}

}  // namespace turno::lab::testing
