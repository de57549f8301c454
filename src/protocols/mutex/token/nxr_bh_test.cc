#include "protocols/mutex/token/nxr_bh.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Claim = NxrBh::Claim;
using Claims = NxrBh::Claims;

NxrBh::Message ask(NodeId node, std::uint32_t stamp = 0, std::uint32_t hops = 0) {
  return {.kind = NxrBh::Kind::request, .claim = {node, {stamp}}, .hops = hops};
}
NxrBh::Message token(Claims claims, std::uint32_t served, std::uint64_t count) {
  return {.kind = NxrBh::Kind::token,
          .claims = claims,
          .served = {served},
          .fence = Fence::at(1, count)};
}

std::vector<NxrBh> star() { return make<NxrBh>(shaped(Topology::star, 4)); }

// Node 1 of a star, inside, with nothing but its own claim.
NxrBh inside(std::uint32_t served = 0) {
  auto node = star()[1];
  EXPECT_EQ(request(node), effects<NxrBh>({{n0, ask(n1)}}));
  EXPECT_EQ(receive(node, n0, token({}, served, 0)), granted<NxrBh>(1));
  return node;
}

TEST(NxrBh, IdleHubGivesTheTokenToTheFirstWhoAsks) {
  auto hub = star()[0];
  EXPECT_EQ(receive(hub, n1, ask(n1)), effects<NxrBh>({{n1, token({}, 1, 0)}}))
      << "the hub stamps the claim it hands over, and that claim is served";
  EXPECT_EQ(hub.newest, Stamp{1});
  EXPECT_EQ(hub.father, n1);
}

TEST(NxrBh, HubStampsWhatItForwardsAndKnowsTheNewestRequester) {
  auto hub = star()[0];
  receive(hub, n1, ask(n1));
  EXPECT_EQ(receive(hub, n2, ask(n2)), effects<NxrBh>({{n1, ask(n2, 2, 1)}}));
  EXPECT_EQ(hub.father, n2);
  EXPECT_EQ(receive(hub, n3, ask(n3)), effects<NxrBh>({{n2, ask(n3, 3, 1)}}));
  EXPECT_FALSE(hub.off) << "the hub needs no hint of itself";
}

TEST(NxrBh, HubStampsItsOwnRequest) {
  auto hub = star()[0];
  receive(hub, n1, ask(n1));
  EXPECT_EQ(request(hub), effects<NxrBh>({{n1, ask(n0, 2)}}));
  EXPECT_EQ(hub.father, n0);
}

TEST(NxrBh, HubDoesNotStampTwice) {
  auto hub = star()[0];
  receive(hub, n1, ask(n1));
  EXPECT_EQ(receive(hub, n3, ask(n2, 7, 1)), effects<NxrBh>({{n1, ask(n2, 7, 2)}}));
  EXPECT_EQ(hub.newest, Stamp{1});
}

TEST(NxrBh, WhoForwardsAStampedClaimAsksTheHubNextTime) {
  auto node = make<NxrBh>(shaped(Topology::line, 4))[2];
  EXPECT_EQ(receive(node, n3, ask(n3)), effects<NxrBh>({{n1, ask(n3, 0, 1)}}));
  EXPECT_FALSE(node.off);
  EXPECT_EQ(receive(node, n1, ask(n1, 5, 1)), effects<NxrBh>({{n3, ask(n1, 5, 2)}}));
  EXPECT_TRUE(node.off);
  EXPECT_EQ(request(node), effects<NxrBh>({{n0, ask(n2)}})) << "not its father, node 1";
}

TEST(NxrBh, RequestThatHasWanderedTooLongTakesTheHintBack) {
  auto node = make<NxrBh>(shaped(Topology::line, 4))[2];
  receive(node, n1, ask(n1, 5, 1));
  ASSERT_TRUE(node.off);
  receive(node, n1, ask(n3, 0, 2));
  EXPECT_TRUE(node.off) << "three hops are fewer than four nodes";
  EXPECT_EQ(receive(node, n1, ask(n3, 0, 3)), effects<NxrBh>({{n3, ask(n3, 0, 4)}}));
  EXPECT_FALSE(node.off);
  EXPECT_EQ(receive(node, n1, ask(n1, 0, 4)), effects<NxrBh>({{n3, ask(n1, 0, 4)}}))
      << "beyond N hops are not counted";
}

TEST(NxrBh, TokenCarriesAllClaimsAlong) {
  auto node = inside(1);
  receive(node, n0, ask(n2, 2, 1));
  receive(node, n0, ask(n3, 3, 1));
  EXPECT_EQ(release(node), effects<NxrBh>({{n2, token({Claim{n3, {3}}}, 2, 1)}}))
      << "the stamp of node 2 counts as served";
  EXPECT_EQ(node.father, n3);
  EXPECT_TRUE(node.off) << "it handed on a claim newer than all served";
  EXPECT_EQ(node.served, Stamp{}) << "what was served is known to the token";
  EXPECT_TRUE(node.queue.empty());
}

TEST(NxrBh, WhoHandsOnNothingNewDoesNotPointToTheHub) {
  auto node = inside(5);
  receive(node, n2, ask(n2, 4, 1));
  receive(node, n3, ask(n3));
  EXPECT_EQ(release(node), effects<NxrBh>({{n2, token({Claim{n3, {}}}, 5, 1)}}));
  EXPECT_FALSE(node.off) << "stamp 4 is not newer than the served stamp 5";
}

TEST(NxrBh, WhoHandsOnWhatHasNeverPassedTheHubDoesNotPointToIt) {
  auto node = inside();
  receive(node, n3, ask(n3));
  EXPECT_EQ(release(node), effects<NxrBh>({{n3, token({}, 0, 1)}}));
  EXPECT_FALSE(node.off) << "no stamp at all is not newer than none served";
}

TEST(NxrBh, HubStampsTheLastClaimItHandsOver) {
  auto hub = star()[0];
  request(hub);
  receive(hub, n1, ask(n1));
  receive(hub, n2, ask(n2));
  EXPECT_EQ(release(hub), effects<NxrBh>({{n1, token({Claim{n2, {1}}}, 0, 1)}}));
  EXPECT_EQ(hub.father, n2);
}

TEST(NxrBh, CarriedClaimsGoBeforeThoseAbsorbedWhileWaiting) {
  auto node = star()[1];
  request(node);
  receive(node, n2, ask(n2));
  EXPECT_EQ(receive(node, n0, token({Claim{n3, {3}}}, 2, 0)), granted<NxrBh>(1));
  EXPECT_EQ(node.queue, (Queue<Claim, 3>{{n1, {}}, {n3, {3}}, {n2, {}}}));
}

TEST(NxrBh, WhoAsksAgainBeforeItLeavesStaysRootAndKeepsItsHint) {
  auto hub = star()[0];
  request(hub);
  receive(hub, n1, ask(n1));
  request(hub);
  EXPECT_EQ(release(hub), effects<NxrBh>({{n1, token({Claim{n0, {}}}, 0, 1)}}))
      << "even the hub stamps nothing";
  EXPECT_EQ(hub.father, n0);
  EXPECT_EQ(hub.queue, (Queue<Claim, 3>{{n0, {}}}));

  auto node = inside();
  receive(node, n0, ask(n2, 2, 1));
  request(node);
  release(node);
  EXPECT_FALSE(node.off);
  EXPECT_EQ(node.father, n1);
}

TEST(NxrBh, ResumesWithAHolderThatHandsOverWhenItLeaves) {
  auto nodes = make<NxrBh>(shaped(Topology::line, 3), {n2});
  EXPECT_EQ(nodes[1].hub, n0);
  EXPECT_EQ(request(nodes[1]), effects<NxrBh>({{n2, ask(n1)}}));
  EXPECT_EQ(receive(nodes[2], n1, ask(n1)), nothing<NxrBh>());
  EXPECT_EQ(release(nodes[2]), effects<NxrBh>({{n1, token({}, 0, 0)}}));
  EXPECT_EQ(receive(nodes[1], n2, token({}, 0, 0)), granted<NxrBh>(1));
}

// The three rules without which it breaks: each ablation differs in just that.

TEST(NxrBhAblation, WithoutTheStampTestItAlwaysPointsToTheHub) {
  auto node = make<NxrBh>(departing(shaped(Topology::star, 4), 1))[1];
  request(node);
  receive(node, n0, token({}, 5, 0));
  receive(node, n3, ask(n3));
  release(node);
  EXPECT_TRUE(node.off);
}

TEST(NxrBhAblation, WithoutTheHopLimitTheHintStays) {
  auto node = make<NxrBh>(departing(shaped(Topology::line, 4), 2))[2];
  receive(node, n1, ask(n1, 5, 1));
  receive(node, n1, ask(n3, 0, 3));
  EXPECT_TRUE(node.off);
}

TEST(NxrBhAblation, WithLocalClaimsFirstCarriedOnesWait) {
  auto node = make<NxrBh>(departing(shaped(Topology::star, 4), 3))[1];
  request(node);
  receive(node, n2, ask(n2));
  receive(node, n0, token({{n3, {3}}}, 2, 0));
  EXPECT_EQ(node.queue, (Queue<Claim, 3>{{n1, {}}, {n2, {}}, {n3, {3}}}));
}

}  // namespace
}  // namespace turno::protocols
