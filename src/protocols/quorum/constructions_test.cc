#include "protocols/quorum/constructions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <string>

namespace turno {
namespace {

constexpr std::size_t largest = 200;
using Bits = std::bitset<largest>;

std::vector<Bits> as_bits(const Quorums& all) {
  std::vector<Bits> result;
  for (const auto& quorum : all) {
    result.emplace_back();
    for (auto node : quorum) result.back().set(node.index());
  }
  return result;
}

// Any two share a node, each node is in its own, members are sorted and named once.
void expect_quorums(const Quorums& all, std::size_t n, std::string_view what) {
  ASSERT_EQ(all.size(), n) << what;
  const auto bits = as_bits(all);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_TRUE(bits[i].test(i)) << what << ": node " << i << " of " << n;
    EXPECT_TRUE(std::is_sorted(all[i].begin(), all[i].end())) << what;
    EXPECT_EQ(bits[i].count(), all[i].size()) << what << ": a member is named twice";
    for (std::size_t j = 0; j < i; ++j)
      if ((bits[i] & bits[j]).none())
        ADD_FAILURE() << what << " of " << n << ": " << i << " and " << j << " share nobody";
  }
  if (n <= 50) {
    EXPECT_EQ(disjoint(all), std::nullopt) << what;
  }
}

TEST(Quorums, OfEveryConstructionShareANodeForEveryN) {
  for (std::size_t c = 0; c < quorum_construction_names.size(); ++c)
    for (std::size_t n = 1; n <= largest; ++n)
      expect_quorums(quorums(static_cast<QuorumConstruction>(c), n), n,
                     quorum_construction_names[c]);
}

TEST(CyclicQuorums, AreAllAsLargeAndAllNodesWorkAsMuch) {
  for (std::size_t n = 1; n <= largest; ++n) {
    const auto all = quorums(QuorumConstruction::cyclic, n);
    const auto size = all[0].size();
    std::vector<std::size_t> load(n, 0);
    for (const auto& quorum : all) {
      EXPECT_EQ(quorum.size(), size) << n << " nodes";
      for (auto node : quorum) ++load[node.index()];
    }
    EXPECT_EQ(load, std::vector<std::size_t>(n, size)) << n << " nodes";
  }
}

TEST(CyclicQuorums, AreNotMuchLargerThanTheRootOfTwiceN) {
  for (std::size_t n = 1; n <= largest; ++n) {
    const auto size = static_cast<double>(quorums(QuorumConstruction::cyclic, n)[0].size());
    EXPECT_LE(size, 1.061 * std::sqrt(2.0 * static_cast<double>(n)) + 1) << n << " nodes";
    EXPECT_GE(size, (1 + std::sqrt(4.0 * static_cast<double>(n) - 3)) / 2 - 1e-9)
        << "no equal quorums can be smaller";
  }
}

TEST(GridQuorums, AreARowAndAColumn) {
  EXPECT_EQ(quorums(QuorumConstruction::grid, 4), (Quorums{{NodeId{0}, NodeId{1}, NodeId{2}},
                                                           {NodeId{0}, NodeId{1}, NodeId{3}},
                                                           {NodeId{0}, NodeId{2}, NodeId{3}},
                                                           {NodeId{1}, NodeId{2}, NodeId{3}}}));
  for (std::size_t side = 1; side * side <= largest; ++side)
    for (const auto& quorum : quorums(QuorumConstruction::grid, side * side))
      EXPECT_EQ(quorum.size(), 2 * side - 1) << "a square of " << side;
}

TEST(GridQuorums, AreNeverLargerThanThoseOfTheNextSquare) {
  for (std::size_t n = 1; n <= largest; ++n) {
    const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
    for (const auto& quorum : quorums(QuorumConstruction::grid, n))
      EXPECT_LE(quorum.size(), 2 * side - 1) << n << " nodes";
  }
}

TEST(MajorityQuorums, AreMoreThanHalf) {
  for (std::size_t n = 1; n <= largest; ++n)
    for (const auto& quorum : quorums(QuorumConstruction::majority, n))
      EXPECT_EQ(quorum.size(), n / 2 + 1) << n << " nodes";
}

TEST(Disjoint, NamesTwoThatShareNobody) {
  const Quorums bad = {{NodeId{0}, NodeId{1}}, {NodeId{1}, NodeId{2}}, {NodeId{2}, NodeId{3}}, {}};
  EXPECT_EQ(disjoint({bad[0], bad[1]}), std::nullopt);
  EXPECT_EQ(disjoint({bad[0], bad[1], bad[2]}), (std::pair{NodeId{0}, NodeId{2}}));
  EXPECT_EQ(disjoint({bad[0], bad[3]}), (std::pair{NodeId{0}, NodeId{1}}));
}

}  // namespace
}  // namespace turno
