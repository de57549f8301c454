// What is listed in `fields()` is hashed: all of it, and the same on every machine.
#include "core/fields.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "core/clock/lamport_clock.h"
#include "core/container/queue.h"

namespace turno {
namespace {

struct Everything {
  enum class Mood : std::uint8_t { good, bad } mood = Mood::good;
  bool token = false;
  std::uint32_t number = 0;
  NodeId father;
  NodeSet set;
  Queue<NodeId> queue;
  std::vector<Priority> requests;
  Fence fence;
  Stamp stamp;
  [[nodiscard]] auto fields() const {
    return std::tie(mood, token, number, father, set, queue, requests, fence, stamp);
  }
};

template <class T, class Lens = PlainLens>
std::uint64_t digest(const T& value, const Lens& lens = {}) {
  Digest result;
  add_to(result, value, lens);
  return result.value();
}

TEST(Digest, SeesEveryField) {
  const std::vector<std::function<void(Everything&)>> changes = {
      [](Everything&) {},
      [](Everything& e) { e.mood = Everything::Mood::bad; },
      [](Everything& e) { e.token = true; },
      [](Everything& e) { e.number = 1; },
      [](Everything& e) { e.father = NodeId{1}; },
      [](Everything& e) { e.father = NodeId{0}; },
      [](Everything& e) { e.set.insert(NodeId{0}); },
      [](Everything& e) { e.set.insert(NodeId{64}); },
      [](Everything& e) { e.queue.push(NodeId{0}); },
      [](Everything& e) { e.queue.push(NodeId{1}); },
      [](Everything& e) {
        e.queue = {NodeId{1}, NodeId{0}};
      },
      [](Everything& e) {
        e.queue = {NodeId{0}, NodeId{1}};
      },
      [](Everything& e) {
        e.requests = {{1, NodeId{0}}};
      },
      [](Everything& e) {
        e.requests = {{0, NodeId{1}}};
      },
      [](Everything& e) {
        e.requests = {{0, NodeId{0}}};
      },
      [](Everything& e) { e.fence = Fence{1}; },
      [](Everything& e) { e.stamp = Stamp{1}; },
  };
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Everything everything;
    changes[i](everything);
    EXPECT_TRUE(seen.insert(digest(everything)).second) << "change " << i << " is not seen";
  }
}

TEST(Digest, IsEqualForEqualValues) {
  Everything one, other;
  one.queue = {NodeId{1}, NodeId{2}};
  one.queue.pop();  // the past of a queue does not matter
  other.queue = {NodeId{2}};
  one.set.insert(NodeId{99});
  one.set.erase(NodeId{99});
  EXPECT_EQ(digest(one), digest(other));
}

// On every compiler and machine: the checker's state counts and the simulator's digests hang on it.
TEST(Digest, IsTheSameEverywhere) {
  Digest nothing, some;
  some.add(1);
  some.add(2);
  EXPECT_EQ(nothing.value(), 0x682e2162e7d9c969U);
  EXPECT_EQ(some.value(), 0x8c89ff82da3ba8b7U);
}

TEST(Digest, DependsOnTheOrderAndTheSeed) {
  Digest forth, back, seeded(1);
  forth.add(1), forth.add(2);
  back.add(2), back.add(1);
  seeded.add(1), seeded.add(2);
  EXPECT_NE(forth.value(), back.value());
  EXPECT_NE(forth.value(), seeded.value());
}

// Where one list ends and the next begins is part of the value.
RC_GTEST_PROP(Digest, TellsListsApart, ()) {
  struct TwoLists {
    std::vector<std::uint32_t> one, other;
    [[nodiscard]] auto fields() const { return std::tie(one, other); }
  };
  const auto list = rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 3U));
  const TwoLists a{*list, *list}, b{*list, *list};
  RC_ASSERT((a.fields() == b.fields()) == (digest(a) == digest(b)));
}

TEST(Digest, TellsSetsApart) {
  struct TwoSets {
    NodeSet one, other;
    [[nodiscard]] auto fields() const { return std::tie(one, other); }
  };
  TwoSets left, right;  // the same words, were it not for where the first set ends
  left.one.insert(NodeId{64});
  left.other.insert(NodeId{0});
  right.other.insert(NodeId{0});
  right.other.insert(NodeId{64});
  EXPECT_NE(digest(left), digest(right));
}

// The checker looks through a lens that renumbers fences and stamps.
struct Blind {
  std::uint64_t operator()(Fence) const { return 0; }
  std::uint64_t operator()(Stamp stamp) const { return stamp.any() ? 1 : 0; }
};

TEST(Digest, SeesFencesAndStampsThroughTheLens) {
  Everything early, late;
  early.fence = Fence{3}, late.fence = Fence{8};
  early.stamp = Stamp{2}, late.stamp = Stamp{9};
  EXPECT_NE(digest(early), digest(late));
  EXPECT_EQ(digest(early, Blind{}), digest(late, Blind{}));
  late.stamp = {};
  EXPECT_NE(digest(early, Blind{}), digest(late, Blind{}));
  late.stamp = Stamp{9};
  late.number = 1;
  EXPECT_NE(digest(early, Blind{}), digest(late, Blind{})) << "the lens is for nothing else";
}

TEST(Stamps, AreFoundWhereverTheyAre) {
  struct Claim {
    NodeId node;
    Stamp stamp;
    [[nodiscard]] auto fields() const { return std::tie(node, stamp); }
  };
  struct Node {
    NodeSet set;
    std::uint32_t number = 3;
    std::vector<Claim> claims;
    Fence fence{4};
    Stamp newest;
    [[nodiscard]] auto fields() const { return std::tie(set, number, claims, fence, newest); }
  };
  const Node node{.claims = {{NodeId{0}, {5}}, {NodeId{1}, {}}}, .newest = {6}};
  std::vector<std::uint64_t> found;
  auto visit = [&](Stamp stamp) { found.push_back(stamp.value); };
  for_each_stamp(node, visit);
  EXPECT_EQ(found, (std::vector<std::uint64_t>{5, 0, 6}));
}

}  // namespace
}  // namespace turno
