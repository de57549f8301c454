#include "protocols/mutex/token/dir.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = Dir::Kind;

const Dir::Message ask{.kind = Kind::request};
Dir::Message forward(NodeId origin) { return {.kind = Kind::forward, .origin = origin}; }
Dir::Message token(std::uint64_t count) {
  return {.kind = Kind::token, .fence = Fence::at(1, count)};
}

std::vector<Dir> three() { return make<Dir>(shaped(Topology::complete, 3)); }

TEST(Dir, HubThatHasTheTokenIdleGivesItAway) {
  auto hub = three()[0];
  EXPECT_EQ(receive(hub, n1, ask), effects<Dir>({{n1, token(0)}}));
  EXPECT_EQ(hub.last, n1);
}

TEST(Dir, HubForwardsEachRequestToTheRequesterBefore) {
  auto hub = three()[0];
  receive(hub, n1, ask);
  EXPECT_EQ(receive(hub, n2, ask), effects<Dir>({{n1, forward(n2)}}));
  EXPECT_EQ(request(hub), effects<Dir>({{n2, forward(n0)}})) << "its own request too";
  EXPECT_EQ(receive(hub, n1, ask), nothing<Dir>()) << "and now the requester before is itself";
  EXPECT_EQ(hub.next, n1);
}

TEST(Dir, IdleHolderSendsTheTokenStraightToTheRequester) {
  auto node = three()[1];
  request(node);
  receive(node, n0, token(3));
  release(node);
  EXPECT_TRUE(node.has_token());
  EXPECT_EQ(receive(node, n0, forward(n2)), effects<Dir>({{n2, token(4)}}));
  EXPECT_FALSE(node.has_token());
}

TEST(Dir, WaitingNodeRemembersItsSuccessor) {
  auto node = three()[1];
  EXPECT_EQ(request(node), effects<Dir>({{n0, ask}}));
  EXPECT_EQ(receive(node, n0, forward(n2)), nothing<Dir>()) << "forwarded before the token came";
  EXPECT_EQ(receive(node, n0, token(3)), granted<Dir>(4));
  EXPECT_EQ(release(node), effects<Dir>({{n2, token(4)}}));
  EXPECT_EQ(node, three()[1]);
}

TEST(Dir, HolderReentersWithoutTellingTheHub) {
  auto hub = three()[0];
  EXPECT_EQ(request(hub), granted<Dir>(1));
  EXPECT_EQ(release(hub), nothing<Dir>());
  EXPECT_EQ(request(hub), granted<Dir>(2));
}

TEST(Dir, ResumesWithAHolderThatTheHubKnows) {
  auto nodes = make<Dir>(shaped(Topology::complete, 3), {n2});
  EXPECT_EQ(request(nodes[1]), effects<Dir>({{n0, ask}}));
  EXPECT_EQ(receive(nodes[0], n1, ask), effects<Dir>({{n2, forward(n1)}}));
  EXPECT_EQ(receive(nodes[2], n0, forward(n1)), nothing<Dir>());
  EXPECT_EQ(release(nodes[2]), effects<Dir>({{n1, token(0)}}));
  EXPECT_EQ(receive(nodes[1], n2, token(0)), granted<Dir>(1));
}

}  // namespace
}  // namespace turno::protocols
