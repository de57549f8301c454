#include "core/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/holding.h"
#include "core/setup.h"

namespace turno {
namespace {

using Fathers = std::vector<NodeId>;

std::vector<std::size_t> numbers(const Fathers& fathers) {
  std::vector<std::size_t> result;
  for (auto father : fathers) result.push_back(father.index());
  return result;
}

std::vector<std::size_t> shape(Topology topology, std::size_t n) {
  Random random(1);
  return numbers(fathers(topology, n, random));
}

using Shape = std::vector<std::size_t>;

TEST(Topology, LineHangsEachNodeBelowTheOneBefore) {
  EXPECT_EQ(shape(Topology::line, 5), (Shape{0, 0, 1, 2, 3}));
}

TEST(Topology, StarHangsAllBelowTheRoot) {
  EXPECT_EQ(shape(Topology::star, 5), (Shape{0, 0, 0, 0, 0}));
}

TEST(Topology, RadiatingStarHasArmsOfFive) {
  EXPECT_EQ(shape(Topology::radiating_star, 12), (Shape{0, 0, 1, 2, 3, 4, 0, 6, 7, 8, 9, 0}));
}

TEST(Topology, BinaryTreeHasTwoSonsEach) {
  EXPECT_EQ(shape(Topology::binary_tree, 7), (Shape{0, 0, 0, 1, 1, 2, 2}));
}

TEST(Topology, TernaryTreeHasThreeSonsEach) {
  EXPECT_EQ(shape(Topology::ternary_tree, 8), (Shape{0, 0, 0, 0, 1, 1, 1, 2}));
}

TEST(Topology, RingAndCompleteFindTheirRootInAStar) {
  EXPECT_EQ(shape(Topology::ring, 4), shape(Topology::star, 4));
  EXPECT_EQ(shape(Topology::complete, 4), shape(Topology::star, 4));
  EXPECT_FALSE(is_tree(Topology::ring));
  EXPECT_FALSE(is_tree(Topology::complete));
}

TEST(Topology, RandomTreeDependsOnTheSeedAlone) {
  Random one(4), same(4), other(5);
  const auto first = fathers(Topology::random_tree, 30, one);
  EXPECT_EQ(first, fathers(Topology::random_tree, 30, same));
  EXPECT_NE(first, fathers(Topology::random_tree, 30, other));
}

// Who climbs from any node reaches the only root.
void expect_a_tree(const Fathers& tree, const std::string& what) {
  const auto n = tree.size();
  std::size_t roots = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (tree[i].index() == i) ++roots;
    std::size_t at = i, steps = 0;
    while (tree[at].index() != at && steps <= n) at = tree[at].index(), ++steps;
    EXPECT_LE(steps, n) << what << ": a cycle above node " << i;
  }
  EXPECT_EQ(roots, 1U) << what;
  EXPECT_EQ((Setup{.father = tree}.root()), NodeId{0}) << what;
}

TEST(Topology, EveryTreeHasOneRootAndNoCycle) {
  for (auto name : topology_names)
    for (std::size_t n = 1; n <= 40; ++n) {
      Random random(n);
      const auto tree = fathers(*topology_named(name), n, random);
      ASSERT_EQ(tree.size(), n);
      expect_a_tree(tree, std::string(name) + " of " + std::to_string(n));
    }
}

TEST(Topology, NamesAreUnderstood) {
  for (auto text : topology_names) {
    const auto topology = topology_named(text);
    ASSERT_TRUE(topology) << text;
    EXPECT_EQ(name(*topology), text);
  }
  EXPECT_EQ(topology_named("radiating-star"), Topology::radiating_star);
  EXPECT_EQ(topology_named("moebius"), std::nullopt);
  EXPECT_EQ(topology_named(""), std::nullopt);
}

// The sorted brackets of a tree: equal for isomorphic trees only.
std::string canonical(const Fathers& tree, std::size_t root) {
  std::vector<std::string> sons;
  for (std::size_t i = 0; i < tree.size(); ++i)
    if (i != root && tree[i].index() == root) sons.push_back(canonical(tree, i));
  std::sort(sons.begin(), sons.end());
  std::string text = "(";
  for (const auto& son : sons) text += son;
  return text + ")";
}

TEST(AllRootedTrees, AreAsManyAsTheEncyclopediaSays) {
  // OEIS A000081.
  const std::vector<std::size_t> expected = {1, 1, 2, 4, 9, 20, 48, 115};
  for (std::size_t n = 1; n <= expected.size(); ++n)
    EXPECT_EQ(all_rooted_trees(n).size(), expected[n - 1]) << "trees of " << n << " nodes";
}

TEST(AllRootedTrees, AreTreesAndNoTwoIsomorphic) {
  for (std::size_t n = 1; n <= 8; ++n) {
    std::set<std::string> seen;
    for (const auto& tree : all_rooted_trees(n)) {
      ASSERT_EQ(tree.size(), n);
      expect_a_tree(tree, "a tree of " + std::to_string(n));
      EXPECT_TRUE(seen.insert(canonical(tree, 0)).second) << canonical(tree, 0) << " occurs twice";
    }
  }
}

TEST(AllRootedTrees, BeginWithTheLineAndEndWithTheStar) {
  const auto trees = all_rooted_trees(4);
  EXPECT_EQ(numbers(trees.front()), shape(Topology::line, 4));
  EXPECT_EQ(numbers(trees.back()), shape(Topology::star, 4));
}

TEST(Setup, RestsWithItsHolderOrElseWithItsRoot) {
  const turno::Setup setup{.father = {NodeId{1}, NodeId{1}}};
  const std::vector<Holding> holdings = {{.seat = NodeId{0}}};
  EXPECT_EQ(setup.root(), NodeId{1});
  EXPECT_EQ(resting_place(setup, {}), NodeId{1});
  EXPECT_EQ(resting_place(setup, holdings), NodeId{0});
  EXPECT_EQ(turno::Setup{}.root(), nobody);
}

}  // namespace
}  // namespace turno
