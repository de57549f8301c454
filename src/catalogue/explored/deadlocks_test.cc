// Detectors of deadlock, explored: exact numbers of states, and each without one of its rules.
// `make check-deep` has the larger systems.
//
// Independent explorations of the same rules are known. All counterexamples to the probes have
// their lengths; the numbers of states differ by a few per cent for single waits (two processes,
// two waits: 247 against 243). Of the central detector they know a simpler form, in which a process
// acts at a distant site without a message: there the naive detector errs after 7 steps, here after
// 10, and there it suffices to ask the sites, which is wrong here.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "catalogue/testing.h"
#include "protocols/deadlock/central_detector.h"
#include "protocols/deadlock/probes.h"

namespace turno {

using namespace protocols;

namespace {

using check::Channels;
using check::Verdict;

check::Options options_of(const Algorithm& algorithm, std::uint64_t nodes,
                          const Probes::Config& waits) {
  check::Options options;
  options.setup = make_setup(algorithm.info, {.nodes = nodes});
  options.setup.configure<Probes::Config>() = waits;
  options.setup.configure<CentralDetector::Config>().waits = waits.waits;
  options.channels = Channels::fifo;
  return options;
}

struct Count {
  std::string_view algorithm;
  std::uint64_t nodes;
  Probes::Config waits;
  std::uint64_t states, transitions;
};

constexpr Count counts[] = {
    {"probes", 2, {.waits = 2}, 247, 420},
    {"probes", 3, {.waits = 1, .sets = true}, 333377, 1259928},
    {"probes", 3, {.waits = 2}, 230115, 799416},
    {"probes", 4, {.waits = 1}, 389950, 1361988},
    {"wait-for-graph", 3, {.waits = 1}, 101, 164},
    {"wait-for-graph", 3, {.waits = 2}, 7178, 20524},
    {"wait-for-graph", 3, {.waits = 3}, 500173, 1782726},
    {"wait-for-graph", 4, {.waits = 1}, 4799, 11682},
};

constexpr auto test_name = [](const auto& test) {
  return testing::test_name({test.param.algorithm, std::to_string(test.param.nodes)}, test.index);
};

class DetectorCounts : public ::testing::TestWithParam<Count> {};

TEST_P(DetectorCounts, AreExact) {
  const auto& expected = GetParam();
  const auto& algorithm = *find_algorithm(expected.algorithm);
  const auto result = algorithm.check(options_of(algorithm, expected.nodes, expected.waits));
  EXPECT_EQ(result.verdict, Verdict::holds) << testing::shown(result);
  EXPECT_TRUE(result.acyclic) << "every run ends";
  EXPECT_EQ(result.states, expected.states);
  EXPECT_EQ(result.transitions, expected.transitions);
}

INSTANTIATE_TEST_SUITE_P(Exact, DetectorCounts, ::testing::ValuesIn(counts), test_name);

struct Refutation {
  std::string_view algorithm, departure, property;
  std::uint64_t nodes;
  Probes::Config waits;
  std::size_t steps;
};

constexpr Refutation refutations[] = {
    {"probes", "pending-check", "invariant", 3, {.waits = 1, .sets = true}, 9},
    {"probes", "pending-check", "invariant", 3, {.waits = 2}, 10},
    {"probes", "pending-check", "invariant", 2, {.waits = 2}, 11},
    // Where it can no longer end; the probe goes round from then on.
    {"probes", "dependent-flag", "trap", 3, {.waits = 1}, 3},
    {"probes", "everybody-initiates", "goal", 2, {.waits = 1}, 5},
    {"wait-for-graph", "confirmation", "invariant", 3, {.waits = 2}, 10},
    {"wait-for-graph", "numbers", "invariant", 3, {.waits = 3}, 19},
    {"wait-for-graph", "questions", "invariant", 3, {.waits = 3}, 15},
    {"wait-for-graph", "processes", "invariant", 3, {.waits = 2}, 15},
};

class RefutedDetector : public ::testing::TestWithParam<Refutation> {};

TEST_P(RefutedDetector, ByTheShortestTrace) {
  const auto& expected = GetParam();
  const auto* wrong = testing::find_departure(expected.algorithm, expected.departure);
  ASSERT_NE(wrong, nullptr);
  testing::expect_refuted(*wrong, options_of(*wrong->algorithm, expected.nodes, expected.waits),
                          expected.property, expected.steps);
}

INSTANTIATE_TEST_SUITE_P(Departures, RefutedDetector, ::testing::ValuesIn(refutations), test_name);

TEST(RefutedDetectors, CoverEveryDeparture) {
  testing::expect_all_refuted(
      refutations, [](const Info& info) { return info.primitive == Primitive::detection; });
}

// Where messages overtake each other, probes miss a deadlock and see one that there is not.
TEST(Detectors, ProbesNeedFifo) {
  const auto& probes = *find_algorithm("probes");
  auto options = options_of(probes, 2, {.waits = 2});
  options.channels = Channels::unordered;
  options.property = "goal";
  auto result = probes.check(options);
  EXPECT_EQ(result.explanation, "a deadlock is not detected");
  EXPECT_EQ(result.trace.size(), 6U) << conversation(result.trace);
  options.property = "invariant";
  result = probes.check(options);
  EXPECT_EQ(result.explanation, "a node declares a deadlock that there is not");
  EXPECT_EQ(result.trace.size(), 11U) << conversation(result.trace);
}

}  // namespace
}  // namespace turno
