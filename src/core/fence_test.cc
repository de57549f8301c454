#include "core/fence.h"

#include <gtest/gtest.h>

#include "core/clock/stamp.h"

namespace turno {
namespace {

TEST(Fence, HasAnEpochAndACount) {
  const auto fence = Fence::at(7, 12345);
  EXPECT_EQ(fence.epoch(), 7U);
  EXPECT_EQ(fence.count(), 12345U);
  EXPECT_EQ(Fence::at(7).count(), 0U);
}

TEST(Fence, KeepsTheLargestEpochAndCountApart) {
  constexpr std::uint64_t last_count = (std::uint64_t{1} << Fence::count_bits) - 1;
  const auto fence = Fence::at(Fence::last_epoch, last_count);
  EXPECT_EQ(fence.epoch(), Fence::last_epoch);
  EXPECT_EQ(fence.count(), last_count);
}

// Clients get it as a signed integer.
TEST(Fence, IsNeverNegative) {
  constexpr std::uint64_t last_count = (std::uint64_t{1} << Fence::count_bits) - 1;
  EXPECT_GT(static_cast<std::int64_t>(Fence::at(Fence::last_epoch, last_count).value), 0);
}

TEST(Fence, GrowsWithEachGrant) {
  const auto first = Fence::at(2);
  EXPECT_EQ(first.next(), Fence::at(2, 1));
  EXPECT_LT(first, first.next());
  EXPECT_LT(first.next(), first.next().next());
}

TEST(Fence, OfALaterEpochIsLargerWhateverItsCount) {
  EXPECT_LT(Fence::at(1, 99'999'999), Fence::at(2));
  EXPECT_GT(Fence::at(3), Fence::at(2, 1));
}

TEST(Fence, OfNothingIsTheSmallest) {
  EXPECT_LT(Fence{}, Fence::at(1));
  EXPECT_EQ(Fence{}.epoch(), 0U);
}

TEST(Stamp, IsNoneUntilTheFirst) {
  EXPECT_FALSE(Stamp{}.any());
  EXPECT_TRUE(Stamp{}.next().any());
  EXPECT_LT(Stamp{}.next(), Stamp{}.next().next());
}

}  // namespace
}  // namespace turno
