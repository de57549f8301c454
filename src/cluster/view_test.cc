#include "cluster/view.h"

#include <gtest/gtest.h>

#include <string>

namespace turno::cluster {
namespace {

using namespace std::chrono_literals;

View crashed_at(std::optional<Moment> moment) {
  View view;
  view.lock_delay_ms = 1000;
  view.last_crash = 7;
  view.crash_moment = std::move(moment);
  return view;
}

constexpr std::int64_t second = 1'000'000'000;
const Moment now{"this boot", 100 * second};

TEST(RemainingDelay, CountsFromTheCrash) {
  EXPECT_EQ(crashed_at(Moment{"this boot", 100 * second}).remaining_delay(now), 1s);
  EXPECT_EQ(crashed_at(Moment{"this boot", 100 * second - second * 3 / 10}).remaining_delay(now),
            700ms);
  EXPECT_EQ(crashed_at(Moment{"this boot", 99 * second}).remaining_delay(now), 0s);
  EXPECT_EQ(crashed_at(Moment{"this boot", 70 * second}).remaining_delay(now), 0s);
}

TEST(RemainingDelay, IsNothingWithoutACrashOrInAnotherBoot) {
  auto view = crashed_at(now);
  view.last_crash = 0;
  EXPECT_EQ(view.remaining_delay(now), 0s);
  EXPECT_EQ(crashed_at(Moment{"the boot before", 100 * second}).remaining_delay(now), 0s);
}

TEST(RemainingDelay, IsAllOfItInDoubt) {
  EXPECT_EQ(crashed_at({}).remaining_delay(now), 1s);
  EXPECT_EQ(crashed_at(Moment{"", 1}).remaining_delay(now), 1s);
  EXPECT_EQ(crashed_at(Moment{"this boot", 1}).remaining_delay(Moment{"", 100 * second}), 1s);
  EXPECT_EQ(crashed_at(Moment{"this boot", 101 * second}).remaining_delay(now), 1s);
}

TEST(Moment, NeverGoesBack) {
  const auto first = Moment::now(), second_one = Moment::now();
  EXPECT_FALSE(first.boot.empty());
  EXPECT_EQ(first.boot, second_one.boot);
  EXPECT_LE(first.ns, second_one.ns);
}

}  // namespace
}  // namespace turno::cluster
