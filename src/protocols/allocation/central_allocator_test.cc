#include "protocols/allocation/central_allocator.h"

#include <gtest/gtest.h>

#include "protocols/allocation/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

TEST(CentralAllocator, GivesWhatIsFree) {
  const auto setup = sited({3}, {1, 1});
  Cluster<CentralAllocator> cluster(setup);
  cluster.want(n1, needing({1}));
  cluster.want(n2, needing({0, 1}));
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1) && cluster.inside(2));
  EXPECT_EQ(cluster.broken(), "");
}

TEST(CentralAllocator, LetsYoungerOnesPassSoOften) {
  auto setup = sited({4}, {1, 1});
  setup.configure<AllocationConfig>().bypasses = 1;
  Cluster<CentralAllocator> cluster(setup);
  cluster.want(n0, needing({1}));
  cluster.want(n1, needing({1, 1}));
  cluster.drain();
  for (auto node : {n2, n3}) {
    cluster.want(node, needing({0, 1}));
    cluster.drain();
  }
  EXPECT_TRUE(cluster.inside(2));
  cluster.leave(n2);
  cluster.drain();
  EXPECT_FALSE(cluster.inside(3)) << "node 1 was overtaken once already";
  cluster.leave(n0);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1));
  EXPECT_FALSE(cluster.inside(3));
}

TEST(CentralAllocator, FencesOfEachInstanceGrow) {
  const auto setup = sited({2}, {1});
  Cluster<CentralAllocator> cluster(setup);
  EXPECT_EQ(cluster.want(n0, needing({1})).units.front().fence, Fence::at(1, 1));
  cluster.leave(n0);
  cluster.want(n1, needing({1}));
  EXPECT_EQ(cluster.drain().back().units.front().fence, Fence::at(1, 2));
}

}  // namespace
}  // namespace turno::protocols
