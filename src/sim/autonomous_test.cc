#include "sim/autonomous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/topology.h"
#include "protocols/deadlock/probes.h"
#include "protocols/election/bully.h"
#include "protocols/election/ring.h"

namespace turno::sim {

using namespace protocols;
namespace {

constexpr Time ms = 1'000'000, s = 1000 * ms;

Options election(std::size_t nodes) {
  Options options;
  Random random(1);
  options.setup.father = fathers(Topology::complete, nodes, random);
  options.setup.configure<ElectionConfig>().patience.ask_every_ns = s;
  options.until = 60 * s;
  return options;
}

std::uint64_t count(const Result& result, std::string_view kind) {
  for (const auto& [name, number] : result.messages_by_kind)
    if (name == kind) return number;
  return 0;
}

TEST(Autonomous, NothingHappensWithoutACrashExceptThatTheyAsk) {
  const auto result = Autonomous<Bully>(election(5)).run();
  EXPECT_EQ(result.violation, "");
  EXPECT_EQ(result.settlings, 0U);
  EXPECT_EQ(count(result, "election"), 0U);
  EXPECT_EQ(count(result, "ask"), count(result, "answer"));
  EXPECT_GT(count(result, "ask"), 4U * 45);
}

template <class P>
void agree_after_crashes_and_returns() {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto options = election(8);
    options.seed = seed;
    options.faults.crashes = {
        {5 * s, NodeId{7}}, {12 * s, NodeId{6}}, {12 * s + 90 * ms, NodeId{5}}};
    options.faults.recoveries = {{12 * s + 400 * ms, NodeId{7}}, {30 * s, NodeId{5}}};
    const auto result = Autonomous<P>(options).run();
    ASSERT_EQ(result.violation, "") << "seed " << seed;
    ASSERT_GE(result.settlings, 3U) << "seed " << seed;
    ASSERT_LT(result.settling_max_ms, 10'000) << "seed " << seed;
  }
}
TEST(Autonomous, BullyAgreesAfterCrashesAndReturns) { agree_after_crashes_and_returns<Bully>(); }
TEST(Autonomous, RingAgreesAfterCrashesAndReturns) { agree_after_crashes_and_returns<Ring>(); }

TEST(Autonomous, SaysWhatIsWrongAtTheEnd) {
  auto options = election(3);
  options.faults.crashes = {{5 * s, NodeId{2}}};
  options.until = 5 * s + ms;
  EXPECT_THAT(Autonomous<Bully>(options).run().violation, ::testing::HasSubstr("highest live"));
}

TEST(Autonomous, OneElectionCostsWhatTheFormulaSays) {
  // The highest live node notices: N-1 messages.
  auto options = election(6);
  options.setup.configure<ElectionConfig>().watchers.insert(NodeId{4});
  options.faults.crashes = {{5 * s, NodeId{5}}};
  const auto bully = Autonomous<Bully>(options).run();
  EXPECT_EQ(count(bully, "election") + count(bully, "alive") + count(bully, "coordinator"), 5U);
  // Two rounds of N-1, and one attempt a round at the dead node.
  const auto ring = Autonomous<Ring>(options).run();
  EXPECT_EQ(count(ring, "election") + count(ring, "coordinator"), 12U);
}

TEST(Autonomous, TheSameSeedIsTheSameRun) {
  auto options = election(5);
  options.faults.crashes = {{5 * s, NodeId{4}}};
  const auto once = Autonomous<Ring>(options).run();
  EXPECT_EQ(once.digest, Autonomous<Ring>(options).run().digest);
  options.seed = 2;
  EXPECT_NE(once.digest, Autonomous<Ring>(options).run().digest);
}

TEST(Autonomous, WritesATraceWithWhatComesBack) {
  auto options = election(3);
  options.faults.crashes = {{5 * s, NodeId{2}}};
  std::vector<TraceStep> trace;
  options.trace = [&](const TraceStep& step) { trace.push_back(step); };
  Autonomous<Ring>(options).run();
  const auto bounced = std::find_if(trace.begin(), trace.end(), [](const TraceStep& step) {
    return step.kind == EventKind::bounce && step.takes.front().text.starts_with("election");
  });
  ASSERT_NE(bounced, trace.end());
  EXPECT_EQ(bounced->node, NodeId{1});
  EXPECT_EQ(bounced->takes.front().to, NodeId{2});
  EXPECT_EQ(bounced->sends.front().to, NodeId{0});
}

// Random waits: whoever ends on a cycle, at least one of each cycle knows, and nobody else says so.
TEST(Autonomous, ProbesFindEveryDeadlockAndNoOther) {
  std::size_t with = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Options options;
    Random random(seed);
    options.setup.father = fathers(Topology::complete, 4 + seed % 7, random);
    options.setup.configure<Probes::Config>() = {.waits = 1 + static_cast<std::uint32_t>(seed % 3),
                                                 .sets = seed % 2 == 0};
    options.fifo = true;
    options.seed = seed;
    options.arrivals.rate = 5;
    const auto result = Autonomous<Probes>(options).run();
    ASSERT_EQ(result.violation, "") << "seed " << seed;
    ++(result.deadlocked > 0 ? with : without);
  }
  EXPECT_GT(with, 30U);
  EXPECT_GT(without, 30U);
}

}  // namespace
}  // namespace turno::sim
