#include "lab/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/usage_error.h"

namespace turno::lab {
namespace {

double value(const std::string& text) {
  return Expression::parse(text).value([](const std::string& of, const std::string& name) {
    if (of == "last") return 100.0;
    return name == "x" ? 4.0 : name == "messages.tree" ? 7.0 : 1.0;
  });
}

TEST(Expression, ReckonsAsWritten) {
  EXPECT_DOUBLE_EQ(value("3*(x-1)/x"), 2.25);
  EXPECT_DOUBLE_EQ(value("1 + 2 * 3 - 4 / 2"), 5);
  EXPECT_DOUBLE_EQ(value("10 - 2 - 3"), 5);
  EXPECT_DOUBLE_EQ(value("-x + 5"), 1);
  EXPECT_DOUBLE_EQ(value("messages.tree + last(x)"), 107);
  EXPECT_DOUBLE_EQ(value("log2(x) + sqrt(x) + max(1, abs(-2)) + min(3, x)"), 9);
}

TEST(Expression, KnowsHarmonicNumbers) {
  EXPECT_DOUBLE_EQ(value("H(x - 1)"), 1 + 1.0 / 2 + 1.0 / 3);
  EXPECT_NEAR(harmonic(1e6 + 1), harmonic(1e6), 1.1e-6) << "the formula continues the sum";
}

TEST(Expression, HasNoValueWhereNothingCanBeDivided) {
  EXPECT_TRUE(std::isnan(value("1 / (x - 4)")));
}

TEST(Expression, RefusesWhatItDoesNotUnderstand) {
  for (const auto* text : {"", "1 +", "(1", "1 2", "sin(x)", "max(1)", "log2(1, 2)", "a b", "#"})
    EXPECT_THROW(Expression::parse(text), UsageError) << text;
}

TEST(Expression, NamesItsNames) {
  std::vector<std::string> names;
  Expression::parse("real(grid) / grid - x")
      .each_name([&](const std::string& of, const std::string& name) {
        names.push_back(of + ":" + name);
      });
  EXPECT_EQ(names, (std::vector<std::string>{"real:grid", ":grid", ":x"}));
}

}  // namespace
}  // namespace turno::lab
