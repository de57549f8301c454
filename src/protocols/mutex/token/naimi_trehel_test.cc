#include "protocols/mutex/token/naimi_trehel.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Node = NaimiTrehel;
using Kind = Node::Kind;

Node::Message ask(NodeId origin) { return {.kind = Kind::request, .origin = origin}; }
Node::Message token(std::uint64_t count) {
  return {.kind = Kind::token, .fence = Fence::at(1, count)};
}

std::vector<Node> line() { return make<Node>(shaped(Topology::line, 3)); }

TEST(NaimiTrehel, IdleHolderEntersAndReentersForNothing) {
  auto root = line()[0];
  EXPECT_EQ(request(root), granted<Node>(1));
  EXPECT_EQ(release(root), nothing<Node>());
  EXPECT_EQ(request(root), granted<Node>(2));
}

TEST(NaimiTrehel, OthersAskTheirFatherAndBecomeRoots) {
  auto leaf = line()[2];
  EXPECT_EQ(request(leaf), effects<Node>({{n1, ask(n2)}}));
  EXPECT_EQ(leaf.father, nobody);
}

TEST(NaimiTrehel, NodeOnTheWayForwardsAndTurnsToTheRequester) {
  auto middle = line()[1];
  EXPECT_EQ(receive(middle, n2, ask(n2)), effects<Node>({{n0, ask(n2)}}));
  EXPECT_EQ(middle.father, n2);
}

TEST(NaimiTrehel, IdleHolderGivesTheTokenToTheFirstWhoAsks) {
  auto root = line()[0];
  EXPECT_EQ(receive(root, n1, ask(n2)), effects<Node>({{n2, token(0)}}));
  EXPECT_FALSE(root.has_token());
  EXPECT_EQ(root.father, n2);
}

TEST(NaimiTrehel, WaitingRootRemembersItsSuccessorAndSendsLaterOnesOn) {
  auto leaf = line()[2];
  request(leaf);
  EXPECT_EQ(receive(leaf, n1, ask(n1)), nothing<Node>());
  EXPECT_EQ(leaf.next, n1);
  EXPECT_EQ(receive(leaf, n0, ask(n0)), effects<Node>({{n1, ask(n0)}}))
      << "node 1 is the last requester now";

  EXPECT_EQ(receive(leaf, n0, token(6)), granted<Node>(7));
  EXPECT_EQ(release(leaf), effects<Node>({{n1, token(7)}}));
  EXPECT_EQ(leaf.next, nobody);
  EXPECT_FALSE(leaf.has_token());
}

TEST(NaimiTrehel, WhoHasLeftGivesTheTokenAwayAtOnce) {
  auto root = line()[0];
  request(root);
  release(root);
  EXPECT_EQ(receive(root, n1, ask(n1)), effects<Node>({{n1, token(1)}}));
  EXPECT_EQ(root.fence, Fence{}) << "the fence travels with the token";
}

TEST(NaimiTrehel, ResumesWithAHolderAtTheRootOfAStar) {
  auto nodes = make<Node>(shaped(Topology::line, 3), {n2});
  EXPECT_EQ(nodes[0].father, n2);
  EXPECT_EQ(nodes[1].father, n2);
  EXPECT_EQ(nodes[2].father, nobody);
  EXPECT_EQ(request(nodes[0]), effects<Node>({{n2, ask(n0)}}));
  EXPECT_EQ(receive(nodes[2], n0, ask(n0)), nothing<Node>());
  EXPECT_EQ(release(nodes[2]), effects<Node>({{n0, token(0)}}));
  EXPECT_EQ(receive(nodes[0], n2, token(0)), granted<Node>(1));
}

}  // namespace
}  // namespace turno::protocols
