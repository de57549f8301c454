#include "protocols/mutex/token/bertier.h"

#include <gtest/gtest.h>

#include "protocols/allocation/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

TEST(Bertier, NeighbourGoesFirst) {
  const auto setup = sited({2, 2});
  Cluster<Bertier> cluster(setup);
  cluster.want(n0);
  cluster.want(n2);
  cluster.deliver(n2, n0);
  cluster.want(n1);
  cluster.deliver(n1, n0);
  cluster.leave(n0);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1)) << "it asked later, but the token is in its site";
  EXPECT_EQ(cluster.broken(), "");
  cluster.want(n0);
  cluster.drain();
  cluster.leave(n1);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(2)) << "once is enough";
  cluster.leave(n2);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(0));
  EXPECT_EQ(cluster.broken(), "");
}

TEST(Bertier, WithoutSitesIsNaimiTrehel) {
  const auto setup = shaped(Topology::complete, 3);
  Cluster<Bertier> cluster(setup);
  for (auto node : {n1, n2, n0}) {
    cluster.want(node);
    cluster.drain();
    EXPECT_TRUE(cluster.inside(node.index()));
    EXPECT_EQ(cluster.leave(node).sends.size(), 0U);
  }
}

TEST(Bertier, FencesGrow) {
  const auto setup = sited({1, 1});
  Cluster<Bertier> cluster(setup);
  EXPECT_EQ(cluster.want(n0).fence, Fence::at(1, 1));
  cluster.leave(n0);
  cluster.want(n1);
  const auto steps = cluster.drain();
  EXPECT_EQ(steps.back().fence, Fence::at(1, 2));
}

}  // namespace
}  // namespace turno::protocols
