// Rooms, simulated: what a session costs over the load, beside the values of an independent
// simulator (fences on a clock of their own, as there; 40000 sessions; a message takes exp(1 s), a
// visit exp(5 s), processes arrive at a total rate and pick a group uniformly).
#include <gtest/gtest.h>

#include <string>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "protocols/group/quorum_group.h"

namespace turno {

using namespace protocols;

namespace {

sim::Options load(std::uint64_t groups, double rate, Door door) {
  const auto& info = find_algorithm("quorum-group")->info;
  System system{.nodes = groups, .groups = groups};
  sim::Options options;
  options.setup = make_setup(info, system);
  options.setup.configure<QuorumGroup::Config>().door = door;
  options.setup.configure<QuorumGroup::Config>().separate_fences = true;
  options.fifo = true;
  options.arrivals = {.kind = sim::Arrivals::Kind::total, .rate = rate};
  options.hold = sim::Distribution::exponential(5'000'000'000);
  options.delay = sim::Distribution::exponential(1'000'000'000);
  options.sessions = 40'000;
  options.wish = [groups](NodeId, Random& random) {
    return Wish{.group = static_cast<std::uint32_t>(random.below(groups))};
  };
  return options;
}

sim::Result simulate(const sim::Options& options) {
  auto result = find_algorithm("quorum-group")->simulate(options);
  EXPECT_EQ(result.violation, "");
  return result;
}

double between_groups(const sim::Result& result) {
  std::uint64_t messages = 0;
  for (const auto& [kind, count] : result.messages_by_kind)
    if (kind != "join" && kind != "enter" && kind != "done") messages += count;
  return static_cast<double>(messages) / static_cast<double>(result.sessions);
}
double processes(const sim::Result& result) {
  return static_cast<double>(result.entries) / static_cast<double>(result.sessions);
}

struct Point {
  std::uint64_t groups;
  double rate;
  Door door;
  double messages;          // between groups, per session
  double processes = 0;     // per session; 0: not known
  double inside = 0;        // while somebody is; 0: not known
  double wait_seconds = 0;  // 0: not known
};

constexpr auto leader = Door::leader, demand = Door::demand, closed = Door::closed;

constexpr Point points[] = {
    {3, 0.01, leader, 3.00, 1.03, 1.01},
    {3, 0.1, leader, 3.00, 1.45, 1.15, 7.7},
    {3, 0.2, leader, 3.00, 2.42, 1.45},
    {3, 0.5, leader, 3.00, 8.81, 2.89},
    {7, 0.01, leader, 6.02, 1.02, 1.01},
    {7, 0.1, leader, 6.26, 1.27, 1.10, 13.1},
    {7, 0.2, leader, 6.48, 2.29, 1.42},
    {7, 0.5, leader, 6.07, 8.90, 2.96},
    {13, 0.01, leader, 9.03, 1.01, 1.00},
    {13, 0.1, leader, 9.59, 1.18, 1.07},
    {13, 0.2, leader, 9.70, 2.28, 1.42},
    {13, 0.5, leader, 9.04, 8.96, 2.99},
    {16, 0.1, leader, 12.91, 1.17, 1.07},
    {16, 0.2, leader, 12.50, 2.38, 1.44},
    {31, 0.1, leader, 16.40},
    {31, 0.2, leader, 15.50},
    {3, 0.1, demand, 0, 0, 0, 7.6},
    {7, 0.01, demand, 6.06},
    {7, 0.1, demand, 6.76, 0, 0, 13.2},
    {7, 0.2, demand, 7.24},
    {7, 0.5, demand, 6.24},
    {31, 0.1, demand, 17.25},
    {3, 0.1, closed, 3.00, 0, 0, 10.4},
    {7, 0.1, closed, 0, 0, 0, 15.1},
};

class RoomLoads : public ::testing::TestWithParam<Point> {};

TEST_P(RoomLoads, CostWhatIsKnown) {
  const auto& expected = GetParam();
  const auto result = simulate(load(expected.groups, expected.rate, expected.door));
  const auto expect = [](double value, double known, const char* what) {
    if (known > 0) {
      EXPECT_NEAR(value, known, 0.025 * known) << what;
    }
  };
  expect(between_groups(result), expected.messages, "messages between groups");
  expect(processes(result), expected.processes, "processes per session");
  expect(result.inside_mean, expected.inside, "inside");
  expect(result.wait_mean_ms / 1000, expected.wait_seconds, "waiting");
}

INSTANTIATE_TEST_SUITE_P(Measured, RoomLoads, ::testing::ValuesIn(points));

// At saturation every group asks long before its turn comes: nothing is recalled.
TEST(RoomLoads, NeedNoRecallsWhenEverybodyAlwaysAsks) {
  auto options = load(7, 2, leader);
  options.sessions = 5'000;
  const auto result = simulate(options);
  EXPECT_NEAR(between_groups(result), 6, 0.01);
  EXPECT_NEAR(processes(result), 53.5, 2);
  EXPECT_NEAR(result.inside_mean, 11, 0.3);
}

// Fences on the clock of requests let fewer requests come out of order.
TEST(RoomLoads, NeedFewerRecallsIfFencesShareTheClock) {
  auto options = load(7, 0.2, leader);
  options.setup.configure<QuorumGroup::Config>().separate_fences = false;
  EXPECT_NEAR(between_groups(simulate(options)), 6.26, 0.03);
}

// Only one group is active: with the demand door nobody waits for anybody, just for two messages.
TEST(RoomLoads, OfOneGroupShowWhatADoorIsWorth) {
  const auto wait = [](Door door) {
    auto options = load(7, 1, door);
    options.wish = [](NodeId, Random&) { return Wish{.group = 0}; };
    options.sessions = 0;
    options.entries = 50'000;
    const auto result = simulate(options);
    return result.wait_mean_ms / 1000;
  };
  EXPECT_NEAR(wait(leader), 9.96, 0.5);
  EXPECT_NEAR(wait(demand), 2.01, 0.05);
  EXPECT_NEAR(wait(closed), 14.99, 0.7);
}

TEST(RoomLoads, OfALoneProcessCostThreeAndThreeForEachOtherVote) {
  for (const std::uint64_t groups : {3, 7, 13, 16}) {
    auto options = load(groups, 0.00001, demand);
    options.sessions = 500;
    const auto result = simulate(options);
    const auto k = static_cast<double>(options.setup.quorums[0].size());
    EXPECT_EQ(result.sessions, result.entries);
    EXPECT_NEAR(static_cast<double>(result.messages) / 500, 3 + 3 * (k - 1), 0.02);
  }
}

// Any seed, any quorums, any channels, processes that stay: no two groups inside, fences grow,
// somebody always gets in.
TEST(RoomSeeds, ViolateNothing) {
  Random random(7);
  const auto& algorithm = *find_algorithm("quorum-group");
  for (int round = 0; round < 60; ++round) {
    const auto groups = 1 + random.below(9);
    const char* const kinds[] = {"cyclic", "grid", "majority", "closed-form"};
    System system{.nodes = groups + 1 + random.below(12), .quorums = kinds[random.below(4)]};
    system.groups = groups;
    sim::Options options;
    options.setup = make_setup(algorithm.info, system);
    options.setup.configure<QuorumGroup::Config>().door = static_cast<Door>(random.below(3));
    if (random.below(2) == 0)
      options.setup.room.capacity.assign(groups, static_cast<std::uint32_t>(1 + random.below(3)));
    options.fifo = random.below(2) == 0;
    options.arrivals.rate = 0.05 * static_cast<double>(1 + random.below(100));
    for (auto i = groups; i < system.nodes; ++i) options.requesters.insert(NodeId{i});
    options.wish = [groups](NodeId, Random& draw) {
      return Wish{.group = static_cast<std::uint32_t>(draw.below(groups))};
    };
    options.entries = 500;
    options.seed = random.next();
    EXPECT_EQ(simulate(options).entries, 500U);
  }
}

}  // namespace
}  // namespace turno
