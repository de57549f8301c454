#include "protocols/mutex/permission/central.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = Central::Kind;

const Central::Message ask{.kind = Kind::request};
const Central::Message farewell{.kind = Kind::release};

Central::Message grant(std::uint64_t count) {
  return {.kind = Kind::grant, .fence = Fence::at(1, count)};
}

std::vector<Central> three() { return make<Central>(shaped(Topology::complete, 3)); }

TEST(Central, CoordinatorGrantsToTheFirstWhoAsks) {
  auto coordinator = three()[0];
  EXPECT_EQ(receive(coordinator, n1, ask), effects<Central>({{n1, grant(1)}}));
  EXPECT_EQ(coordinator.holder, n1);
}

TEST(Central, CoordinatorServesInTheOrderOfArrival) {
  auto coordinator = three()[0];
  receive(coordinator, n2, ask);
  EXPECT_EQ(receive(coordinator, n1, ask), nothing<Central>());
  EXPECT_EQ(request(coordinator), nothing<Central>()) << "the coordinator waits like the others";
  EXPECT_EQ(coordinator.queue, (Queue<NodeId>{n1, n0}));

  EXPECT_EQ(receive(coordinator, n2, farewell), effects<Central>({{n1, grant(2)}}));
  EXPECT_EQ(receive(coordinator, n1, farewell), granted<Central>(3));
  EXPECT_EQ(release(coordinator), nothing<Central>());
  EXPECT_EQ(coordinator.holder, nobody);
}

TEST(Central, CoordinatorsOwnCallsCostNoMessage) {
  auto coordinator = three()[0];
  EXPECT_EQ(request(coordinator), granted<Central>(1));
  EXPECT_EQ(release(coordinator), nothing<Central>());
}

TEST(Central, CoordinatorThatLeavesServesTheNext) {
  auto coordinator = three()[0];
  request(coordinator);
  receive(coordinator, n2, ask);
  EXPECT_EQ(release(coordinator), effects<Central>({{n2, grant(2)}}));
}

TEST(Central, ClientAsksEntersAndLeaves) {
  auto client = three()[2];
  EXPECT_EQ(request(client), effects<Central>({{n0, ask}}));
  EXPECT_EQ(receive(client, n0, grant(7)), granted<Central>(7));
  EXPECT_EQ(release(client), effects<Central>({{n0, farewell}}));
}

// Channels may reorder: the next request of a client may overtake its farewell.
TEST(Central, RequestMayOvertakeTheFarewellOfTheSameClient) {
  auto coordinator = three()[0];
  receive(coordinator, n1, ask);
  EXPECT_EQ(receive(coordinator, n1, ask), nothing<Central>());
  EXPECT_EQ(receive(coordinator, n1, farewell), effects<Central>({{n1, grant(2)}}));
}

TEST(Central, ResumesWithAClientInside) {
  auto nodes = make<Central>(shaped(Topology::complete, 3), {n2});
  EXPECT_EQ(nodes[0].holder, n2);
  EXPECT_EQ(receive(nodes[0], n1, ask), nothing<Central>());
  EXPECT_EQ(release(nodes[2]), effects<Central>({{n0, farewell}}));
  EXPECT_EQ(receive(nodes[0], n2, farewell), effects<Central>({{n1, grant(1)}}));
}

TEST(Central, ResumesWithTheCoordinatorInside) {
  auto nodes = make<Central>(shaped(Topology::complete, 3), {n0});
  EXPECT_EQ(receive(nodes[0], n1, ask), nothing<Central>());
  EXPECT_EQ(release(nodes[0]), effects<Central>({{n1, grant(1)}}));
}

}  // namespace
}  // namespace turno::protocols
