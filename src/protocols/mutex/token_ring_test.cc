#include "protocols/mutex/token_ring.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno {
namespace {

using namespace turno::testing;

TokenRing::Message token(std::uint64_t count) { return {.fence = Fence::at(1, count)}; }

std::vector<TokenRing> three() { return make<TokenRing>(shaped(Topology::ring, 3)); }

TEST(TokenRing, TokenSetsOutFromTheFirstNode) {
  auto nodes = three();
  EXPECT_TRUE(nodes[0].has_token());
  EXPECT_EQ(start(nodes[0]), effects<TokenRing>({{n1, token(0)}}));
  EXPECT_FALSE(nodes[0].has_token());
  EXPECT_EQ(start(nodes[1]), nothing<TokenRing>());
}

TEST(TokenRing, NodeThatWantsNothingPassesTheTokenOn) {
  auto nodes = three();
  EXPECT_EQ(receive(nodes[1], n0, token(4)), effects<TokenRing>({{n2, token(4)}}));
  EXPECT_EQ(nodes[1], three()[1]) << "and keeps nothing of it";
}

TEST(TokenRing, LastNodePassesTheTokenToTheFirst) {
  auto nodes = three();
  EXPECT_EQ(receive(nodes[2], n1, token(4)), effects<TokenRing>({{n0, token(4)}}));
}

TEST(TokenRing, NodeThatWantsInKeepsTheTokenForOneVisit) {
  auto nodes = three();
  EXPECT_EQ(request(nodes[1]), nothing<TokenRing>()) << "it asks nobody, the token comes by";
  EXPECT_EQ(receive(nodes[1], n0, token(4)), granted<TokenRing>(5));
  EXPECT_TRUE(nodes[1].has_token());
  EXPECT_EQ(release(nodes[1]), effects<TokenRing>({{n2, token(5)}}));
  EXPECT_EQ(nodes[1], three()[1]);
}

TEST(TokenRing, ResumesWithAHolderThatKeepsTheTokenUntilItLeaves) {
  auto nodes = make<TokenRing>(shaped(Topology::ring, 3), {n1});
  EXPECT_FALSE(nodes[0].has_token());
  EXPECT_TRUE(nodes[1].has_token());
  for (auto& node : nodes) EXPECT_EQ(start(node), nothing<TokenRing>());
  request(nodes[2]);
  EXPECT_EQ(release(nodes[1]), effects<TokenRing>({{n2, token(0)}}));
  EXPECT_EQ(receive(nodes[2], n1, token(0)), granted<TokenRing>(1));
}

TEST(TokenRing, AloneTheTokenStays) {
  auto node = make<TokenRing>(shaped(Topology::ring, 1))[0];
  EXPECT_EQ(start(node), nothing<TokenRing>());
  EXPECT_EQ(request(node), granted<TokenRing>(1));
  EXPECT_EQ(release(node), nothing<TokenRing>());
  EXPECT_TRUE(node.has_token());
  EXPECT_EQ(request(node), granted<TokenRing>(2));
}

}  // namespace
}  // namespace turno
