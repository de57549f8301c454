#include "core/clock/lamport_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "core/node_ids_testing.h"

namespace turno {
namespace {

TEST(LamportClock, TicksByOne) {
  LamportClock clock;
  EXPECT_EQ(clock.now(), 0U);
  EXPECT_EQ(clock.tick(), 1U);
  EXPECT_EQ(clock.tick(), 2U);
  EXPECT_EQ(clock.now(), 2U);
}

TEST(LamportClock, FollowsALaterTimeAndIgnoresAnEarlierOne) {
  LamportClock clock;
  clock.observe(9);
  EXPECT_EQ(clock.now(), 9U);
  clock.observe(4);
  EXPECT_EQ(clock.now(), 9U);
  EXPECT_EQ(clock.tick(), 10U) << "the next request is younger than what was heard of";
}

TEST(LamportClock, IsAValue) {
  LamportClock one, other;
  EXPECT_EQ(one, other);
  one.tick();
  EXPECT_NE(one, other);
  other.observe(1);
  EXPECT_EQ(one, other) << "how it came to its time does not matter";
}

TEST(Priority, GoesToTheOlderRequest) { EXPECT_LT((Priority{1, b}), (Priority{2, a})); }

TEST(Priority, GoesToTheSmallerNodeAtEqualTimes) {
  EXPECT_LT((Priority{5, a}), (Priority{5, b}));
  EXPECT_EQ((Priority{5, a}), (Priority{5, a}));
}

// Whatever messages two nodes exchange, what follows a message is ordered after it.
RC_GTEST_PROP(LamportClock, OrdersCauseBeforeEffect, (const std::vector<bool>& directions)) {
  LamportClock left, right;
  for (const bool to_right : directions) {
    auto& sender = to_right ? left : right;
    auto& receiver = to_right ? right : left;
    const Priority sent{sender.tick(), to_right ? a : b};
    receiver.observe(sent.time);
    const Priority answer{receiver.tick(), to_right ? b : a};
    RC_ASSERT(sent < answer);
  }
}

}  // namespace
}  // namespace turno
