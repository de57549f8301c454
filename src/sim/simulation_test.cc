// The simulator itself: what it counts, how it delays, that it notices what is wrong.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "core/topology.h"
#include "protocols/mutex/permission/central.h"
#include "protocols/mutex/permission/lamport.h"
#include "protocols/mutex/permission/ricart_agrawala.h"
#include "protocols/mutex/token/nxr.h"
#include "protocols/mutex/token/suzuki_kasami.h"
#include "protocols/parts/quorum/constructions.h"

namespace turno::sim {

using namespace protocols;
namespace {

Options small(std::size_t nodes, std::uint64_t entries) {
  Options options;
  Random random(1);
  options.setup.father = fathers(Topology::binary_tree, nodes, random);
  options.setup.quorums = quorums(QuorumConstruction::cyclic, nodes);
  options.entries = entries;
  return options;
}

template <class P>
Result run(Options options) {
  options.fifo = options.fifo || P::info.fifo;
  return Simulation<P>(options).run();
}

TEST(Simulation, IsTheSameForTheSameSeed) {
  auto options = small(7, 1000);
  const auto once = run<Nxr>(options);
  EXPECT_EQ(once.digest, run<Nxr>(options).digest);
  options.seed = 2;
  EXPECT_NE(once.digest, run<Nxr>(options).digest);
}

// One user at a time, constant delays: everything can be computed by hand. Node 0 coordinates.
TEST(Simulation, OfALoneClientTakesWhatItMustTake) {
  auto options = small(2, 50);
  options.arrivals = parse_arrivals("closed:1s");
  options.delay = Distribution::constant(10'000'000);
  options.hold = Distribution::constant(5'000'000);
  std::vector<TraceStep> steps;
  options.trace = [&](const TraceStep& step) { steps.push_back(step); };
  const auto result = run<Central>(options);
  // Both ask at 1 s. The coordinator has left again when the client's request arrives.
  EXPECT_EQ(result.violation, "");
  ASSERT_GE(steps.size(), 3U);
  EXPECT_EQ(headline(steps[0]), "0 wants in");
  EXPECT_EQ(steps[0].time_ns, 1'000'000'000);
  EXPECT_TRUE(steps[0].entered);
  EXPECT_EQ(headline(steps[1]), "1 wants in");
  EXPECT_EQ(headline(steps[2]), "0 leaves");
  EXPECT_EQ(steps[2].time_ns, 1'005'000'000);
  EXPECT_EQ(headline(steps[3]), "0 gets request from 1");
  EXPECT_EQ(steps[3].time_ns, 1'010'000'000);
  // Request and grant: 20 ms for the client, nothing for the coordinator.
  EXPECT_NEAR(result.wait_mean_ms, 10, 0.5);
  EXPECT_DOUBLE_EQ(result.wait_max_ms, 20);
}

TEST(Simulation, CountsMessagesByKindExactly) {
  const auto result = run<RicartAgrawala>(small(4, 1000));
  std::map<std::string, std::uint64_t> kinds(result.messages_by_kind.begin(),
                                             result.messages_by_kind.end());
  EXPECT_EQ(kinds["request"] + kinds["reply"], result.messages);
  EXPECT_NEAR(static_cast<double>(kinds["request"]), 3000, 9);
}

TEST(Simulation, FifoChannelsKeepOrder) {
  auto options = small(3, 400);
  options.fifo = true;
  options.arrivals.rate = 20;
  std::map<std::pair<NodeId, NodeId>, std::vector<std::string>> sent, received;
  options.trace = [&](const TraceStep& step) {
    for (const auto& message : step.sends) sent[{message.from, message.to}].push_back(message.text);
    for (const auto& message : step.takes)
      received[{message.from, message.to}].push_back(message.text);
  };
  run<SuzukiKasami>(options);
  for (const auto& [channel, messages] : received) {
    const auto& all = sent[channel];
    ASSERT_LE(messages.size(), all.size());
    EXPECT_TRUE(std::equal(messages.begin(), messages.end(), all.begin()));
  }
}

TEST(Simulation, UnorderedChannelsDoNot) {
  auto options = small(3, 400);
  options.arrivals.rate = 20;
  const auto result = Simulation<Lamport>(options).run();  // needs FIFO, does not get it
  EXPECT_NE(result.violation, "");
}

TEST(Simulation, LosesOrQueuesArrivalsAtABusyNode) {
  auto options = small(3, 2000);
  options.arrivals.rate = 30;
  const auto lost = run<Central>(options);
  EXPECT_GT(lost.lost_arrivals, 1000U);
  options.busy = Busy::queue;
  const auto queued = run<Central>(options);
  EXPECT_EQ(queued.lost_arrivals, 0U);
  EXPECT_GT(queued.wait_mean_ms, 10 * lost.wait_mean_ms) << "waiting counts from the arrival";
}

// A lock that is never given back: the simulation must end and say so.
struct Stuck : Central {
  static Stuck resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    return Stuck{Central::resume(setup, self, holdings)};
  }
  void release(Out&) {}
  bool operator==(const Stuck&) const = default;
};

TEST(Simulation, NoticesThatNobodyGetsIn) {
  auto options = small(2, 10);
  options.arrivals = parse_arrivals("closed:10ms");
  const auto result = run<Stuck>(options);
  EXPECT_EQ(result.violation, "nobody gets in any more");
  EXPECT_EQ(result.entries, 1U);
}

}  // namespace
}  // namespace turno::sim
