// The semaphore of which a node may hold several permits, explored: it holds, also from every legal
// set of holdings, and each of its rules is needed. The numbers are those of an independent program
// that stores worlds whole, but for systems in which nodes remember each other. The large ones are
// for TURNO_DEEP=1 (make check-deep).
#include "protocols/kmutex/k_out_of_m.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "catalogue/testing.h"

namespace turno {
namespace {

using check::Channels;
using protocols::KOutOfM;

constexpr auto fifo = Channels::fifo;
constexpr auto unordered = Channels::unordered;

enum Mode : std::uint8_t { normal, resumed, apart, plain, remembered };

struct Case {
  std::uint32_t permits;
  std::string_view counts;  // what each node asks for
  std::uint32_t withdrawals = 0;
  Mode mode = normal;
};

const Algorithm& semaphore() { return *find_algorithm("k-out-of-m"); }

// All ways to share out the permits among nodes and nobody.
std::vector<std::vector<Holding>> legal_holdings(std::size_t nodes, std::uint32_t permits) {
  std::vector<std::vector<Holding>> all{{}};
  for (std::uint32_t permit = 0; permit < permits; ++permit) {
    const auto before = all;
    for (const auto& holdings : before) {
      for (std::size_t node = 0; node < nodes; ++node) {
        auto more = holdings;
        const auto* own = holding_of(NodeId{node}, more);
        if (own == nullptr) {
          more.push_back({.seat = NodeId{node}, .units = {permit}});
        } else {
          more[static_cast<std::size_t>(own - more.data())].units.push_back(permit);
        }
        all.push_back(std::move(more));
      }
    }
  }
  return all;
}

check::Options options_of(const Case& that, Channels channels) {
  check::Options options;
  options.scripts = parse_counts(that.counts);
  options.setup = make_setup(semaphore().info, {.nodes = options.scripts.size()});
  options.setup.permits = that.permits;
  options.setup.configure<KOutOfM::Config>() = {.plain = that.mode == plain,
                                                .remember = that.mode == remembered};
  options.withdrawals = that.withdrawals;
  options.channels = channels;
  options.overlapping = that.mode != apart;
  if (that.mode == resumed) options.starts = legal_holdings(options.setup.size(), that.permits);
  return options;
}

std::string name_of(const Case& that) {
  constexpr std::string_view modes[] = {"", "resumed", "apart", "plain", "remembered"};
  return testing::test_name({std::to_string(that.permits), that.counts, modes[that.mode], "w"},
                            that.withdrawals);
}

// ---- what holds

struct Numbers {
  std::uint64_t states, transitions;
  std::uint32_t depth;
};
struct Count : Case {
  Numbers any_order, in_order;  // no states: not explored
};

void expect_exact(const Count& count) {
  for (const auto channels : {unordered, fifo}) {
    const auto& expected = channels == fifo ? count.in_order : count.any_order;
    if (expected.states == 0) continue;
    const auto result = semaphore().check(options_of(count, channels));
    EXPECT_EQ(result.verdict, check::Verdict::holds) << testing::shown(result);
    EXPECT_EQ(result.states, expected.states);
    EXPECT_EQ(result.transitions, expected.transitions);
    EXPECT_EQ(result.depth, expected.depth);
    EXPECT_TRUE(result.acyclic);
  }
}

constexpr Count small[] = {
    {{1, "1,1"}, {35, 46, 8}, {31, 38, 8}},
    {{1, "11,11"}, {265, 461, 16}, {240, 385, 16}},
    {{2, "1,1"}, {50, 64, 8}, {43, 54, 8}},
    {{2, "2,2"}, {57, 100, 8}, {51, 86, 8}},
    {{2, "11,11"}, {1965, 4210, 16}, {1477, 2975, 18}},
    {{2, "12,12"}, {604, 1230, 16}, {530, 1022, 16}},
    {{2, "22,11"}, {1058, 2343, 17}, {989, 2065, 17}},
    {{2, "111,111"}, {46143, 142133, 24}, {14194, 33274, 28}},
    {{3, "12,3"}, {457, 1095, 13}, {437, 1034, 13}},
    {{3, "12,23"}, {2811, 7641, 17}, {2326, 5981, 17}},
    {{3, "13,31"}, {2783, 8394, 17}, {2528, 7407, 17}},
    {{1, "11,11", 1}, {1192, 2665, 16}, {848, 1698, 16}},
    {{2, "12,12", 1}, {2286, 5644, 16}, {1653, 3724, 16}},
    {{3, "12,23", 1}, {8718, 26875, 18}, {6231, 17859, 18}},
    {{1, "1,1,1"}, {2867, 9064, 18}, {2089, 5539, 18}},
    {{2, "1,1,1"}, {5569, 15546, 20}, {4021, 10020, 21}},
    {{2, "1,2,1"}, {5327, 15485, 21}, {4066, 10400, 22}},
    {{2, "2,2,2"}, {3697, 12282, 18}, {2705, 7743, 18}},
    {{3, "1,1,1"}, {5315, 14907, 18}, {3759, 9377, 18}},
    {{3, "1,2,3"}, {10237, 30898, 23}, {8443, 23536, 23}},
    {{3, "2,2,2"}, {12105, 33919, 22}, {9813, 25417, 23}},
    {{2, "12,1,2"}, {20836, 68539, 28}, {14928, 42667, 28}},
    {{2, "11,1,1"}, {41853, 129384, 28}, {27852, 77884, 29}},
    {{3, "12,1,3"}, {82843, 269522, 30}, {60858, 184405, 30}},
    {{1, "1,1,1", 1}, {9075, 35137, 18}, {6388, 21600, 18}},
    {{2, "1,1,1", 1}, {13122, 48473, 20}, {9256, 30558, 21}},
    {{3, "1,2,3", 1}, {21937, 85885, 23}, {16587, 59674, 23}},
    {{1, "11,11", 0, resumed}, {299, 536, 16}, {275, 455, 16}},
    {{2, "12,12", 0, resumed}, {6129, 18821, 18}, {2562, 6314, 16}},
    {{3, "12,23", 0, resumed}, {82388, 337654, 20}, {16501, 51075, 17}},
    {{1, "1,1,1", 0, resumed}, {6911, 25766, 18}, {6219, 19914, 18}},
    {{2, "1,2,1", 0, resumed}, {92505, 378319, 24}, {71602, 257280, 25}},
    {{2, "12,12", 0, plain}, {1263, 2632, 18}, {1043, 2062, 19}},
    {{2, "1,2,1", 0, plain}, {8824, 25120, 22}, {6404, 16576, 23}},
    {{3, "1,2,3", 0, plain}, {25279, 76392, 23}, {20286, 57818, 24}},
    // Of one permit, and apart: what `turno check ricart-agrawala` says too.
    {{1, "11,11,11", 0, apart}, {58849, 197092, 36}, {39180, 108030, 36}},
    {{2, "1,1,1", 0, apart}, {5569, 15546, 20}, {4021, 10020, 21}},
    {{2, "1,1,1,-"}, {69843, 335366, 26}, {}},
    {{2, "1,2,1,-"}, {}, {49214, 211580, 28}},
    // In every world, whoever were gone, the others know what they may have.
    {{2, "11,11", 0, remembered}, {4902, 8322, 18}, {3650, 5868, 18}},
    {{2, "11,11", 1, remembered}, {12900, 25276, 18}, {8678, 15672, 18}},
    {{3, "12,23", 1, remembered}, {35770, 97475, 20}, {24278, 60512, 20}},
    {{3, "1,2,1", 0, remembered}, {10711, 29024, 22}, {7619, 19385, 22}},
    {{2, "1,1,1", 1, remembered}, {14690, 50684, 21}, {9973, 31389, 21}},
    {{3, "12,1,1", 0, remembered}, {114030, 314590, 30}, {73726, 191765, 30}},
};

constexpr Count large[] = {
    {{2, "111,111", 1, remembered}, {1151409, 3068121, 28}, {356307, 748170, 28}},
    {{3, "123,321"}, {105056, 397829, 27}, {38068, 114306, 25}},
    {{2, "111,111", 1}, {218991, 759438, 24}, {50991, 138791, 28}},
    {{2, "11,1,1", 1}, {138270, 538307, 28}, {75429, 259779, 29}},
    {{3, "12,1,3", 1}, {259533, 1048576, 30}, {143696, 530357, 30}},
    {{3, "1,1,1", 1, resumed}, {9178186, 48041520, 28}, {4374687, 20983463, 28}},
    {{2, "12,1,2", 1, plain}, {201235, 787796, 29}, {99478, 345857, 31}},
    {{1, "1,1,1,1", 0, apart}, {2083287, 13429580, 32}, {1411053, 7427744, 32}},
    {{1, "11,11,11"}, {91116, 329811, 36}, {74544, 227241, 36}},
    {{2, "11,11,1"}, {450525, 1612472, 36}, {246532, 778606, 38}},
    {{2, "11,11,11"}, {6138137, 25984462, 44}, {2013049, 6943914, 46}},
    {{1, "11,11,11", 1}, {1255536, 5736947, 36}, {514737, 1872733, 36}},
    {{2, "12,12,12"}, {932415, 3869714, 40}, {545199, 1906900, 39}},
    {{2, "111,111", 2}, {484776, 1818022, 24}, {96621, 286758, 28}},
    {{2, "1111,1111"}, {}, {57074, 139154, 38}},
    {{3, "111,222", 0, resumed}, {}, {212350, 637797, 28}},
    {{2, "12,12,12", 1}, {}, {2597565, 10609437, 39}},
};

class KOutOfMCounts : public ::testing::TestWithParam<Count> {};
TEST_P(KOutOfMCounts, AreExact) { expect_exact(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Exact, KOutOfMCounts, ::testing::ValuesIn(small),
                         [](const auto& test) { return name_of(test.param); });

TEST(KOutOfM, LargeCountsAreExact) {
  if (!testing::deep()) GTEST_SKIP() << "set TURNO_DEEP=1: takes minutes";
  for (const auto& count : large) {
    SCOPED_TRACE(name_of(count));
    expect_exact(count);
  }
}

// ---- what does not

struct Refutation : Case {
  Channels channels;
  std::string_view departure, property;
  std::size_t steps;
};

constexpr std::string_view algorithm = "k-out-of-m";

constexpr Refutation refutations[] = {
    {{1, "1,1"}, unordered, "order", "exclusion", 6},
    {{2, "1,1,1"}, unordered, "order", "exclusion", 10},
    {{2, "1,1"}, unordered, "units", "exclusion", 6},
    {{2, "1,1"}, unordered, "snapshot", "exclusion", 6},
    {{3, "1,2,2"}, unordered, "overwrite", "exclusion", 18},
    {{1, "1,1"}, unordered, "all-replies", "exclusion", 2},
    {{1, "1,1"}, unordered, "clock", "exclusion", 6},
    {{2, "1,1"}, fifo, "clock", "fence", 6},
    {{1, "1,1"}, unordered, "tie-reply", "exclusion", 6},
    {{1, "1,1"}, unordered, "tie-silence", "invariant", 4},
    {{2, "1,1"}, unordered, "node-in-fence", "fence", 6},
    {{2, "11,1", 1}, unordered, "stale-reply", "exclusion", 8},
    {{2, "111,111", 1}, unordered, "stale-freed", "exclusion", 19},
    {{2, "11,11,1"}, fifo, "stale-freed", "exclusion", 31},
    {{2, "11,1"}, unordered, "freed", "invariant", 11},
    {{2, "11,1"}, unordered, "missed", "invariant", 11},
    {{2, "111,111", 1}, unordered, "first-watch", "invariant", 16},
    {{2, "11,1,1"}, fifo, "first-watch", "invariant", 25},
    {{2, "111,111", 1}, unordered, "old-watch", "invariant", 16},
    {{2, "11,1,1"}, fifo, "old-watch", "invariant", 25},
    {{2, "111,111", 1}, unordered, "early-watch", "invariant", 14},
    {{2, "11,1,1"}, unordered, "early-watch", "invariant", 23},
    {{1, "1,1"}, unordered, "reexamine", "invariant", 6},
    {{2, "12,1"}, unordered, "own-release", "invariant", 7},
    {{2, "11,1", 1}, unordered, "withdraw-silent", "invariant", 5},
    {{2, "11,1", 1}, unordered, "last-deferred", "invariant", 8},
    {{2, "11,1", 1}, unordered, "first-deferred", "invariant", 8},
    {{2, "11,11", 1}, fifo, "first-deferred", "invariant", 8},
};

class RefutedKOutOfM : public ::testing::TestWithParam<Refutation> {};
TEST_P(RefutedKOutOfM, ByTheShortestTrace) {
  const auto& expected = GetParam();
  const auto* wrong = testing::find_departure(algorithm, expected.departure);
  ASSERT_NE(wrong, nullptr);
  testing::expect_refuted(*wrong, options_of(expected, expected.channels), expected.property,
                          expected.steps);
}
INSTANTIATE_TEST_SUITE_P(Departures, RefutedKOutOfM, ::testing::ValuesIn(refutations),
                         [](const auto& test) {
                           return testing::test_name({test.param.departure}, test.index);
                         });

TEST(RefutedKOutOfMs, CoverEveryDeparture) {
  for (const auto& departure : KOutOfM::departures)
    EXPECT_TRUE(std::any_of(std::begin(refutations), std::end(refutations), [&](const auto& each) {
      return each.departure == departure.name;
    })) << departure.name;
}

}  // namespace
}  // namespace turno
