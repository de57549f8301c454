// Reads what all processes wrote, in the order of time, and judges it as the simulator judges its
// own events: with the same monitors, counted in the same way.
#pragma once

#include <string>
#include <vector>

#include "field/actor.h"
#include "field/record.h"
#include "sim/options.h"

namespace turno::field {

struct Verdict {
  sim::Result result;
  double lag_mean_ms = 0, lag_p99_ms = 0, lag_max_ms = 0;
  bool finished = false;  // it has what was asked for
};

// The records are those of all processes, in any order, but each process's in its own. The trace
// of the options is written.
Verdict judge(const Cast& cast, const sim::Options& options, std::vector<Record> records);

}  // namespace turno::field
