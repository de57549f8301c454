#include "core/random.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace turno {
namespace {

std::vector<std::uint64_t> draw(std::uint64_t seed, int count) {
  Random random(seed);
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(random.next());
  return numbers;
}

// Computed with another program from the authors' description of xoshiro256** and splitmix64.
TEST(Random, DrawsThePublishedSequence) {
  EXPECT_EQ(draw(0, 4), (std::vector<std::uint64_t>{11091344671253066420U, 13793997310169335082U,
                                                    1900383378846508768U, 7684712102626143532U}));
  EXPECT_EQ(draw(1, 4), (std::vector<std::uint64_t>{12966619160104079557U, 9600361134598540522U,
                                                    10590380919521690900U, 7218738570589545383U}));
  EXPECT_EQ(draw(42, 4),
            (std::vector<std::uint64_t>{1546998764402558742U, 6990951692964543102U,
                                        12544586762248559009U, 17057574109182124193U}));
}

TEST(Random, DrawsTheSameForTheSameSeedAndAnotherForAnother) {
  EXPECT_EQ(draw(7, 100), draw(7, 100));
  EXPECT_NE(draw(7, 100), draw(8, 100));
}

TEST(Random, ContinuesAlikeInACopy) {
  Random original(3);
  original.next();
  auto copy = original;
  EXPECT_EQ(original.next(), copy.next());
}

TEST(Random, DrawsBelowABound) {
  Random random(1);
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 10; ++i) drawn.push_back(random.below(10));
  EXPECT_EQ(drawn, (std::vector<std::uint64_t>{7, 5, 5, 3, 6, 1, 0, 3, 8, 5}));
}

RC_GTEST_PROP(Random, NeverDrawsTheBoundItself, (std::uint64_t seed)) {
  const auto bound = *rc::gen::inRange<std::uint64_t>(1, ~std::uint64_t{0});
  Random random(seed);
  for (int i = 0; i < 100; ++i) RC_ASSERT(random.below(bound) < bound);
}

TEST(Random, DrawsEachNumberBelowABoundEquallyOften) {
  Random random(5);
  std::array<int, 6> count{};
  constexpr int draws = 600'000;
  for (int i = 0; i < draws; ++i) ++count.at(random.below(6));
  // Six standard deviations of a binomial with p = 1/6.
  for (auto times : count) EXPECT_NEAR(times, draws / 6.0, 6 * std::sqrt(draws * 5.0 / 36.0));
}

TEST(Random, DrawsExponentialsOfMeanOne) {
  Random random(9);
  double sum = 0, squares = 0;
  constexpr int draws = 1'000'000;
  int beyond_one = 0;
  for (int i = 0; i < draws; ++i) {
    const auto x = random.exponential();
    ASSERT_GE(x, 0);
    sum += x;
    squares += x * x;
    beyond_one += x > 1 ? 1 : 0;
  }
  EXPECT_NEAR(sum / draws, 1.0, 0.006);
  EXPECT_NEAR(squares / draws, 2.0, 0.03);
  EXPECT_NEAR(static_cast<double>(beyond_one) / draws, std::exp(-1.0), 0.003);
}

void expect_like_the_library(std::uint64_t numerator) {
  const auto expected = -std::log(std::ldexp(static_cast<double>(numerator), -53));
  EXPECT_NEAR(negative_log_of_fraction(numerator), expected, 1e-14 * expected)
      << "at " << numerator;
}

TEST(NegativeLog, AgreesWithTheLibrary) {
  constexpr std::uint64_t whole = std::uint64_t{1} << 53;
  for (int bit = 0; bit < 53; ++bit) {
    const auto power = std::uint64_t{1} << bit;
    for (auto numerator : {power, power + 1, power + power / 3, power + power / 2})
      expect_like_the_library(numerator);
  }
  // Near one the logarithm vanishes, and near the square root of two the formula changes.
  for (std::uint64_t i = 1; i < 1000; ++i) expect_like_the_library(whole - i);
  const auto seam = static_cast<std::uint64_t>(std::ldexp(std::sqrt(0.5), 53));
  for (auto i = seam - 500; i < seam + 500; ++i) expect_like_the_library(i);
  EXPECT_EQ(negative_log_of_fraction(whole), 0);
}

// To the last bit, so that a simulation gives the same digest on every machine.
TEST(NegativeLog, IsTheSameEverywhere) {
  EXPECT_EQ(negative_log_of_fraction(1), 0x1.25e4f7b2737fap+5);
  EXPECT_EQ(negative_log_of_fraction(1'234'567'890'123'456), 0x1.fcbfe63f03841p+0);
  EXPECT_EQ(negative_log_of_fraction(6'369'051'672'525'772), 0x1.62e42fefa39f1p-2);
  EXPECT_EQ(negative_log_of_fraction(6'369'051'672'525'773), 0x1.62e42fefa39edp-2);
  EXPECT_EQ(negative_log_of_fraction(9'007'199'254'740'991), 0x1p-53);
}

TEST(NegativeLog, AgreesWithTheLibraryAtRandomPoints) {
  Random random(11);
  for (int i = 0; i < 100'000; ++i) expect_like_the_library((random.next() >> 11) + 1);
}

}  // namespace
}  // namespace turno
