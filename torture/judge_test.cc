#include "judge.h"

#include <gtest/gtest.h>

namespace turno::torture {
namespace {

TEST(Judge, AcceptsHoldsThatFollowEachOther) {
  const auto verdict = judge({{.client = 1, .fence = 2, .asked = 5, .granted = 20, .ended = 30},
                              {.client = 0, .fence = 1, .granted = 10, .ended = 20},
                              {.client = 0, .lock = 1, .fence = 1, .granted = 15, .ended = 40}});
  EXPECT_TRUE(verdict.violations.empty());
  EXPECT_EQ(verdict.holds, 3U);
  EXPECT_EQ(verdict.hand_overs, 1U);
  EXPECT_EQ(verdict.longest_wait, 15);
}

TEST(Judge, SeesTwoAtOnce) {
  const auto verdict = judge({{.client = 0, .fence = 1, .granted = 10, .ended = 21},
                              {.client = 1, .fence = 2, .granted = 20, .ended = 30}});
  ASSERT_EQ(verdict.violations.size(), 1U);
  EXPECT_NE(verdict.violations[0].find("at once"), std::string::npos);
}

TEST(Judge, SeesAFenceThatDoesNotGrow) {
  for (const std::uint64_t later : {1U, 2U}) {
    const auto verdict = judge({{.client = 0, .fence = 2, .granted = 10, .ended = 20},
                                {.client = 0, .fence = later, .granted = 20, .ended = 30}});
    ASSERT_EQ(verdict.violations.size(), 1U);
    EXPECT_NE(verdict.violations[0].find("went back"), std::string::npos);
  }
}

}  // namespace
}  // namespace turno::torture
