#include "protocols/parts/site_queue/site_queue.h"

#include <gtest/gtest.h>

#include "protocols/allocation/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

struct Queues : ::testing::Test {
  turno::Setup setup = sited({2, 2, 1});
  SiteQueue queue(NodeId self) const { return SiteQueue::start(setup, self, n0); }
  static SiteQueue::Ask of(NodeId node, std::uint8_t hops = 0) { return {node, hops}; }
};

TEST_F(Queues, BeginAsATreeOfSites) {
  EXPECT_TRUE(queue(n0).has);
  EXPECT_EQ(queue(n1).father, n0) << "a neighbour of the token";
  EXPECT_EQ(queue(n2).father, n0) << "the first of its site";
  EXPECT_EQ(queue(n3).father, n2);
  EXPECT_EQ(queue(n4).father, n0);
}

TEST_F(Queues, PassTheTokenThatIsNotInUse) {
  auto node = queue(n0);
  EXPECT_EQ(node.asked(of(n2)).token_to, n2);
  EXPECT_FALSE(node.has);
  EXPECT_EQ(node.father, n2);
  EXPECT_EQ(node.acquire().ask_to, n2);
}

TEST_F(Queues, ForwardRequestsAndFollowNeighbours) {
  auto node = queue(n1);
  const auto near = node.asked(of(n0));
  EXPECT_EQ(near.ask_to, n0);
  EXPECT_EQ(near.ask.hops, 1);
  EXPECT_EQ(node.father, n0);
  node.asked(of(n4));
  EXPECT_EQ(node.father, n0) << "a request of another site leaves no trace,";
  node.asked(of(n4, SiteQueue::most_hops));
  EXPECT_EQ(node.father, n4) << "unless it has come a long way";
}

TEST_F(Queues, ServeANeighbourFirst) {
  auto node = queue(n0);
  node.acquire();
  node.asked(of(n2));
  EXPECT_EQ(node.father, nobody) << "the site still asks here";
  node.asked(of(n1));
  EXPECT_EQ(node.next, n1);
  EXPECT_EQ(node.deferred.size(), 1U);
  EXPECT_EQ(node.done().token_to, n1);
  const auto carried = node.take_baggage();
  EXPECT_EQ(carried.deferred.front(), n2);
  EXPECT_EQ(carried.preferred, 1U);
}

TEST_F(Queues, ServeAnotherSiteWhenNeighboursHadTheirShare) {
  auto node = queue(n1);
  node.acquire();
  node.arrived({.deferred = {n2}, .preferred = 1});
  node.asked(of(n0));
  EXPECT_EQ(node.done().token_to, n2);
  const auto carried = node.take_baggage();
  EXPECT_EQ(carried.deferred.front(), n0) << "the neighbour is deferred instead";
  EXPECT_EQ(carried.preferred, 0U);
}

TEST_F(Queues, KeepRequestsOfOtherSitesWhereTheTokenWillCome) {
  auto node = queue(n1);
  node.acquire();
  node.asked(of(n0));  // a neighbour comes after this node
  EXPECT_EQ(node.asked(of(n4)).ask_to, nobody);
  EXPECT_EQ(node.deferred.front(), n4);
}

TEST_F(Queues, OfASingleSiteAreNaimiAndTrehels) {
  auto node = SiteQueue::start(n1, n0);
  EXPECT_EQ(node.acquire().ask_to, n0);
  node.asked(of(n2));
  EXPECT_EQ(node.next, n2);
  EXPECT_EQ(node.father, n2);
  node.arrived({});
  EXPECT_EQ(node.done().token_to, n2);
  EXPECT_EQ(node.take_baggage(), SiteQueue::Baggage{});
}

}  // namespace
}  // namespace turno::protocols
