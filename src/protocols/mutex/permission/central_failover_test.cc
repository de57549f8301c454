#include "protocols/mutex/permission/central_failover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Event = Input<CentralFailover::Message>::Kind;

class ThreeNodes : public ::testing::Test {
 protected:
  void suspect(NodeId node, NodeId dead) {
    cluster.happens(node, {.kind = Event::suspect, .from = dead});
  }

  Cluster<CentralFailover> cluster{shaped(Topology::complete, 3)};
};

TEST_F(ThreeNodes, BeginWithTheHighestAsCoordinator) {
  cluster.want(n0);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(0));
  EXPECT_EQ(cluster[2].holder, n0);
}

TEST_F(ThreeNodes, ElectAndGoOnWithWhoWaits) {
  cluster.want(n0);
  cluster.want(n1);
  cluster.crash(n2);
  suspect(n0, n2);
  suspect(n1, n2);
  cluster.drain();
  EXPECT_EQ(cluster[0].server, n1);
  EXPECT_EQ(cluster.inside(0) + cluster.inside(1), 1);
}

TEST_F(ThreeNodes, LetTheHolderStayInside) {
  cluster.want(n0);
  cluster.drain();
  cluster.want(n1);
  cluster.crash(n2);
  suspect(n0, n2);
  suspect(n1, n2);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(0));
  EXPECT_FALSE(cluster.inside(1));
  EXPECT_EQ(cluster[1].holder, n0);
  cluster.leave(n0);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1));
}

TEST_F(ThreeNodes, LetNobodyInBeforeEverybodyHasReported) {
  cluster.want(n1);
  cluster.crash(n2);
  suspect(n1, n2);
  EXPECT_EQ(cluster[1].server, n1);
  EXPECT_FALSE(cluster.inside(1)) << "0 may be inside";
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1));
}

TEST_F(ThreeNodes, DoNotEnterWithAGrantOfTheOldCoordinator) {
  cluster.want(n0);
  cluster.deliver(n0, n2, "request");
  cluster.want(n1);
  cluster.crash(n2);  // its grant to 0 is on its way
  suspect(n1, n2);
  cluster.deliver(n1, n0, "coordinator");
  cluster.deliver(n2, n0, "grant");
  EXPECT_FALSE(cluster.inside(0));
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1));
  cluster.leave(n1);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(0));
}

TEST_F(ThreeNodes, RaiseTheFenceWithEveryElection) {
  cluster.want(n2);
  const auto before = cluster[2].inside;
  cluster.crash(n2);
  suspect(n0, n2);
  suspect(n1, n2);
  cluster.want(n0);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(0));
  EXPECT_GT(cluster[0].inside, before);
  EXPECT_EQ(cluster[0].inside.epoch(), 2U);
}

TEST_F(ThreeNodes, TakeTheLockFromACrashedHolder) {
  cluster.want(n0);
  cluster.drain();
  cluster.want(n1);
  cluster.drain();
  cluster.crash(n0);
  EXPECT_FALSE(cluster.inside(1));
  suspect(n2, n0);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1));
}

TEST_F(ThreeNodes, TheLastOneServesItself) {
  cluster.crash(n2);
  cluster.crash(n1);
  suspect(n0, n2);
  suspect(n0, n1);
  cluster.want(n0);
  EXPECT_TRUE(cluster.inside(0));
}

TEST(CentralFailover, ResumesWithAHolder) {
  Cluster<CentralFailover> cluster(shaped(Topology::complete, 3), {{.seat = n1}});
  cluster.want(n0);
  cluster.drain();
  EXPECT_FALSE(cluster.inside(0));
  cluster.leave(n1);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(0));
}

}  // namespace
}  // namespace turno::protocols
