// The graph of worlds: ends, traps and fair cycles, on graphs small enough to see.
#include "check/graph.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"

namespace turno::check {
namespace {

struct Edge {
  Graph::World target;
  Graph::Label label = 0;
};

Graph graph_of(const std::vector<std::vector<Edge>>& worlds) {
  Graph graph;
  for (const auto& edges : worlds) {
    graph.begin_world();
    for (const auto& edge : edges) {
      graph.add_edge(edge.target);
      graph.add_label(edge.label);
    }
  }
  return graph;
}

constexpr Graph::Label deliver = 7, leave = 8;

TEST(Graph, WithoutACycleIsAcyclic) {
  EXPECT_TRUE(graph_of({{{1}, {2}}, {{3}}, {{3}}, {}}).acyclic());
  EXPECT_FALSE(graph_of({{{1}}, {{2}}, {{1}}}).acyclic());
  EXPECT_FALSE(graph_of({{{0}}}).acyclic());
}

TEST(Graph, CostsOfTheCheapestAndTheDearestRun) {
  // 0 -> 1 -> 3, 0 -> 2 -> 3, 2 -> 4; the world 5 is reached by a fault only.
  Graph graph;
  const std::vector<std::vector<std::pair<Graph::World, std::uint8_t>>> worlds = {
      {{1, 2}, {2, 1}}, {{3, 5}}, {{3, 0}, {4, 1}}, {}, {}, {{4, 200}}};
  for (const auto& edges : worlds) {
    graph.begin_world();
    for (const auto& [target, cost] : edges) {
      graph.add_edge(target);
      graph.add_cost(cost);
    }
  }
  EXPECT_EQ(graph.costs(), (Graph::Costs{1, 7}));
  EXPECT_EQ(graph_of({{{1}}, {}}).costs(), std::nullopt) << "nobody counted";
}

TEST(Graph, ATrapIsAWorldFromWhichNoGoodOneCanBeReached) {
  // 0 -> 1 (good), 0 -> 2 -> 3 -> 2: the trap is 2, the first of its cycle.
  const auto graph = graph_of({{{1}, {2}}, {}, {{3}}, {{2}}});
  EXPECT_EQ(graph.trap({0, 1, 0, 0}), 2U);
  EXPECT_EQ(graph.trap({0, 1, 0, 1}), std::nullopt);
}

TEST(Graph, AGoodWorldBehindABackwardEdgeIsFound) {
  // The way from 3 to the good world 1 leads back through 2.
  EXPECT_EQ(graph_of({{{2}}, {}, {{3}, {1}}, {{2}}}).trap({0, 1, 0, 0}), std::nullopt);
}

TEST(FairCycle, IsNoneWhereAnActionIsPutOffForEver) {
  // In both worlds a message can be delivered, which leads out; the cycle never does it.
  const auto graph = graph_of({{{1}, {2, deliver}}, {{0}, {2, deliver}}, {}});
  EXPECT_EQ(graph.fair_cycle({1, 1, 0}), std::nullopt);
}

TEST(FairCycle, IsOneWhereTheActionIsTakenOnIt) {
  const auto graph = graph_of({{{1, deliver}}, {{0, leave}}});
  const auto cycle = graph.fair_cycle({1, 1});
  ASSERT_TRUE(cycle);
  EXPECT_EQ(cycle->component, 2U);
  EXPECT_EQ(cycle->worlds.size(), 2U);
}

TEST(FairCycle, IsOneWhereTheActionIsNotAlwaysPossible) {
  // World 1 offers no delivery, so going round through it owes nothing.
  const auto graph = graph_of({{{1}, {2, deliver}}, {{0}}, {}});
  EXPECT_TRUE(graph.fair_cycle({1, 1, 0}));
}

TEST(FairCycle, StaysInside) {
  const auto graph = graph_of({{{1}}, {{0}}});
  EXPECT_TRUE(graph.fair_cycle({1, 1}));
  EXPECT_EQ(graph.fair_cycle({1, 0}), std::nullopt);
}

// On random graphs every cycle found is a cycle, stays inside and owes nothing; and where none is
// found, the dumb twin, which looks at all subsets of worlds, finds none either.
class DumbTwin {
 public:
  DumbTwin(const std::vector<std::vector<Edge>>& worlds, std::vector<std::uint8_t> inside)
      : worlds_(worlds), inside_(std::move(inside)) {}

  [[nodiscard]] bool has_fair_cycle() const {
    for (unsigned set = 1; set < 1U << worlds_.size(); ++set)
      if (strongly_connected(set) && fair(set)) return true;
    return false;
  }

 private:
  [[nodiscard]] static bool in(unsigned set, std::size_t world) {
    return ((set >> world) & 1U) != 0;
  }

  [[nodiscard]] bool strongly_connected(unsigned set) const {
    for (std::size_t start = 0; start < worlds_.size(); ++start) {
      if (!in(set, start)) continue;
      if (inside_[start] == 0) return false;
      unsigned reached = 0;
      for (bool more = true; more;) {
        more = false;
        for (std::size_t at = 0; at < worlds_.size(); ++at) {
          if (at != start && !in(reached, at)) continue;
          for (const auto& edge : worlds_[at])
            if (in(set, edge.target) && !in(reached, edge.target)) {
              reached |= 1U << edge.target;
              more = true;
            }
        }
      }
      if (reached != set) return false;
    }
    return true;
  }

  [[nodiscard]] bool fair(unsigned set) const {
    for (const auto label : {deliver, leave}) {
      bool always = true, taken = false;
      for (std::size_t at = 0; at < worlds_.size(); ++at) {
        if (!in(set, at)) continue;
        bool possible = false;
        for (const auto& edge : worlds_[at]) {
          possible = possible || edge.label == label;
          taken = taken || (edge.label == label && in(set, edge.target));
        }
        always = always && possible;
      }
      if (always && !taken) return false;
    }
    return true;
  }

  const std::vector<std::vector<Edge>>& worlds_;
  std::vector<std::uint8_t> inside_;
};

TEST(FairCycle, AgreesWithTheDumbTwin) {
  Random random(5);
  int found = 0, absent = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto n = 1 + random.below(7);
    std::vector<std::vector<Edge>> worlds(n);
    std::vector<std::uint8_t> inside(n);
    for (std::size_t i = 0; i < n; ++i) {
      inside[i] = random.below(5) != 0;
      for (auto edges = random.below(4); edges > 0; --edges) {
        const Graph::Label labels[] = {0, deliver, leave};
        worlds[i].push_back({static_cast<Graph::World>(random.below(n)), labels[random.below(3)]});
      }
    }
    const auto graph = graph_of(worlds);
    const auto cycle = graph.fair_cycle(inside);
    ASSERT_EQ(cycle.has_value(), DumbTwin(worlds, inside).has_fair_cycle()) << "round " << round;
    ++(cycle ? found : absent);
    if (!cycle) continue;
    for (std::size_t i = 0; i < cycle->worlds.size(); ++i) {
      const auto& edge = worlds[cycle->worlds[i]].at(cycle->actions[i]);
      EXPECT_EQ(edge.target, cycle->worlds[(i + 1) % cycle->worlds.size()]);
      EXPECT_EQ(inside[cycle->worlds[i]], 1);
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(absent, 100);
}

}  // namespace
}  // namespace turno::check
