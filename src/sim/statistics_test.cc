#include "sim/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/random.h"
#include "sim/histogram.h"

namespace turno::sim {
namespace {

TEST(Estimate, OfKnownValues) {
  const std::vector<double> values = {1, 2, 3, 4};
  const auto result = estimate(values);
  EXPECT_DOUBLE_EQ(result.mean, 2.5);
  EXPECT_NEAR(result.deviation, 1.2909944, 1e-6);
  EXPECT_NEAR(result.ci95, 3.182 * 1.2909944 / 2, 1e-3);
}

TEST(Estimate, OfOneValueSaysNothingAboutItsError) {
  const std::vector<double> values = {7};
  EXPECT_DOUBLE_EQ(estimate(values).mean, 7);
  EXPECT_DOUBLE_EQ(estimate(values).ci95, 0);
}

// Ninety-five of a hundred intervals contain the truth.
TEST(Estimate, CoversTheTruthNinetyFiveTimesInAHundred) {
  Random random(9);
  for (const std::size_t n : {3UL, 10UL, 50UL}) {
    int covered = 0;
    constexpr int rounds = 4000;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> values(n);
      for (auto& value : values) {
        value = 0;  // nearly normal, with mean 6
        for (int i = 0; i < 12; ++i)
          value += static_cast<double>(random.below(1 << 20)) / (1 << 20);
      }
      const auto result = estimate(values);
      if (result.mean - result.ci95 <= 6 && 6 <= result.mean + result.ci95) ++covered;
    }
    EXPECT_NEAR(covered / static_cast<double>(rounds), 0.95, 0.015) << n << " values";
  }
}

TEST(Histogram, AgreesWithASortedList) {
  Random random(4);
  Histogram histogram;
  std::vector<Time> values;
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    values.push_back(static_cast<Time>(random.below(std::uint64_t{1} << random.below(45))));
    histogram.add(values.back());
    sum += static_cast<double>(values.back());
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.max(), values.back());
  EXPECT_NEAR(histogram.mean(), sum / 10'000, 1e-6 * sum);
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(values[static_cast<std::size_t>(q * 10'000)]);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(q)), exact, 0.01 * exact + 1) << q;
  }
}

TEST(Histogram, OfNothingIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_EQ(histogram.mean(), 0);
}

}  // namespace
}  // namespace turno::sim
