// What a run has counted, as names and numbers.
#pragma once

#include <map>
#include <string>

#include "sim/options.h"

namespace turno::lab {

struct Measured {
  std::map<std::string, double> values;
  std::string violation;  // empty: exclusion, fences and progress held
  double seconds = 0;     // that it took
};

Measured measure(const sim::Result& result);

// NaN: no run has such a value. What is counted by intervals is 0 where a run has ended before.
double value_of(const Measured& measured, const std::string& name);

}  // namespace turno::lab
