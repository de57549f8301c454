// The desk of a lock through views, as stories. The checker explores all of them and more
// (explored/recovery_check_test.cc).
#include "cluster/desk.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cluster/desk_testing.h"
#include "protocols/arrangement.h"
#include "protocols/mutex/permission/central.h"
#include "protocols/mutex/permission/maekawa.h"
#include "protocols/mutex/permission/ricart_agrawala.h"
#include "protocols/mutex/token/dir.h"
#include "protocols/mutex/token/nxr_bh.h"

namespace turno::cluster {

using namespace protocols;
namespace {

TEST(Desk, IsOpenedByWhoFirstWantsIt) {
  Cluster<Dir> cluster(3, n2);
  EXPECT_TRUE(cluster.idle(n0));
  cluster.want(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "open");
  EXPECT_EQ(cluster.deliver(n2, n0), "opened");
  EXPECT_EQ(cluster.deliver(n0, n2), "protocol");  // from here on dir is on its own: a request
  EXPECT_EQ(cluster.deliver(n2, n0), "protocol");  // and the token
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_EQ(cluster.fences(), std::vector{Fence::at(1, fences_per_turn)});
  EXPECT_TRUE(cluster.idle(n1)) << "who does not want it hears nothing of it";
}

TEST(Desk, OfALiveHolderIsKeptThroughAView) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.want(n1);
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1});  // n2 is dead
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_FALSE(cluster.inside(n1));
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "it waited before, and did not have to ask again";
  EXPECT_EQ(cluster.fences().back().epoch(), 2U);
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(Desk, IsNotGivenAwayBeforeEverybodyHasReported) {
  Cluster<Dir> cluster(4, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 3, .home = n2});
  cluster.adopt(n1);
  cluster.adopt(n2);
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n1)) << "n0 has not been heard of";
  cluster.adopt(n0);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n1)) << "n0 is inside";
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

// ---- the delay after a crash

TEST(LockDelay, DoesNotConcernATokenKnownToRest) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.leave(n0);  // the token stays
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "nobody else can have been inside";
}

TEST(LockDelay, HoldsBackALockThatTheDeadMayHaveHeld) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n2);  // the home itself, which dies with it
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n0));
  cluster.end_delay();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(LockDelay, ConcernsALockWithoutATokenWhoseHomeDied) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.leave(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n0)) << "nobody can tell that n2 was not inside";
  EXPECT_EQ(cluster.user_inside(n1), the_dead) << "the home keeps it for n2";
  cluster.end_delay();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_TRUE(cluster.fences_grow());
}

// Without a token, and in use when it happens: the home knows that n3 was never told of the lock.
TEST(LockDelay, DoesNotConcernALockThatTheDeadNeverTookPartIn) {
  Cluster<Central> cluster(4, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.want(n1);
  cluster.deliver_all();
  cluster.leave(n0);  // what it says to the home is lost with the view
  cluster.change_view({.members = 3, .home = n2, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

TEST(LockDelay, OfAnIdleLockIsSparedByAHomeThatLives) {
  Cluster<RicartAgrawala> cluster(3, n1);
  cluster.want(n1);
  cluster.deliver_all();
  cluster.leave(n1);
  cluster.retire();
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_FALSE(cluster.idle(n1)) << "that it was free is worth remembering";
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
}

// What the home keeps for the dead it goes on keeping when the view changes again.
TEST(LockDelay, GoesOnThroughAnotherView) {
  Cluster<Dir> cluster(4, n3);
  cluster.want(n3);
  cluster.change_view({.members = 3, .home = n2, .delayed = true});
  cluster.all_adopt();
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n2), the_dead);
  cluster.change_view({.members = 3, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n1), the_dead);
  EXPECT_EQ(cluster.user_inside(n2), no_user);
  EXPECT_FALSE(cluster.inside(n0));
  cluster.end_delay();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
}

TEST(LockDelay, DoesNotConcernALiveHolderAndThoseBehindIt) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.want(n1);
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "who was inside is known: no need to wait";
}

TEST(LockDelay, EndsForNobodyIfNobodyAsks) {
  Cluster<Dir> cluster(3, n2);
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  cluster.end_delay();
  EXPECT_TRUE(cluster.idle(n0));
  EXPECT_TRUE(cluster.idle(n1));
}

// ---- who leaves while nobody can be told

TEST(Desk, IsFreeIfItsHolderLeavesBeforeItKnowsTheNewInstance) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n1);
  EXPECT_EQ(cluster.deliver(n0, n1), "report");  // that it is inside
  cluster.leave(n0);
  EXPECT_FALSE(cluster.inside(n1));
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

TEST(Desk, IsKnownToBeFreeIfItsHolderLeftBetweenTwoViews) {
  Cluster<RicartAgrawala> cluster(4, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 3, .home = n2});
  cluster.all_adopt();
  cluster.leave(n0);  // its report says that it is inside, but is lost with the home
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "n0 says that it was the one inside, and left";
}

// ---- idle locks

TEST(Desk, LeavesNothingBehindWhenItIsRetired) {
  Cluster<Dir> cluster(3, n2);
  for (const auto node : {n0, n1}) {
    cluster.want(node);
    cluster.deliver_all();
    cluster.leave(node);
    cluster.deliver_all();
  }
  cluster.retire();
  EXPECT_FALSE(cluster.idle(n0));
  cluster.deliver_all();
  for (const auto node : {n0, n1, n2}) EXPECT_TRUE(cluster.idle(node));
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_TRUE(cluster.fences_grow()) << "also over what was forgotten";
}

TEST(Desk, IsNotTakenFromItsHolderWhenItIsRetired) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.retire();
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_FALSE(cluster.inside(n1));
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(Desk, IsOpenedAgainForWhoAsksWhileItIsRetired) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.leave(n0);
  cluster.want(n1);  // its wish is on its way
  cluster.retire();
  EXPECT_EQ(cluster.deliver(n1, n2), "open");
  EXPECT_FALSE(cluster.inside(n1));
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(Desk, ServesWhoWasAskingInAnInstanceThatIsRetired) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "open");
  EXPECT_EQ(cluster.deliver(n2, n0), "opened");
  cluster.retire();                                // n0's request is on its way,
  EXPECT_EQ(cluster.deliver(n2, n0), "retire");    // but it drops the instance,
  EXPECT_EQ(cluster.deliver(n0, n2), "protocol");  // and the home does not know it any more
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
}

// ---- messages of instances that are not known

TEST(Desk, KeepsAnEarlyMessageUntilTheHomeHasToldOfItsInstance) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver(n0, n2);
  cluster.deliver(n2, n0);
  EXPECT_EQ(cluster.deliver(n0, n1), "protocol");  // may it enter? n1 does not know of the lock
  EXPECT_EQ(cluster.kept(n1), 1U);
  EXPECT_EQ(cluster.deliver(n1, n2), "query");
  EXPECT_EQ(cluster.deliver(n2, n1), "opened");
  EXPECT_EQ(cluster.kept(n1), 0U);
  EXPECT_EQ(cluster.deliver(n1, n0), "protocol");  // yes
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
}

TEST(Desk, DropsALateMessageOfAnInstanceThatIsGone) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver(n0, n2);
  cluster.deliver(n2, n0);
  cluster.deliver(n0, n1);
  cluster.retire();  // before n1's query arrives
  EXPECT_EQ(cluster.deliver(n1, n2), "query");
  EXPECT_EQ(cluster.deliver(n2, n1), "gone");
  EXPECT_EQ(cluster.kept(n1), 0U);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0)) << "by the next instance";
}

TEST(Desk, IgnoresBeingToldTwice) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver(n0, n2);
  cluster.deliver(n2, n0);
  cluster.deliver(n0, n1);  // for this n1 sends a query,
  cluster.want(n1);         // and for this a wish
  EXPECT_EQ(cluster.deliver(n1, n2), "query");
  EXPECT_EQ(cluster.deliver(n1, n2), "open");
  EXPECT_EQ(cluster.deliver(n2, n1), "opened");
  const auto before = cluster.desk(n1);
  EXPECT_EQ(cluster.deliver(n2, n1), "opened");
  EXPECT_EQ(cluster.desk(n1), before);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

// ---- several users of one member

TEST(Desk, ServesItsOwnUsersInOneTurnAndThenOthers) {
  Cluster<Dir> cluster(2, n1, {.in_a_row = 2});
  for (UserId user = 1; user <= 3; ++user) cluster.want(n0, user);
  cluster.deliver_all();
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n0), 1U);
  cluster.leave(n0);
  EXPECT_EQ(cluster.user_inside(n0), 2U) << "in the same turn";
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "two in a row are enough";
  cluster.leave(n1);
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n0), 3U);
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(Desk, ServesWhoComesNextIfTheFirstWithdraws) {
  Cluster<Dir> cluster(2, n1);
  cluster.want(n1);
  cluster.want(n0, 1);
  cluster.want(n0, 2);
  cluster.deliver_all();
  cluster.withdraw(n0, 1);
  cluster.leave(n1);
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n0), 2U);
}

TEST(Desk, GivesBackATurnThatNobodyWaitsForAnyMore) {
  Cluster<Dir> cluster(2, n1);
  cluster.want(n1);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.withdraw(n0);
  cluster.leave(n1);
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n0));
  EXPECT_TRUE(cluster.inside(n1));
}

// Twice its user had to wait and came back: the third time the desk asks for it before it leaves.
TEST(Desk, AsksAheadForAUserThatComesBack) {
  Cluster<NxrBh> cluster(2, n1);
  const auto asked_ahead = [&] { return cluster.desk(n0).turn.asked; };
  for (int round = 0; round < 2; ++round) {
    cluster.want(n1);
    cluster.deliver_all();
    cluster.want(n0);
    cluster.deliver_all();
    cluster.leave(n1);
    cluster.deliver_all();
    ASSERT_TRUE(cluster.inside(n0));
    if (round == 0) {
      cluster.leave(n0);
      EXPECT_FALSE(asked_ahead());
      cluster.deliver_all();
    }
  }
  cluster.want(n1);
  cluster.deliver_all();
  cluster.leave(n0);
  EXPECT_TRUE(asked_ahead());
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
  cluster.leave(n1);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n0)) << "it did not come back, and the turn was given back";
  EXPECT_EQ(cluster.desk(n0).turn.eagerness, Turn::distrusted);
}

// A grant that has ended cannot be ended again, whoever has the lock now.
TEST(Desk, LetsNobodyLeaveWithAFenceOfThePast) {
  Cluster<Dir> cluster(2, n1);
  cluster.want(n0, 1);
  cluster.want(n0, 2);
  cluster.deliver_all();
  cluster.leave(n0);
  EXPECT_EQ(cluster.user_inside(n0), 2U);
  Desk<Dir> desk = cluster.desk(n0);
  Ledger ledger;
  const auto setup = arrangement(Dir::info, 1, 2, n1);
  Desk<Dir>::Out out;
  desk.step({&setup, n0, n1, &ledger, {}},
            {.kind = DeskEvent::Kind::leave, .fence = cluster.fences().front()}, out);
  EXPECT_FALSE(out.done);
  EXPECT_EQ(desk, cluster.desk(n0));
}

// ---- tries

TEST(Try, OfAFreshLockIsWonByExactlyOneWithTwoMessagesEach) {
  Cluster<RicartAgrawala> cluster(5, n2);
  for (std::size_t i = 0; i < 5; ++i)
    if (NodeId{i} != n2) cluster.try_once(NodeId{i});
  cluster.deliver_all();
  EXPECT_EQ(cluster.fences().size(), 1U);
  EXPECT_EQ(cluster.refused(), 3U);
  EXPECT_EQ(cluster.sent(), 8U) << "a probe and an answer of each";
}

// The home's answer may cross the turn that another user of the member asked for.
TEST(Try, FailsIfAnotherUserOfItsMemberCameBefore) {
  Cluster<Maekawa> cluster(3, n2);
  cluster.want(n1);
  cluster.deliver(n1, n2);
  cluster.deliver(n2, n1);
  cluster.deliver_all();
  cluster.leave(n1);
  cluster.deliver_all();
  cluster.try_once(n0, 1);
  EXPECT_EQ(cluster.deliver(n0, n2), "probe");
  EXPECT_EQ(cluster.deliver(n2, n0), "opened");
  cluster.want(n0, 2);
  while (cluster.deliver(n0, n1) != "nothing" || cluster.deliver(n1, n0) != "nothing") {
  }
  EXPECT_EQ(cluster.user_inside(n0), 2U);
  EXPECT_EQ(cluster.deliver(n2, n0), "go");
  EXPECT_EQ(cluster.refused(), 1U);
  cluster.leave(n0);
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "nothing is stuck";
}

TEST(Try, OfAFreeLockIsWonByExactlyOne) {
  Cluster<NxrBh> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.leave(n0);
  cluster.deliver_all();
  for (const auto node : {n1, n2}) cluster.try_once(node);
  cluster.deliver_all();
  EXPECT_EQ(cluster.fences().size(), 2U);
  EXPECT_EQ(cluster.refused(), 1U);
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(Try, WhereTheTokenRestsNeedsNoMessage) {
  Cluster<NxrBh> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.leave(n0);
  cluster.deliver_all();
  const auto before = cluster.sent();
  cluster.try_once(n0);
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_EQ(cluster.sent(), before);
}

TEST(Try, OfALockThatIsHeldForAWhileFailsWithTwoMessages) {
  Cluster<NxrBh> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.linger(n0);
  cluster.deliver_all();
  const auto before = cluster.sent();
  cluster.try_once(n1);
  cluster.deliver_all();
  EXPECT_EQ(cluster.refused(), 1U);
  EXPECT_EQ(cluster.sent(), before + 2);
  cluster.leave(n0);
  cluster.deliver_all();
  cluster.try_once(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "it is free again, and the home knows";
}

// Its holder has it for too short a time to be known; then it stays.
TEST(Try, IsRefusedAsSoonAsTheHomeHearsOfAHolder) {
  Cluster<NxrBh> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.try_once(n1);
  cluster.deliver_all();
  EXPECT_EQ(cluster.refused(), 0U);
  cluster.linger(n0);
  cluster.deliver_all();
  EXPECT_EQ(cluster.refused(), 1U);
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n1)) << "it was refused, and gave its turn back";
  cluster.try_once(n2);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n2));
}

TEST(Try, IsRefusedAtOnceWhereAnotherUserHoldsOrWaits) {
  Cluster<NxrBh> cluster(2, n1);
  cluster.want(n0, 1);
  cluster.try_once(n0, 2);
  EXPECT_EQ(cluster.refused(), 1U);
  cluster.deliver_all();
  cluster.try_once(n0, 2);
  EXPECT_EQ(cluster.refused(), 2U);
}

// ---- what cannot be

TEST(Desk, BeginsAgainWhenItIsSentWhatCannotBe) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.want(n1);
  cluster.deliver_all();
  cluster.spoil(n1);
  EXPECT_EQ(cluster.deliver(n1, n2), "spoilt");
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0)) << "who has it keeps it";
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
  EXPECT_TRUE(cluster.fences_grow());
}

// A peer may be wrong about who is the home. What it says then counts for nothing.
TEST(Desk, IgnoresReportsAndWishesWhereItsHomeIsNot) {
  Desk<Dir> desk;
  const auto setup = arrangement(Dir::info, 1, 3, n2);
  Ledger ledger;
  const Context context{&setup, n0, n2, &ledger, {}};
  using Kind = Note::Kind;
  for (const auto kind : {Kind::report, Kind::reported, Kind::open, Kind::query, Kind::probe,
                          Kind::held, Kind::freed, Kind::spoilt, Kind::forgo}) {
    Desk<Dir>::Out out;
    const Desk<Dir>::Message message{{.kind = kind, .instance = 7, .count = 99}};
    desk.step(context, {.kind = DeskEvent::Kind::receive, .from = n1, .note = &message}, out);
    EXPECT_EQ(out, Desk<Dir>::Out{});
  }
  EXPECT_EQ(desk, Desk<Dir>{});
  EXPECT_EQ(ledger, Ledger{});
}

// The attack that two clients survived with one lock: "I have nothing more to say", said about the
// view and late, must not answer what the home asks when it retires the lock.
TEST(Desk, DoesNotTakeALateReportForAnAnswerToAnotherQuestion) {
  Cluster<Dir> cluster(4, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 3, .home = n2});
  cluster.all_adopt();
  cluster.deliver(n1, n2);
  EXPECT_EQ(cluster.deliver(n0, n2), "report");  // n0 is inside, and the lock is born with it
  cluster.retire();
  EXPECT_EQ(cluster.deliver(n0, n2), "reported");  // late
  cluster.want(n1);
  EXPECT_EQ(cluster.deliver(n1, n2), "open");
  EXPECT_FALSE(cluster.inside(n1));
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n1));
  EXPECT_TRUE(cluster.inside(n0));
}

}  // namespace
}  // namespace turno::cluster
