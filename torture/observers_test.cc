#include "observers.h"

#include <gtest/gtest.h>

namespace turno::torture {
namespace {

const std::vector<Hold> reigns = {{.client = 4, .lock = 1, .fence = 10},
                                  {.client = 5, .lock = 1, .fence = 12}};

News leader(std::uint64_t term, std::string value) {
  return {.connection = 1, .election = 1, .term = term, .leads = true, .value = std::move(value)};
}
News nobody_after(std::uint64_t term) { return {.connection = 1, .election = 1, .term = term}; }

TEST(JudgeNews, AcceptsThatTermsGoForward) {
  // The same again: it has moved. 11 led for a moment only and noted nothing.
  EXPECT_TRUE(judge_news({leader(10, "4"), nobody_after(10), leader(10, "4"), leader(11, "9"),
                          leader(12, "5"), nobody_after(12)},
                         reigns)
                  .empty());
}

TEST(JudgeNews, SeesATermThatGoesBack) {
  EXPECT_EQ(judge_news({leader(12, "5"), leader(10, "4")}, reigns).size(), 1U);
  EXPECT_EQ(judge_news({leader(12, "5"), nobody_after(10)}, reigns).size(), 1U);
}

TEST(JudgeNews, KnowsNothingOfAnObserverThatBeginsAnew) {
  auto later = leader(10, "4");
  later.connection = 2;
  EXPECT_TRUE(judge_news({leader(12, "5"), later}, reigns).empty());
  later = leader(10, "4");
  later.election = 2;
  EXPECT_TRUE(judge_news({leader(12, "5"), later}, reigns).empty());
}

TEST(JudgeNews, SeesALeaderThatAnotherOneWas) {
  EXPECT_EQ(judge_news({leader(10, "5")}, reigns).size(), 1U);
}

}  // namespace
}  // namespace turno::torture
