// Where fences begin and how they go on: they must never go back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/fence.h"
#include "registry/embedded/embedded_registry.h"
#include "registry/registry_testing.h"

namespace turno::registry {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t year_2024 = 1'704'067'200'000, second = 1000, day = 86'400 * second;
std::int64_t now = 0;

struct EpochsTest : testing::Test {
  EpochsTest() { now = year_2024 + 1000 * day; }

  // The epoch in fences after so many changes, of a cluster that is then stopped.
  std::uint64_t run_cluster(int changes = 1) {
    EmbeddedRegistry a(place, [] { return now; });
    auto view = a.join(member_named("a"), running("nxr"));
    for (int i = 1; view && i < changes; ++i) view = a.reconsider(true);
    EXPECT_TRUE(view) << view.error().message;
    EXPECT_TRUE(a.leave());
    return view ? view->fences_from + view->epoch : 0;
  }

  TemporaryDirectory folder;
  fs::path place = folder.path() / "cluster";
};

TEST_F(EpochsTest, BeginAtTheClock) {
  now += 500;
  EXPECT_EQ(run_cluster(), std::uint64_t{1000} * 86'400 * 16 + 8);
}

TEST_F(EpochsTest, GoOnAfterTheDirectoryWasRemoved) {
  const auto before = run_cluster(5);  // of five nodes
  fs::remove_all(place);
  now += second / 2;
  EXPECT_GT(run_cluster(), before);
}

TEST_F(EpochsTest, GoOnWhenTheClockIsSetBack) {
  const auto before = run_cluster(3);
  now -= 500 * day;
  EXPECT_EQ(run_cluster(), before + 2) << "the first left, and this one joined";
}

// Views follow each other faster than the clock: the registry counts on, and does not jump.
TEST_F(EpochsTest, MayOutrunTheClock) {
  const auto before = run_cluster(2000);
  EXPECT_EQ(run_cluster(), before + 2);
}

// While somebody lives, the clock does not matter.
TEST_F(EpochsTest, FollowEachOtherWhileTheClusterLives) {
  EmbeddedRegistry a(place, [] { return now; });
  const auto first = a.join(member_named("a"), running("nxr"));
  ASSERT_TRUE(first);
  now += 100 * day;
  EmbeddedRegistry b(place, [] { return now; });
  const auto second_view = b.join(member_named("b"), {});
  EXPECT_EQ(second_view->epoch, first->epoch + 1);
  EXPECT_EQ(second_view->fences_from, first->fences_from);
}

TEST_F(EpochsTest, GoOnAfterAnOlderRegistryWasRestored) {
  run_cluster();
  const auto copy = folder.path() / "copy";
  fs::copy(place, copy, fs::copy_options::recursive);
  now += 7 * day;
  const auto before = run_cluster(100);
  fs::remove_all(place);
  fs::rename(copy, place);
  now += 60 * second;
  EXPECT_GT(run_cluster(), before);
}

TEST_F(EpochsTest, AClockThatWasNeverSetMeansTheFirst) {
  now = 12;
  EXPECT_EQ(run_cluster(), 1U);
}

// Else they would be used up for ever.
TEST_F(EpochsTest, AClockAheadByDecadesIsRefused) {
  const auto before = run_cluster();
  now += 70 * 365 * day;
  EmbeddedRegistry a(place, [] { return now; });
  EXPECT_THAT(summary(a.join(member_named("a"), running("nxr"))),
              AllOf(StartsWith("refused: "), HasSubstr("the clock of this machine is wrong")));
  now -= 70 * 365 * day;
  EXPECT_EQ(run_cluster(), before + 2);
}

// The 63 bits of a fence: 35 for the epoch are 68 years of sixteen views a second, of which the
// clock takes a part even if there are none. 28 for the count are 16 million turns of one lock in
// one view. A turn in memory takes a fifth of a microsecond; so a loop that does nothing else needs
// a new view once in 1.7 s.
TEST_F(EpochsTest, LastForALifetime) {
  const auto year = 365.25 * 86'400;
  EXPECT_GT(static_cast<double>(Fence::last_epoch) / 16 / year, 68);
  const auto turns = static_cast<double>(std::uint64_t{1} << Fence::count_bits) / 16;
  EXPECT_GT(turns / 2 * 0.2e-6 * 16, 16) << "views by the clock while a lock wears out";
}

}  // namespace
}  // namespace turno::registry
