#include "sim/demands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace turno::sim {
namespace {

using ::testing::HasSubstr;

struct DemandsTest : ::testing::Test {
  turno::Setup setup;
  DemandsTest() {
    setup.father.assign(3, NodeId{0});
    setup.resources.type_of = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  }
  [[nodiscard]] std::string error(std::string_view text) const {
    try {
      Demands::parse(text, setup);
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "";
  }
  [[nodiscard]] std::string error_in(std::string_view content) const {
    try {
      Demands::parse_file("demands.txt", content, setup);
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "";
  }
  Random unused{1};
};

TEST_F(DemandsTest, OfHalfTheTypes) {
  const auto wish = Demands::parse("half:1-3", setup).source(setup, 1);
  double types = 0, instances = 0;
  for (int i = 0; i < 3000; ++i) {
    for (const auto& need : wish(NodeId{1}, unused).needs) {
      EXPECT_TRUE(need.count >= 1 && need.count <= 3);
      ++types;
      instances += need.count;
    }
  }
  // Three types with probability one half; one time in eight none, and then one of one.
  EXPECT_NEAR(types / 3000, 1.5 + 0.125, 0.05);
  EXPECT_NEAR(instances / 3000, 3 + 0.125, 0.1);
}

TEST_F(DemandsTest, OfASetOfTypes) {
  const auto wish = Demands::parse("set:1-2", setup).source(setup, 1);
  for (int i = 0; i < 100; ++i) {
    const auto needs = wish(NodeId{0}, unused).needs;
    ASSERT_TRUE(needs.size() == 1 || needs.size() == 2);
    EXPECT_EQ(needs.front().count, 1);
    if (needs.size() == 2) {
      EXPECT_LT(needs[0].type, needs[1].type);
    }
  }
}

TEST_F(DemandsTest, DependOnTheSeedAndTheNodeOnly) {
  const auto demands = Demands::parse("half:1-3", setup);
  const auto first = demands.source(setup, 5), second = demands.source(setup, 5);
  std::vector<Wish> one, other;
  for (int i = 0; i < 20; ++i) one.push_back(first(NodeId{1}, unused));
  for (int i = 0; i < 20; ++i) {
    second(NodeId{0}, unused);
    other.push_back(second(NodeId{1}, unused));
  }
  EXPECT_EQ(one, other);
  EXPECT_NE(one.front(), demands.source(setup, 6)(NodeId{1}, unused));
}

TEST_F(DemandsTest, MayBeTheSameAgainAndAgain) {
  const auto wish = Demands::parse("fixed:half:1-3", setup).source(setup, 9);
  const auto first = wish(NodeId{2}, unused);
  EXPECT_EQ(wish(NodeId{2}, unused), first);
}

TEST_F(DemandsTest, AreRefusedWithWhatIsAllowed) {
  EXPECT_THAT(error("half:1-4"), HasSubstr("3 instances"));
  EXPECT_THAT(error("set:1-4"), HasSubstr("3 types"));
  EXPECT_THAT(error("half:3-1"), HasSubstr("the smaller first"));
  EXPECT_THAT(error("some"), HasSubstr("half:A-B, set:A-B"));
  EXPECT_EQ(error("fixed:set:2-3"), "");
}

TEST_F(DemandsTest, OfAFile) {
  const auto demands =
      Demands::parse_file("demands.txt", "# a comment\n0 1:2 0:1\n\n0 2:3\n* 0:1\n", setup);
  const auto wish = demands.source(setup, 1);
  EXPECT_EQ(wish(NodeId{0}, unused), (Wish{0, {{0, 1}, {1, 2}}}));
  EXPECT_EQ(wish(NodeId{0}, unused), (Wish{0, {{2, 3}}}));
  EXPECT_EQ(wish(NodeId{0}, unused), (Wish{0, {{0, 1}, {1, 2}}})) << "from the start again";
  EXPECT_EQ(wish(NodeId{2}, unused), (Wish{0, {{0, 1}}}));
}

TEST_F(DemandsTest, OfAFileAreRefusedWithTheLine) {
  EXPECT_EQ(error_in("0 0:1\n1 0:9\n"),
            "demands.txt, line 2: '0:9' asks for more than there are: type 0 has 3");
  EXPECT_EQ(error_in("0 7:1"), "demands.txt, line 1: there is no type 7; the types are 0 to 2");
  EXPECT_THAT(error_in("\n\n9 0:1"), HasSubstr("line 3: '9' is no node"));
  EXPECT_THAT(error_in("0 zero"), HasSubstr("line 1: 'zero' is not TYPE:COUNT"));
  EXPECT_THAT(error_in("0 0:1 0:1"), HasSubstr("twice"));
  EXPECT_THAT(error_in("0"), HasSubstr("nothing is asked for"));
  EXPECT_THAT(error_in("0 0:1"), HasSubstr("no line for node 1"));
}

TEST_F(DemandsTest, AllOfThem) {
  EXPECT_EQ(all_demands(setup.resources, 100).size(), 63U) << "4 * 4 * 4, but not nothing";
  EXPECT_EQ(all_demands(setup.resources, 1).size(), 3U);
}

}  // namespace
}  // namespace turno::sim
