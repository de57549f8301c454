// Semaphores, explored: they hold, what is printed is refuted, and each rule is needed. State
// counts are exact. The large explorations are for TURNO_DEEP=1 (make check-deep).
//
// Independent explorations of these algorithms exist, with Enter as a step of its own and with
// counters; where their number of states is known it stands in a comment. Ours have entering in the
// step that allows it, so they are fewer; the verdicts are the same.
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "catalogue/testing.h"
#include "protocols/kmutex/robust_k.h"

namespace turno {

using namespace protocols;

namespace {

using check::Channels;
using check::Faults;
using check::Verdict;

constexpr auto fifo = Channels::fifo;
constexpr auto unordered = Channels::unordered;
constexpr RobustK::Config along_the_tree{};
constexpr RobustK::Config direct{.direct = true};
constexpr RobustK::Config counted{.direct = true, .counted = true};
constexpr RobustK::Config counted_tree{.counted = true};
constexpr RobustK::Config tree_replies{.reply_acknowledges = true};
constexpr RobustK::Config lossy{.direct = true, .lossy = true};
constexpr RobustK::Config lossy_tree{.lossy = true};
constexpr RobustK::Config fixed{.fixed_threshold = true, .direct = true};
constexpr RobustK::Config fixed_tree{.fixed_threshold = true};

struct Case {
  std::string_view algorithm;
  std::uint32_t permits;
  std::string_view requests;  // of each node, one digit
  RobustK::Config config;
  Faults faults;
  Channels channels;
};

check::Options options_of(const Info& info, const Case& that) {
  check::Options options;
  options.setup = make_setup(info, {.nodes = that.requests.size()});
  options.setup.configure<RobustK::Config>() = that.config;
  options.setup.permits = that.permits;
  options.faults = that.faults;
  options.channels = that.channels;
  for (const char digit : that.requests)
    options.scripts.emplace_back(static_cast<std::size_t>(digit - '0'));
  return options;
}

std::string name_of(const Case& that, std::size_t index) {
  std::string name = std::string(that.algorithm) + "_k" + std::to_string(that.permits) + "_" +
                     std::string(that.requests) + "_" + std::to_string(index);
  for (auto& c : name)
    if (c == '-') c = '_';
  return name;
}

// ---- what holds

struct Count : Case {
  std::uint64_t states, transitions;
};
std::string count_name(const ::testing::TestParamInfo<Count>& info) {
  return name_of(info.param, info.index);
}

constexpr Faults nothing{};
constexpr Faults crash{.crashes = 1}, two_crashes{.crashes = 2};
// What was sent before a crash arrives.
constexpr Faults crash_kept{.crashes = 1, .lost_with_sender = false};
constexpr Faults two_kept{.crashes = 2, .lost_with_sender = false};
constexpr Faults three_kept{.crashes = 3, .lost_with_sender = false};

constexpr Count small[] = {
    {{"raymond-k", 1, "222", counted, nothing, unordered}, 37229, 125212},     // 50564
    {{"raymond-k", 1, "222", counted, nothing, fifo}, 25674, 71372},           // 39155
    {{"raymond-k", 2, "111", counted, crash, unordered}, 14752, 70937},        // 246329
    {{"raymond-k", 2, "111", counted, crash, fifo}, 11101, 48096},             // 161190
    {{"robust-k", 1, "33", counted, crash, unordered}, 968, 2736},             // 1959
    {{"robust-k", 1, "33", counted, crash, fifo}, 812, 2160},                  // 1702
    {{"robust-k", 1, "111", counted, two_crashes, unordered}, 25541, 157428},  // 50742
    {{"robust-k", 1, "111", counted, two_crashes, fifo}, 19314, 108380},       // 36945
    {{"robust-k", 2, "111", counted, two_crashes, unordered}, 31809, 213061},  // 228794
    {{"robust-k", 2, "111", counted, two_crashes, fifo}, 26357, 165489},       // 173548
    {{"robust-k", 2, "211", counted, crash, fifo}, 100643, 511409},            // 588922
    {{"robust-k", 1, "1100", counted, {.crashes = 3}, fifo}, 39402, 294598},   // 81544
    {{"robust-k", 1, "22", counted, {.crashes = 1, .duplicates = 3}, unordered}, 15900, 97596},
    {{"robust-k", 2, "111", direct, two_crashes, unordered}, 101590, 674736},
    {{"robust-k", 2, "111", direct, two_crashes, fifo}, 66399, 386925},
    {{"robust-k", 2, "1110", direct, nothing, unordered}, 227885, 1247478},
    {{"robust-k", 1, "22", lossy, {.losses = 3}, unordered}, 1305, 2668},
    {{"robust-k", 1, "111", lossy, {.crashes = 1, .losses = 1}, unordered}, 72092, 369340},
    {{"robust-k", 2, "111", lossy, {.losses = 1}, unordered}, 74221, 297113},
    {{"robust-k", 2, "110", lossy_tree, {.losses = 1}, unordered}, 10919, 41639},
    {{"robust-k", 1, "111", fixed, {.false_suspicions = 3}, unordered}, 118524, 649122},  // 138600
    {{"robust-k", 2, "110", fixed_tree, {.crashes = 1, .false_suspicions = 2}, fifo},
     71500,
     413338},
    {{"robust-k", 1, "1001", along_the_tree, crash_kept, fifo}, 121766, 638193},  // 214040
    {{"robust-k", 1, "1001", tree_replies, crash_kept, fifo}, 28776, 127024},     // 36240
    {{"robust-k", 1, "111", along_the_tree, two_crashes, fifo}, 138879, 865204},  // 304155
    {{"robust-k", 2, "111", along_the_tree, crash_kept, fifo}, 113999, 465796},
    {{"robust-k", 2, "111", tree_replies, crash_kept, fifo}, 58825, 207662},
    {{"robust-k", 2, "111", counted_tree, crash_kept, fifo}, 119478, 576475},
    {{"robust-k",
      1,
      "0002",
      along_the_tree,
      {.crashes = 1, .lost_with_sender = false, .early_timeouts = 1},
      fifo},
     33854,
     168358},  // 108181
    {{"robust-k",
      1,
      "22",
      along_the_tree,
      {.crashes = 1, .lost_with_sender = false, .early_timeouts = 1},
      unordered},
     6571,
     26253},  // 86783
};

constexpr Count large[] = {
    {{"raymond-k", 2, "222", counted, nothing, unordered}, 2351168, 12312639},
    {{"robust-k", 1, "222", counted, two_crashes, unordered}, 232329, 1502018},  // 502643
    {{"robust-k", 1, "222", direct, two_crashes, unordered}, 418866, 2689681},
    {{"robust-k", 2, "211", counted, crash, unordered}, 167680, 991604},       // 1104950
    {{"robust-k", 2, "221", counted, crash, fifo}, 457391, 2445403},           // 2394697
    {{"robust-k", 1, "1111", direct, nothing, unordered}, 2083287, 13429580},  // 2196650
    {{"robust-k", 1, "1110", counted, crash, unordered}, 914664, 6499209},     // 1883248
    {{"robust-k", 2, "1110", counted, crash, fifo}, 837351, 5610868},          // 3847642
    {{"robust-k", 2, "1111", counted, nothing, fifo}, 2280385, 12412671},
    {{"robust-k", 2, "211", direct, crash, unordered}, 469993, 2843687},
    {{"robust-k", 2, "221", direct, crash, fifo}, 997030, 4807671},
    {{"robust-k", 2, "222", direct, nothing, unordered}, 3460363, 16674477},
    {{"robust-k", 2, "1110", direct, crash, fifo}, 1614812, 10723456},
    {{"robust-k", 3, "1110", direct, nothing, unordered}, 296743, 1647307},
    {{"robust-k", 1, "111", counted, {.crashes = 1, .duplicates = 2}, unordered},
     563890,
     4348262},  // 846876
    {{"robust-k", 2, "111", counted, {.crashes = 1, .duplicates = 1}, unordered},
     186675,
     1249827},  // 1097222
    {{"robust-k", 2, "111", direct, {.crashes = 1, .duplicates = 1}, unordered}, 780457, 5361213},
    {{"robust-k", 2, "111", fixed, {.crashes = 1, .false_suspicions = 2}, unordered},
     422114,
     2668776},  // 1750640
    {{"robust-k", 2, "111", fixed_tree, {.false_suspicions = 1}, fifo}, 299227, 1358436},
    {{"robust-k", 2, "111", along_the_tree, crash, unordered}, 1085629, 7170905},
    {{"robust-k", 1, "1001", along_the_tree, crash_kept, unordered}, 260788, 1755836},  // 501292
    {{"robust-k", 1, "1001", along_the_tree, two_kept, fifo}, 254058, 1658335},         // 588082
    {{"robust-k", 2, "1001", along_the_tree, two_kept, fifo}, 302687, 1974805},         // 2655747
    {{"robust-k", 1, "2001", along_the_tree, crash_kept, fifo}, 325672, 1738302},       // 1093500
    {{"robust-k", 1, "0110", along_the_tree, three_kept, fifo}, 261884, 1951498},       // 609731
    {{"robust-k", 2, "111", along_the_tree, two_crashes, fifo}, 218461, 1351697},       // 856928
    {{"robust-k", 2, "1101", tree_replies, crash_kept, fifo}, 1301652, 6559419},
    {{"robust-k", 2, "111", lossy_tree, {.losses = 1}, fifo}, 288759, 1018329},
};

void expect_exact(const Count& expected) {
  const auto* algorithm = find_algorithm(expected.algorithm);
  ASSERT_NE(algorithm, nullptr);
  const auto result = algorithm->check(options_of(algorithm->info, expected));
  EXPECT_EQ(result.verdict, Verdict::holds) << result.property << ": " << result.explanation << "\n"
                                            << conversation(result.trace);
  EXPECT_EQ(result.states, expected.states);
  EXPECT_EQ(result.transitions, expected.transitions);
}

class Semaphores : public ::testing::TestWithParam<Count> {};
TEST_P(Semaphores, Hold) { expect_exact(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Small, Semaphores, ::testing::ValuesIn(small), count_name);

std::vector<Count> large_if_deep() {
  if (!testing::deep()) return {};
  return {std::begin(large), std::end(large)};
}
INSTANTIATE_TEST_SUITE_P(Large, Semaphores, ::testing::ValuesIn(large_if_deep()), count_name);

// With one permit and no crashes robust-k is ricart-agrawala: world by world.
TEST(RobustSemaphore, WithOnePermitIsRicartAgrawala) {
  const auto* lock = find_lock("ricart-agrawala");
  const auto* semaphore = find_algorithm("robust-k");
  for (const std::string_view requests : {"22", "111", "222"}) {
    const Case that{"", 1, requests, direct, nothing, unordered};
    const auto one = lock->check(options_of(lock->info, that));
    const auto other = semaphore->check(options_of(semaphore->info, that));
    EXPECT_EQ(one.verdict, Verdict::holds);
    EXPECT_EQ(other.states, one.states) << requests;
    EXPECT_EQ(other.transitions, one.transitions) << requests;
  }
}

// As many as there are permits get in although nobody leaves, and although one crashes: choosing
// slots makes nobody wait for another to leave.
TEST(RobustSemaphore, NobodyWaitsForAnExitWhileAPermitIsFree) {
  const auto* semaphore = find_algorithm("robust-k");
  for (const auto& that : {Case{"", 2, "110", direct, crash, unordered},
                           Case{"", 2, "1010", along_the_tree, crash_kept, fifo},
                           Case{"", 3, "1110", direct, nothing, unordered}}) {
    auto options = options_of(semaphore->info, that);
    options.staying = true;
    const auto result = semaphore->check(options);
    EXPECT_EQ(result.verdict, Verdict::holds)
        << result.property << ": " << result.explanation << "\n"
        << conversation(result.trace);
  }
}

TEST(RobustSemaphore, ResumesWithHolders) {
  const auto* semaphore = find_algorithm("robust-k");
  auto options = options_of(semaphore->info, {"", 2, "111", direct, crash, unordered});
  options.holdings = {{NodeId{2}, 0, {0}}, {NodeId{0}, 0, {1}}};
  const auto result = semaphore->check(options);
  EXPECT_EQ(result.verdict, Verdict::holds) << result.property << ": " << result.explanation << "\n"
                                            << conversation(result.trace);
}

// ---- what does not

// The baseline: as many crashes as permits stop everything.
TEST(RaymondSemaphore, IsStoppedByTheKthCrash) {
  const auto* baseline = find_algorithm("raymond-k");
  const auto stopped = [&](std::uint32_t permits, const Faults& faults) {
    auto options = options_of(
        baseline->info, {"", permits, permits == 1 ? "11" : "111", counted, faults, unordered});
    return baseline->check(options).property;
  };
  EXPECT_EQ(stopped(1, nothing), "");
  EXPECT_EQ(stopped(1, crash), "deadlock");
  EXPECT_EQ(stopped(2, crash), "");
  EXPECT_EQ(stopped(2, two_crashes), "deadlock");
}

struct Refutation : Case {
  std::string_view departure, property;
  std::size_t steps;
};

constexpr RobustK::Config plain{};
constexpr Faults false_suspicion{.false_suspicions = 1};

constexpr Refutation refutations[] = {
    {{"robust-k", 1, "20", plain, nothing, unordered}, "same-time", "invariant", 8},
    {{"robust-k", 1, "20", plain, nothing, unordered}, "same-time", "trap", 0},  // from the start
    {{"robust-k", 1, "10", plain, nothing, unordered}, "counted-late", "deadlock", 4},
    {{"robust-k", 1, "111", plain, crash, unordered}, "suspected-first", "exclusion", 11},
    {{"robust-k", 1, "100", plain, crash, unordered}, "suspected-first", "deadlock", 8},
    {{"robust-k", 1, "111", plain, crash, unordered}, "adjusted-first", "exclusion", 13},
    {{"robust-k", 1, "111", plain, crash, fifo}, "adjusted-first", "exclusion", 13},
    {{"robust-k", 1, "111", plain, crash, unordered}, "not-adjusted", "exclusion", 11},
    // Known: 7. Here the other node is told twice, too, before nothing can happen any more.
    {{"robust-k", 1, "100", plain, crash, unordered}, "told-twice", "deadlock", 8},
    {{"robust-k", 1, "11", plain, nothing, unordered}, "later-first", "exclusion", 8},
    {{"robust-k", 1, "11", plain, nothing, unordered}, "tie-reply", "exclusion", 8},
    {{"robust-k", 1, "11", plain, nothing, unordered}, "tie-silence", "deadlock", 4},
    {{"robust-k", 1, "11", plain, false_suspicion, unordered}, "false-suspicion", "exclusion", 7},
    {{"robust-k", 2, "111", plain, false_suspicion, unordered}, "false-suspicion", "exclusion", 11},
    {{"robust-k", 1, "11", plain, false_suspicion, unordered}, "false-suspicion", "deadlock", 6},
    {{"robust-k", 1, "100", plain, false_suspicion, unordered}, "revised-suspicion", "deadlock", 5},
    // Known: 12 and 9. Here the copy is made in a step of its own.
    {{"robust-k", 1, "22", plain, {.duplicates = 1}, unordered}, "duplicates", "exclusion", 13},
    {{"robust-k", 1, "20", plain, {.duplicates = 1}, unordered}, "duplicates", "deadlock", 10},
    {{"robust-k", 2, "111", plain, crash, unordered}, "dead-holder", "invariant", 11},
    {{"robust-k", 1, "1010", plain, {.early_timeouts = 1}, fifo}, "by-forwarder", "invariant", 7},
    {{"robust-k", 1, "21", plain, {.early_timeouts = 1}, unordered},
     "any-other-time",
     "exclusion",
     16},
    {{"robust-k", 1, "10", plain, {.losses = 1}, unordered},
     "not-acknowledged-again",
     "deadlock",
     4},
    {{"robust-k", 1, "11", plain, nothing, unordered}, "clock-not-followed", "exclusion", 8},
    // Ours without its rules of slots.
    {{"robust-k", 2, "111", direct, nothing, unordered}, "silence", "exclusion", 6},
    {{"robust-k", 2, "111", direct, nothing, unordered}, "order", "exclusion", 10},
};

void expect_refuted(const Refutation& expected) {
  const auto* wrong = testing::find_departure(expected.algorithm, expected.departure);
  ASSERT_NE(wrong, nullptr);
  testing::expect_refuted(*wrong, options_of(wrong->algorithm->info, expected), expected.property,
                          expected.steps);
}

class RefutedSemaphore : public ::testing::TestWithParam<Refutation> {};
TEST_P(RefutedSemaphore, ByTheShortestTrace) { expect_refuted(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Departures, RefutedSemaphore, ::testing::ValuesIn(refutations), [](const auto& test) {
      return testing::test_name({test.param.departure, test.param.property}, test.index);
    });

TEST(RefutedSemaphores, CoverEveryDeparture) {
  testing::expect_all_refuted(refutations, [](const Info& info) {
    return info.primitive == Primitive::semaphore && info.name != "k-out-of-m";
  });
}

// Two inside because a request was delivered twice: six million worlds.
TEST(RefutedSemaphores, ByForwarderBreaksExclusion) {
  if (!testing::deep()) GTEST_SKIP() << "set TURNO_DEEP=1: takes minutes";
  expect_refuted({{"robust-k",
                   1,
                   "1002",
                   plain,
                   {.crashes = 1, .lost_with_sender = false, .early_timeouts = 1},
                   fifo},
                  "by-forwarder",
                  "exclusion",
                  27});
}

// What one false suspicion does to the algorithm itself: why suspicions must be agreed on. With a
// fixed threshold it does nothing (above).
TEST(RobustSemaphore, IsBrokenByAFalseSuspicion) {
  const auto* semaphore = find_algorithm("robust-k");
  const auto broken = [&](std::uint32_t permits, std::string_view requests) {
    auto options =
        options_of(semaphore->info, {"", permits, requests, counted, false_suspicion, unordered});
    options.property = "exclusion";
    const auto result = semaphore->check(options);
    EXPECT_EQ(result.verdict, Verdict::violated);
    return result.trace.size();
  };
  EXPECT_EQ(broken(1, "11"), 5U);
  EXPECT_EQ(broken(2, "111"), 8U);
}

// The printed counters are right as long as nothing beyond the model happens.
TEST(RobustSemaphore, ALiteralReadingHoldsWithoutItsFault) {
  const auto* wrong = testing::find_departure("robust-k", "duplicates");
  for (const auto& that : {Case{"", 1, "33", plain, crash, unordered},
                           Case{"", 1, "111", plain, two_crashes, unordered}}) {
    auto options = options_of(wrong->algorithm->info, that);
    options.setup.departure = wrong->number;
    const auto result = wrong->algorithm->check(options);
    EXPECT_EQ(result.verdict, Verdict::holds) << result.property << ": " << result.explanation;
    EXPECT_EQ(result.states, that.requests == "33" ? 2651U : 99583U);  // 2825 and 102056
  }
}

}  // namespace
}  // namespace turno
