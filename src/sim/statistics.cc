#include "sim/statistics.h"

#include <array>
#include <cmath>

namespace turno::sim {

namespace {

// The 97.5 % quantile of Student's t for 1, 2, ... degrees of freedom.
constexpr std::array quantiles = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                  2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                  2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                  2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

double student(std::size_t degrees) {
  if (degrees <= quantiles.size()) return quantiles[degrees - 1];
  const auto d = static_cast<double>(degrees);
  return 1.95996 + 2.3719 / d + 2.82 / (d * d);  // exact to 0.001 beyond the table
}

}  // namespace

Estimate estimate(std::span<const double> values) {
  Estimate result;
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return result;
  for (auto value : values) result.mean += value / n;
  if (values.size() < 2) return result;
  double squares = 0;
  for (auto value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(squares / (n - 1));
  result.ci95 = student(values.size() - 1) * result.deviation / std::sqrt(n);
  return result;
}

}  // namespace turno::sim
