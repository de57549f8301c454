// Elections and the lock that fails over, explored: exact numbers of states, what they cost, and
// what is wrong as printed. `make check-deep` has the larger systems.
//
// Independent explorations of the same rules are known. Ours has the same number of states where
// nothing crashes after the start (bully, five nodes, the lowest notices: 6990), the same costs and
// the same lengths of counterexamples for the bully. With crashes and returns the worlds differ a
// little (bully, three nodes, two of each: 55992 states against 56009, both without the rule
// `new-epoch`, which is needed from three returns on). On the ring a message to a
// dead node comes back in a step of its own, which makes our traces longer.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "catalogue/testing.h"
#include "protocols/election/config.h"

namespace turno {

using namespace protocols;

namespace {

using check::Channels;
using check::Verdict;

constexpr auto fifo = Channels::fifo;
constexpr auto unordered = Channels::unordered;

struct Faults {
  std::string_view dead;  // from the start
  std::uint32_t crashes = 0, recoveries = 0, early_timeouts = 0, losses = 0;
  bool keep_sent = false;
};

check::Options options_of(const Info& info, std::uint64_t nodes, Channels channels,
                          const Faults& faults, std::string_view watchers = {}) {
  check::Options options;
  options.setup = make_setup(info, {.nodes = nodes});
  options.channels = channels;
  options.faults = {.crashes = faults.crashes,
                    .lost_with_sender = !faults.keep_sent,
                    .recoveries = faults.recoveries,
                    .losses = faults.losses,
                    .early_timeouts = faults.early_timeouts};
  if (!faults.dead.empty())
    for (auto node : parse_nodes(faults.dead, nodes)) options.dead.insert(node);
  if (!watchers.empty())
    for (auto node : parse_nodes(watchers, nodes))
      options.setup.configure<ElectionConfig>().watchers.insert(node);
  return options;
}

const Algorithm& as_published(std::string_view name) {
  for (const auto& algorithm : printed())
    if (algorithm.info.name == name) return algorithm;
  throw std::logic_error("not printed");
}

struct Count {
  std::string_view algorithm;
  std::uint64_t nodes;
  Channels channels;
  Faults faults;
  std::uint64_t states, transitions;
};

constexpr Count counts[] = {
    {"bully", 3, fifo, {.crashes = 2, .recoveries = 2}, 10209, 29340},
    {"bully", 3, unordered, {.crashes = 2, .recoveries = 2}, 37449, 152466},
    {"bully", 4, fifo, {.crashes = 1, .recoveries = 1}, 11681, 49730},
    {"bully", 4, unordered, {.crashes = 1, .recoveries = 1}, 15155, 73543},
    {"bully",
     3,
     fifo,
     {.dead = "2", .crashes = 2, .recoveries = 2, .keep_sent = true},
     57329,
     171301},
    {"bully",
     3,
     unordered,
     {.dead = "2", .crashes = 2, .recoveries = 2, .keep_sent = true},
     420917,
     2064515},
    {"bully", 4, fifo, {.dead = "3", .crashes = 1, .recoveries = 1}, 1053705, 5730216},
    {"bully", 3, fifo, {.dead = "2", .crashes = 2, .recoveries = 3}, 749631, 2456906},
    {"ring", 3, fifo, {.crashes = 1, .recoveries = 1}, 2166, 3988},
    {"ring", 3, fifo, {.crashes = 2, .recoveries = 2}, 1936959, 5149838},
    {"ring", 3, unordered, {.crashes = 1, .recoveries = 1}, 114413, 450563},
    {"ring", 4, fifo, {.crashes = 1, .recoveries = 1}, 52193, 118610},
    {"ring", 4, fifo, {"3", 1}, 86131, 242453},
    {"central-failover", 3, fifo, {.crashes = 1}, 1957, 5654},
    {"central-failover", 3, unordered, {.crashes = 1}, 2482, 7564},
    {"central-failover", 3, unordered, {.crashes = 2}, 4533, 19549},
    {"central-failover", 4, fifo, {.crashes = 1}, 182254, 864586},
};

constexpr auto test_name = [](const auto& test) {
  return testing::test_name({test.param.algorithm, std::to_string(test.param.nodes)}, test.index);
};

class ElectionCounts : public ::testing::TestWithParam<Count> {};

TEST_P(ElectionCounts, AreExact) {
  const auto& expected = GetParam();
  const auto& algorithm = *find_algorithm(expected.algorithm);
  const auto result = algorithm.check(
      options_of(algorithm.info, expected.nodes, expected.channels, expected.faults));
  EXPECT_EQ(result.verdict, Verdict::holds) << testing::shown(result);
  EXPECT_TRUE(result.acyclic) << "every run ends";
  EXPECT_EQ(result.states, expected.states);
  EXPECT_EQ(result.transitions, expected.transitions);
}

INSTANTIATE_TEST_SUITE_P(Exact, ElectionCounts, ::testing::ValuesIn(counts), test_name);

// ---- what they cost, over all interleavings: the highest node is dead

struct Cost {
  std::string_view algorithm;
  bool published;
  std::uint64_t nodes;
  std::string_view watchers;
  std::uint64_t least, most;
};

constexpr Cost costs[] = {
    // The lowest notices. As printed the dearest run is exponential: 5, 14, 34.
    {"bully", false, 3, "0", 5, 5},
    {"bully", false, 4, "0", 8, 11},
    {"bully", false, 5, "0", 11, 19},
    {"bully", true, 3, "0", 5, 5},
    {"bully", true, 4, "0", 11, 14},
    {"bully", true, 5, "0", 19, 34},
    // All may notice.
    {"bully", false, 3, "", 2, 5},
    {"bully", false, 4, "", 3, 11},
    {"bully", false, 5, "", 4, 19},
    {"bully", true, 3, "", 2, 7},
    {"bully", true, 4, "", 3, 23},
    // The highest that lives notices: N-1.
    {"bully", false, 5, "3", 4, 4},
    {"bully", true, 5, "3", 4, 4},
    // Two rounds of N-1, and one attempt a round at the dead node.
    {"ring", false, 3, "0", 6, 6},
    {"ring", false, 5, "0", 10, 10},
    {"ring", true, 3, "0", 6, 6},
    {"ring", true, 5, "0", 10, 10},
    {"ring", true, 6, "0", 12, 12},
    // All may notice: as many times that.
    {"ring", true, 4, "", 8, 24},
    {"ring", true, 5, "", 10, 40},
    // Ours may give up a round while another is under way, and then begin a third.
    {"ring", false, 4, "", 8, 35},
};

class ElectionCosts : public ::testing::TestWithParam<Cost> {};

TEST_P(ElectionCosts, AreExact) {
  const auto& [name, published, nodes, watchers, least, most] = GetParam();
  const auto& algorithm = published ? as_published(name) : *find_algorithm(name);
  const auto dead = std::to_string(nodes - 1);
  auto options = options_of(algorithm.info, nodes, fifo, {dead}, watchers);
  options.count_messages = true;
  const auto result = algorithm.check(options);
  EXPECT_EQ(result.verdict, Verdict::holds) << testing::shown(result);
  ASSERT_TRUE(result.messages);
  EXPECT_EQ(result.messages->least, least);
  EXPECT_EQ(result.messages->most, most);
}

INSTANTIATE_TEST_SUITE_P(Exact, ElectionCosts, ::testing::ValuesIn(costs), test_name);

TEST(Elections, HaveTheKnownNumberOfStates) {
  const auto& bully = *find_algorithm("bully");
  EXPECT_EQ(bully.check(options_of(bully.info, 5, fifo, {"4"}, "0")).states, 6990U);
}

// Timeouts that are too short do no lasting harm, if nodes ask their coordinator now and then.
TEST(Elections, OutliveEarlyTimeouts) {
  for (const auto* name : {"bully", "ring"}) {
    const auto& algorithm = *find_algorithm(name);
    auto options =
        options_of(algorithm.info, 3, fifo, {.crashes = 1, .recoveries = 1, .early_timeouts = 1});
    options.setup.configure<ElectionConfig>().patience.ask_every_ns = 1;
    const auto result = algorithm.check(options);
    EXPECT_EQ(result.verdict, Verdict::holds) << name << " " << testing::shown(result);
  }
}

// ---- what is printed

struct Refutation {
  std::string_view algorithm, departure, property;
  std::uint64_t nodes;
  Faults faults;
  std::size_t steps;
};

constexpr Refutation refutations[] = {
    {"bully", "new-epoch", "goal", 3, {"2", 2, 3}, 11},
    {"bully", "no-second-timeout", "goal", 4, {"3", 1}, 6},
    {"bully", "late-coordinator", "goal", 3, {"2", 0, 1}, 6},
    {"bully", "two-coordinators", "invariant", 3, {"2", 0, 1}, 3},
    {"bully", "two-coordinators", "invariant", 3, {.dead = "2", .early_timeouts = 1}, 4},
    {"bully", "silent-loss", "goal", 3, {.dead = "2", .losses = 1}, 5},
    {"ring", "orphan-election", "invariant", 4, {"3", 1}, 6},
    {"ring", "orphan-result", "invariant", 4, {"3", 1}, 10},
    {"ring", "lost-round", "goal", 4, {"3", 1}, 6},
    {"ring", "late-coordinator", "goal", 3, {"2", 0, 1}, 14},
    {"ring", "dead-winner", "invariant", 3, {"2", 1}, 5},
};

class RefutedElection : public ::testing::TestWithParam<Refutation> {};

TEST_P(RefutedElection, ByTheShortestTrace) {
  const auto& expected = GetParam();
  const auto* wrong = testing::find_departure(expected.algorithm, expected.departure);
  ASSERT_NE(wrong, nullptr);
  testing::expect_refuted(*wrong,
                          options_of(wrong->algorithm->info, expected.nodes, fifo, expected.faults),
                          expected.property, expected.steps);
}

INSTANTIATE_TEST_SUITE_P(Departures, RefutedElection, ::testing::ValuesIn(refutations), test_name);

TEST(RefutedElections, CoverEveryDeparture) {
  testing::expect_all_refuted(
      refutations, [](const Info& info) { return info.primitive == Primitive::election; });
}

// ---- the lock that fails over

TEST(Failover, WithAnyHolderAndTwoRequestsEach) {
  const auto& algorithm = *find_algorithm("central-failover");
  for (std::size_t holder = 0; holder < 3; ++holder) {
    auto options = options_of(algorithm.info, 3, unordered, {.crashes = 1});
    options.holdings = {{.seat = NodeId{holder}}};
    const auto result = algorithm.check(options);
    EXPECT_EQ(result.verdict, Verdict::holds) << testing::shown(result);
  }
  auto options = options_of(algorithm.info, 3, unordered, {.crashes = 2});
  options.requests = 2;
  const auto result = algorithm.check(options);
  EXPECT_EQ(result.verdict, Verdict::holds) << testing::shown(result);
  EXPECT_TRUE(result.acyclic);
}

}  // namespace
}  // namespace turno
