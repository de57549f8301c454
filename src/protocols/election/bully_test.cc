#include "protocols/election/bully.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = Bully::Kind;
using Event = Input<Bully::Message>::Kind;
using Phase = Bully::Phase;

class FourNodes : public ::testing::Test {
 protected:
  void expire(NodeId node, Bully::Timer timer) {
    cluster.happens(node, {.kind = Event::expire, .number = timer});
  }
  void recover(NodeId node) { cluster.happens(node, {.kind = Event::recover}); }
  [[nodiscard]] std::string coordinators() const {
    std::string text;
    for (std::size_t i = 0; i < cluster.size(); ++i) text += describe(cluster[i].coordinator);
    return text;
  }

  Cluster<Bully> cluster{shaped(Topology::complete, 4)};
};

TEST_F(FourNodes, BeginWithTheHighestAsCoordinator) { EXPECT_EQ(coordinators(), "3333"); }

TEST_F(FourNodes, ElectTheHighestThatLives) {
  cluster.crash(n3);
  expire(n0, Bully::service_timer);
  EXPECT_EQ(cluster[0].phase, Phase::electing);
  EXPECT_EQ(cluster.flights().size(), 2U) << "to 1 and 2";
  cluster.drain();
  EXPECT_EQ(cluster[0].phase, Phase::overruled);
  expire(n2, Bully::answer_timer);
  cluster.drain();
  EXPECT_EQ(coordinators(), "222-");
}

TEST_F(FourNodes, AnnounceThemselvesWhenNobodyAboveAnswers) {
  cluster.crash(n3);
  cluster.crash(n2);
  expire(n1, Bully::service_timer);
  expire(n1, Bully::answer_timer);
  EXPECT_TRUE(cluster[1].acting());
  EXPECT_EQ(cluster[1].since, 1U);
  cluster.drain();
  EXPECT_EQ(coordinators(), "11--");
}

TEST_F(FourNodes, BeginAgainWhenWhoAnsweredCrashes) {
  cluster.crash(n3);
  expire(n1, Bully::service_timer);
  cluster.deliver(n1, n2, "election");
  cluster.deliver(n2, n1, "alive");
  cluster.crash(n2);
  expire(n1, Bully::result_timer);
  EXPECT_EQ(cluster[1].epoch, 2U);
  expire(n1, Bully::answer_timer);
  cluster.drain();
  EXPECT_EQ(coordinators(), "11--");
}

TEST_F(FourNodes, KnowBetterThanToElectAgainForALateMessage) {
  cluster.crash(n3);
  expire(n0, Bully::service_timer);
  cluster.deliver(n0, n2, "election");
  expire(n2, Bully::answer_timer);
  cluster.deliver(n2, n1, "coordinator");
  cluster.deliver(n0, n1, "election");  // late: 1 has the result already
  EXPECT_EQ(cluster[1].phase, Phase::normal);
  const auto hearsay = cluster.deliver(n1, n0, "coordinator");
  EXPECT_EQ(hearsay.takes.front().text, "coordinator(epoch 1, coordinator 2)");
  EXPECT_EQ(cluster[0].coordinator, n2);
}

TEST_F(FourNodes, AReturnedCoordinatorTakesOverAndIsNotOverwritten) {
  cluster.crash(n3);
  expire(n2, Bully::service_timer);
  expire(n2, Bully::answer_timer);  // its announcement to 0 and 1 is slow
  recover(n3);
  cluster.deliver(n3, n0);
  cluster.deliver(n3, n1);
  cluster.drain();
  EXPECT_EQ(coordinators(), "3333") << "the slow announcement of 2 must not win";
}

TEST_F(FourNodes, AReturnedCoordinatorThatMissedElectionsLearnsTheEpoch) {
  cluster.crash(n3);
  for (int i = 0; i < 3; ++i) {
    expire(n2, Bully::result_timer);
    expire(n2, Bully::answer_timer);
  }
  cluster.drain();
  recover(n3);
  cluster.drain();
  EXPECT_EQ(coordinators(), "3333");
  EXPECT_GT(cluster[3].since, 3U);
  EXPECT_EQ(cluster[0].since, cluster[3].since);
}

TEST_F(FourNodes, ForgetEverythingButTheEpochInACrash) {
  cluster.crash(n3);
  expire(n2, Bully::service_timer);
  expire(n2, Bully::answer_timer);
  cluster.crash(n2);
  EXPECT_EQ(cluster[2].epoch, 1U);
  EXPECT_EQ(cluster[2].coordinator, nobody);
  recover(n2);
  EXPECT_EQ(cluster[2].epoch, 2U);
}

// With questions instead of being told.
TEST(Bully, AsksItsCoordinatorNowAndThen) {
  auto setup = shaped(Topology::complete, 3);
  setup.configure<Bully::Config>().patience = {.answer_within_ns = 5, .ask_every_ns = 100};
  Cluster<Bully> cluster(setup);
  const auto asks = [&](NodeId node) {
    return cluster.happens(node, {.kind = Event::expire, .number = Bully::service_timer});
  };
  EXPECT_EQ(asks(n0).sends.front().text, "ask");
  EXPECT_TRUE(cluster[0].asked);
  cluster.drain();
  EXPECT_FALSE(cluster[0].asked);
  cluster.crash(n2);
  asks(n0);
  asks(n0);  // no answer in time
  EXPECT_EQ(cluster[0].phase, Phase::electing);
}

TEST(Bully, ToldByTheOneItAsksThatThereIsAnother) {
  auto setup = shaped(Topology::complete, 3);
  setup.configure<Bully::Config>().patience.ask_every_ns = 100;
  auto nodes = make<Bully>(setup);
  nodes[0].coordinator = n1;
  nodes[0].asked = true;
  const auto out = receive(nodes[1], n0, {.kind = Kind::ask});
  ASSERT_EQ(out.sends().size(), 1U);
  receive(nodes[0], n1, out.sends().front().message);
  EXPECT_EQ(nodes[0].coordinator, n2);
}

}  // namespace
}  // namespace turno::protocols
