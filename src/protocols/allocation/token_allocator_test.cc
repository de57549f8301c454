#include "protocols/allocation/token_allocator.h"

#include <gtest/gtest.h>

#include "protocols/allocation/bouabdallah_laforest.h"
#include "protocols/allocation/grid.h"
#include "protocols/allocation/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

template <class P>
struct Allocators : ::testing::Test {};
using Both = ::testing::Types<BouabdallahLaforest, Grid>;
TYPED_TEST_SUITE(Allocators, Both);

TYPED_TEST(Allocators, TakeWhatIsFree) {
  const auto setup = sited({2}, {2, 1});
  Cluster<TypeParam> cluster(setup);
  const auto step = cluster.want(n0, needing({1, 1}));
  EXPECT_TRUE(step.entered) << "the control token is here";
  EXPECT_EQ(instances(step).size(), 2U);
  EXPECT_EQ(step.units.front().fence, Fence::at(1, 1));
  EXPECT_EQ(cluster.broken(), "");
}

TYPED_TEST(Allocators, UseAgainWhatTheyHaveWithoutAMessage) {
  const auto setup = sited({2}, {1, 1});
  Cluster<TypeParam> cluster(setup);
  cluster.want(n1, needing({1, 1}));
  cluster.drain();
  cluster.leave(n1);
  cluster.want(n0, needing({0, 1}));  // takes the control token and one resource
  cluster.drain();
  const auto step = cluster.want(n1, needing({1}));
  EXPECT_TRUE(step.entered);
  EXPECT_TRUE(step.sends.empty());
  EXPECT_EQ(step.units.front().fence, Fence::at(1, 2)) << "its second use";
}

TYPED_TEST(Allocators, AreInsideTogetherIfTheyNeedDifferentThings) {
  const auto setup = sited({2}, {1, 1});
  Cluster<TypeParam> cluster(setup);
  cluster.want(n0, needing({1}));
  cluster.want(n1, needing({0, 1}));
  cluster.drain();
  EXPECT_TRUE(cluster.inside(0) && cluster.inside(1)) << "the control token waits for nobody";
}

TYPED_TEST(Allocators, GetWhatIsInUseAfterwards) {
  const auto setup = sited({3}, {1, 1});
  Cluster<TypeParam> cluster(setup);
  cluster.want(n0, needing({1, 1}));
  cluster.want(n1, needing({1}));
  cluster.drain();
  cluster.want(n2, needing({0, 1}));
  cluster.drain();
  EXPECT_EQ(cluster.broken(), "");
  EXPECT_EQ(cluster.leave(n0).sends.size(), 2U) << "one payment for each creditor";
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1) && cluster.inside(2));
  EXPECT_EQ(cluster.broken(), "");
}

TYPED_TEST(Allocators, GiveBackWhatTheyDoNotNeedNow) {
  const auto setup = sited({2}, {1, 1});
  Cluster<TypeParam> cluster(setup);
  cluster.want(n0, needing({1}));
  cluster.leave(n0);
  cluster.want(n0, needing({0, 1}));
  EXPECT_FALSE(cluster[0].idle.contains(0));
  cluster.want(n1, needing({1}));
  const auto steps = cluster.drain();
  EXPECT_TRUE(cluster.inside(1));
  EXPECT_EQ(steps.size(), 2U) << "request and control token, no inquiry";
}

TYPED_TEST(Allocators, LeaveTheChoiceToTheDriverIfTold) {
  auto setup = sited({2}, {3});
  setup.configure<AllocationConfig>().driver_chooses = true;
  auto node = TypeParam::resume(setup, n0, {});
  Effects<typename TypeParam::Message> out;
  const auto wish = needing({2});
  node.request(wish.demand(), out);
  EXPECT_EQ(node.choices(), 3U);
  node.choose(2, out);
  EXPECT_EQ(node.choices(), 0U);
  EXPECT_TRUE(out.granted());
  EXPECT_TRUE(node.locked.contains(1) && node.locked.contains(2));
}

TEST(Grid, AsksNeighboursFirst) {
  const auto setup = sited({1, 2}, {2});
  Cluster<Grid> cluster(setup);
  cluster.want(n0, needing({1}));
  cluster.want(n1, needing({1}));
  cluster.drain();
  cluster.leave(n0);
  cluster.leave(n1);
  cluster.want(n2, needing({1}));
  cluster.drain();
  EXPECT_TRUE(cluster[0].idle.size() == 1 && cluster[1].idle.empty());
}

TEST(Grid, AsksWhoCanGiveMost) {
  const auto setup = sited({4}, {2, 1});
  Cluster<Grid> cluster(setup);
  cluster.want(n0, needing({1}));
  cluster.leave(n0);
  cluster.want(n1, needing({1, 1}));
  cluster.drain();
  cluster.leave(n1);
  cluster.want(n2, needing({1, 1}));
  std::size_t inquiries = 0;
  for (const auto& step : cluster.drain())
    for (const auto& sent : step.sends) inquiries += sent.text.starts_with("inquiry") ? 1 : 0;
  EXPECT_EQ(inquiries, 1U);
  EXPECT_TRUE(cluster[1].idle.empty());
}

TEST(Grid, SparesFrequentUsers) {
  auto setup = sited({3}, {2});
  setup.configure<AllocationConfig>().frequent_after = 2;
  Cluster<Grid> cluster(setup);
  for (int i = 0; i < 3; ++i) {
    cluster.want(n0, needing({1}));
    cluster.drain();
    cluster.leave(n0);
  }
  cluster.want(n1, needing({1}));
  cluster.drain();
  cluster.leave(n1);
  // Node 0 has used its instance without the control token: it could not say so yet.
  cluster.want(n0, needing({2}));
  cluster.drain();
  cluster.leave(n0);
  cluster.want(n1, needing({1}));
  cluster.drain();
  cluster.leave(n1);
  EXPECT_EQ(cluster[1].frequent.front().who, n0);
  cluster.want(n2, needing({1}));
  cluster.drain();
  EXPECT_TRUE(cluster[1].idle.empty()) << "it is asked although node 0 has a smaller number";
  EXPECT_EQ(cluster[0].idle.size(), 1U);
}

TEST(BouabdallahLaforest, ScattersItsChoice) {
  const auto setup = sited({2}, {8});
  Cluster<BouabdallahLaforest> cluster(setup);
  cluster.want(n0, needing({8}));
  cluster.leave(n0);
  cluster.want(n1, needing({4}));
  cluster.drain();
  std::vector<std::uint32_t> got;
  for (const auto& token : cluster[1].locked) got.push_back(token.instance);
  EXPECT_EQ(got.size(), 4U);
  EXPECT_NE(got, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace turno::protocols
