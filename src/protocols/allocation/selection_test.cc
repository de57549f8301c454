#include "protocols/allocation/selection.h"

#include <gtest/gtest.h>

#include <set>

#include "protocols/allocation/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

TEST(Needs, AreEqualIfTheyAskForTheSame) {
  Needs needs(needing({0, 2}).demand());
  EXPECT_EQ(needs.of(0), 0);
  EXPECT_EQ(needs.of(1), 2);
  EXPECT_EQ(needs.of(7), 0);
  needs.take_one(1);
  EXPECT_EQ(needs, Needs(needing({0, 1}).demand()));
  needs.take_one(1);
  EXPECT_EQ(needs, Needs());
}

TEST(Tokens, AreKeptByTheirInstance) {
  const auto setup = sited({1}, {2, 1});
  Tokens tokens;
  tokens.add(Token{2, Fence::at(1, 5)});
  tokens.add(Token{0, Fence::at(1, 3)});
  EXPECT_TRUE(tokens.contains(2));
  EXPECT_FALSE(tokens.contains(1));
  EXPECT_TRUE(tokens.cover(setup.resources, Needs(needing({1, 1}).demand())));
  EXPECT_FALSE(tokens.cover(setup.resources, Needs(needing({2}).demand())));
  tokens.use();
  EXPECT_EQ(tokens.units()[0], (Unit{0, Fence::at(1, 4)}));
  EXPECT_EQ(tokens.take(2).fence, Fence::at(1, 6));
  EXPECT_EQ(tokens.size(), 1U);
}

TEST(Subsets, AreAllDifferent) {
  const Instances five = {10, 11, 12, 13, 14};
  for (std::size_t k = 0; k <= five.size(); ++k) {
    std::set<std::vector<std::uint32_t>> all;
    for (std::uint64_t i = 0; i < ways(5, k); ++i) {
      const auto some = subset(five, k, i);
      EXPECT_EQ(some.size(), k);
      EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
      all.insert({some.begin(), some.end()});
    }
    EXPECT_EQ(all.size(), ways(5, k));
  }
}

struct Selection : ::testing::Test {
  turno::Setup setup = sited({3}, {4, 2});
  Table table = all_free(setup);
  Needs needs;
  [[nodiscard]] Choosing choosing() const { return {setup, n0, needs, table}; }
};

TEST_F(Selection, TakesItsOwnFirst) {
  table[3].holder = n0;
  needs = Needs(needing({1}).demand());
  EXPECT_EQ(count_selections(choosing()), 1U);
  EXPECT_EQ(nth_selection(choosing(), 0), Instances{3});
}

TEST_F(Selection, TakesWhatIsFreeBeforeItAsks) {
  table[0].holder = table[1].holder = n1;
  needs = Needs(needing({3}).demand());
  EXPECT_EQ(count_selections(choosing()), 2U) << "both free ones, and one of two";
  EXPECT_EQ(nth_selection(choosing(), 0), (Instances{0, 2, 3}));
  EXPECT_EQ(nth_selection(choosing(), 1), (Instances{1, 2, 3}));
}

TEST_F(Selection, OfSeveralTypesIsAnyOfEach) {
  needs = Needs(needing({2, 1}).demand());
  EXPECT_EQ(count_selections(choosing()), 12U);
  std::set<std::vector<std::uint32_t>> all;
  for (std::uint32_t i = 0; i < 12; ++i) {
    const auto chosen = nth_selection(choosing(), i);
    all.insert({chosen.begin(), chosen.end()});
  }
  EXPECT_EQ(all.size(), 12U);
}

}  // namespace
}  // namespace turno::protocols
