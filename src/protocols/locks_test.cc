// What every lock algorithm must do, whichever it is: small systems, driven at random from fixed
// seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "protocols/list.h"
#include "protocols/parts/quorum/constructions.h"
#include "protocols/testing.h"
#include "protocols/typed_testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

template <class P>
turno::Setup suitable(std::size_t nodes, Topology tree = Topology::binary_tree) {
  auto setup = shaped(P::info.shape == Shape::tree ? tree : Topology::complete, nodes);
  if (P::info.voting) setup.quorums = quorums(QuorumConstruction::cyclic, nodes);
  return setup;
}

template <class P>
std::size_t tokens(const Cluster<P>& cluster) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < cluster.size(); ++i) count += cluster[i].has_token() ? 1 : 0;
  for (const auto& flight : cluster.flights()) count += P::carries_token(flight.message) ? 1 : 0;
  return count;
}

// Moves a system at random and watches it: one inside at most, one token, fences that grow, and
// what the algorithm itself promises.
template <class P>
class Walk {
 public:
  Walk(const turno::Setup& setup, std::uint64_t seed, const std::vector<Holding>& holdings = {})
      : cluster(setup, holdings), random_(seed), epoch_(setup.epoch) {}

  // REQUIRES: something travels.
  void deliver_any() {
    const auto& flight = cluster.flights()[random_.below(cluster.flights().size())];
    if (P::info.fifo) return watch(cluster.deliver(flight.from, flight.to));
    watch(cluster.deliver_at(static_cast<std::size_t>(&flight - cluster.flights().data())));
  }
  void user_of_any() {
    const NodeId node{random_.below(cluster.size())};
    if (cluster.inside(node.index())) {
      watch(cluster.leave(node));
    } else if (!cluster.waiting(node.index())) {
      watch(cluster.want(node));
    }
  }
  void move() {
    if (!cluster.flights().empty() && random_.below(4) > 0) return deliver_any();
    user_of_any();
  }
  // Nobody new asks; true when all who waited have been served.
  bool finish() {
    for (int steps = 0; steps < 200'000; ++steps) {
      bool done = true;
      for (std::size_t i = 0; i < cluster.size(); ++i) {
        if (cluster.inside(i)) watch(cluster.leave(NodeId{i}));
        done = done && !cluster.waiting(i);
      }
      if (done) return true;
      if (cluster.flights().empty()) return false;
      deliver_any();
    }
    return false;
  }

  Cluster<P> cluster;
  std::size_t entries = 0;
  std::string complaint;

 private:
  void watch(const TraceStep& step) {
    const auto complain = [&](const std::string& what) {
      if (complaint.empty()) complaint = what + " when " + headline(step);
    };
    if (step.entered) {
      ++entries;
      if (step.fence <= last_)
        complain("fence " + describe(step.fence) + " after " + describe(last_));
      if (step.fence.epoch() != epoch_) complain("a fence of another epoch");
      last_ = step.fence;
    }
    if (const auto broken = cluster.broken(); !broken.empty()) complain(broken);
    if constexpr (HasToken<P>)
      if (tokens(cluster) != 1) complain(std::to_string(tokens(cluster)) + " tokens");
  }

  Random random_;
  std::uint32_t epoch_;
  Fence last_;
};

template <class P>
class LockTest : public ::testing::Test {};

TYPED_TEST_SUITE(LockTest, TypesOf<Locks>, AlgorithmName);

TYPED_TEST(LockTest, AloneItEntersAndReentersWithoutAMessage) {
  Cluster<TypeParam> cluster(suitable<TypeParam>(1));
  Fence last;
  for (int i = 0; i < 3; ++i) {
    const auto step = cluster.want(n0);
    EXPECT_TRUE(step.entered);
    EXPECT_GT(step.fence, last);
    last = step.fence;
    cluster.leave(n0);
    EXPECT_TRUE(cluster.flights().empty());
  }
}

TYPED_TEST(LockTest, ServesWhoeverAsksAlone) {
  for (std::size_t node = 0; node < 7; ++node) {
    Cluster<TypeParam> cluster(suitable<TypeParam>(7));
    cluster.want(NodeId{node});
    for (int steps = 0; steps < 100 && !cluster.inside(node); ++steps) cluster.deliver_at(0);
    EXPECT_TRUE(cluster.inside(node)) << "node " << node;
  }
}

// Recovery: a lock is built anew around whoever holds it.
TYPED_TEST(LockTest, ResumesAroundAnyHolderAndThenServesTheOthers) {
  for (std::size_t n = 2; n <= 6; ++n) {
    auto setup = suitable<TypeParam>(n, Topology::line);
    setup.epoch = 5;
    for (std::size_t holder = 0; holder < n; ++holder) {
      Walk<TypeParam> walk(setup, n + holder, {{.seat = NodeId{holder}}});
      EXPECT_EQ(walk.cluster.broken(), "") << n << " nodes, holder " << holder;
      for (std::size_t i = 0; i < n; ++i)
        if (i != holder) walk.cluster.want(NodeId{i});
      for (int i = 0; i < 500 && !walk.cluster.flights().empty(); ++i) walk.deliver_any();
      EXPECT_EQ(walk.entries, 0U) << "while the holder is inside nobody gets in";
      EXPECT_TRUE(walk.finish()) << n << " nodes, holder " << holder;
      EXPECT_EQ(walk.entries, n - 1);
      EXPECT_EQ(walk.complaint, "");
    }
  }
}

TYPED_TEST(LockTest, HoldsItsPromisesOnRandomWalks) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto tree = std::array{Topology::line, Topology::star, Topology::binary_tree}[seed % 3];
    Walk<TypeParam> walk(suitable<TypeParam>(1 + seed % 8, tree), seed);
    for (int i = 0; i < 1000; ++i) walk.move();
    EXPECT_TRUE(walk.finish()) << "seed " << seed << ": somebody is never served";
    EXPECT_EQ(walk.complaint, "") << "seed " << seed;
    EXPECT_GT(walk.entries, 10U) << "seed " << seed;
  }
}

// Beyond 64 nodes sets need the heap.
TYPED_TEST(LockTest, HoldsItsPromisesAmongSeventyNodes) {
  Walk<TypeParam> walk(suitable<TypeParam>(70), 3);
  for (std::size_t i = 60; i < 70; ++i) walk.cluster.want(NodeId{i});
  EXPECT_TRUE(walk.finish());
  EXPECT_EQ(walk.entries, 10U);
  EXPECT_EQ(walk.complaint, "");
}

// A node's fields are its whole state: the same inputs make the same nodes.
TYPED_TEST(LockTest, SameInputsMakeTheSameNodes) {
  const auto setup = suitable<TypeParam>(5);
  Walk<TypeParam> one(setup, 4), other(setup, 4);
  for (int i = 0; i < 300; ++i) one.move();
  for (int i = 0; i < 300; ++i) other.move();
  EXPECT_GT(one.entries, 0U);
  EXPECT_EQ(one.cluster.flights(), other.cluster.flights());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(one.cluster[i], other.cluster[i]) << "node " << i;
}

TEST(Locks, HaveNamesOfTheirOwn) {
  std::vector<std::string_view> names;
  [&]<class... P>(List<P...>) { (names.push_back(P::info.name), ...); }(Locks{});
  EXPECT_EQ(names.size(), 14U);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace turno::protocols
