#include "protocols/mutex/token/token_ring.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
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

// ---- with pauses

constexpr std::int64_t pause = 7;

turno::Setup pausing(std::size_t nodes) {
  auto setup = shaped(Topology::ring, nodes);
  setup.configure<TokenRing::Config>().pause_ns = pause;
  return setup;
}
Out<TokenRing> armed(std::int64_t delay_ns) {
  Out<TokenRing> out;
  delay_ns > 0 ? out.arm(0, delay_ns) : out.disarm(0);
  return out;
}
Out<TokenRing> expire(TokenRing& node) {
  return stepped(node, {.kind = EventKind::expire, .number = 0});
}

TEST(TokenRingWithPauses, AnIdleTokenRestsAtTheRootInEachLap) {
  auto nodes = make<TokenRing>(pausing(3));
  EXPECT_EQ(start(nodes[0]), armed(pause));
  for (int lap = 0; lap < 3; ++lap) {
    EXPECT_TRUE(nodes[0].has_token());
    EXPECT_EQ(expire(nodes[0]), effects<TokenRing>({{n1, token(0)}}));
    EXPECT_EQ(receive(nodes[1], n0, token(0)), effects<TokenRing>({{n2, token(0)}}))
        << "only the root lets it rest";
    EXPECT_EQ(receive(nodes[0], n2, token(0)), armed(pause));
  }
  EXPECT_EQ(nodes[1], make<TokenRing>(pausing(3))[1]);
}

TEST(TokenRingWithPauses, TheRootsUserNeedNotWaitForTheEndOfOne) {
  auto root = make<TokenRing>(pausing(3))[0];
  start(root);
  auto expected = granted<TokenRing>(1);
  expected.disarm(0);
  EXPECT_EQ(request(root), expected);
  EXPECT_EQ(expire(root), nothing<TokenRing>()) << "too late";
  EXPECT_EQ(release(root), effects<TokenRing>({{n1, token(1)}})) << "at once";
  EXPECT_EQ(expire(root), nothing<TokenRing>()) << "too late";
}

TEST(TokenRingWithPauses, ABusyTokenDoesNotRest) {
  auto root = make<TokenRing>(pausing(3))[0];
  start(root);
  expire(root);
  EXPECT_EQ(receive(root, n2, token(1)), effects<TokenRing>({{n1, token(1)}})) << "used by others";
  EXPECT_EQ(receive(root, n2, token(2)), effects<TokenRing>({{n1, token(2)}}));
  request(root);
  EXPECT_EQ(receive(root, n2, token(2)), granted<TokenRing>(3));
  EXPECT_EQ(release(root), effects<TokenRing>({{n1, token(3)}}));
  EXPECT_EQ(receive(root, n2, token(3)), effects<TokenRing>({{n1, token(3)}})) << "used by itself";
  EXPECT_EQ(receive(root, n2, token(3)), armed(pause));
}

TEST(TokenRingWithPauses, AloneThereIsNothingToPauseFor) {
  auto node = make<TokenRing>(pausing(1))[0];
  EXPECT_EQ(start(node), nothing<TokenRing>());
  EXPECT_EQ(request(node), granted<TokenRing>(1));
  EXPECT_EQ(release(node), nothing<TokenRing>());
}

}  // namespace
}  // namespace turno::protocols
