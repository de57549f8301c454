#include "protocols/parts/detector/hypercube.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace turno::protocols {
namespace {

using ::testing::ElementsAre;
using Numbers = std::vector<std::uint32_t>;

Numbers cluster(std::size_t nodes, std::uint32_t node, unsigned number) {
  const Hypercube cube(nodes);
  Numbers members;
  for (std::uint32_t place = 0; place < Hypercube::places(number); ++place)
    if (const auto found = cube.at(NodeId{node}, number, place); found != nobody)
      members.push_back(found.value);
  return members;
}

// The definition, word for word.
Numbers dumb_cluster(std::uint32_t node, unsigned number) {
  const auto head = node ^ (1U << (number - 1));
  Numbers members{head};
  for (auto s = number; --s > 0;)
    for (auto member : dumb_cluster(head, s)) members.push_back(member);
  return members;
}

TEST(Hypercube, HasThePublishedClusters) {
  EXPECT_THAT(cluster(16, 0, 1), ElementsAre(1));
  EXPECT_THAT(cluster(16, 0, 2), ElementsAre(2, 3));
  EXPECT_THAT(cluster(16, 0, 3), ElementsAre(4, 6, 7, 5));
  EXPECT_THAT(cluster(16, 0, 4), ElementsAre(8, 12, 14, 15, 13, 10, 11, 9));
  EXPECT_THAT(cluster(8, 6, 2), ElementsAre(4, 5));
}

TEST(Hypercube, FollowsTheDefinition) {
  for (std::uint32_t node = 0; node < 64; ++node)
    for (unsigned number = 1; number <= 6; ++number)
      EXPECT_EQ(cluster(64, node, number), dumb_cluster(node, number));
}

TEST(Hypercube, ClustersOfANodeAreAllOthersOnce) {
  for (std::size_t nodes = 1; nodes <= 33; ++nodes) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      std::multiset<std::uint32_t> all{node};
      for (unsigned number = 1; number <= Hypercube(nodes).clusters(); ++number) {
        for (auto member : cluster(nodes, node, number)) {
          all.insert(member);
          EXPECT_EQ(Hypercube::cluster_of(NodeId{node}, NodeId{member}), number);
        }
      }
      std::multiset<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < nodes; ++i) expected.insert(i);
      EXPECT_EQ(all, expected);
    }
  }
}

TEST(Hypercube, HasAsManyClustersAsBits) {
  const auto clusters = [](std::size_t nodes) { return int{Hypercube(nodes).clusters()}; };
  EXPECT_EQ(clusters(1), 0);
  EXPECT_EQ(clusters(2), 1);
  EXPECT_EQ(clusters(3), 2);
  EXPECT_EQ(clusters(16), 4);
  EXPECT_EQ(clusters(17), 5);
}

TEST(Hypercube, FindsTheFirstThatWillDo) {
  const Hypercube cube(8);
  EXPECT_EQ(cube.first(NodeId{0}, 3, [](NodeId node) { return node != NodeId{4}; }), NodeId{6});
  EXPECT_EQ(cube.first(NodeId{0}, 3, [](NodeId) { return false; }), nobody);
  EXPECT_EQ(Hypercube(6).first(NodeId{0}, 3, [](NodeId node) { return node != NodeId{4}; }),
            NodeId{5})
      << "6 and 7 do not exist";
}

}  // namespace
}  // namespace turno::protocols
