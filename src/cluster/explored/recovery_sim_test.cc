// Recovery, simulated: larger systems than can be explored, with crash after crash down to a few
// survivors or one, views that come late and to each at another time, and messages that are late.
// Every seed is another story; a failure names its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/recovering.h"
#include "core/random.h"
#include "protocols/arrangement.h"
#include "protocols/list.h"
#include "protocols/typed_testing.h"
#include "sim/options.h"

namespace turno::cluster {

using namespace protocols;

namespace testing {

using Recovered = TURNO_RECOVERED;  // see recovery_check_test.cc

// In what is made from algorithm_test.cc.in.
template <Protocol P>
sim::Result simulate(const sim::Options& options);

}  // namespace testing

namespace {

using sim::Distribution;
constexpr sim::Time ms = 1'000'000;

// With TURNO_DEEP in the environment, many more.
const std::uint64_t seeds = std::getenv("TURNO_DEEP") == nullptr ? 200 : 5000;

// All but some survivors crash, each at its own time or all in a row.
std::vector<sim::Crash> draw_crashes(std::size_t nodes, Random& random) {
  std::vector<std::size_t> victims(nodes);
  std::iota(victims.begin(), victims.end(), std::size_t{0});
  for (std::size_t i = nodes; i > 1; --i) std::swap(victims[i - 1], victims[random.below(i)]);
  const auto count = 3 + random.below(nodes - 3);
  const bool in_a_row = random.below(3) == 0;
  const auto first = static_cast<sim::Time>(random.below(2000)) * ms;
  std::vector<sim::Crash> crashes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto after = static_cast<sim::Time>(random.below(in_a_row ? 200 : 4000)) * ms;
    crashes.push_back({first + after, NodeId{victims[i]}});
  }
  return crashes;
}

template <class P>
sim::Options draw_options(std::uint64_t seed) {
  Random random(seed);
  sim::Options options;
  const auto nodes = 5 + seed % 4;
  options.setup = arrangement(P::info, 1, nodes, NodeId{nodes - 1});
  auto& config = options.setup.configure<RecoveringConfig>();
  config.delay = seed % 2 == 0;  // a second, after each crash
  config.arrange = arrangements(P::info);
  options.fifo = true;  // as the links of a cluster
  options.busy = random.below(2) == 0 ? sim::Busy::lose : sim::Busy::queue;
  options.arrivals.rate = 4 + static_cast<double>(random.below(8));
  options.hold = Distribution::exponential(5 * ms);
  options.delay = Distribution::exponential(5 * ms);
  options.faults.crashes = draw_crashes(nodes, random);
  options.faults.detect = Distribution::exponential(100 * ms);
  options.faults.adopt = Distribution::exponential(30 * ms);
  // A lock that is stuck would come free by being retired: only half of the runs do that.
  if (random.below(2) == 0) options.faults.retire_every = 90 * ms;
  options.faults.slow_one_in = 50;
  options.faults.slow = Distribution::exponential(300 * ms);
  options.entries = 300;
  options.seed = seed;
  return options;
}

std::string story(const Info& info, const sim::Options& options) {
  auto text = std::string(info.name) + ", seed " + std::to_string(options.seed) + ", " +
              std::to_string(options.setup.size()) + " nodes";
  for (const auto& [time, node] : options.faults.crashes)
    text += ", " + std::to_string(node.value) + " crashes at " + sim::duration_text(time);
  return text;
}

template <class P>
class RecoverySimulation : public ::testing::Test {};

TYPED_TEST_SUITE(RecoverySimulation, turno::testing::TypesOf<testing::Recovered>,
                 turno::testing::AlgorithmName);

TYPED_TEST(RecoverySimulation, ServesWhoeverLives) {
  std::map<std::string, std::uint64_t> by_kind;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto options = draw_options<TypeParam>(seed);
    const auto result = testing::simulate<TypeParam>(options);
    ASSERT_EQ(result.violation, "") << story(TypeParam::info, options);
    ASSERT_GE(result.entries, options.entries) << story(TypeParam::info, options);
    ASSERT_EQ(result.inside_max, 1U) << story(TypeParam::info, options);
    for (const auto& [kind, count] : result.messages_by_kind) by_kind[kind] += count;
  }
  // Each part of recovery was needed, or the above says nothing of it. With central all messages
  // come from or go to the home, so that none is of an instance not known.
  // Nobody tries here, gives up or errs.
  std::set<std::string> never = {"spoilt", "probe",   "busy",  "go",    "held",
                                 "freed",  "unknown", "forgo", "resize"};
  if (TypeParam::info.name == "central") never.insert({"query", "gone"});
  for (const auto& [kind, count] : by_kind) EXPECT_EQ(count > 0, !never.contains(kind)) << kind;
}

TEST(RecoveryDigest, IsTheSameForTheSameSeed) {
  const auto options = draw_options<NxrBh>(1);
  const auto once = testing::simulate<NxrBh>(options);
  const auto again = testing::simulate<NxrBh>(options);
  EXPECT_EQ(once.digest, again.digest);
  EXPECT_EQ(once.events, again.events);
  EXPECT_NE(once.digest, testing::simulate<NxrBh>(draw_options<NxrBh>(2)).digest);
}

// Would it notice? Recovery without one of its rules goes wrong under one seed or another.
TEST(RecoverySimulation, NoticesWhatIsMissing) {
  using Without = Rules::Without;
  const auto first_complaint = [](Without rule, bool retirements) -> std::string {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      auto options = draw_options<Dir>(seed);
      if (!retirements) options.faults.retire_every = 0;
      options.setup.departure = static_cast<std::uint8_t>(rule);
      const auto result = testing::simulate<Dir>(options);
      if (!result.violation.empty()) return result.violation;
    }
    return "nothing";
  };
  const std::string fence = "is granted after fence";
  EXPECT_EQ(first_complaint(Without::nothing, true), "nothing");
  EXPECT_EQ(first_complaint(Without::all_reports, false), "two nodes are inside at once");
  EXPECT_NE(first_complaint(Without::fence_epoch, false).find(fence), std::string::npos);
  EXPECT_NE(first_complaint(Without::fence_floor, true).find(fence), std::string::npos);
  EXPECT_EQ(first_complaint(Without::fence_floor, false), "nothing");
}

// One node alone goes on where the others have died, and each view costs it only the detection.
TEST(RecoverySimulation, LeavesTheLastSurvivorItsLock) {
  auto options = draw_options<Dir>(3);
  options.faults = {};
  options.faults.detect = Distribution::constant(100 * ms);
  options.faults.adopt = Distribution::constant(10 * ms);
  const auto nodes = options.setup.size();
  for (std::size_t i = 1; i < nodes; ++i)
    options.faults.crashes.push_back({static_cast<sim::Time>(i) * 500 * ms, NodeId{i}});
  std::vector<TraceStep> steps;
  options.trace = [&](const TraceStep& step) { steps.push_back(step); };
  const auto result = testing::simulate<Dir>(options);
  EXPECT_EQ(result.violation, "");
  EXPECT_EQ(steps.back().node, NodeId{0});
  const auto views = std::count_if(steps.begin(), steps.end(), [](const TraceStep& step) {
    return step.kind == TraceStep::Kind::view && step.node == NodeId{0};
  });
  EXPECT_EQ(views, static_cast<std::ptrdiff_t>(nodes - 1));
}

}  // namespace
}  // namespace turno::cluster
