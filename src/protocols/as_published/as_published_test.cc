// The printed versions, each with its flaw in plain sight. The checker finds the shortest way to
// each.
#include <gtest/gtest.h>

#include "protocols/as_published/maekawa.h"
#include "protocols/as_published/nxr.h"
#include "protocols/as_published/ricart_agrawala.h"
#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;

TEST(NxrAsPublished, F1EnqueuesNobodyAndSendsTheTokenThere) {
  Cluster<as_published::Nxr> cluster(departing(shaped(Topology::line, 2), 2));
  cluster.want(n1);
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1));
  EXPECT_EQ(cluster[1].queue, (Queue<NodeId>{n1, nobody}));
  cluster.leave(n1);
  EXPECT_EQ(cluster[1].father, nobody) << "node 1 has left the forest, the token with it";
}

TEST(NxrAsPublished, F2KeepsTheTokenItSendsAway) {
  Cluster<as_published::Nxr> cluster(departing(shaped(Topology::line, 2), 3));
  cluster.want(n0);
  cluster.want(n1);
  cluster.drain();
  cluster.leave(n0);
  EXPECT_TRUE(cluster.want(n0).entered) << "it still believes it has the token";
  EXPECT_TRUE(cluster.deliver(n0, n1).entered);
  EXPECT_EQ(cluster.broken(), "two are inside");
}

TEST(NxrAsPublished, F3KeepsTheTokenItRelays) {
  Cluster<as_published::Nxr> cluster(departing(shaped(Topology::line, 3), 4));
  cluster.want(n1);
  cluster.want(n2);
  cluster.deliver(n1, n0);
  cluster.want(n0);
  cluster.deliver(n0, n1, "token");
  cluster.deliver(n0, n1, "request");
  cluster.deliver(n2, n1);
  EXPECT_EQ(cluster[1].queue, (Queue<NodeId>{n1, n0, n2}));
  cluster.leave(n1);
  cluster.deliver(n1, n0);
  cluster.leave(n0);
  cluster.deliver(n0, n1);  // relayed to node 2, and kept
  EXPECT_TRUE(cluster.want(n1).entered);
  EXPECT_TRUE(cluster.deliver(n1, n2).entered);
  EXPECT_EQ(cluster.broken(), "two are inside");
}

TEST(NxrAsPublished, F4ForgetsThatItOwes) {
  Cluster<as_published::Nxr> cluster(departing(shaped(Topology::star, 3), 5));
  cluster.want(n0);
  cluster.want(n1);
  cluster.want(n2);
  cluster.drain();
  EXPECT_EQ(cluster.broken(), "");
  cluster.leave(n0);
  EXPECT_EQ(cluster.broken(), "Lemma 1: tokenDemanded says that the queue is not empty");
}

TEST(NxrAsPublished, F5SendsTheTokenToItself) {
  auto node = make<as_published::Nxr>(departing(shaped(Topology::line, 1), 6))[0];
  request(node);
  request(node);
  const auto out = release(node);
  ASSERT_EQ(out.sends().size(), 1U);
  EXPECT_EQ(out.sends()[0].to, n0);
  receive(node, n0, out.sends()[0].message);
  EXPECT_TRUE(node.undefined) << "the head of an empty queue";
}

using Slides = as_published::RicartAgrawala;

Setup slides(Slides::Reading reading, std::size_t nodes) {
  return departing(shaped(Topology::complete, nodes), static_cast<unsigned>(reading));
}

TEST(RicartAgrawalaAsPublished, TieReplyLetsBothIn) {
  Cluster<Slides> cluster(slides(Slides::Reading::tie_reply, 2));
  cluster.want(n0);
  cluster.want(n1);
  cluster.drain();
  EXPECT_EQ(cluster.broken(), "two are inside");
}

TEST(RicartAgrawalaAsPublished, TieSilenceLetsNobodyIn) {
  Cluster<Slides> cluster(slides(Slides::Reading::tie_silence, 2));
  cluster.want(n0);
  cluster.want(n1);
  cluster.drain();
  EXPECT_FALSE(cluster.inside(0) || cluster.inside(1));
}

TEST(RicartAgrawalaAsPublished, NoClockRuleLetsALateOneLookOlder) {
  Cluster<Slides> cluster(slides(Slides::Reading::no_clock_rule, 2));
  cluster.want(n1);
  cluster.deliver(n1, n0);  // node 0 answers and forgets the time
  cluster.want(n0);
  cluster.deliver(n0, n1, "request");  // (1, 0) looks older than (1, 1)
  cluster.drain();
  EXPECT_EQ(cluster.broken(), "two are inside");
}

TEST(RicartAgrawalaAsPublished, SameTickGivesEveryRequestTheSameTime) {
  auto node = make<Slides>(slides(Slides::Reading::same_tick, 2))[0];
  for (int visit = 0; visit < 3; ++visit) {
    receive(node, n1, {.kind = Slides::Kind::request, .time = 9});
    request(node);
    EXPECT_EQ(node.time, 1U) << "visit " << visit;
    receive(node, n1, {.kind = Slides::Kind::reply});
    release(node);
  }
}

TEST(RicartAgrawalaAsPublished, BlockingServerReadsNoFurtherRequest) {
  auto node = make<Slides>(slides(Slides::Reading::blocking_rpc, 3))[0];
  const Slides::Message ask{.kind = Slides::Kind::request, .time = 1};
  EXPECT_TRUE(node.ready(ask));
  request(node);
  receive(node, n1, ask);
  EXPECT_FALSE(node.ready(ask));
  EXPECT_TRUE(node.ready({.kind = Slides::Kind::reply})) << "answers are return values";
}

TEST(MaekawaAsPublished, WithoutRecallsTwoQuorumsWaitForEachOther) {
  Cluster<as_published::Maekawa> cluster(departing(voting({"01", "01"}), 3));
  cluster.want(n0);
  cluster.want(n1);
  cluster.drain();
  EXPECT_FALSE(cluster.inside(0) || cluster.inside(1));
}

// Trace T6 of the document: node 0 displaces node 1 at the head of arbiter 4's queue, and node 1 is
// not told that it cannot win.
void expect_the_deadlock_of_1985(unsigned departure) {
  Cluster<as_published::Maekawa> cluster(
      departing(voting({"034", "134", "234", "34", "34"}), departure));
  for (auto node : {n0, n1, n2}) cluster.want(node);
  for (auto node : {n1, n0, n2}) cluster.deliver(node, n3);
  for (auto node : {n2, n1, n0}) cluster.deliver(node, n4);
  cluster.drain();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(cluster.waiting(i)) << "node " << i;
  EXPECT_TRUE(cluster[0].have.contains(n4)) << "node 0 has arbiter 4 and lacks arbiter 3";
  EXPECT_TRUE(cluster[1].have.contains(n3)) << "node 1 has arbiter 3 and lacks arbiter 4";
}

TEST(MaekawaAsPublished, OriginalDeadlocks) { expect_the_deadlock_of_1985(1); }
TEST(MaekawaAsPublished, TextbookDeadlocks) { expect_the_deadlock_of_1985(2); }

}  // namespace
}  // namespace turno::protocols
