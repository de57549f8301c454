#include "protocols/mutex/permission/lamport.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = Lamport::Kind;

Lamport::Message ask(std::uint32_t time) { return {.kind = Kind::request, .time = time}; }
Lamport::Message acknowledge(std::uint32_t time) {
  return {.kind = Kind::acknowledge, .time = time};
}
const Lamport::Message farewell{.kind = Kind::release};

std::vector<Lamport> three() { return make<Lamport>(shaped(Topology::complete, 3)); }

TEST(Lamport, AsksAllAndEntersWhenAllHaveAnswered) {
  auto node = three()[1];
  EXPECT_EQ(request(node), broadcast<Lamport>(ask(1)));
  EXPECT_EQ(receive(node, n0, acknowledge(1)), nothing<Lamport>());
  EXPECT_EQ(receive(node, n2, acknowledge(1)), granted<Lamport>(1 * 3 + 1)) << "time * N + node";
}

TEST(Lamport, EveryRequestIsAcknowledgedAndRemembered) {
  auto node = three()[0];
  EXPECT_EQ(receive(node, n2, ask(4)), effects<Lamport>({{n2, acknowledge(4)}}));
  EXPECT_EQ(receive(node, n1, ask(4)), effects<Lamport>({{n1, acknowledge(4)}}));
  ASSERT_EQ(node.queue.size(), 2U);
  EXPECT_EQ(node.queue[0], (Priority{4, n1})) << "in the order of (time, node), not of arrival";
  EXPECT_EQ(node.queue[1], (Priority{4, n2}));
  EXPECT_EQ(request(node), broadcast<Lamport>(ask(5))) << "the clock has followed";
}

TEST(Lamport, YoungerRequestIsAsGoodAsAnAnswer) {
  auto node = three()[0];
  request(node);
  receive(node, n1, acknowledge(1));
  auto expected = effects<Lamport>({{n2, acknowledge(1)}}, Fence::at(1, 3));
  EXPECT_EQ(receive(node, n2, ask(1)), expected) << "(1, 2) is later than (1, 0)";
}

TEST(Lamport, OlderRequestGoesFirst) {
  auto node = three()[1];
  request(node);
  receive(node, n0, ask(1));
  receive(node, n0, acknowledge(1));
  EXPECT_EQ(receive(node, n2, acknowledge(1)), nothing<Lamport>())
      << "all have answered, but (1, 0) is first in the queue";
  EXPECT_EQ(receive(node, n0, farewell), granted<Lamport>(4));
}

TEST(Lamport, OlderRequestIsNoAnswer) {
  auto node = three()[1];
  request(node);
  receive(node, n2, acknowledge(1));
  receive(node, n0, ask(1));
  EXPECT_EQ(receive(node, n0, farewell), nothing<Lamport>())
      << "node 0 has not said anything later than (1, 1)";
  EXPECT_EQ(receive(node, n0, acknowledge(1)), granted<Lamport>(4));
}

TEST(Lamport, AnswerToAnEarlierRequestIsNoAnswer) {
  auto node = make<Lamport>(shaped(Topology::complete, 2))[0];
  receive(node, n1, ask(3));
  receive(node, n1, farewell);
  request(node);  // at time 4
  EXPECT_EQ(receive(node, n1, acknowledge(3)), nothing<Lamport>());
  EXPECT_EQ(receive(node, n1, acknowledge(4)), granted<Lamport>(8));
}

TEST(Lamport, WhoLeavesTellsAllAndForgets) {
  auto node = three()[0];
  request(node);
  receive(node, n1, acknowledge(1));
  receive(node, n2, acknowledge(1));
  EXPECT_EQ(release(node), broadcast<Lamport>(farewell));
  auto expected = three()[0];
  expected.clock.observe(1);
  EXPECT_EQ(node, expected) << "only the clock remembers";
}

// The four steps of the document: an acknowledgement overtakes the request sent before it.
TEST(Lamport, WithoutOrderTwoGetIn) {
  EXPECT_TRUE(Lamport::info.fifo);
  Cluster<Lamport> cluster(shaped(Topology::complete, 2));
  cluster.want(n0);
  cluster.want(n1);
  EXPECT_TRUE(cluster.deliver(n1, n0, "request").entered);
  EXPECT_TRUE(cluster.deliver(n0, n1, "acknowledge").entered);
  EXPECT_EQ(cluster.broken(), "two are inside");
}

TEST(Lamport, WithOrderOneWaitsForTheOther) {
  Cluster<Lamport> cluster(shaped(Topology::complete, 2));
  cluster.want(n0);
  cluster.want(n1);
  EXPECT_TRUE(cluster.deliver(n1, n0).entered);
  cluster.drain();
  EXPECT_FALSE(cluster.inside(1));
  cluster.leave(n0);
  EXPECT_TRUE(cluster.deliver(n0, n1).entered);
}

TEST(Lamport, ResumesWithAHolderWhoseRequestIsTheOldest) {
  auto nodes = make<Lamport>(shaped(Topology::complete, 3), {n2});
  request(nodes[0]);
  EXPECT_EQ(receive(nodes[2], n0, ask(1)), effects<Lamport>({{n0, acknowledge(1)}}));
  receive(nodes[0], n1, acknowledge(1));
  EXPECT_EQ(receive(nodes[0], n2, acknowledge(1)), nothing<Lamport>());
  EXPECT_EQ(release(nodes[2]), broadcast<Lamport>(farewell));
  EXPECT_EQ(receive(nodes[0], n2, farewell), granted<Lamport>(3));
}

TEST(Lamport, AloneItEntersAtOnce) {
  auto node = make<Lamport>(shaped(Topology::complete, 1))[0];
  EXPECT_EQ(request(node), granted<Lamport>(1));
  EXPECT_EQ(release(node), nothing<Lamport>());
  EXPECT_EQ(request(node), granted<Lamport>(2));
}

}  // namespace
}  // namespace turno::protocols
