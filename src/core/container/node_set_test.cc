#include "core/container/node_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace turno {
namespace {

std::vector<std::uint32_t> members(const NodeSet& set) {
  std::vector<std::uint32_t> result;
  set.for_each([&](NodeId node) { result.push_back(node.value); });
  return result;
}

std::vector<std::uint64_t> words(const NodeSet& set) {
  std::vector<std::uint64_t> result;
  set.for_each_word([&](std::uint64_t word) { result.push_back(word); });
  return result;
}

NodeSet of(std::initializer_list<std::size_t> nodes) {
  NodeSet set;
  for (auto node : nodes) set.insert(NodeId{node});
  return set;
}

// Steps of (insert or erase, node), with nodes on both sides of 64, 128 and 192.
using Steps = std::vector<std::pair<bool, std::uint32_t>>;

Steps any_steps() {
  return *rc::gen::container<Steps>(
      rc::gen::pair(rc::gen::arbitrary<bool>(), rc::gen::inRange<std::uint32_t>(0, 200)));
}

RC_GTEST_PROP(NodeSet, BehavesLikeASet, ()) {
  NodeSet set;
  std::set<std::uint32_t> twin;
  for (const auto& [insert, node] : any_steps()) {
    if (insert) {
      set.insert(NodeId{node});
      twin.insert(node);
    } else {
      set.erase(NodeId{node});
      twin.erase(node);
    }
    RC_ASSERT(set.contains(NodeId{node}) == insert);
    RC_ASSERT(set.size() == twin.size());
    RC_ASSERT(set.empty() == twin.empty());
  }
  RC_ASSERT(members(set) == std::vector<std::uint32_t>(twin.begin(), twin.end()));
}

RC_GTEST_PROP(NodeSet, IsEqualToAnotherWithTheSameMembers, ()) {
  NodeSet set;
  std::set<std::uint32_t> twin;
  for (const auto& [insert, node] : any_steps()) {
    insert ? set.insert(NodeId{node}) : set.erase(NodeId{node});
    insert ? void(twin.insert(node)) : void(twin.erase(node));
  }
  NodeSet rebuilt;
  for (auto node : twin) rebuilt.insert(NodeId{node});
  RC_ASSERT(set == rebuilt);
  RC_ASSERT(words(set) == words(rebuilt));
}

TEST(NodeSet, IsEqualAgainAfterAHighNodeHasComeAndGone) {
  auto set = of({3, 63, 64});
  set.insert(NodeId{1000});
  EXPECT_NE(set, of({3, 63, 64}));
  set.erase(NodeId{1000});
  EXPECT_EQ(set, of({3, 63, 64}));
}

TEST(NodeSet, IsEmptyAgainAfterItsOnlyHighNodeLeaves) {
  auto set = of({64});
  EXPECT_FALSE(set.empty());
  set.erase(NodeId{64});
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set, NodeSet{});
}

TEST(NodeSet, DoesNotMindErasingWhoIsAbsent) {
  auto set = of({1, 70});
  set.erase(NodeId{2});
  set.erase(NodeId{71});
  set.erase(NodeId{500});
  EXPECT_EQ(set, of({70, 1}));
}

TEST(NodeSet, CanBeCleared) {
  auto set = of({1, 70});
  set.clear();
  EXPECT_EQ(set, NodeSet{});
  EXPECT_EQ(set.size(), 0U);
}

TEST(NodeSet, IsNotChangedThroughItsCopy) {
  const auto original = of({1, 70});
  auto copy = original;
  copy.insert(NodeId{71});
  copy.erase(NodeId{1});
  EXPECT_EQ(original, of({1, 70}));
  EXPECT_EQ(copy, of({70, 71}));
  copy = original;
  copy.erase(NodeId{70});
  EXPECT_EQ(original, of({1, 70}));
  const auto low = of({5});
  copy = original;
  copy = low;
  EXPECT_EQ(copy, low) << "nothing is left of the high nodes";
}

TEST(NodeSet, ShowsItsWordsUpToTheLastMember) {
  EXPECT_EQ(words({}), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(words(of({0, 63})), (std::vector<std::uint64_t>{(1ULL << 63) | 1}));
  EXPECT_EQ(words(of({64, 130})), (std::vector<std::uint64_t>{0, 1, 4}));
}

TEST(NodeSet, NeverContainsNobody) { EXPECT_FALSE(of({0, 63, 64, 199}).contains(nobody)); }

}  // namespace
}  // namespace turno
