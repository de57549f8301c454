#include "protocols/parts/quorum/constructions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <string>

namespace turno::protocols {
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

constexpr std::array all_constructions = {
    QuorumConstruction::cyclic, QuorumConstruction::projective, QuorumConstruction::closed_form,
    QuorumConstruction::grid, QuorumConstruction::majority};

TEST(Quorums, OfEveryConstructionShareANodeForEveryN) {
  for (auto construction : all_constructions)
    for (std::size_t n = 1; n <= largest; ++n)
      if (possible(construction, n))
        expect_quorums(quorums(construction, n), n,
                       quorum_construction_names[static_cast<std::size_t>(construction)]);
}

TEST(Quorums, ThatAreTranslatesAreAllAsLargeAndAllNodesWorkAsMuch) {
  for (auto construction : all_constructions) {
    if (construction == QuorumConstruction::grid) continue;
    for (std::size_t n = 1; n <= largest; ++n) {
      if (!possible(construction, n)) continue;
      const auto shape = shape_of(quorums(construction, n));
      const auto k = shape.largest;
      EXPECT_EQ(shape, (QuorumShape{k, k, k, k})) << n << " nodes";
      EXPECT_GE(k, smallest_possible_size(n)) << n << " nodes";
    }
  }
}

TEST(Quorums, OfAGridLoadNodesWithAsManyAsTheyHaveNeighbours) {
  EXPECT_EQ(shape_of(quorums(QuorumConstruction::grid, 9)), (QuorumShape{5, 5, 5, 5}));
  EXPECT_EQ(shape_of(quorums(QuorumConstruction::grid, 8)), (QuorumShape{4, 5, 4, 5}));
}

TEST(Quorums, HaveALowerBound) {
  const std::vector<std::pair<std::size_t, std::size_t>> known = {
      {1, 1}, {2, 2}, {3, 2}, {4, 3}, {7, 3}, {8, 4}, {13, 4}, {16, 5}, {31, 6}, {91, 10}};
  for (auto [n, k] : known) EXPECT_EQ(smallest_possible_size(n), k) << n << " nodes";
  for (std::size_t n = 1; n <= largest; ++n)
    EXPECT_EQ(static_cast<double>(smallest_possible_size(n)),
              std::ceil((1 + std::sqrt(4 * static_cast<double>(n) - 3)) / 2))
        << n << " nodes";
}

TEST(Quorums, AreFoundByName) {
  for (auto construction : all_constructions)
    EXPECT_EQ(quorum_construction_named(
                  quorum_construction_names[static_cast<std::size_t>(construction)]),
              construction);
  EXPECT_EQ(quorum_construction_named("circle"), std::nullopt);
}

TEST(Quorums, ThatAreImpossibleAreNotFar) {
  using Numbers = std::vector<std::size_t>;
  const auto projective = QuorumConstruction::projective;
  EXPECT_EQ(possible_near(projective, 8), (Numbers{7, 13}));
  EXPECT_EQ(possible_near(projective, 43), (Numbers{31, 57}));  // there is no plane of order 6
  EXPECT_EQ(possible_near(projective, 2), (Numbers{3}));
  EXPECT_EQ(possible_near(projective, 1'000'000).size(), 1U);
  EXPECT_FALSE(possible(QuorumConstruction::grid, 0));
}

TEST(CyclicQuorums, AreNeverLargerThanOthersOfEqualLoad) {
  for (std::size_t n = 1; n <= largest; ++n) {
    const auto size = quorums(QuorumConstruction::cyclic, n)[0].size();
    EXPECT_LE(size, quorums(QuorumConstruction::closed_form, n)[0].size()) << n << " nodes";
    if (!possible(QuorumConstruction::projective, n)) continue;
    EXPECT_EQ(size, quorums(QuorumConstruction::projective, n)[0].size()) << n << " nodes";
  }
}

TEST(CyclicQuorums, BeyondTheTableAreOfAPlaneOrInClosedForm) {
  EXPECT_EQ(quorums(QuorumConstruction::cyclic, 307), quorums(QuorumConstruction::projective, 307));
  EXPECT_EQ(quorums(QuorumConstruction::cyclic, 300),
            quorums(QuorumConstruction::closed_form, 300));
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
}  // namespace turno::protocols
