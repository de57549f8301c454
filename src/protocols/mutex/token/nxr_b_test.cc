#include "protocols/mutex/token/nxr_b.h"

#include <gtest/gtest.h>

#include "core/random.h"
#include "protocols/mutex/token/nxr.h"
#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = NxrB::Kind;
using Claims = NxrB::Claims;

NxrB::Message ask(NodeId node) { return {.kind = Kind::request, .node = node}; }
NxrB::Message token(NodeId give_back_to, Claims claims, std::uint64_t count) {
  return {
      .kind = Kind::token, .node = give_back_to, .claims = claims, .fence = Fence::at(1, count)};
}

// Node 0 of a star, inside, with the requests of nodes 1, 2 and 3 in its queue.
NxrB inside_with_three_claims(std::uint32_t carry) {
  auto setup = shaped(Topology::star, 4);
  setup.configure<NxrB::Config>().carry = carry;
  auto root = make<NxrB>(setup)[0];
  EXPECT_EQ(request(root), granted<NxrB>(1));
  for (auto node : {n1, n2, n3}) EXPECT_EQ(receive(root, node, ask(node)), nothing<NxrB>());
  return root;
}

TEST(NxrB, TokenCarriesAllClaimsAlong) {
  auto root = inside_with_three_claims(NxrB::Config{}.carry);
  EXPECT_EQ(release(root), effects<NxrB>({{n1, token(nobody, {n2, n3}, 1)}}));
  EXPECT_TRUE(root.queue.empty());
  EXPECT_EQ(root.father, n3) << "the last of the claims, not the first";
}

TEST(NxrB, TokenComesBackForWhatItCouldNotCarry) {
  auto root = inside_with_three_claims(1);
  EXPECT_EQ(release(root), effects<NxrB>({{n1, token(n0, {n2}, 1)}}));
  EXPECT_EQ(root.queue, (Queue<NodeId>{n3}));
  EXPECT_EQ(root.father, n0) << "it still owes, so it stays root";
}

TEST(NxrB, TokenThatCarriesNothingIsThatOfNxr) {
  auto root = inside_with_three_claims(0);
  EXPECT_EQ(release(root), effects<NxrB>({{n1, token(n0, {}, 1)}}));
  EXPECT_EQ(root.queue, (Queue<NodeId>{n2, n3}));
}

TEST(NxrB, LastClaimTakesTheTokenForGood) {
  auto nodes = make<NxrB>(shaped(Topology::star, 4));
  request(nodes[0]);
  receive(nodes[0], n2, ask(n2));
  EXPECT_EQ(release(nodes[0]), effects<NxrB>({{n2, token(nobody, {}, 1)}}));
  EXPECT_EQ(nodes[0].father, n2);
}

TEST(NxrB, CarriedClaimsComeAfterTheOwnQueueAndBeforeTheReturnAddress) {
  auto node = make<NxrB>(shaped(Topology::line, 4))[1];
  request(node);
  receive(node, n2, ask(n2));
  EXPECT_EQ(receive(node, n0, token(n0, {n3}, 4)), granted<NxrB>(5));
  EXPECT_EQ(node.queue, (Queue<NodeId>{n1, n2, n3, n0}));
  EXPECT_EQ(release(node), effects<NxrB>({{n2, token(nobody, {n3, n0}, 5)}}));
}

// One who asks again before it leaves sends its new claim along with the token.
TEST(NxrB, OwnClaimTravelsInTheTokenWhileItsOwnerWaits) {
  auto root = inside_with_three_claims(NxrB::Config{}.carry);
  EXPECT_EQ(request(root), nothing<NxrB>());
  EXPECT_EQ(release(root), effects<NxrB>({{n1, token(nobody, {n2, n3, n0}, 1)}}))
      << "the claim brings the token back, no return address is needed";
  EXPECT_EQ(root.queue, (Queue<NodeId>{n0}));
  EXPECT_EQ(root.father, n0);
  EXPECT_EQ(receive(root, n3, token(nobody, {}, 4)), granted<NxrB>(5));
}

TEST(NxrB, OwnClaimStaysAtTheHeadOfWhatIsLeft) {
  auto root = inside_with_three_claims(3);
  request(root);
  receive(root, n1, ask(n4));  // a request that node 1 forwarded
  EXPECT_EQ(root.queue, (Queue<NodeId>{n0, n1, n2, n3, n0, n4}));
  EXPECT_EQ(release(root), effects<NxrB>({{n1, token(nobody, {n2, n3, n0}, 1)}}));
  EXPECT_EQ(root.queue, (Queue<NodeId>{n0, n4}));
}

TEST(NxrB, IdleHolderGivesTheTokenToTheFirstWhoAsks) {
  auto root = make<NxrB>(shaped(Topology::star, 3))[0];
  EXPECT_EQ(receive(root, n2, ask(n2)), effects<NxrB>({{n2, token(nobody, {}, 0)}}));
  EXPECT_EQ(root.father, n2);
  EXPECT_EQ(receive(root, n1, ask(n1)), effects<NxrB>({{n2, ask(n1)}})) << "and forwards the next";
  EXPECT_EQ(root.father, n1);
}

TEST(NxrB, ResumesWithAHolderThatHandsOverWhenItLeaves) {
  auto nodes = make<NxrB>(shaped(Topology::line, 3), {n2});
  EXPECT_EQ(request(nodes[0]), effects<NxrB>({{n2, ask(n0)}}));
  EXPECT_EQ(receive(nodes[2], n0, ask(n0)), nothing<NxrB>());
  EXPECT_EQ(release(nodes[2]), effects<NxrB>({{n0, token(nobody, {}, 0)}}));
  EXPECT_EQ(receive(nodes[0], n2, token(nobody, {}, 0)), granted<NxrB>(1));
}

TEST(NxrBAblation, FirstClaimBecomesTheFather) {
  auto root = make<NxrB>(departing(shaped(Topology::star, 4), 1))[0];
  request(root);
  for (auto node : {n1, n2, n3}) receive(root, node, ask(node));
  release(root);
  EXPECT_EQ(root.father, n1);
}

// With nothing to carry it must do what its twin does, in every state of a long walk.
TEST(NxrB, WithoutCarryingIsNxr) {
  auto setup = shaped(Topology::binary_tree, 6);
  setup.configure<NxrB::Config>().carry = 0;
  Cluster<NxrB> cluster(setup);
  Cluster<Nxr> twin(setup);
  Random random(2);
  std::size_t entries = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto node = random.below(6);
    const auto flights = cluster.flights().size();
    ASSERT_EQ(twin.flights().size(), flights);
    if (random.below(3) > 0 && flights > 0) {
      const auto which = random.below(flights);
      entries += cluster.deliver_at(which).entered ? 1 : 0;
      twin.deliver_at(which);
    } else if (cluster.inside(node)) {
      cluster.leave(NodeId{node});
      twin.leave(NodeId{node});
    } else if (!cluster.waiting(node)) {
      cluster.want(NodeId{node});
      twin.want(NodeId{node});
    }
    for (std::size_t n = 0; n < 6; ++n)
      ASSERT_EQ(describe_state(cluster[n]), describe_state(twin[n]))
          << "node " << n << ", step " << i;
  }
  EXPECT_GT(entries, 100U);
}

}  // namespace
}  // namespace turno::protocols
