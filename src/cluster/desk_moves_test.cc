// Users that move to another member, because theirs leaves, as stories. The checker explores all of
// them and more (explored/recovery_check_test.cc).
#include <gtest/gtest.h>

#include "cluster/desk_testing.h"
#include "protocols/mutex/token/dir.h"
#include "protocols/mutex/token/nxr_bh.h"

namespace turno::cluster {

using namespace protocols;
namespace {

TEST(AUserThatMoves, KeepsItsLockAndItsFence) {
  Cluster<Dir> cluster(3, n0);
  cluster.want(n2);
  cluster.deliver_all();
  cluster.want(n0);
  cluster.deliver_all();
  const auto fence = cluster.desk(n2).turn.fence;
  cluster.move(n2, n1, 7);
  cluster.leave(n2);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n0)) << "it lets go only where it moved to";
  cluster.change_view({.members = 2, .home = n0});  // n2 has left
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n1), 7U);
  EXPECT_EQ(cluster.desk(n1).turn.fence, fence);
  EXPECT_FALSE(cluster.inside(n0));
  cluster.leave(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(AUserThatMoves, MayLeaveBeforeItsFormerMemberIsGone) {
  Cluster<Dir> cluster(3, n0);
  cluster.want(n2);
  cluster.deliver_all();
  cluster.want(n0);
  cluster.deliver_all();
  cluster.move(n2, n1, 7);
  cluster.leave_with(n1, cluster.desk(n2).turn.fence);
  EXPECT_FALSE(cluster.inside(n0));
  EXPECT_FALSE(cluster.idle(n1));
  cluster.change_view({.members = 2, .home = n0, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0)) << "it is known to have left, whatever became of its member";
  EXPECT_FALSE(cluster.inside(n1));
}

TEST(AUserThatMoves, StaysIfTheOtherMemberIsTheOneThatDies) {
  Cluster<Dir> cluster(3, n0);
  cluster.want(n1);
  cluster.deliver_all();
  cluster.move(n1, n2, 7);
  cluster.change_view({.members = 2, .home = n0, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "until this one is gone too";
}

TEST(AUserThatMoves, IsServedBeforeThoseWhoWaitThere) {
  Cluster<NxrBh> cluster(3, n0);
  cluster.want(n2);
  cluster.deliver_all();
  cluster.want(n1, 1);
  cluster.want(n1, 2);
  cluster.deliver_all();
  cluster.move(n2, n1, 7);
  cluster.change_view({.members = 2, .home = n0});
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n1), 7U);
  cluster.leave(n1);
  cluster.deliver_all();
  EXPECT_EQ(cluster.user_inside(n1), 1U);
  EXPECT_EQ(cluster.fences().back().epoch(), 2U) << "in a turn of its own";
  EXPECT_TRUE(cluster.fences_grow());
}

}  // namespace
}  // namespace turno::cluster
