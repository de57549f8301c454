// Recovery, explored: whoever crashes, joins or forgets an idle lock, at any moment, every
// algorithm keeps its promises to those who live. Exact numbers, as in
// catalogue/state_counts_test.cc; and recovery without one of its rules, which must be refuted.
//
// TURNO_RECOVERED is the list of the algorithms that this program has: cluster_test some of
// different kinds, recovery_test all.
// The large systems are explored only if TURNO_DEEP is set in the environment.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/options.h"
#include "cluster/recovering.h"
#include "protocols/arrangement.h"
#include "protocols/locks.h"

namespace turno::cluster {

namespace testing {

using Recovered = TURNO_RECOVERED;

// In recovery_shard_*_test.cc.
template <Protocol P>
check::Result explore(const check::Options& options);

}  // namespace testing

namespace {

using check::Verdict;

struct System {
  std::string_view name;
  std::size_t nodes = 3;  // those that join are the last of them
  std::uint16_t requests = 1;
  std::uint32_t crashes = 0, joins = 0, retirements = 0;
  bool overlapping = false;
};

constexpr System one_crash{"one_crash", 3, 1, 1};
constexpr System two_crashes{"two_crashes", 3, 1, 2};
constexpr System two_retirements{"two_retirements", 2, 2, 1, 0, 2};
constexpr System one_join{"one_join", 3, 1, 0, 1};
constexpr System two_overlapping{"two_overlapping", 2, 2, 1, 0, 1, true};
constexpr System three_overlapping{"three_overlapping", 3, 2, 1, 0, 0, true};

struct Count {
  std::string_view algorithm;
  System system;
  std::uint64_t states, transitions;
};

constexpr Count counts[] = {
    {"central", one_crash, 5038, 13272},
    {"lamport", one_crash, 620376, 2555300},
    {"ricart-agrawala", one_crash, 132125, 486258},
    {"carvalho-roucairol", one_crash, 133650, 490243},
    {"maekawa", one_crash, 41015, 120573},
    {"token-ring", one_crash, 13139, 40607},
    {"suzuki-kasami", one_crash, 58881, 208045},
    {"raymond", one_crash, 6600, 17125},
    {"raymond-piggyback", one_crash, 6708, 17357},
    {"naimi-trehel", one_crash, 7233, 18831},
    {"nxr", one_crash, 7263, 18865},
    {"nxr-b", one_crash, 7151, 18629},
    {"nxr-bh", one_crash, 7335, 18993},
    {"dir", one_crash, 7229, 18827},
    {"central", two_retirements, 9968, 24778},
    {"lamport", two_retirements, 104546, 269891},
    {"ricart-agrawala", two_retirements, 42489, 106812},
    {"carvalho-roucairol", two_retirements, 35084, 87831},
    {"maekawa", two_retirements, 89908, 225323},
    {"token-ring", two_retirements, 34981, 90394},
    {"suzuki-kasami", two_retirements, 16391, 39734},
    {"raymond", two_retirements, 15400, 37601},
    {"raymond-piggyback", two_retirements, 15400, 37601},
    {"naimi-trehel", two_retirements, 15400, 37601},
    {"nxr", two_retirements, 15400, 37601},
    {"nxr-b", two_retirements, 15400, 37601},
    {"nxr-bh", two_retirements, 16283, 39430},
    {"dir", two_retirements, 15400, 37601},
    {"central", one_join, 2464, 6783},
    {"lamport", one_join, 78285, 284455},
    {"ricart-agrawala", one_join, 28282, 95963},
    {"carvalho-roucairol", one_join, 28170, 95704},
    {"maekawa", one_join, 11609, 33610},
    {"token-ring", one_join, 5574, 17644},
    {"suzuki-kasami", one_join, 11637, 37754},
    {"raymond", one_join, 3516, 9767},
    {"raymond-piggyback", one_join, 3550, 9829},
    {"naimi-trehel", one_join, 3536, 9763},
    {"nxr", one_join, 3599, 9819},
    {"nxr-b", one_join, 3484, 9643},
    {"nxr-bh", one_join, 3528, 9709},
    {"dir", one_join, 3542, 9899},
    {"central", two_crashes, 15788, 50978},
    {"ricart-agrawala", two_crashes, 668567, 2835161},
    {"carvalho-roucairol", two_crashes, 680261, 2874124},
    {"maekawa", two_crashes, 178312, 637220},
    {"token-ring", two_crashes, 48949, 175490},
    {"suzuki-kasami", two_crashes, 212687, 868709},
    {"raymond", two_crashes, 22802, 72854},
    {"raymond-piggyback", two_crashes, 23269, 74112},
    {"naimi-trehel", two_crashes, 25796, 82428},
    {"nxr", two_crashes, 25866, 82550},
    {"nxr-b", two_crashes, 25589, 81761},
    {"nxr-bh", two_crashes, 26332, 83705},
    {"dir", two_crashes, 25780, 82404},
    {"nxr-b", two_overlapping, 5842, 14064},
    {"nxr-b", three_overlapping, 79917, 228708},
    {"nxr-bh", two_overlapping, 6629, 15829},
    {"nxr-bh", three_overlapping, 126181, 358016},
};

constexpr System crash_and_retirement{"crash_and_retirement", 3, 1, 1, 0, 1};
constexpr System crash_and_join{"crash_and_join", 3, 1, 1, 1};
constexpr System two_requests{"two_requests", 3, 2, 1};
constexpr System two_requests_and_retirement{"two_requests_and_retirement", 3, 2, 1, 0, 1};
constexpr System overlapping_and_retirement{"overlapping_and_retirement", 3, 2, 1, 0, 1, true};
constexpr System two_crashes_and_retirement{"two_crashes_and_retirement", 3, 1, 2, 0, 1};
constexpr System four_nodes{"four_nodes", 4, 1, 1};
constexpr System four_nodes_and_join{"four_nodes_and_join", 4, 1, 1, 1};

// Each below five million states and two GiB; what is not here is larger.
constexpr Count deep_counts[] = {
    {"lamport", two_crashes, 3034434, 13979770},
    {"central", crash_and_retirement, 57602, 176251},
    {"maekawa", crash_and_retirement, 1911425, 7051166},
    {"token-ring", crash_and_retirement, 406601, 1446860},
    {"suzuki-kasami", crash_and_retirement, 4247851, 18021818},
    {"raymond", crash_and_retirement, 81579, 250770},
    {"raymond-piggyback", crash_and_retirement, 83073, 254762},
    {"naimi-trehel", crash_and_retirement, 100500, 305412},
    {"nxr", crash_and_retirement, 101076, 306849},
    {"nxr-b", crash_and_retirement, 99099, 301195},
    {"nxr-bh", crash_and_retirement, 101917, 309008},
    {"dir", crash_and_retirement, 95772, 292532},
    {"central", crash_and_join, 37209, 126697},
    {"lamport", crash_and_join, 2443303, 10663725},
    {"ricart-agrawala", crash_and_join, 775511, 3242180},
    {"carvalho-roucairol", crash_and_join, 776533, 3244831},
    {"maekawa", crash_and_join, 291607, 1048610},
    {"token-ring", crash_and_join, 98963, 377587},
    {"suzuki-kasami", crash_and_join, 295016, 1156844},
    {"raymond", crash_and_join, 67208, 230497},
    {"raymond-piggyback", crash_and_join, 67970, 232731},
    {"naimi-trehel", crash_and_join, 74244, 250711},
    {"nxr", crash_and_join, 74418, 250732},
    {"nxr-b", crash_and_join, 73046, 246917},
    {"nxr-bh", crash_and_join, 74375, 250375},
    {"dir", crash_and_join, 71067, 243634},
    {"central", two_requests, 37219, 104891},
    {"ricart-agrawala", two_requests, 1217275, 4452990},
    {"carvalho-roucairol", two_requests, 522689, 1785465},
    {"maekawa", two_requests, 1234936, 3923541},
    {"token-ring", two_requests, 93612, 321149},
    {"suzuki-kasami", two_requests, 1163122, 4662090},
    {"raymond", two_requests, 47824, 131724},
    {"raymond-piggyback", two_requests, 50009, 137318},
    {"naimi-trehel", two_requests, 64572, 177512},
    {"nxr", two_requests, 68066, 188006},
    {"nxr-b", two_requests, 62060, 170483},
    {"nxr-bh", two_requests, 78130, 216385},
    {"dir", two_requests, 57628, 161218},
    {"central", four_nodes, 154606, 564378},
    {"token-ring", four_nodes, 374686, 1540822},
    {"raymond", four_nodes, 231726, 841377},
    {"raymond-piggyback", four_nodes, 240905, 870967},
    {"naimi-trehel", four_nodes, 331429, 1212489},
    {"nxr", four_nodes, 329723, 1196856},
    {"nxr-b", four_nodes, 316835, 1157033},
    {"nxr-bh", four_nodes, 345906, 1241505},
    {"dir", four_nodes, 318806, 1168668},
    {"central", four_nodes_and_join, 4575149, 22742472},
    {"central", two_requests_and_retirement, 977964, 3274292},
    {"raymond", two_requests_and_retirement, 1475722, 4955012},
    {"raymond-piggyback", two_requests_and_retirement, 1528711, 5113790},
    {"naimi-trehel", two_requests_and_retirement, 4230157, 14966462},
    {"nxr", two_requests_and_retirement, 4056108, 14228417},
    {"nxr-b", two_requests_and_retirement, 3786241, 13267820},
    {"nxr-bh", two_requests_and_retirement, 2889466, 9665454},
    {"dir", two_requests_and_retirement, 2247605, 7598388},
    {"central", two_crashes_and_retirement, 225968, 831839},
    {"token-ring", two_crashes_and_retirement, 2070028, 8548478},
    {"raymond", two_crashes_and_retirement, 362894, 1331256},
    {"raymond-piggyback", two_crashes_and_retirement, 371239, 1358449},
    {"naimi-trehel", two_crashes_and_retirement, 454271, 1642616},
    {"nxr", two_crashes_and_retirement, 456597, 1651336},
    {"nxr-b", two_crashes_and_retirement, 449013, 1624275},
    {"nxr-bh", two_crashes_and_retirement, 462554, 1668478},
    {"dir", two_crashes_and_retirement, 431882, 1570553},
    {"nxr-b", overlapping_and_retirement, 4802330, 17194545},
};

template <class P>
check::Options options_of(const System& system) {
  check::Options options;
  const NodeId home{system.nodes - 1};
  options.setup = arrangement(P::info, 1, system.nodes, home);
  options.setup.arrange = arrangements(P::info);
  for (std::size_t i = system.nodes - system.joins; i < system.nodes; ++i)
    options.setup.absent.insert(NodeId{i});
  options.channels = check::Channels::fifo;  // as the links of a cluster
  options.requests = system.requests;
  options.faults.crashes = system.crashes;
  options.faults.joins = system.joins;
  options.faults.retires = system.retirements;
  options.overlapping = system.overlapping;
  options.max_states = 6'000'000;
  return options;
}

template <class... P>
check::Result explore(List<P...>, std::string_view algorithm, const System& system) {
  check::Result result;
  result.verdict = Verdict::limit;
  result.explanation = "there is no such algorithm";
  const auto explore_one = [&]<class Q>() {
    if (Q::info.name == algorithm) result = testing::explore<Q>(options_of<Q>(system));
  };
  (explore_one.template operator()<P>(), ...);
  return result;
}

template <class... P>
std::vector<Count> of_this_program(List<P...>, std::span<const Count> all) {
  std::vector<Count> ours;
  for (const auto& count : all)
    if (((P::info.name == count.algorithm) || ...)) ours.push_back(count);
  return ours;
}

void expect_exactly(const Count& expected) {
  const auto result = explore(testing::Recovered{}, expected.algorithm, expected.system);
  EXPECT_EQ(result.verdict, Verdict::holds)
      << expected.algorithm << " " << expected.system.name << ": " << result.property << ": "
      << result.explanation << "\n"
      << conversation(result.trace);
  EXPECT_EQ(result.states, expected.states) << expected.algorithm << " " << expected.system.name;
  EXPECT_EQ(result.transitions, expected.transitions);
  // Only a token that always circulates makes an endless run.
  EXPECT_EQ(result.acyclic, expected.algorithm != "token-ring");
}

class RecoveryCounts : public ::testing::TestWithParam<Count> {};

TEST_P(RecoveryCounts, AreExact) { expect_exactly(GetParam()); }

std::string name_of(const ::testing::TestParamInfo<Count>& info) {
  auto name = std::string(info.param.algorithm) + "_" + std::string(info.param.system.name);
  for (auto& c : name)
    if (c == '-') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Exact, RecoveryCounts,
                         ::testing::ValuesIn(of_this_program(testing::Recovered{}, counts)),
                         name_of);

TEST(RecoveryCounts, OfLargeSystemsAreExact) {
  if (std::getenv("TURNO_DEEP") == nullptr) GTEST_SKIP() << "set TURNO_DEEP=1: takes minutes";
  for (const auto& count : of_this_program(testing::Recovered{}, deep_counts)) {
    std::cout << count.algorithm << " " << count.system.name << std::endl;
    expect_exactly(count);
  }
}

// ---- recovery without one of its rules

using Without = Recovering<Dir>::Without;

check::Result explore_dir_without(Without rule, std::string_view property, const System& system) {
  auto options = options_of<Dir>(system);
  options.setup.departure = static_cast<std::uint8_t>(rule);
  options.property = property;
  return testing::explore<Dir>(options);
}

struct Refutation {
  Without rule;
  std::string_view property;
  System system;
  std::size_t steps;  // of the shortest counterexample
};

class RecoveryWithoutARule : public ::testing::TestWithParam<Refutation> {};

TEST_P(RecoveryWithoutARule, IsRefutedByTheShortestTrace) {
  const auto& [rule, property, system, steps] = GetParam();
  const auto result = explore_dir_without(rule, property, system);
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.property, property) << result.explanation;
  EXPECT_EQ(result.trace.size(), steps) << conversation(result.trace);
}

constexpr System two_nodes{"two_nodes", 2, 1, 1};
constexpr System two_nodes_retired{"two_nodes_retired", 2, 2, 0, 0, 1};
constexpr Refutation refutations[] = {
    // A live holder that has not reported yet shares its lock.
    {Without::all_reports, "exclusion", four_nodes, 10},
    // What was sent in an earlier view comes true in a later one.
    {Without::epochs, "exclusion", one_crash, 12},
    {Without::epochs, "deadlock", one_crash, 7},
    // The count begins anew in every view.
    {Without::fence_epoch, "fence", two_nodes, 4},
    // The count begins anew when an idle lock is forgotten.
    {Without::fence_floor, "fence", two_nodes_retired, 4},
};
std::string name_of_rule(const ::testing::TestParamInfo<Refutation>& info) {
  constexpr std::string_view names[] = {"nothing", "all_reports", "epochs", "fence_epoch",
                                        "fence_floor"};
  return std::string(names[static_cast<std::size_t>(info.param.rule)]) + "_" +
         std::string(info.param.property);
}
INSTANTIATE_TEST_SUITE_P(Ours, RecoveryWithoutARule, ::testing::ValuesIn(refutations),
                         name_of_rule);

// Why nobody may be taken for dead who lives: its user is inside, and the others go on.
TEST(RecoveryAfterAFalseSuspicion, LetsTwoIn) {
  auto options = options_of<Dir>(two_nodes);
  options.faults.false_suspicions = 1;
  options.property = "exclusion";
  const auto result = testing::explore<Dir>(options);
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.trace.size(), 4U) << conversation(result.trace);
  // Only a fence helps then: the second one's is larger, and the resource can refuse the first.
  options.property = "fence";
  EXPECT_EQ(testing::explore<Dir>(options).verdict, Verdict::holds);
}

}  // namespace
}  // namespace turno::cluster
