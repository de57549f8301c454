// The mean of some repetitions and how far it may be off.
#pragma once

#include <span>

namespace turno::sim {

struct Estimate {
  double mean = 0;
  double deviation = 0;  // standard deviation of one repetition
  double ci95 = 0;       // the true mean is within mean +- ci95 with 95 % confidence (Student's t)
};

Estimate estimate(std::span<const double> values);

}  // namespace turno::sim
