#include "protocols/parts/broadcast/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace turno::protocols {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr NodeId n0{0}, n1{1}, n2{2}, n3{3};

struct Hop {
  NodeId to;
  int hops;
  bool operator==(const Hop&) const = default;
};

std::vector<Hop> started(TreeBroadcast& node, const NodeSet& suspects, std::uint64_t time = 1) {
  std::vector<Hop> sent;
  node.start(time, suspects, [&](NodeId to, std::uint8_t hops) { sent.push_back({to, hops}); });
  return sent;
}
std::vector<Hop> forwarded(const TreeBroadcast& node, int hops, const NodeSet& suspects) {
  std::vector<Hop> sent;
  node.forward(static_cast<std::uint8_t>(hops), suspects, [&](NodeId to, std::uint8_t left) {
    sent.push_back({to, left});
  });
  return sent;
}
std::vector<NodeId> missing(const TreeBroadcast& node, const NodeSet& suspects) {
  std::vector<NodeId> found;
  node.for_each_missing(suspects, [&](NodeId other) { found.push_back(other); });
  return found;
}
NodeSet set_of(std::initializer_list<NodeId> nodes) {
  NodeSet set;
  for (auto node : nodes) set.insert(node);
  return set;
}

TEST(TreeBroadcast, IsThePublishedTree) {
  TreeBroadcast root(8, n0);
  EXPECT_THAT(started(root, {}), ElementsAre(Hop{n1, 1}, Hop{n2, 2}, Hop{NodeId{4}, 3}));
  EXPECT_THAT(forwarded(TreeBroadcast(8, n1), 1, {}), IsEmpty());
  EXPECT_THAT(forwarded(TreeBroadcast(8, n2), 2, {}), ElementsAre(Hop{n3, 1}));
  EXPECT_THAT(forwarded(TreeBroadcast(8, NodeId{4}), 3, {}),
              ElementsAre(Hop{NodeId{6}, 2}, Hop{NodeId{5}, 1}));
}

TEST(TreeBroadcast, GoesRoundSuspects) {
  const auto suspects = set_of({NodeId{4}});
  TreeBroadcast root(8, n0);
  EXPECT_THAT(started(root, suspects), ElementsAre(Hop{n1, 1}, Hop{n2, 2}, Hop{NodeId{6}, 3}));
  EXPECT_THAT(forwarded(TreeBroadcast(8, NodeId{6}), 3, suspects),
              ElementsAre(Hop{NodeId{5}, 2}, Hop{NodeId{7}, 1}));
  EXPECT_THAT(forwarded(TreeBroadcast(8, NodeId{5}), 2, suspects), IsEmpty());
}

// For every crash set and every live root: each other live node gets the message exactly once.
TEST(TreeBroadcast, ReachesEveryLiveNodeOnce) {
  for (const std::size_t nodes : {2U, 3U, 5U, 6U, 7U, 8U, 11U}) {
    for (std::uint32_t dead = 0; dead < (1U << nodes); ++dead) {
      NodeSet suspects;
      for (std::size_t i = 0; i < nodes; ++i)
        if (((dead >> i) & 1U) != 0) suspects.insert(NodeId{i});
      for (std::size_t r = 0; r < nodes; ++r) {
        if (suspects.contains(NodeId{r})) continue;
        std::vector<int> copies(nodes);
        TreeBroadcast root(nodes, NodeId{r});
        const auto first = started(root, suspects);
        std::deque<Hop> sent(first.begin(), first.end());
        for (; !sent.empty(); sent.pop_front()) {
          const auto [to, hops] = sent.front();
          ++copies[to.index()];
          for (auto more : forwarded(TreeBroadcast(nodes, to), hops, suspects))
            sent.push_back(more);
        }
        for (std::size_t i = 0; i < nodes; ++i)
          EXPECT_EQ(copies[i], i == r || suspects.contains(NodeId{i}) ? 0 : 1)
              << nodes << " nodes, crash set " << dead << ", root " << r << ", node " << i;
      }
    }
  }
}

TEST(TreeBroadcast, TakesALaterMessageOfTheSameRootOnly) {
  TreeBroadcast node(4, n0);
  EXPECT_TRUE(node.take(n2, 1));
  EXPECT_FALSE(node.take(n2, 1)) << "a copy";
  EXPECT_TRUE(node.take(n2, 3));
  EXPECT_FALSE(node.take(n2, 1)) << "an old copy after a newer message";
  EXPECT_TRUE(node.take(n3, 1)) << "another root";
}

TEST(TreeBroadcast, EndsWhenAllWhoLiveHaveAcknowledged) {
  TreeBroadcast root(4, n0);
  started(root, {}, 7);
  EXPECT_TRUE(root.running());
  root.acknowledge(n1, 7);
  root.acknowledge(n2, 6);
  EXPECT_THAT(missing(root, {}), ElementsAre(n2, n3)) << "2 acknowledged something older";
  root.acknowledge(n2, 7);
  root.finish_if_complete({});
  EXPECT_TRUE(root.running());
  root.finish_if_complete(set_of({n3}));
  EXPECT_FALSE(root.running());
  EXPECT_EQ(root, TreeBroadcast(4, n0)) << "as if nothing had been";
}

TEST(TreeBroadcast, ALaterMessageReplacesTheOneBefore) {
  TreeBroadcast root(4, n0);
  started(root, {}, 1);
  root.acknowledge(n1, 1);
  started(root, {}, 2);
  EXPECT_THAT(missing(root, {}), ElementsAre(n1, n2, n3));
}

}  // namespace
}  // namespace turno::protocols
