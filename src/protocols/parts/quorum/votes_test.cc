#include "protocols/parts/quorum/votes.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

const Priority old{1, n2}, middle{2, n0}, young{2, n1};

TEST(Votes, AreCastForTheOldestAndItStaysInTheQueue) {
  Votes votes;
  EXPECT_FALSE(votes.waiting());
  votes.add(young);
  votes.add(old);
  votes.add(middle);
  EXPECT_FALSE(votes.cast_any());
  EXPECT_EQ(votes.cast(), old);
  EXPECT_EQ(votes.holder(), old);
  EXPECT_EQ(std::vector<Priority>(votes.queue().begin(), votes.queue().end()),
            (std::vector<Priority>{old, middle, young}));
}

TEST(Votes, ShouldBeRecalledOnceWhenAnOlderRequestComes) {
  Votes votes;
  votes.add(middle);
  votes.cast();
  votes.add(young);
  EXPECT_FALSE(votes.should_recall()) << "the younger request can wait";
  votes.add(old);
  EXPECT_TRUE(votes.should_recall());
  EXPECT_EQ(votes.recall(), middle);
  EXPECT_TRUE(votes.recalled());
  EXPECT_FALSE(votes.should_recall());
  EXPECT_EQ(votes.cast(), old);
  EXPECT_FALSE(votes.recalled()) << "a new vote has not been asked back";
}

TEST(Votes, ComeBackWhenTheHolderLeaves) {
  Votes votes;
  votes.add(old);
  votes.add(young);
  votes.cast();
  votes.recall();
  EXPECT_TRUE(votes.remove(old));
  EXPECT_FALSE(votes.cast_any());
  EXPECT_FALSE(votes.recalled());
  EXPECT_TRUE(votes.waiting());
}

TEST(Votes, StayWhenSomebodyElseLeavesOrIsUnknown) {
  Votes votes;
  votes.add(old);
  votes.add(young);
  votes.cast();
  EXPECT_FALSE(votes.remove(young));
  EXPECT_FALSE(votes.remove(middle));
  EXPECT_EQ(votes.holder(), old);
  EXPECT_EQ(votes.queue().size(), 1U);
}

TEST(Votes, AreConsistentIfCastExactlyWhenSomebodyAsks) {
  Votes votes;
  EXPECT_TRUE(votes.consistent());
  votes.add(old);
  EXPECT_FALSE(votes.consistent()) << "somebody asks and nobody has the vote";
  votes.cast();
  EXPECT_TRUE(votes.consistent());
  votes.remove(old);
  EXPECT_TRUE(votes.consistent());
}

TEST(Votes, AreEqualAgainWhenAllHaveLeft) {
  Votes votes;
  votes.add(old);
  votes.cast();
  votes.recall();
  EXPECT_NE(votes, Votes{});
  votes.remove(old);
  EXPECT_EQ(votes, Votes{});
}

TEST(VotesDeathTest, CannotBeCastForNobody) {
  Votes votes;
  EXPECT_DEATH(votes.cast(), "waiting");
}

}  // namespace
}  // namespace turno::protocols
