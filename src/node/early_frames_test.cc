#include "node/early_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace turno::node {

namespace {

using ::testing::ElementsAre;

constexpr bool member = true, stranger = false;

wire::Frame frame(std::uint32_t epoch, std::uint64_t lock = 0, std::string_view body = {}) {
  return {.epoch = epoch, .lock = lock, .kind = 7, .body = body};
}

TEST(EarlyFrames, AreTakenInTheOrderInWhichTheyCame) {
  EarlyFrames early;
  {
    const std::string body = "some bytes";
    EXPECT_TRUE(early.keep(1, member, 5, frame(6, 10, body)));
    EXPECT_TRUE(early.keep(2, stranger, 5, frame(7, 11, body)));
  }
  EXPECT_TRUE(early.keep(1, member, 5, frame(6, 12)));
  std::vector<std::uint64_t> locks;
  for (const auto& each : early.take()) {
    locks.push_back(each.lock);
    EXPECT_EQ(each.from, each.lock == 11 ? 2U : 1U);
    EXPECT_EQ(each.frame(),
              frame(each.lock == 11 ? 7 : 6, each.lock, each.lock == 12 ? "" : "some bytes"));
  }
  EXPECT_THAT(locks, ElementsAre(10, 11, 12));
  EXPECT_TRUE(early.take().empty());
}

TEST(EarlyFrames, AreOfTheNearFuture) {
  EarlyFrames early({.views = 16});
  EXPECT_TRUE(early.keep(1, member, 5, frame(6)));
  EXPECT_TRUE(early.keep(1, member, 5, frame(21)));
  EXPECT_FALSE(early.keep(1, member, 5, frame(22)));
  EXPECT_FALSE(early.keep(1, member, 5, frame(16'000'000)));
  EXPECT_EQ(early.take().size(), 2U);
}

TEST(EarlyFrames, TakeABoundedRoom) {
  EarlyFrames early({.bytes = 100'000, .strangers = 10'000});
  const std::string body(1000, 'x');
  int strangers = 0, members = 0;
  while (early.keep(7, stranger, 1, frame(2, 0, body))) ++strangers;
  EXPECT_EQ(strangers, 9);
  while (early.keep(1, member, 1, frame(2, 0, body))) ++members;
  EXPECT_GT(members, 80);
  EXPECT_LE(early.bytes(), 100'000U);
  // Frames without a body are not for nothing.
  while (early.keep(1, member, 1, frame(2))) ++members;
  EXPECT_LE(early.bytes(), 100'000U);
  EXPECT_LT(members, 300);
  EXPECT_EQ(early.take().size(), static_cast<std::size_t>(strangers + members));
  EXPECT_EQ(early.bytes(), 0U);
  EXPECT_TRUE(early.keep(7, stranger, 1, frame(2, 0, body)));
}

}  // namespace
}  // namespace turno::node
