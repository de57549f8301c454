#include "protocols/deadlock/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Event = Input<Probes::Message>::Kind;
using Kind = Probes::Kind;

Wish on(std::initializer_list<NodeId> others) {
  Wish wish;
  for (auto other : others) wish.needs.push_back({static_cast<std::uint16_t>(other.value), 1});
  return wish;
}

std::string who_knows(const Cluster<Probes>& cluster) {
  std::string text;
  for (std::size_t i = 0; i < cluster.size(); ++i)
    if (cluster[i].deadlocked) text += std::to_string(i);
  return text;
}

TEST(Probes, FollowEveryRequest) {
  Cluster<Probes> cluster(shaped(Topology::complete, 3));
  const auto step = cluster.want(n0, on({n1, n2}));
  ASSERT_EQ(step.sends.size(), 4U);
  EXPECT_EQ(step.sends[0].text, "request");
  EXPECT_EQ(step.sends[1].text, "probe(initiator 0)");
}

TEST(Probes, DieAtAnActiveProcess) {
  Cluster<Probes> cluster(shaped(Topology::complete, 3));
  cluster.want(n0, on({n1}));
  cluster.drain();
  EXPECT_EQ(who_knows(cluster), "");
  cluster.happens(n1, {.kind = Event::choose, .number = 0});  // answers
  cluster.drain();
  EXPECT_TRUE(cluster[0].active());
}

TEST(Probes, ComeBackAlongACycle) {
  Cluster<Probes> cluster(shaped(Topology::complete, 3));
  cluster.want(n0, on({n1}));
  cluster.want(n1, on({n2}));
  cluster.drain();
  cluster.want(n2, on({n0}));
  cluster.drain();
  EXPECT_EQ(who_knows(cluster), "2") << "who closes the cycle";
}

TEST(Probes, TellAllWhoCloseItTogether) {
  Cluster<Probes> cluster(shaped(Topology::complete, 2));
  cluster.want(n0, on({n1}));
  cluster.want(n1, on({n0}));
  cluster.drain();
  EXPECT_EQ(who_knows(cluster), "01");
}

TEST(Probes, TellNothingToWhoOnlyWaitsForACycle) {
  Cluster<Probes> cluster(shaped(Topology::complete, 3));
  cluster.want(n0, on({n1}));
  cluster.want(n1, on({n0}));
  cluster.want(n2, on({n0}));
  cluster.drain();
  EXPECT_EQ(who_knows(cluster), "01");
  EXPECT_FALSE(cluster[2].active());
}

TEST(Probes, DoNotCountIfTheirRequestWasAnswered) {
  Probes node = make<Probes>(shaped(Topology::complete, 3))[1];
  Out<Probes> out;
  node.request(on({n2}).demand(), out);
  EXPECT_EQ(receive(node, n0, {.kind = Kind::probe, .initiator = n0}), nothing<Probes>());
  receive(node, n0, {.kind = Kind::request});
  EXPECT_EQ(receive(node, n0, {.kind = Kind::probe, .initiator = n0}).sends().size(), 1U);
  EXPECT_EQ(receive(node, n0, {.kind = Kind::probe, .initiator = n0}), nothing<Probes>())
      << "each initiator's once";
}

TEST(Probes, AreForgottenByWhoBecomesActive) {
  Probes node = make<Probes>(shaped(Topology::complete, 3))[1];
  Out<Probes> out;
  node.request(on({n2}).demand(), out);
  receive(node, n0, {.kind = Kind::request});
  receive(node, n0, {.kind = Kind::probe, .initiator = n0});
  EXPECT_TRUE(node.dependent.contains(n0));
  receive(node, n2, {.kind = Kind::reply});
  EXPECT_TRUE(node.dependent.empty());
}

TEST(Probes, ChoicesAreToAnswerOrToBlock) {
  auto setup = shaped(Topology::complete, 3);
  setup.configure<Probes::Config>() = {.waits = 1, .sets = true};
  Cluster<Probes> cluster(setup);
  EXPECT_EQ(cluster[1].choices(), 3U);
  EXPECT_EQ(cluster[1].choice_name(0), "wait for {0}");
  EXPECT_EQ(cluster[1].choice_name(2), "wait for {0 2}");
  cluster.happens(n1, {.kind = Event::choose, .number = 2});
  EXPECT_EQ(cluster[1].choices(), 0U);
  cluster.drain();
  EXPECT_EQ(cluster[0].choices(), 4U);
  EXPECT_EQ(cluster[0].choice_name(0), "answer 1");
}

// A random graph of waits, its messages delivered in a random order (each channel in its own): of
// each cycle somebody knows, and nobody else says so. The dumb twin sees the whole graph at once.
TEST(Probes, AgreeWithTheGraphSeenAtOnce) {
  Random random(11);
  std::size_t cyclic = 0;
  for (int round = 0; round < 2'000; ++round) {
    const std::size_t nodes = 2 + random.below(7);
    Cluster<Probes> cluster(shaped(Topology::complete, nodes));
    WaitForGraph graph;
    for (std::size_t i = 0; i < nodes; ++i) {
      Wish wish;
      for (std::size_t j = 0; j < nodes; ++j)
        if (i != j && random.below(nodes) == 0) {
          wish.needs.push_back({static_cast<std::uint16_t>(j), 1});
          graph.add(NodeId{i}, NodeId{j});
        }
      if (!wish.needs.empty()) cluster.want(NodeId{i}, wish);
      for (auto steps = random.below(4); steps > 0 && !cluster.flights().empty(); --steps) {
        const auto& flight = cluster.flights()[random.below(cluster.flights().size())];
        cluster.deliver(flight.from, flight.to);  // the oldest of that channel
      }
    }
    while (!cluster.flights().empty()) {
      const auto& flight = cluster.flights()[random.below(cluster.flights().size())];
      cluster.deliver(flight.from, flight.to);
    }
    WaitForGraph unknown;
    for (const auto& [waiter, holder] : graph.edges())
      if (!cluster[waiter.index()].deadlocked) unknown.add(waiter, holder);
    ASSERT_TRUE(unknown.deadlocked().empty()) << "missed, round " << round;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (!cluster[i].deadlocked) continue;
      ASSERT_TRUE(graph.on_cycle(NodeId{i})) << "false, round " << round;
    }
    cyclic += graph.deadlocked().empty() ? 0 : 1;
  }
  EXPECT_GT(cyclic, 500U);
  EXPECT_LT(cyclic, 1'800U);
}

}  // namespace
}  // namespace turno::protocols
