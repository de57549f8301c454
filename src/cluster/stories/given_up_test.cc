// Users that give up before anybody has answered: nothing of it is kept, however long the home or
// another member is silent.
#include <gtest/gtest.h>

#include "cluster/desk_testing.h"
#include "protocols/mutex/token/dir.h"

namespace turno::cluster {
namespace {

using namespace protocols;

TEST(GivenUp, IsForgottenBeforeTheHomeAnswers) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0, 1);
  cluster.want(n0, 2);
  cluster.withdraw(n0, 1);
  EXPECT_FALSE(cluster.idle(n0)) << "the other still waits";
  cluster.withdraw(n0, 2);
  EXPECT_TRUE(cluster.idle(n0));
}

// A home that was stopped hears all of it at once.
TEST(GivenUp, LeavesNothingAtTheHomeEither) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.withdraw(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "open");
  EXPECT_FALSE(cluster.idle(n2)) << "an instance was born for it";
  EXPECT_EQ(cluster.deliver(n0, n2), "forgo");
  EXPECT_EQ(cluster.deliver(n2, n0), "opened");
  EXPECT_FALSE(cluster.inside(n0));
  cluster.deliver_all();
  EXPECT_TRUE(cluster.idle(n0));
  EXPECT_TRUE(cluster.idle(n2)) << "nobody else used it, so it was retired at once";
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

TEST(GivenUp, DoesNotEndAnInstanceThatOthersUse) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.want(n1);
  cluster.withdraw(n0);
  EXPECT_EQ(cluster.deliver(n1, n2), "open");
  const auto born = cluster.desk(n2).instance;
  EXPECT_EQ(cluster.deliver(n0, n2), "open");
  EXPECT_EQ(cluster.deliver(n0, n2), "forgo");
  EXPECT_EQ(cluster.desk(n2).instance, born);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

// Who comes back is served by the answer to its first wish.
TEST(GivenUp, IsNoneIfSomebodyAsksAgain) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0, 1);
  cluster.withdraw(n0, 1);
  cluster.want(n0, 2);
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n0), 2U);
}

// A home that waits for a member's report keeps nothing that it would not know without a desk.
TEST(GivenUp, IsForgottenByAHomeThatWaitsForAReport) {
  Cluster<Dir> cluster(3, n2);
  cluster.change_view({.members = 3, .home = n2});
  cluster.all_adopt();
  EXPECT_EQ(cluster.deliver(n0, n2), "reported");  // n1 is stopped
  EXPECT_TRUE(cluster.idle(n2));
  cluster.want(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "open");
  EXPECT_FALSE(cluster.idle(n2));
  cluster.withdraw(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "forgo");
  EXPECT_TRUE(cluster.idle(n2));
  cluster.try_once(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "probe");
  EXPECT_FALSE(cluster.idle(n2));
  cluster.withdraw(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "forgo");
  EXPECT_TRUE(cluster.idle(n0));
  EXPECT_TRUE(cluster.idle(n2));
}

TEST(GivenUp, DoesNotForgetWhatSomebodyHas) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n1);
  cluster.deliver_all();
  cluster.change_view({.members = 3, .home = n2});
  cluster.all_adopt();
  EXPECT_EQ(cluster.deliver(n1, n2), "report");
  cluster.want(n2);
  cluster.withdraw(n2);
  EXPECT_FALSE(cluster.idle(n2)) << "it knows that n1 is inside";
  cluster.deliver_all();
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
  EXPECT_FALSE(cluster.inside(n0));
}

// It was inside when it reported, has left, and its next user has given up: the home will give the
// lock to this member, which has to leave it.
TEST(GivenUp, IsNotForgottenByWhoHasToLeaveFirst) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 3, .home = n2});
  cluster.all_adopt();
  cluster.leave(n0);
  cluster.want(n0, 2);
  cluster.withdraw(n0, 2);
  EXPECT_FALSE(cluster.idle(n0));
  cluster.deliver_all();
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

}  // namespace
}  // namespace turno::cluster
