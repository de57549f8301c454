#include "protocols/deadlock/wait_for_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WaitForGraph, HasNoDeadlockWithoutACycle) {
  WaitForGraph graph;
  graph.add(n0, n1);
  graph.add(n1, n2);
  graph.add(n0, n2);
  EXPECT_THAT(graph.cycle_through(n0), IsEmpty());
  EXPECT_TRUE(graph.deadlocked().empty());
}

TEST(WaitForGraph, FindsAShortestCycle) {
  WaitForGraph graph;
  graph.add(n0, n1);
  graph.add(n1, n2);
  graph.add(n2, n3);
  graph.add(n3, n0);
  EXPECT_THAT(graph.cycle_through(n2), ElementsAre(n2, n3, n0, n1));
  graph.add(n2, n0);
  EXPECT_THAT(graph.cycle_through(n2), ElementsAre(n2, n0, n1));
  graph.remove(n1, n2);
  EXPECT_FALSE(graph.on_cycle(n2));
}

TEST(WaitForGraph, CountsWhoeverWaitsForACycleAsDeadlocked) {
  WaitForGraph graph;
  graph.add(n1, n2);
  graph.add(n2, n1);
  graph.add(n0, n1);
  graph.add(n0, n3);
  graph.add(n4, n3);
  EXPECT_FALSE(graph.on_cycle(n0));
  EXPECT_EQ(describe(graph.deadlocked()), "{0 1 2}");
}

TEST(WaitForGraph, AProcessMayWaitForItself) {
  WaitForGraph graph;
  graph.add(n3, n3);
  EXPECT_THAT(graph.cycle_through(n3), ElementsAre(n3));
}

TEST(WaitForGraph, IsASet) {
  WaitForGraph one, other;
  one.add(n0, n1);
  one.add(n2, n1);
  one.add(n0, n1);
  other.add(n2, n1);
  other.add(n0, n1);
  EXPECT_EQ(one, other);
  one.remove(n0, n1);
  one.remove(n0, n1);
  EXPECT_EQ(one.edges().size(), 1U);
}

// The dumb twin: who can be reached in one, two, four, ... steps.
class Closure {
 public:
  Closure(const WaitForGraph& graph, std::size_t nodes)
      : reaches_(nodes, std::vector<bool>(nodes, false)) {
    for (const auto& [waiter, holder] : graph.edges())
      reaches_[waiter.index()][holder.index()] = true;
    for (std::size_t k = 0; k < nodes; ++k)
      for (std::size_t i = 0; i < nodes; ++i)
        for (std::size_t j = 0; j < nodes; ++j)
          if (reaches_[i][k] && reaches_[k][j]) reaches_[i][j] = true;
  }
  [[nodiscard]] bool on_cycle(std::size_t node) const { return reaches_[node][node]; }
  [[nodiscard]] bool deadlocked(std::size_t node) const {
    for (std::size_t i = 0; i < reaches_.size(); ++i)
      if (on_cycle(i) && (i == node || reaches_[node][i])) return true;
    return false;
  }

 private:
  std::vector<std::vector<bool>> reaches_;
};

TEST(WaitForGraph, AgreesWithItsTransitiveClosureOnRandomGraphs) {
  Random random(3);
  std::size_t cyclic = 0;
  for (int round = 0; round < 5'000; ++round) {
    const auto nodes = 1 + random.below(9);
    WaitForGraph graph;
    for (auto edges = random.below(2 * nodes + 1); edges > 0; --edges)
      graph.add(NodeId{random.below(nodes)}, NodeId{random.below(nodes)});
    const Closure closure(graph, nodes);
    const auto stuck = graph.deadlocked();
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto cycle = graph.cycle_through(NodeId{i});
      ASSERT_EQ(!cycle.empty(), closure.on_cycle(i));
      ASSERT_EQ(stuck.contains(NodeId{i}), closure.deadlocked(i));
      for (std::size_t k = 0; k < cycle.size(); ++k)
        ASSERT_THAT(graph.edges(), ::testing::Contains(WaitForGraph::Edge{
                                       cycle[k], cycle[(k + 1) % cycle.size()]}));
    }
    cyclic += stuck.empty() ? 0 : 1;
  }
  EXPECT_GT(cyclic, 500U);
  EXPECT_LT(cyclic, 4'500U);
}

}  // namespace
}  // namespace turno::protocols
