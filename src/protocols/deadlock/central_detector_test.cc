#include "protocols/deadlock/central_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Event = Input<CentralDetector::Message>::Kind;

// Two or three processes and the detector, the last node.
class Sites {
 public:
  explicit Sites(std::size_t processes, unsigned departure = 0)
      : cluster(departing(shaped(Topology::complete, processes + 1), departure)) {}

  void take(NodeId process, NodeId site) {
    cluster.happens(process, {.kind = Event::request, .demand = Wish{0, {need(site)}}.demand()});
  }
  void give_back(NodeId process, NodeId site) {
    const auto& holds = cluster[process.index()].holds;
    for (std::uint32_t i = 0; i < holds.size(); ++i)
      if (holds[i].site == site) return choose(process, i);
    throw std::logic_error("not held");
  }
  void choose(NodeId process, std::uint32_t choice) {
    cluster.happens(process, {.kind = Event::choose, .number = choice});
  }
  [[nodiscard]] bool waits(NodeId process) const {
    return cluster[process.index()].wants != nobody;
  }

  Cluster<CentralDetector> cluster;

 private:
  static Need need(NodeId site) { return {static_cast<std::uint16_t>(site.value), 1}; }
};

TEST(CentralDetector, ReportsAWaitAndItsEnd) {
  Sites sites(2);
  sites.take(n0, n0);
  sites.take(n1, n0);
  sites.cluster.drain();
  EXPECT_TRUE(sites.waits(n1));
  EXPECT_FALSE(sites.cluster[2].known == KnownWaits{});
  sites.give_back(n0, n0);
  sites.cluster.drain();
  EXPECT_FALSE(sites.waits(n1));
  EXPECT_TRUE(sites.cluster[2].known == KnownWaits{});
}

TEST(CentralDetector, MakesTheHighestOnACycleGiveUp) {
  Sites sites(3);
  for (auto process : {n0, n1, n2}) sites.take(process, process);
  sites.take(n0, n1);
  sites.take(n1, n2);
  sites.take(n2, n0);
  sites.cluster.drain();
  EXPECT_FALSE(sites.waits(n2)) << "it gave up";
  EXPECT_TRUE(sites.cluster[2].holds.empty());
  EXPECT_FALSE(sites.waits(n1)) << "it got what 2 had";
  EXPECT_TRUE(sites.waits(n0));
}

// The story of the slides: a wait that is over is reported late.
void tell_the_story(Sites& sites) {
  auto& cluster = sites.cluster;
  sites.take(n0, n0);
  sites.take(n1, n0);
  cluster.deliver(n1, n0, "request");
  sites.give_back(n0, n0);
  cluster.deliver(n0, n1, "grant");
  sites.take(n1, n1);
  sites.take(n0, n1);
  cluster.deliver(n0, n1, "request");
  cluster.deliver(n0, n2, "waits");
  cluster.deliver(n1, n2, "waits");  // before the end of the first wait
}

TEST(CentralDetector, WithoutConfirmationSeesADeadlockThatNeverWas) {
  Sites sites(2, 1);
  tell_the_story(sites);
  EXPECT_EQ(sites.cluster.broken(), "a process is to give up, but is not in a deadlock");
}

TEST(CentralDetector, AsksBeforeItBelieves) {
  Sites sites(2);
  tell_the_story(sites);
  EXPECT_EQ(sites.cluster.broken(), "");
  sites.cluster.drain();
  EXPECT_TRUE(sites.waits(n0)) << "nobody was made to give up";
  EXPECT_EQ(sites.cluster[1].holds.size(), 2U);
}

// Random lives of a few processes: in the end nobody waits, and nobody gave up without need.
TEST(CentralDetector, NeverMissesADeadlockAndNeverSeesAnother) {
  Random random(5);
  std::size_t victims = 0;
  for (int round = 0; round < 2'000; ++round) {
    auto setup = shaped(Topology::complete, 3 + random.below(4));
    setup.configure<CentralDetector::Config>().waits = 4;
    Cluster<CentralDetector> cluster(setup);
    while (true) {
      std::vector<NodeId> free;
      for (std::size_t i = 0; i < cluster.size(); ++i)
        if (cluster[i].choices() > 0) free.emplace_back(i);
      if (free.empty() && cluster.flights().empty()) break;
      if (!free.empty() && (cluster.flights().empty() || random.below(3) == 0)) {
        const auto process = free[random.below(free.size())];
        const auto choices = cluster[process.index()].choices();
        cluster.happens(process, {.kind = Event::choose,
                                  .number = static_cast<std::uint32_t>(random.below(choices))});
      } else {
        const auto& flight = cluster.flights()[random.below(cluster.flights().size())];
        const auto step = cluster.deliver(flight.from, flight.to);
        for (const auto& sent : step.sends) victims += sent.text.starts_with("abort") ? 1 : 0;
      }
      ASSERT_EQ(cluster.broken(), "") << "round " << round;
    }
    for (std::size_t i = 0; i < cluster.size(); ++i)
      ASSERT_EQ(cluster[i].wants, nobody) << "round " << round;
  }
  EXPECT_GT(victims, 100U);
}

}  // namespace
}  // namespace turno::protocols
