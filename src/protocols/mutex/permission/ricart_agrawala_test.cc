#include "protocols/mutex/permission/ricart_agrawala.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = RicartAgrawala::Kind;

const RicartAgrawala::Message reply{.kind = Kind::reply};

RicartAgrawala::Message ask(std::uint32_t time) { return {.kind = Kind::request, .time = time}; }

std::vector<RicartAgrawala> three() { return make<RicartAgrawala>(shaped(Topology::complete, 3)); }

TEST(RicartAgrawala, AsksEverybodyAndEntersWithTheLastAnswer) {
  auto node = three()[1];
  EXPECT_EQ(request(node), broadcast<RicartAgrawala>(ask(1)));
  EXPECT_EQ(receive(node, n0, reply), nothing<RicartAgrawala>());
  EXPECT_EQ(receive(node, n2, reply), granted<RicartAgrawala>(1 * 3 + 1)) << "time * N + node";
}

TEST(RicartAgrawala, IdleNodeAnswersAtOnce) {
  auto node = three()[0];
  EXPECT_EQ(receive(node, n2, ask(5)), effects<RicartAgrawala>({{n2, reply}}));
}

TEST(RicartAgrawala, ClockFollowsWhatItHears) {
  auto node = three()[0];
  receive(node, n2, ask(5));
  EXPECT_EQ(request(node), broadcast<RicartAgrawala>(ask(6))) << "its own request is younger";
}

TEST(RicartAgrawala, WhoIsInsideAnswersWhenItHasLeft) {
  auto nodes = make<RicartAgrawala>(shaped(Topology::complete, 2));
  request(nodes[1]);
  receive(nodes[1], n0, reply);
  EXPECT_EQ(receive(nodes[1], n0, ask(2)), nothing<RicartAgrawala>());
  EXPECT_EQ(release(nodes[1]), effects<RicartAgrawala>({{n0, reply}}));
}

TEST(RicartAgrawala, OlderRequestIsAnsweredAndTheYoungerWaits) {
  auto node = three()[1];
  receive(node, n2, ask(3));
  request(node);  // at time 4
  EXPECT_EQ(receive(node, n0, ask(3)), effects<RicartAgrawala>({{n0, reply}}));
  EXPECT_EQ(receive(node, n2, ask(5)), nothing<RicartAgrawala>());
  EXPECT_TRUE(node.deferred.contains(n2));
}

TEST(RicartAgrawala, AtEqualTimesTheSmallerNodeGoesFirst) {
  auto nodes = three();
  request(nodes[1]);
  EXPECT_EQ(receive(nodes[1], n0, ask(1)), effects<RicartAgrawala>({{n0, reply}}));
  EXPECT_EQ(receive(nodes[1], n2, ask(1)), nothing<RicartAgrawala>());
}

TEST(RicartAgrawala, WhoLeavesAnswersAllWhomItKeptWaitingAndForgets) {
  auto node = three()[0];
  request(node);
  receive(node, n1, ask(1));
  receive(node, n2, ask(1));
  receive(node, n1, reply);
  receive(node, n2, reply);
  EXPECT_EQ(release(node), effects<RicartAgrawala>({{n1, reply}, {n2, reply}}));
  auto expected = three()[0];
  expected.clock.observe(1);
  EXPECT_EQ(node, expected) << "only the clock remembers";
}

TEST(RicartAgrawala, ResumesWithAHolderThatAnswersWhenItLeaves) {
  auto nodes = make<RicartAgrawala>(shaped(Topology::complete, 3), {n2});
  request(nodes[0]);
  EXPECT_EQ(receive(nodes[2], n0, ask(1)), nothing<RicartAgrawala>());
  EXPECT_EQ(receive(nodes[0], n1, reply), nothing<RicartAgrawala>());
  EXPECT_EQ(release(nodes[2]), effects<RicartAgrawala>({{n0, reply}}));
  EXPECT_EQ(receive(nodes[0], n2, reply), granted<RicartAgrawala>(3));
}

TEST(RicartAgrawala, AloneItEntersAtOnce) {
  auto node = make<RicartAgrawala>(shaped(Topology::complete, 1))[0];
  EXPECT_EQ(request(node), granted<RicartAgrawala>(1));
  EXPECT_EQ(release(node), nothing<RicartAgrawala>());
  EXPECT_EQ(request(node), granted<RicartAgrawala>(2));
}

}  // namespace
}  // namespace turno::protocols
