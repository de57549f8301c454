#include "protocols/group/attendance.h"

#include <gtest/gtest.h>

#include "core/setup.h"
#include "protocols/group/latest.h"
#include "protocols/group/overtakings.h"

namespace turno::protocols {
namespace {

constexpr Visit p{NodeId{5}, 1}, q{NodeId{6}, 1}, r{NodeId{7}, 1};
constexpr auto any = RoomSetup::unlimited;

Attendance session_of_three() {
  Attendance attendance;
  for (const auto& visit : {p, q, r}) attendance.join(visit);
  attendance.begin();
  return attendance;
}

TEST(Attendance, AdmitsInOrderUpToItsCapacity) {
  auto attendance = session_of_three();
  EXPECT_EQ(attendance.admit(2), p);
  EXPECT_EQ(attendance.admit(2), q);
  EXPECT_EQ(attendance.admit(2), std::nullopt);
  EXPECT_TRUE(attendance.leave(p));
  EXPECT_EQ(attendance.admit(2), r);
  EXPECT_EQ(attendance.admit(any), std::nullopt) << "nobody is left";
}

TEST(Attendance, IsLedByTheFirstUntilItLeaves) {
  auto attendance = session_of_three();
  EXPECT_TRUE(attendance.leads(p));
  attendance.leave(q);
  EXPECT_TRUE(attendance.led());
  attendance.leave(p);
  EXPECT_FALSE(attendance.led());
  EXPECT_FALSE(attendance.empty());
}

// Who gives up before being let in takes nobody's place.
TEST(Attendance, ForgetsWhoGivesUp) {
  auto attendance = session_of_three();
  attendance.admit(1);
  EXPECT_TRUE(attendance.leave(q));
  EXPECT_EQ(attendance.admitted(), 1U);
  attendance.leave(p);
  EXPECT_EQ(attendance.admit(1), r);
}

TEST(Attendance, LetsWaitUntilTheNextSession) {
  Attendance attendance;
  attendance.join(p);
  attendance.begin();
  attendance.admit(any);
  attendance.wait(q);
  attendance.wait(r);
  EXPECT_FALSE(attendance.attends(q));
  EXPECT_TRUE(attendance.leave(r)) << "it may give up";
  EXPECT_FALSE(attendance.leave(r));
  attendance.leave(p);
  EXPECT_TRUE(attendance.empty() && attendance.anybody_waits());
  attendance.turn_over();
  EXPECT_TRUE(attendance.attends(q) && !attendance.anybody_waits());
  EXPECT_EQ(attendance.admitted(), 0U);
}

TEST(Attendance, KnowsASessionOfAProcessFromItsNext) {
  Attendance attendance;
  attendance.join({p.process, 2});
  EXPECT_FALSE(attendance.leave({p.process, 1}));
  EXPECT_TRUE(attendance.leave({p.process, 2}));
  EXPECT_EQ(attendance, Attendance{});
}

TEST(Latest, IsTheLargestOfEachNode) {
  Latest latest, other;
  EXPECT_EQ(latest.of(p.process), 0U);
  latest.note(q.process, 3);
  latest.note(p.process, 5);
  latest.note(p.process, 4);
  EXPECT_EQ(latest.of(p.process), 5U);
  EXPECT_EQ(latest.of(q.process), 3U);
  other.note(p.process, 5);
  other.note(q.process, 3);
  EXPECT_EQ(latest, other) << "whatever the order";
}

TEST(Overtakings, AreCountedByGroupWhileARequestWaits) {
  const Priority first{1, NodeId{0}}, second{2, NodeId{1}};
  Overtakings overtakings;
  overtakings.count(NodeId{2}, std::vector{first, second});
  overtakings.count(NodeId{1}, std::vector{first, second});
  overtakings.count(NodeId{2}, std::vector{second});
  EXPECT_EQ(overtakings.most(), 2U) << "of the second request, by group 2";
  overtakings.forget(second);
  EXPECT_EQ(overtakings.most(), 1U);
  overtakings.forget(first);
  EXPECT_EQ(overtakings, Overtakings{});
}

}  // namespace
}  // namespace turno::protocols
