#include "protocols/parts/cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/topology.h"
#include "protocols/list.h"
#include "protocols/parts/quorum/constructions.h"
#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

TEST(Harmonic, AddsUpTheFractions) {
  EXPECT_DOUBLE_EQ(harmonic(0), 0);
  EXPECT_DOUBLE_EQ(harmonic(2), 1.5);
  EXPECT_NEAR(harmonic(30), 3.9950, 5e-5);
}

// The dumb twin: the length of the way from each node to each.
double mean_distance_by_walking(const turno::Setup& setup) {
  const auto n = setup.size();
  const auto path = [&](std::size_t node) {
    std::vector<std::size_t> up{node};
    while (setup.father[up.back()].index() != up.back())
      up.push_back(setup.father[up.back()].index());
    return up;
  };
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      auto from = path(i), to = path(j);
      while (!from.empty() && !to.empty() && from.back() == to.back())
        from.pop_back(), to.pop_back();
      sum += static_cast<double>(from.size() + to.size());
    }
  return sum / static_cast<double>(n * n);
}

TEST(MeanDistance, AgreesWithWalkingThroughEveryTree) {
  for (std::size_t n = 1; n <= 7; ++n)
    for (const auto& tree : all_rooted_trees(n)) {
      const turno::Setup setup{.father = tree};
      EXPECT_NEAR(mean_distance(setup), mean_distance_by_walking(setup), 1e-12);
    }
}

TEST(MeanDistance, OfAStarOf31IsThePublishedOne) {
  EXPECT_NEAR(mean_distance(shaped(Topology::star, 31)), 1800.0 / 961.0, 1e-12);
}

TEST(Alone, IsWhatThePapersSay) {
  const auto tree = shaped(Topology::star, 31);
  EXPECT_DOUBLE_EQ(RicartAgrawala::alone(tree), 60);
  EXPECT_DOUBLE_EQ(Lamport::alone(tree), 90);
  EXPECT_DOUBLE_EQ(SuzukiKasami::alone(tree), 30);
  EXPECT_NEAR(Central::alone(tree), 2.903, 5e-4);
  EXPECT_NEAR(Nxr::alone(tree), 3.9950, 5e-5);
  EXPECT_NEAR(NaimiTrehel::alone(tree), 3.9950, 5e-5);
  EXPECT_NEAR(Raymond::alone(tree), 3.746, 5e-4);
  EXPECT_NEAR(Dir::alone(tree), 30 * 91 / 961.0, 1e-12);
  auto grid = shaped(Topology::complete, 31);
  grid.quorums = quorums(QuorumConstruction::cyclic, 31);
  EXPECT_DOUBLE_EQ(Maekawa::alone(grid), 3 * static_cast<double>(grid.quorums[0].size() - 1));
}

}  // namespace
}  // namespace turno::protocols
