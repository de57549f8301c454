#include "sim/distribution.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "sim/options.h"

namespace turno::sim {
namespace {

TEST(Duration, IsANumberAndAUnit) {
  EXPECT_EQ(parse_duration("10ms"), 10'000'000);
  EXPECT_EQ(parse_duration("1.5s"), 1'500'000'000);
  EXPECT_EQ(parse_duration("200us"), 200'000);
  EXPECT_EQ(parse_duration("7ns"), 7);
  EXPECT_EQ(parse_duration("2min"), 120'000'000'000);
  EXPECT_EQ(parse_duration("0"), 0);
}

std::string refusal(const std::string& text) {
  try {
    (void)parse_distribution(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Duration, ThatIsImpossibleIsRefusedWithWhatIsAllowed) {
  EXPECT_EQ(refusal("-3ms"), "'-3ms' is negative; a length of time is 0 or more");
  EXPECT_EQ(refusal("3"), "'3' has no unit; allowed are ns, us, ms, s, min");
  EXPECT_EQ(refusal("3parsec"),
            "'3parsec' has an unknown unit 'parsec'; allowed are ns, us, ms, s, min");
  EXPECT_EQ(refusal("soon"),
            "'soon' is not a length of time; write a number and a unit, as in 10ms");
  EXPECT_EQ(refusal(""), "'' is not a length of time; write a number and a unit, as in 10ms");
  EXPECT_EQ(refusal("nan s"), "'nan s' is negative; a length of time is 0 or more");
  EXPECT_EQ(refusal("1e300s"), "'1e300s' is too long; at most 30 years");
}

TEST(Distribution, ReadsWhatItWrites) {
  for (const auto* text : {"10ms", "uniform:0ms:100ms", "exp:5s", "1500us", "0ms"})
    EXPECT_EQ(parse_distribution(text).text(), text);
  EXPECT_EQ(parse_distribution("constant:3s").text(), "3s");
}

TEST(Distribution, ThatIsImpossibleIsRefused) {
  EXPECT_NE(refusal("uniform:5ms").find("needs two ends"), std::string::npos);
  EXPECT_NE(refusal("uniform:5ms:1ms").find("wrong way round"), std::string::npos);
  EXPECT_NE(refusal("gauss:5ms").find("is no distribution"), std::string::npos);
  EXPECT_NE(refusal("exp:").find("is not a length of time"), std::string::npos);
}

TEST(Distribution, HasTheMeanItSays) {
  Random random(6);
  for (const auto& distribution : {Distribution::constant(500), Distribution::uniform(100, 900),
                                   Distribution::exponential(500)}) {
    double sum = 0;
    for (int i = 0; i < 200'000; ++i) sum += static_cast<double>(distribution.draw(random));
    EXPECT_NEAR(sum / 200'000, 500, 5) << distribution.text();
    EXPECT_EQ(distribution.mean(), 500);
  }
}

TEST(Distribution, UniformReachesBothEnds) {
  Random random(6);
  const auto distribution = Distribution::uniform(3, 5);
  int seen[6] = {};
  for (int i = 0; i < 1000; ++i) ++seen[distribution.draw(random)];
  EXPECT_GT(seen[3], 250);
  EXPECT_GT(seen[5], 250);
  EXPECT_EQ(seen[3] + seen[4] + seen[5], 1000);
}

TEST(Arrivals, AreParsedAndRefused) {
  EXPECT_DOUBLE_EQ(parse_arrivals("poisson:0.5").rate, 0.5);
  EXPECT_EQ(parse_arrivals("poisson:0.5").text(), "poisson:0.5");
  EXPECT_EQ(parse_arrivals("closed:exp:2s").text(), "closed:exp:2s");
  for (const auto* bad :
       {"poisson:0", "poisson:-1", "poisson:x", "poisson", "poisson:1x", "closed:", "sometimes:1"})
    EXPECT_THROW(parse_arrivals(bad), std::invalid_argument) << bad;
}

}  // namespace
}  // namespace turno::sim
