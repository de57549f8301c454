#include "protocols/kmutex/k_out_of_m.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using Kind = KOutOfM::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr NodeId n0{0U}, n1{1U}, n2{2U};

Setup three_nodes(std::uint32_t permits) {
  auto setup = testing::shaped(Topology::star, 3);
  setup.permits = permits;
  return setup;
}

class Semaphore : public ::testing::Test {
 protected:
  void begin(std::uint32_t permits) { cluster_.emplace(three_nodes(permits)); }
  void begin_plain(std::uint32_t permits) {
    auto setup = three_nodes(permits);
    setup.configure<KOutOfM::Config>().plain = true;
    cluster_.emplace(setup);
  }
  void want(NodeId node, std::uint16_t count) { cluster_->want(node, {.needs = {{0, count}}}); }
  [[nodiscard]] const KOutOfM& at(NodeId node) const { return (*cluster_)[node.index()]; }
  [[nodiscard]] std::vector<std::uint32_t> held(NodeId node) const {
    std::vector<std::uint32_t> units;
    for (const auto& fact : at(node).held) units.push_back(fact.unit);
    return units;
  }
  void give_back(NodeId node, std::uint32_t unit) {
    cluster_->happens(node, {.kind = EventKind::release, .units = {&unit, 1}});
  }

  std::optional<testing::Cluster<KOutOfM>> cluster_;
};

TEST_F(Semaphore, GivesTheSmallestThatNobodyHas) {
  begin(3);
  want(n0, 2);
  cluster_->drain();
  EXPECT_THAT(held(n0), ElementsAre(0, 1));
  want(n1, 1);
  cluster_->drain();
  EXPECT_THAT(held(n1), ElementsAre(2));
}

TEST_F(Semaphore, TellsAReleaseOnlyToWhoWatches) {
  begin(2);
  want(n0, 1);
  cluster_->drain();
  want(n1, 2);
  cluster_->drain();
  // Two of two cannot be free while one is held: it has not even been answered.
  EXPECT_THAT(at(n0).watch.facts, IsEmpty());
  EXPECT_EQ(at(n0).deferred.size(), 1U);
  cluster_->leave(n0);
  cluster_->drain();
  EXPECT_THAT(held(n1), ElementsAre(0, 1));
  want(n2, 1);
  cluster_->drain();
  EXPECT_EQ(at(n2).watching, false) << "the answer itself waits until it can help";
}

TEST_F(Semaphore, WatchesThoseWhoHoldWhatItLacks) {
  begin(2);
  want(n0, 1);
  cluster_->drain();
  want(n1, 1);
  cluster_->drain();
  want(n2, 1);
  cluster_->drain();
  EXPECT_TRUE(at(n2).watching);
  EXPECT_EQ(at(n0).watch.node, n2);
  EXPECT_EQ(at(n1).watch.node, n2);
  give_back(n1, 1);
  cluster_->drain();
  EXPECT_THAT(held(n2), ElementsAre(1));
}

TEST_F(Semaphore, FactsAreReadInTheirOrder) {
  Facts facts;
  facts.set({3, 7});
  facts.set({1, 5, true});
  facts.merge({1, 5});
  facts.merge({3, 6, true});
  EXPECT_TRUE(facts.find(1)->freed) << "that it has ended is newer";
  EXPECT_EQ(facts.find(3)->grant, 7U) << "a later grant is newer";
  facts.merge({3, 8});
  EXPECT_FALSE(facts.find(3)->freed);
  EXPECT_EQ(facts.find(2), nullptr);
  facts.erase(1);
  EXPECT_EQ(facts.size(), 1U);
}

// ---- tries

Wish one_at_once() { return {.needs = {{0, 1}}, .only_try = true}; }

TEST_F(Semaphore, ATryTakesWhatIsFree) {
  begin(2);
  want(n0, 1);
  cluster_->drain();
  cluster_->want(n1, one_at_once());
  cluster_->drain();
  EXPECT_THAT(held(n1), ElementsAre(1));
}

TEST_F(Semaphore, ATryDoesNotWaitForUnits) {
  begin_plain(1);
  want(n0, 1);
  cluster_->drain();
  cluster_->want(n1, one_at_once());
  cluster_->drain();
  EXPECT_THAT(held(n1), IsEmpty());
  EXPECT_EQ(at(n1).time, 0U);
  EXPECT_TRUE(at(n0).watch.facts.empty());
}

TEST_F(Semaphore, WhoWaitsForUnitsRefusesWhoTries) {
  begin_plain(2);
  want(n0, 1);
  cluster_->drain();
  want(n1, 2);
  cluster_->drain();
  EXPECT_TRUE(at(n1).watching);
  cluster_->want(n2, one_at_once());  // one is free, but n1 was first
  cluster_->drain();
  EXPECT_THAT(held(n2), IsEmpty());
  EXPECT_EQ(at(n2).time, 0U);
}

TEST_F(Semaphore, WhoBeginsToWaitForUnitsRefusesWhoTriedMeanwhile) {
  begin_plain(2);
  want(n0, 1);
  cluster_->drain();
  want(n1, 2);
  cluster_->deliver(n1, n2);
  cluster_->want(n2, one_at_once());
  cluster_->deliver(n2, n1, "request");  // n1 is older, and has not all answers yet
  EXPECT_EQ(at(n1).deferred.size(), 1U);
  cluster_->drain();
  EXPECT_TRUE(at(n1).watching);
  EXPECT_THAT(at(n1).deferred, IsEmpty());
  EXPECT_EQ(at(n2).time, 0U);
}

}  // namespace
}  // namespace turno::protocols
