#include "sim/tally.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace turno::sim {
namespace {

constexpr Time ms = 1'000'000;

TEST(Tally, SumsWaitsAndCountsByIntervals) {
  Tally tally;
  tally.enter(10 * ms, 4 * ms, 1, 10 * ms);
  tally.enter(35 * ms, 31 * ms, 3, 10 * ms);
  tally.enter(39 * ms, 39 * ms, 2, 10 * ms);
  tally.lose_arrival();
  Result result;
  tally.write(result, 2);
  EXPECT_EQ(result.entries, 3U);
  EXPECT_DOUBLE_EQ(result.wait_sum_ms, 5) << "10 ms of two nodes";
  EXPECT_NEAR(result.wait_max_ms, 6, 0.1);
  EXPECT_EQ(result.inside_max, 3U);
  EXPECT_EQ(result.lost_arrivals, 1U);
  EXPECT_EQ(result.entries_by_interval, (std::vector<std::uint64_t>{0, 1, 0, 2}));
}

TEST(Tally, WithoutIntervalsHasNone) {
  Tally tally;
  tally.enter(10 * ms, 4 * ms, 1, 0);
  Result result;
  tally.write(result, 1);
  EXPECT_TRUE(result.entries_by_interval.empty());
}

TEST(MessageCount, NamesMessages) {
  MessageCount sent(2, 0);
  for (int i = 0; i < 3; ++i) sent.add(0, 10 * ms);
  for (int i = 0; i < 4; ++i) sent.add(1, 90 * ms);
  Result result;
  sent.write(result, std::array<std::string_view, 2>{"request", "token"});
  EXPECT_EQ(result.messages, 7U);
  ASSERT_EQ(result.messages_by_kind.size(), 2U);
  EXPECT_EQ(result.messages_by_kind[1].first, "token");
  EXPECT_EQ(result.messages_by_kind[1].second, 4U);
  EXPECT_TRUE(result.messages_by_interval.empty());
}

TEST(MessageCount, CountsByIntervals) {
  MessageCount sent(2, 10 * ms);
  sent.add(0, 9 * ms);
  sent.add(1, 20 * ms);
  sent.add(1, 29 * ms);
  Result result;
  sent.write(result, std::array<std::string_view, 2>{"request", "token"});
  EXPECT_EQ(result.messages, 3U);
  EXPECT_EQ(result.messages_by_interval,
            (std::vector<std::vector<std::uint64_t>>{{1, 0}, {0, 0}, {0, 2}}));
}

}  // namespace
}  // namespace turno::sim
