// Rooms, explored: exact numbers of states, faults, and what is wrong as printed. `make check-deep`
// has the larger systems.
//
// An independent exploration of the same algorithm is known. Without fences and without the
// observer, which are in our worlds and not in its, ours has exactly its numbers (three groups that
// visit twice each, unordered: 46731 states, 128218 transitions; one shared arbiter and three
// groups: 596 and 611 states). The lengths of all counterexamples are equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "catalogue/testing.h"
#include "protocols/group/quorum_group.h"

namespace turno {

using namespace protocols;

namespace {

using check::Channels;
using check::Verdict;

constexpr auto fifo = Channels::fifo;
constexpr auto unordered = Channels::unordered;

// Quorums, one a group.
constexpr std::string_view pair = "01,01", triangle = "01,12,20", all_of_three = "012,012,012",
                           grid = "012,013,023,123", one_shared = "03,13,23,3",
                           four_shared = "04,14,24,34,4", four_with_two = "045,145,245,345,45,45",
                           two_shared = "034,134,234,34,34", fano = "013,124,235,346,450,561,602",
                           maekawas = "012,135,245,034,146,056,236";

check::Options rooms(std::string_view quorums, std::string_view visits, Channels channels,
                     Door door = Door::demand) {
  System system{.quorums = std::string(quorums)};
  system.groups = static_cast<std::uint64_t>(std::count(quorums.begin(), quorums.end(), ',')) + 1;
  check::Options options;
  options.scripts = parse_visits(visits, system.groups);
  options.channels = channels;
  system.nodes = options.scripts.size();
  options.setup = make_setup(find_algorithm("quorum-group")->info, system);
  options.setup.configure<QuorumGroup::Config>().door = door;
  return options;
}

check::Result explore(const check::Options& options) {
  return find_algorithm("quorum-group")->check(options);
}

check::Result expect_holds(const check::Options& options) {
  auto result = explore(options);
  EXPECT_EQ(result.verdict, Verdict::holds) << result.property << ": " << result.explanation << "\n"
                                            << conversation(result.trace);
  EXPECT_TRUE(result.acyclic);
  return result;
}

struct Count {
  std::string_view quorums, visits;
  Door door;
  Channels channels;
  std::uint64_t states, transitions;
};

constexpr auto leader = Door::leader, demand = Door::demand, closed = Door::closed;

constexpr Count counts[] = {
    {pair, "0,1", leader, fifo, 93, 126},
    {pair, "0,1", leader, unordered, 121, 166},
    {pair, "00,11", leader, fifo, 835, 1364},
    {pair, "00,11", leader, unordered, 2046, 3727},
    {pair, "01,10", leader, unordered, 1443, 2755},
    {pair, "0,0,1,1", leader, fifo, 7407, 17005},
    {pair, "0,0,1,1", leader, unordered, 12353, 29101},
    {triangle, "0,1,2", leader, unordered, 1339, 2613},
    {triangle, "0,0,1,2", leader, fifo, 13738, 32865},
    {triangle, "0,0,1,2", leader, unordered, 14712, 35354},
    {all_of_three, "0,1,2", leader, fifo, 10980, 27010},
    {all_of_three, "0,1,2", leader, unordered, 17185, 50034},
    {one_shared, "0,1,2", leader, fifo, 639, 1419},
    {one_shared, "0,1,2", leader, unordered, 654, 1459},
    {one_shared, "00,11,22", leader, unordered, 63521, 168658},
    {grid, "0,1,2", leader, fifo, 11208, 30890},
    {grid, "0,1,2", leader, unordered, 18209, 56714},
    {fano, "0,4,6", leader, unordered, 8099, 27187},
    {fano, "0,1,3", leader, fifo, 13791, 45525},
    {maekawas, "1,1,1,0", leader, unordered, 42040, 147902},
    {pair, "0,1", demand, fifo, 109, 156},
    {pair, "0,1", demand, unordered, 179, 292},
    {pair, "00,11", demand, unordered, 7286, 19121},
    {pair, "0,0,1,1", demand, fifo, 10001, 24469},
    {pair, "0,0,1,1", demand, unordered, 33814, 98253},
    {triangle, "0,0,1,2", demand, fifo, 26168, 72555},
    {triangle, "0,0,1,2", demand, unordered, 32600, 95426},
    {all_of_three, "0,1,2", demand, unordered, 81558, 308196},
    {one_shared, "0,1,2", demand, unordered, 922, 2139},
    {grid, "0,1,2", demand, unordered, 54341, 207153},
    {fano, "0,1,3", demand, unordered, 29700, 115514},
    {pair, "00,00,11", closed, unordered, 37585, 92844},
    {triangle, "0,0,1,2", closed, unordered, 14714, 35356},
    {one_shared, "00,11,22", closed, fifo, 19070, 51319},
};

class RoomCounts : public ::testing::TestWithParam<Count> {};

TEST_P(RoomCounts, AreExact) {
  const auto& expected = GetParam();
  const auto result =
      explore(rooms(expected.quorums, expected.visits, expected.channels, expected.door));
  EXPECT_EQ(result.verdict, Verdict::holds) << result.property << ": " << result.explanation << "\n"
                                            << conversation(result.trace);
  EXPECT_EQ(result.states, expected.states);
  EXPECT_EQ(result.transitions, expected.transitions);
  EXPECT_TRUE(result.acyclic) << "every request is served in every run";
}

INSTANTIATE_TEST_SUITE_P(Exact, RoomCounts, ::testing::ValuesIn(counts));

// Nobody may wait for others of its own group to leave, as long as no other group asks.
TEST(Rooms, LetInWhileNobodyElseAsks) {
  auto options = rooms(pair, "0,0,0", unordered);
  options.staying = true;
  expect_holds(options);
  options.setup.configure<QuorumGroup::Config>().door = leader;
  auto result = explore(options);
  EXPECT_EQ(result.property, "deadlock");
  EXPECT_EQ(result.trace.size(), 12U) << conversation(result.trace);
  options.setup.configure<QuorumGroup::Config>().door = closed;
  result = explore(options);
  EXPECT_EQ(result.trace.size(), 9U) << conversation(result.trace);
  options = rooms(all_of_three, "0,0,0,0", unordered);
  options.staying = true;
  expect_holds(options);
}

TEST(Rooms, HoldTwoOfOneGroupAtOnceButNotTwoGroups) {
  // That two are inside together is among the witnesses of an exploration; a capacity of 1 forbids
  // it, and the observer would complain.
  auto options = rooms(pair, "0,0,1", unordered);
  expect_holds(options);
  options.setup.room.capacity = {1, 1};
  expect_holds(options);
  options.setup.room.capacity = {2, 1};
  options.scripts = parse_visits("0,0,0,1", 2);
  options.setup.father.push_back(NodeId{0});
  expect_holds(options);
}

TEST(Rooms, OvertakeAKnownRequestTwiceAtMost) {
  for (auto channels : {fifo, unordered}) {
    for (auto door : {leader, demand}) {
      auto options = rooms(pair, "000,111", channels, door);
      options.setup.configure<OvertakingLimit>().most = 2;
      expect_holds(options);
      options = rooms(triangle, "00,11,2", channels, door);
      options.setup.configure<OvertakingLimit>().most = 2;
      expect_holds(options);
    }
  }
  // Twice is possible.
  auto options = rooms(pair, "000,111", unordered, leader);
  options.setup.configure<OvertakingLimit>().most = 1;
  const auto result = explore(options);
  EXPECT_EQ(result.property, "invariant");
  EXPECT_EQ(result.trace.size(), 18U) << conversation(result.trace);
}

TEST(Rooms, SurviveMessagesThatComeTwice) {
  struct {
    std::string_view quorums, visits;
    std::uint32_t duplicates;
    std::uint64_t states;
  } const cases[] = {{two_shared, "0,1", 2, 49029},
                     {all_of_three, "0,1", 2, 60205},
                     {all_of_three, "00,1", 1, 79501},
                     {triangle, "0,1,2", 1, 18460},
                     {one_shared, "0,1,2", 1, 7878}};
  for (const auto& [quorums, visits, duplicates, states] : cases) {
    auto options = rooms(quorums, visits, unordered, leader);
    options.faults.duplicates = duplicates;
    options.setup.configure<QuorumGroup::Config>().duplicates = true;
    EXPECT_EQ(expect_holds(options).states, states);
  }
  // One copy is too much for those who do not expect it.
  auto options = rooms(pair, "0,1", unordered, leader);
  options.faults.duplicates = 1;
  options.property = "deadlock";
  EXPECT_EQ(explore(options).trace.size(), 13U);
}

TEST(Rooms, LetAProcessGiveUp) {
  for (auto channels : {fifo, unordered}) {
    for (auto door : {leader, demand, closed}) {
      auto options = rooms(pair, "00,1", channels, door);
      options.withdrawals = 2;
      expect_holds(options);
      options = rooms(triangle, "0,0,1", channels, door);
      options.withdrawals = 1;
      expect_holds(options);
    }
  }
}

TEST(Rooms, FencesMayHaveAClockOfTheirOwn) {
  for (auto quorums : {pair, triangle}) {
    auto options = rooms(quorums, "00,11", unordered);
    options.setup.configure<QuorumGroup::Config>().separate_fences = true;
    expect_holds(options);
  }
}

TEST(Rooms, ServeReadersAndWriters) {
  // Readers are group 0, the writers have a group each, or one group that takes one at a time.
  auto options = rooms(triangle, "0,0,1,2", unordered);
  options.setup.room.capacity = {RoomSetup::unlimited, 1, 1};
  expect_holds(options);
  options = rooms(pair, "0,0,1,1", unordered);
  options.setup.room.capacity = {RoomSetup::unlimited, 1};
  expect_holds(options);
}

// Negative control.
TEST(Rooms, WithQuorumsThatShareNobodyLetTwoGroupsIn) {
  auto options = rooms(pair, "0,1", fifo, leader);
  options.setup.quorums = {{NodeId{0}}, {NodeId{1}}};
  const auto result = explore(options);
  EXPECT_EQ(result.property, "exclusion");
  EXPECT_EQ(result.trace.size(), 6U) << conversation(result.trace);
}

struct Refutation {
  std::string_view departure, property, quorums, visits;
  Channels channels;
  std::size_t steps;
  std::uint32_t overtakings = 0;
  std::string_view algorithm = "quorum-group";
};

constexpr Refutation refutations[] = {
    {"level-0", "deadlock", pair, "0", fifo, 4},
    {"level-1", "goal", pair, "0", fifo, 8},
    {"level-1", "deadlock", pair, "0,1", fifo, 11},
    {"level-1", "exclusion", one_shared, "0,1,2", fifo, 15},
    {"level-2", "goal", pair, "0,0", fifo, 12},
    {"level-2", "deadlock", pair, "00,0,0", fifo, 14},
    {"level-2", "exclusion", one_shared, "0,1,2", fifo, 15},
    {"level-2", "invariant", triangle, "0,1,2", fifo, 17},
    {"level-3", "goal", pair, "0,0", fifo, 12},
    {"level-3", "deadlock", pair, "00,0,0", fifo, 14},
    {"level-3", "exclusion", one_shared, "0,1,2", fifo, 15},
    {"level-3", "invariant", triangle, "0,1,2", fifo, 17},
    {"level-4", "exclusion", one_shared, "0,1,2", fifo, 15},
    {"level-4", "exclusion", pair, "0,0,1", fifo, 16},
    {"level-4", "invariant", triangle, "0,1,2", fifo, 17},
    {"level-4", "goal", one_shared, "0,1,2", fifo, 29},
    {"level-4", "deadlock", one_shared, "0,11,2", fifo, 31},
    {"level-5", "exclusion", one_shared, "0,1,2", fifo, 15},
    {"level-5", "invariant", triangle, "0,1,2", fifo, 17},
    {"level-5", "goal", one_shared, "0,1,2", fifo, 29},
    // Known: 39 steps, with two visits of the first process, too.
    {"level-5", "deadlock", one_shared, "0,11,2", fifo, 31},
    {"level-5", "deadlock", one_shared, "00,11,2", fifo, 39},
    {"level-6", "deadlock", pair, "0,1", unordered, 9},
    {"own-entry", "goal", pair, "0", fifo, 8},
    {"own-entry", "deadlock", pair, "0,1", fifo, 11},
    {"hand-off", "invariant", pair, "0", fifo, 7},
    {"hand-off-any-grant", "exclusion", triangle, "00,11", fifo, 25},
    {"re-request", "deadlock", pair, "00,0,0", fifo, 17},
    {"leader-leaves", "goal", pair, "0,0", fifo, 12},
    {"leader-leaves", "deadlock", pair, "00,0,0", fifo, 14},
    {"late-joiner", "exclusion", pair, "0,0,1", fifo, 16},
    {"no-holder", "exclusion", one_shared, "0,1,2", fifo, 15},
    {"no-holder-checked", "exclusion", four_shared, "0,1,2,3", fifo, 28},
    {"repeated-recall", "exclusion", four_with_two, "0,1,2,3", fifo, 32},
    {"stale-recall", "exclusion", one_shared, "0,1,2", fifo, 20},
    {"early-recall", "exclusion", one_shared, "0,1", unordered, 12},
    {"dropped-recall", "deadlock", all_of_three, "0,1", unordered, 11},
    {"dropped-recall", "deadlock", two_shared, "0,1", unordered, 11},
    {"any-release", "deadlock", pair, "00", unordered, 11},
    {"no-sessions", "exclusion", triangle, "00,11", unordered, 15},
    {"asks-inside", "deadlock", pair, "00,0,0", fifo, 20},
    {"larger-first", "invariant", all_of_three, "000,1", fifo, 41, 2},
    {"local-counters", "invariant", triangle, "000,111", fifo, 41, 2},
    {"request-clock", "invariant", triangle, "000,111", fifo, 41, 2},
};

class RoomsRefuted : public ::testing::TestWithParam<Refutation> {};

TEST_P(RoomsRefuted, ByTheShortestTrace) {
  const auto& expected = GetParam();
  const auto* wrong = testing::find_departure(expected.algorithm, expected.departure);
  ASSERT_NE(wrong, nullptr) << expected.departure;
  auto options = rooms(expected.quorums, expected.visits, expected.channels, leader);
  options.setup.configure<OvertakingLimit>().most = expected.overtakings;
  testing::expect_refuted(*wrong, options, expected.property, expected.steps);
}

INSTANTIATE_TEST_SUITE_P(
    Departures, RoomsRefuted, ::testing::ValuesIn(refutations), [](const auto& test) {
      return testing::test_name({test.param.departure, test.param.property}, test.index);
    });

TEST(RoomsRefuted, CoverEveryDeparture) {
  testing::expect_all_refuted(refutations,
                              [](const Info& info) { return info.primitive == Primitive::room; });
}

// Six repairs make the printed algorithm right where channels keep order.
TEST(RoomsRefuted, NotAfterTheSixthRepairInOrder) {
  const auto* wrong = testing::find_departure("quorum-group", "level-6");
  for (const auto& [quorums, visits] :
       {std::pair{pair, "00,11"}, std::pair{pair, "0,0,1,1"}, std::pair{triangle, "0,0,1,2"},
        std::pair{all_of_three, "0,1,2"}, std::pair{one_shared, "00,11,22"},
        std::pair{grid, "0,1,2"}}) {
    auto options = rooms(quorums, visits, fifo, leader);
    options.setup.departure = wrong->number;
    const auto result = wrong->algorithm->check(options);
    EXPECT_EQ(result.verdict, Verdict::holds) << testing::shown(result);
    EXPECT_TRUE(result.acyclic);
  }
}

}  // namespace
}  // namespace turno
