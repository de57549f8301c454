// Semaphores in the simulator: many random systems with crashes, and the cost beside the formulas.
#include <gtest/gtest.h>

#include <string>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "protocols/kmutex/robust_k.h"

namespace turno {

using namespace protocols;

namespace {

constexpr std::int64_t ms = 1'000'000;

sim::Options options_of(std::size_t nodes, std::uint32_t permits) {
  sim::Options options;
  options.setup = make_setup(find_algorithm("robust-k")->info, {.nodes = nodes});
  options.setup.permits = permits;
  options.arrivals.kind = sim::Arrivals::Kind::closed;
  options.entries = 1'000'000'000;
  return options;
}

// All but one crash, one after the other, while everybody asks: never too many inside, slots and
// fences as promised, and whoever is left is served.
sim::Result crash_all_but_one(Random& random, const RobustK::Config& config, std::size_t nodes) {
  auto options = options_of(nodes, 1);
  options.setup.configure<RobustK::Config>() = config;
  options.setup.permits = static_cast<std::uint32_t>(1 + random.below(nodes));
  options.setup.configure<RobustK::Config>().acknowledge_within_ns = 150 * ms;
  options.setup.configure<RobustK::Config>().test_timeout_ns = 45 * ms;
  options.faults.detect = sim::Distribution::uniform(0, 500 * ms);
  options.arrivals.think = sim::Distribution::uniform(0, 200 * ms);
  options.hold = sim::Distribution::uniform(0, 300 * ms);
  options.delay = sim::Distribution::uniform(0, 20 * ms);
  options.seed = random.next();
  std::vector<NodeId> order;
  for (std::size_t i = 0; i < nodes; ++i) order.emplace_back(i);
  for (std::size_t i = nodes; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (std::size_t i = 0; i + 1 < nodes; ++i)
    options.faults.crashes.push_back(
        {static_cast<std::int64_t>(random.below(20'000)) * ms, order[i]});
  options.interval = 10'000 * ms;
  options.until = 40'000 * ms;
  return find_algorithm("robust-k")->simulate(options);
}

TEST(ManySemaphores, ServeUntilOneNodeIsLeft) {
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    const RobustK::Config config{.reply_acknowledges = random.below(2) == 0,
                                 .direct = random.below(3) == 0,
                                 .counted = random.below(3) == 0,
                                 .queued = random.below(4) == 0,
                                 .detector = static_cast<Detector>(random.below(3))};
    const auto nodes = 2 + random.below(19);
    const auto result = crash_all_but_one(random, config, nodes);
    EXPECT_EQ(result.violation, "") << "round " << round;
    EXPECT_EQ(result.suspicions >= nodes - 1, true) << "round " << round;
    ASSERT_EQ(result.entries_by_interval.size(), 4U) << "round " << round;
    EXPECT_GT(result.entries_by_interval[3], 10U) << "round " << round;
  }
}

// Nobody competes: the formulas are exact.
TEST(SemaphoreCost, IsTheFormulaWhenNobodyCompetes) {
  for (const std::size_t nodes : {5U, 16U, 64U}) {
    for (const bool replies : {false, true}) {
      for (const bool direct : {false, true}) {
        if (direct && replies) continue;
        auto options = options_of(nodes, 3);
        options.setup.configure<RobustK::Config>().reply_acknowledges = replies;
        options.setup.configure<RobustK::Config>().direct = direct;
        options.requesters.insert(NodeId{1});
        options.arrivals.think = sim::Distribution::constant(1000 * ms);
        options.hold = sim::Distribution::constant(100 * ms);
        options.delay = sim::Distribution::constant(10 * ms);
        options.entries = 100;
        options.until = 0;
        const auto* robust = find_algorithm("robust-k");
        const auto result = robust->simulate(options);
        // The last entry's last messages are still on their way.
        EXPECT_NEAR(result.messages_per_entry(), robust->alone(options.setup), 0.05);
        EXPECT_EQ(result.violation, "");
      }
    }
  }
}

// N log2 N tests in an interval, whoever asks for permits.
TEST(SemaphoreCost, OfTheDetectorIsTheFormula) {
  for (const auto rule : {Detector::hi_adsd, Detector::vcube}) {
    for (const std::size_t nodes : {16U, 64U}) {
      auto options = options_of(nodes, 1);
      options.setup.configure<RobustK::Config>().detector = rule;
      options.requesters.insert(NodeId{0});
      options.first = sim::Distribution::constant(1'000'000 * ms);
      options.delay = sim::Distribution::constant(10 * ms);
      options.until = 9'500 * ms;
      const auto result = find_algorithm("robust-k")->simulate(options);
      const auto log = static_cast<std::uint64_t>(nodes == 16 ? 4 : 6);
      for (const auto& [kind, count] : result.messages_by_kind) {
        if (kind == "ping" || kind == "pong") {
          EXPECT_EQ(count, 10 * nodes * log) << kind;
        }
      }
    }
  }
}

// Known from an independent program, to two decimals.
TEST(SimulatedKOutOfM, CostsWhatIsKnown) {
  struct Known {
    std::size_t nodes, askers;
    double messages;
  };
  for (const auto& [nodes, askers, messages] :
       {Known{16, 5, 30.00}, Known{16, 10, 36.80}, Known{16, 16, 36.84}, Known{31, 5, 60.00},
        Known{31, 10, 66.81}, Known{31, 31, 67.02}}) {
    const auto* semaphore = find_algorithm("k-out-of-m");
    sim::Options options;
    options.setup = make_setup(semaphore->info, {.nodes = nodes});
    options.setup.permits = 5;
    options.arrivals = sim::parse_arrivals("closed:100ms");
    options.first = sim::Distribution::constant(900 * ms);
    options.hold = sim::Distribution::constant(800 * ms);
    options.delay = sim::Distribution::constant(10 * ms);
    options.entries = 5000;
    for (std::size_t i = 0; i < askers; ++i) options.requesters.insert(NodeId{i});
    const auto result = semaphore->simulate(options);
    EXPECT_EQ(result.violation, "");
    EXPECT_NEAR(static_cast<double>(result.messages) / static_cast<double>(result.entries),
                messages, 0.0051)
        << nodes << " nodes, " << askers << " ask";
  }
}

}  // namespace
}  // namespace turno
