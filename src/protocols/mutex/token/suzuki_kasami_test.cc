#include "protocols/mutex/token/suzuki_kasami.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Node = SuzukiKasami;
using Kind = Node::Kind;

Node::Message ask(std::uint32_t number) { return {.kind = Kind::request, .number = number}; }
Node::Message token(Node::Numbers served, Queue<NodeId> queue, std::uint64_t count) {
  return {.kind = Kind::token, .served = served, .queue = queue, .fence = Fence::at(1, count)};
}

std::vector<Node> three() { return make<Node>(shaped(Topology::complete, 3)); }

TEST(SuzukiKasami, HolderEntersWithoutAMessage) {
  auto holder = three()[0];
  EXPECT_EQ(request(holder), granted<Node>(1));
  EXPECT_EQ(release(holder), nothing<Node>());
  EXPECT_TRUE(holder.has_token()) << "nobody asked, so it keeps the token";
  EXPECT_EQ(request(holder), granted<Node>(2));
}

TEST(SuzukiKasami, OthersAskAllWithTheNumberOfTheirRequest) {
  auto node = three()[1];
  EXPECT_EQ(request(node), broadcast<Node>(ask(1)));
  EXPECT_EQ(receive(node, n0, token({0, 0, 0}, {}, 0)), granted<Node>(1));
  EXPECT_EQ(release(node), nothing<Node>());
  EXPECT_EQ(node.served, (Node::Numbers{0, 1, 0}));
}

TEST(SuzukiKasami, IdleHolderGivesTheTokenToTheFirstWhoAsks) {
  auto holder = three()[0];
  EXPECT_EQ(receive(holder, n2, ask(1)), effects<Node>({{n2, token({0, 0, 0}, {}, 0)}}));
  EXPECT_FALSE(holder.has_token());
  EXPECT_TRUE(holder.served.empty()) << "what the token knew has left with it";
  EXPECT_EQ(receive(holder, n1, ask(1)), nothing<Node>()) << "it can only take note";
  EXPECT_EQ(holder.requested, (Node::Numbers{0, 1, 1}));
}

TEST(SuzukiKasami, RequestThatWasAlreadyServedIsIgnored) {
  auto holder = three()[0];
  holder.served = {0, 0, 1};
  EXPECT_EQ(receive(holder, n2, ask(1)), nothing<Node>());
  EXPECT_TRUE(holder.has_token());
  EXPECT_EQ(receive(holder, n2, ask(2)), effects<Node>({{n2, token({0, 0, 1}, {}, 0)}}));
}

TEST(SuzukiKasami, LateRequestDoesNotHideANewerOne) {
  auto node = three()[1];
  receive(node, n2, ask(2));
  receive(node, n2, ask(1));
  EXPECT_EQ(node.requested, (Node::Numbers{0, 0, 2}));
}

TEST(SuzukiKasami, WhoLeavesQueuesAllThatWaitBeginningAfterItself) {
  auto node = three()[1];
  request(node);
  receive(node, n0, token({0, 0, 0}, {}, 0));
  receive(node, n0, ask(1));
  receive(node, n2, ask(1));
  EXPECT_EQ(release(node), effects<Node>({{n2, token({0, 1, 0}, {n0}, 1)}}));
  EXPECT_FALSE(node.has_token());
  EXPECT_TRUE(node.queue.empty()) << "the queue has left with the token";
}

TEST(SuzukiKasami, QueueOfTheTokenGoesFirstAndHoldsNobodyTwice) {
  auto node = three()[1];
  request(node);
  receive(node, n2, ask(1));
  receive(node, n0, ask(1));
  EXPECT_EQ(receive(node, n2, token({0, 0, 0}, {n0}, 4)), granted<Node>(5));
  EXPECT_EQ(release(node), effects<Node>({{n0, token({0, 1, 0}, {n2}, 5)}}));
}

TEST(SuzukiKasami, ResumesWithAHolderThatHandsOverWhenItLeaves) {
  auto nodes = make<Node>(shaped(Topology::complete, 3), {n1});
  EXPECT_FALSE(nodes[0].has_token());
  EXPECT_EQ(request(nodes[0]), broadcast<Node>(ask(1)));
  EXPECT_EQ(receive(nodes[1], n0, ask(1)), nothing<Node>());
  EXPECT_EQ(release(nodes[1]), effects<Node>({{n0, token({0, 0, 0}, {}, 0)}}));
  EXPECT_EQ(receive(nodes[0], n1, token({0, 0, 0}, {}, 0)), granted<Node>(1));
}

}  // namespace
}  // namespace turno::protocols
