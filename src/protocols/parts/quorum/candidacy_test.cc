#include "protocols/parts/quorum/candidacy.h"

#include <gtest/gtest.h>

namespace turno::protocols {
namespace {

constexpr NodeId a{0}, b{1};
using Taken = Candidacy::Taken;
using Phase = Candidacy::Phase;

Candidacy competing() {
  Candidacy own;
  own.begin(7);
  return own;
}

TEST(Candidacy, WinsWithAllVotes) {
  auto own = competing();
  EXPECT_TRUE(own.awaits(7));
  EXPECT_FALSE(own.awaits(6)) << "another request of the same node";
  EXPECT_EQ(own.take(a, 2), Taken::kept);
  EXPECT_EQ(own.take(b, 2), Taken::won);
  EXPECT_EQ(own.phase, Phase::inside);
  EXPECT_FALSE(own.awaits(7)) << "it is decided";
}

TEST(Candidacy, GivesBackAVoteThatIsAskedBack) {
  auto own = competing();
  own.take(a, 2);
  EXPECT_TRUE(own.give_back(a));
  EXPECT_TRUE(own.have.empty());
  EXPECT_EQ(own.take(a, 2), Taken::kept) << "it came a second time";
}

TEST(Candidacy, RemembersARecallThatCameBeforeTheVote) {
  auto own = competing();
  EXPECT_FALSE(own.give_back(a));
  EXPECT_EQ(own.take(a, 2), Taken::to_give_back);
  EXPECT_TRUE(own.have.empty());
  EXPECT_TRUE(own.deferred.empty());
}

TEST(Candidacy, KeepsAVoteThatCompletesTheQuorumEvenIfAskedBack) {
  auto own = competing();
  own.give_back(b);
  own.take(a, 2);
  EXPECT_EQ(own.take(b, 2), Taken::won);
  EXPECT_TRUE(own.deferred.empty());
}

TEST(Candidacy, IsAsNewWhenItEnds) {
  auto own = competing();
  own.take(a, 1);
  own.end();
  EXPECT_EQ(own, Candidacy{});
}

}  // namespace
}  // namespace turno::protocols
