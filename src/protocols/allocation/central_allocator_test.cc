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

TEST(CentralAllocator, ForgetsWhoGivesUp) {
  using Message = CentralAllocator::Message;
  using Kind = Message::Kind;
  const auto setup = sited({3}, {1});
  auto nodes = make<CentralAllocator>(setup, {{.seat = n1, .units = {0}}});
  auto &coordinator = nodes[0], &waiting = nodes[2];
  Effects<Message> out;
  const auto one = needing({1});
  waiting.request(one.demand(), out);
  EXPECT_EQ(receive(coordinator, n2, out.sends().front().message), nothing<CentralAllocator>());
  out.clear();
  waiting.withdraw(out);
  ASSERT_EQ(out.sends().size(), 1U);
  const auto answer = receive(coordinator, n2, out.sends().front().message);
  EXPECT_TRUE(coordinator.waiting.empty());
  // It asks again before it knows: only when it knows, that is said.
  out.clear();
  waiting.request(one.demand(), out);
  EXPECT_TRUE(out.sends().empty());
  ASSERT_EQ(answer.sends().size(), 1U);
  const auto again = receive(waiting, n0, answer.sends().front().message);
  ASSERT_EQ(again.sends().size(), 1U);
  EXPECT_EQ(again.sends().front().message.kind, Kind::request);
}

TEST(CentralAllocator, GivesBackWhatWasGrantedMeanwhile) {
  using Message = CentralAllocator::Message;
  using Kind = Message::Kind;
  const auto setup = sited({2}, {1});
  auto nodes = make<CentralAllocator>(setup);
  Effects<Message> asked, withdrawn;
  nodes[1].request(needing({1}).demand(), asked);
  const auto grant = receive(nodes[0], n1, asked.sends().front().message);
  nodes[1].withdraw(withdrawn);
  EXPECT_EQ(receive(nodes[0], n1, withdrawn.sends().front().message), nothing<CentralAllocator>());
  const auto back = receive(nodes[1], n0, grant.sends().front().message);
  EXPECT_FALSE(back.granted());
  ASSERT_EQ(back.sends().size(), 1U);
  EXPECT_EQ(back.sends().front().message.kind, Kind::release);
  receive(nodes[0], n1, back.sends().front().message);
  EXPECT_TRUE(nodes[0].free.contains(0));
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
