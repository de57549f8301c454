// What is printed wrongly, and ours without one of its rules: the checker finds a way to break
// each, no longer than the one that is known.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "catalogue/testing.h"

namespace turno {
namespace {

using check::Channels;
using check::Verdict;

struct Refutation {
  std::string_view algorithm, departure, property;
  std::uint64_t nodes;
  std::uint16_t requests;  // 0: for ever
  std::string_view topology;
  Channels channels;
  std::size_t steps;  // of the shortest counterexample; starvation: of its cycle
  std::string_view quorums = "";
  std::string_view requesters = "all";
  bool overlapping = false;
};

constexpr auto fifo = Channels::fifo;
constexpr auto unordered = Channels::unordered;
constexpr std::string_view two_shared_arbiters = "034,134,234,34,34";

constexpr Refutation refutations[] = {
    {"nxr", "figure-2", "token", 2, 2, "line", unordered, 4},
    {"nxr", "nil-enqueued", "addressee", 2, 1, "line", unordered, 4},
    {"nxr", "kept-on-exit", "token", 2, 2, "line", unordered, 4},
    {"nxr", "kept-on-exit", "exclusion", 2, 2, "line", unordered, 6},
    {"nxr", "kept-on-relay", "token", 3, 2, "line", unordered, 11},
    {"nxr", "kept-on-relay", "exclusion", 3, 2, "line", unordered, 13},
    {"nxr", "kept-on-relay", "exclusion", 3, 2, "star", unordered, 11},
    {"nxr", "demand-cleared", "invariant", 3, 1, "star", unordered, 6},
    {"nxr", "asks-twice", "invariant", 1, 2, "line", unordered, 4, "", "all", true},
    {"ricart-agrawala", "tie-reply", "exclusion", 2, 1, "complete", fifo, 6},
    {"ricart-agrawala", "tie-silence", "deadlock", 2, 1, "complete", fifo, 4},
    {"ricart-agrawala", "no-clock-rule", "exclusion", 3, 1, "complete", fifo, 10},
    {"ricart-agrawala", "no-clock-rule", "exclusion", 2, 1, "complete", unordered, 6},
    {"ricart-agrawala", "same-tick", "exclusion", 3, 1, "complete", fifo, 10},
    // Known: 9. One step fewer: node 2 need not have heard from everybody for 0 and 1 to be stuck.
    {"ricart-agrawala", "blocking-rpc", "deadlock", 3, 1, "complete", fifo, 8},
    {"maekawa", "1985", "deadlock", 5, 1, "complete", fifo, 16, two_shared_arbiters, "0-2"},
    {"maekawa", "textbook", "deadlock", 5, 1, "complete", fifo, 16, two_shared_arbiters, "0-2"},
    {"maekawa", "1985", "deadlock", 4, 1, "complete", fifo, 19, "012,013,023,123"},
    {"maekawa", "never-recalled", "deadlock", 2, 1, "complete", fifo, 4, "01,01"},
    {"nxr-b", "last-father", "starvation", 3, 0, "line", unordered, 8},
    // Known: a deadlock in 19 steps; ours is shorter.
    {"nxr-bh", "stamp-test", "deadlock", 4, 2, "line", unordered, 17},
    {"nxr-bh", "stamp-test", "invariant", 4, 2, "line", unordered, 6},
    {"nxr-bh", "hop-limit", "starvation", 4, 0, "line", unordered, 12},
    {"nxr-bh", "carried-first", "starvation", 4, 0, "line", unordered, 10},
};

class Refuted : public ::testing::TestWithParam<Refutation> {};

TEST_P(Refuted, ByTheShortestTrace) {
  const auto& expected = GetParam();
  const auto* wrong = testing::find_departure(expected.algorithm, expected.departure);
  ASSERT_NE(wrong, nullptr);
  check::Options options;
  options.setup = make_setup(wrong->algorithm->info, {.nodes = expected.nodes,
                                                      .topology = std::string(expected.topology),
                                                      .quorums = std::string(expected.quorums)});
  options.channels = expected.channels;
  options.requests = expected.requests;
  options.forever = expected.requests == 0;
  options.overlapping = expected.overlapping;
  for (auto node : parse_nodes(expected.requesters, expected.nodes))
    options.requesters.insert(node);
  testing::expect_refuted(*wrong, options, expected.property, expected.steps);
}

INSTANTIATE_TEST_SUITE_P(
    Departures, Refuted, ::testing::ValuesIn(refutations), [](const auto& test) {
      const auto& of = test.param;
      return testing::test_name({of.algorithm, of.departure, of.property}, test.index);
    });

TEST(Refutations, CoverEveryDeparture) {
  testing::expect_all_refuted(refutations, [](const Info& info) {
    return info.primitive == Primitive::lock && !info.sites;  // those are refuted beside them
  });
}

// Lamport's algorithm is right, but only where channels keep order.
TEST(Refutations, LamportNeedsFifo) {
  const auto* lamport = find_lock("lamport");
  check::Options options;
  options.setup = make_setup(lamport->info, {.nodes = 2});
  options.channels = unordered;
  const auto result = lamport->check(options);
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.property, "exclusion");
  EXPECT_EQ(result.trace.size(), 4U) << conversation(result.trace);
}

// A blocking server is harmless between two.
TEST(Refutations, TwoBlockingServersGetAlong) {
  const auto* wrong = testing::find_departure("ricart-agrawala", "blocking-rpc");
  check::Options options;
  options.setup = make_setup(wrong->algorithm->info, {.nodes = 2});
  options.setup.departure = wrong->number;
  options.requests = 2;
  options.property = "deadlock";
  EXPECT_EQ(wrong->algorithm->check(options).verdict, Verdict::holds);
}

// Negative control: quorums that share nobody.
TEST(Refutations, DisjointQuorumsLetTwoIn) {
  const auto* maekawa = find_lock("maekawa");
  check::Options options;
  options.setup = make_setup(maekawa->info, {.nodes = 2});
  options.setup.quorums = {{NodeId{0}}, {NodeId{1}}};
  const auto result = maekawa->check(options);
  EXPECT_EQ(result.property, "exclusion");
  EXPECT_EQ(result.trace.size(), 2U);
}

}  // namespace
}  // namespace turno
