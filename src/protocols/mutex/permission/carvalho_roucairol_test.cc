#include "protocols/mutex/permission/carvalho_roucairol.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Node = CarvalhoRoucairol;
using Kind = Node::Kind;

Node::Message ask(std::uint32_t time) { return {.kind = Kind::request, .time = time}; }
Node::Message permission(std::uint64_t count) {
  return {.kind = Kind::permission, .fence = Fence::at(1, count)};
}

std::vector<Node> three() { return make<Node>(shaped(Topology::complete, 3)); }

// Node 1 with the permission of all, outside again.
Node returned() {
  auto node = three()[1];
  request(node);
  receive(node, n0, permission(0));
  receive(node, n2, permission(0));
  release(node);
  return node;
}

TEST(CarvalhoRoucairol, AsksAllWhosePermissionItLacks) {
  auto node = three()[1];
  EXPECT_EQ(request(node), effects<Node>({{n0, ask(1)}, {n2, ask(1)}}));
  EXPECT_EQ(receive(node, n0, permission(4)), nothing<Node>());
  EXPECT_EQ(receive(node, n2, permission(2)), granted<Node>(5)) << "one more than any giver knows";
}

TEST(CarvalhoRoucairol, ReentersWithoutAskingWhileNobodyElseWants) {
  auto node = returned();
  EXPECT_EQ(request(node), granted<Node>(2));
  EXPECT_EQ(release(node), nothing<Node>());
}

TEST(CarvalhoRoucairol, GivesItsPermissionAwayAndAsksForItNextTime) {
  auto node = returned();
  EXPECT_EQ(receive(node, n2, ask(2)), effects<Node>({{n2, permission(1)}}));
  EXPECT_EQ(request(node), effects<Node>({{n2, ask(3)}})) << "node 0's permission is still here";
}

TEST(CarvalhoRoucairol, WhoMustGiveWayAsksAgainAtOnce) {
  auto node = returned();
  receive(node, n2, ask(1));
  ASSERT_EQ(request(node), effects<Node>({{n2, ask(2)}}));
  EXPECT_EQ(receive(node, n0, ask(1)), effects<Node>({{n0, permission(1)}, {n0, ask(2)}}))
      << "the same request, with its old time";
  EXPECT_FALSE(node.permitted.contains(n0));
}

TEST(CarvalhoRoucairol, WhoGivesWayToOneItHasAskedAnywayDoesNotAskTwice) {
  auto node = three()[1];
  request(node);
  EXPECT_EQ(receive(node, n0, ask(1)), effects<Node>({{n0, permission(0)}}));
}

TEST(CarvalhoRoucairol, YoungerRequestWaitsForTheExit) {
  auto node = three()[1];
  request(node);
  EXPECT_EQ(receive(node, n2, ask(1)), nothing<Node>());
  receive(node, n0, permission(0));
  receive(node, n2, permission(0));
  EXPECT_EQ(receive(node, n0, ask(2)), nothing<Node>()) << "who is inside gives nothing";
  EXPECT_EQ(release(node), effects<Node>({{n0, permission(1)}, {n2, permission(1)}}));
  EXPECT_TRUE(node.permitted.empty());
  EXPECT_TRUE(node.deferred.empty());
}

TEST(CarvalhoRoucairol, ResumesWithAHolderThatHasAllPermissions) {
  auto nodes = make<Node>(shaped(Topology::complete, 3), {n0});
  EXPECT_EQ(nodes[0].permitted.size(), 2U);
  request(nodes[1]);
  EXPECT_EQ(receive(nodes[0], n1, ask(1)), nothing<Node>());
  EXPECT_EQ(release(nodes[0]), effects<Node>({{n1, permission(0)}}));
  EXPECT_EQ(receive(nodes[1], n2, permission(0)), nothing<Node>());
  EXPECT_EQ(receive(nodes[1], n0, permission(0)), granted<Node>(1));
}

TEST(CarvalhoRoucairol, AloneItEntersAtOnce) {
  auto node = make<Node>(shaped(Topology::complete, 1))[0];
  EXPECT_EQ(request(node), granted<Node>(1));
  release(node);
  EXPECT_EQ(request(node), granted<Node>(2));
}

}  // namespace
}  // namespace turno::protocols
