// Reservations and the queue that knows sites, explored: exact numbers of states, and what is wrong
// as printed with its shortest counterexample. The large explorations are for TURNO_DEEP=1 (make
// check-deep).
//
// An independent exploration of the same algorithms is known. bertier has exactly its numbers, and
// so have reservations of a single instance and endless runs, where fences do not count. Elsewhere
// our worlds hold a fence for each instance and its worlds do not: without them our numbers are its
// numbers (bouabdallah-laforest, 3 nodes, 2 types, 2 requests: 228604 in order, 388856 unordered).
// Where several instances of a type can be chosen, choosing is a step of its own here. In brokered
// a broker is one of the processes, and talks to itself without messages.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "catalogue/catalogue.h"
#include "catalogue/resources.h"
#include "catalogue/system.h"
#include "catalogue/testing.h"
#include "protocols/allocation/config.h"
#include "protocols/parts/site_queue/site_queue.h"
#include "sim/demands.h"

namespace turno {

using namespace protocols;

namespace {

using check::Channels;
using check::Verdict;
constexpr auto fifo = Channels::fifo;
constexpr auto unordered = Channels::unordered;

struct Case {
  std::string_view algorithm;
  std::string_view sites;      // their sizes
  std::string_view instances;  // of each type; empty: a lock
  std::uint16_t requests;      // 0: for ever
  Channels channels;
  std::string_view needs = "";  // empty: anything
  std::uint32_t preference = 1;
  std::uint32_t withdrawals = 0;
};

check::Options options_of(const Info& info, const Case& of) {
  // A single number is the size of the only site.
  const bool one_site = of.sites.find(',') == std::string_view::npos;
  const auto sites = one_site ? std::vector<std::uint16_t>(std::stoul(std::string(of.sites)))
                              : parse_sites(of.sites, 0);
  check::Options options;
  options.setup = make_setup(info, {.nodes = sites.size()});
  if (!one_site) options.setup.sites.of = sites;
  options.setup.configure<SiteQueue::Config>().preference = of.preference;
  options.channels = of.channels;
  options.requests = of.requests;
  options.forever = of.requests == 0;
  options.withdrawals = of.withdrawals;
  if (of.instances.empty()) return options;
  options.setup.resources.type_of = parse_instances({}, of.instances);
  options.setup.configure<AllocationConfig>().driver_chooses = true;
  options.setup.configure<AllocationConfig>().bypasses = 1;
  if (of.needs.empty()) {
    options.menus = {sim::all_demands(options.setup.resources, SIZE_MAX)};
  } else {
    options.menus = parse_needs(of.needs, options.setup);
  }
  return options;
}

struct Count {
  Case of;
  std::uint64_t states, transitions;
};

constexpr std::string_view bl = "bouabdallah-laforest";

constexpr Count small[] = {
    {{"bertier", "2,2", "", 1, fifo}, 1120, 2430},
    {{"bertier", "2,2", "", 1, unordered}, 1294, 2928},
    {{"bertier", "2,2", "", 2, fifo, "", 0}, 20462, 52614},
    {{"bertier", "2,2", "", 2, unordered}, 29516, 78308},
    {{"bertier", "2,2", "", 3, fifo, "", 2}, 122172, 327230},
    {{"bertier", "2,1,1", "", 2, unordered, "", 2}, 68546, 177898},
    {{"bertier", "2,2,2", "", 1, fifo}, 88506, 256026},
    {{"bertier", "3,3", "", 1, unordered, "", 2}, 104376, 327020},
    {{"bertier", "2,1", "", 0, fifo}, 174, 398},
    {{"bertier", "2,2", "", 0, unordered}, 35392, 116128},
    {{"bertier", "3,1", "", 0, unordered}, 23200, 73402},
    {{"bertier", "2,1,1", "", 0, unordered}, 45100, 150452},
    {{"bertier", "2,2,1", "", 0, fifo}, 47552, 170864},
    {{bl, "3", "1,1", 1, fifo}, 8944, 18042},
    {{bl, "3", "1,1", 1, unordered}, 10534, 23034},
    {{bl, "3", "1,1,1", 1, fifo}, 114820, 238402},
    {{bl, "3", "2,1", 1, unordered}, 97742, 220804},
    {{bl, "3", "1,1", 0, fifo}, 86632, 242310},
    {{"grid", "2,1", "1,1", 1, fifo}, 9181, 18342},
    {{"grid", "2,1", "1,1", 1, unordered}, 11608, 25389},
    {{"grid", "2,2", "1", 2, fifo}, 89242, 230114},
    {{"grid", "2,1", "1", 0, fifo}, 537, 1234},
    {{"grid", "2,1", "1,1", 0, fifo}, 54575, 152746},
    {{"grid", "2,2", "1", 0, fifo}, 7450, 21428},
    {{"grid", "2,1", "2", 0, unordered}, 81398, 280544},
    {{"brokered", "1,1,1", "1,1", 1, fifo}, 47939, 99394},
    {{"brokered", "1,1,1", "1,1", 1, unordered}, 52427, 112660},
    {{"brokered", "2,1", "1,1", 1, fifo}, 17524, 38499},
    {{"brokered", "2,1", "1,1", 1, unordered}, 20410, 46692},
    {{"brokered", "2,1", "2,1", 1, fifo}, 139264, 316359},
    {{"central-allocator", "4", "1,1", 1, fifo}, 35063, 90234},
    {{"central-allocator", "3", "1,1", 2, unordered}, 123984, 318570},
    {{"central-allocator", "3", "1,1", 1, fifo, "", 1, 2}, 10376, 29745},
    {{"central-allocator", "3", "1", 2, fifo, "", 1, 2}, 11059, 32677},
    {{"bertier", "2,2", "", 1, fifo, "", 0}, 1120, 2430},
    {{"bertier", "2,2", "", 1, unordered, "", 0}, 1294, 2928},
    {{"bertier", "2,2", "", 1, fifo, "", 2}, 1120, 2430},
    {{"bertier", "2,2", "", 1, unordered, "", 2}, 1294, 2928},
    {{"bertier", "2,2", "", 2, unordered, "", 0}, 28612, 76440},
    {{"bertier", "2,2", "", 2, fifo}, 21134, 53894},
    {{"bertier", "2,2", "", 2, fifo, "", 2}, 21246, 53958},
    {{"bertier", "2,2", "", 2, unordered, "", 2}, 29742, 78662},
    {{"bertier", "2,1,1", "", 2, fifo, "", 2}, 30502, 74304},
    {{"bertier", "1,2,1", "", 2, fifo, "", 2}, 31884, 78116},
    {{"bertier", "1,1,2", "", 2, fifo, "", 2}, 31884, 78116},
    {{"bertier", "2,1", "", 0, fifo, "", 2}, 184, 414},
    {{"bertier", "2,2", "", 0, fifo}, 1856, 5520},
    {{"bertier", "2,2", "", 0, fifo, "", 2}, 1976, 5792},
    {{"bertier", "3,1", "", 0, fifo}, 4818, 13866},
    {{"bertier", "3,1", "", 0, fifo, "", 2}, 5040, 14340},
    {{"bertier", "1,3", "", 0, fifo}, 4818, 13866},
    {{"bertier", "1,3", "", 0, fifo, "", 2}, 5040, 14340},
    {{"bertier", "2,1,1", "", 0, fifo}, 3736, 10792},
    {{"bertier", "1,2,1", "", 0, fifo}, 3736, 10792},
    {{"bertier", "2,1", "", 0, unordered}, 464, 1136},
    {{"grid", "2,1", "2", 0, fifo}, 23404, 66298},
    {{"grid", "2,1", "1,1", 1, fifo, "", 0}, 9181, 18342},
    {{"grid", "2,1", "1,1", 1, fifo, "", 2}, 9181, 18342},
    {{"grid", "2,1", "1,1", 1, unordered, "", 0}, 11608, 25389},
    {{"grid", "2,1", "1,1", 1, unordered, "", 2}, 11608, 25389},
};

constexpr Count large[] = {
    {{"bertier", "2,2", "", 3, unordered, "", 2}, 263805, 731752},
    {{"bertier", "3,2", "", 2, fifo, "", 2}, 627646, 1899218},
    {{"bertier", "3,2", "", 2, unordered, "", 2}, 1186994, 3695523},
    {{"bertier", "2,2,1", "", 2, fifo}, 666298, 2016620},
    {{"bertier", "2,2,1", "", 2, unordered}, 2241101, 7045635},
    {{"bertier", "3,2", "", 0, unordered}, 3849764, 15824582},
    {{"bertier", "2,2,2", "", 0, fifo}, 4231776, 17779824},
    {{"bertier", "3,3", "", 0, fifo}, 5931792, 24968880},
    {{bl, "3", "1,1", 2, fifo}, 995822, 2454241},
    {{bl, "3", "1,1", 2, unordered}, 1641232, 4873829},
    {{bl, "3", "1,1,1", 1, unordered}, 136202, 307560},
    {{bl, "4", "1,1", 1, fifo}, 336550, 862776},
    {{bl, "4", "1,1", 1, unordered}, 384160, 1066878},
    {{bl, "3", "2", 2, fifo}, 427128, 1049206},
    {{bl, "3", "2", 2, unordered}, 718047, 2090876},
    {{bl, "3", "2,1", 1, fifo}, 83668, 174458},
    {{bl, "3", "2,2", 1, fifo}, 649494, 1374235},
    {{bl, "3", "2,2", 1, unordered}, 763442, 1755745},
    {{bl, "4", "2", 1, fifo}, 198921, 504840},
    {{bl, "4", "2", 1, unordered}, 224973, 614112},
    {{bl, "3", "1,1", 0, unordered}, 173254, 631986},
    {{"grid", "2,1", "1,1", 2, fifo}, 802691, 2019683},
    {{"grid", "2,1", "1,1", 2, unordered}, 1490264, 4483906},
    {{"grid", "2,1", "1,1,1", 1, fifo}, 117753, 242112},
    {{"grid", "2,1", "1,1,1", 1, unordered}, 149628, 336995},
    {{"grid", "2,2", "1,1", 1, fifo}, 336934, 867518},
    {{"grid", "2,2", "1,1", 1, unordered}, 403882, 1144072},
    {{"grid", "2,1,1", "1,1", 1, fifo}, 376390, 939708},
    {{"grid", "2,1,1", "1,1", 1, unordered}, 585526, 1641234},
    {{"grid", "2,1", "2", 2, fifo}, 346931, 867437},
    {{"grid", "2,1", "2", 2, unordered}, 634125, 1871930},
    {{"grid", "2,2", "2", 1, fifo}, 200079, 510342},
    {{"grid", "2,2", "2", 1, unordered}, 234139, 651670},
    {{"grid", "2,1", "2,2", 1, fifo}, 664662, 1394683},
    {{"grid", "2,1", "2,2", 1, unordered}, 818514, 1874369},
    {{"grid", "2,2", "1", 2, unordered}, 153327, 455321},
    {{"grid", "2,2", "1,1", 2, fifo, "10/01,11,11,11"}, 566412, 1652062},
    {{"grid", "2,2", "1,1", 2, unordered, "10/01,11,11,11"}, 985009, 3334709},
    {{"grid", "2,2", "1,1", 2, fifo, "10/01,11,10/01,11"}, 1738477, 5303884},
    {{"grid", "2,2", "1,1", 2, unordered, "10/01,11,10/01,11"}, 3064965, 10870439},
    {{"grid", "2,2", "2", 2, fifo, "1,2,1,2"}, 895766, 2640158},
    {{"grid", "2,2", "2", 2, unordered, "1,2,1,2"}, 1594376, 5374033},
    {{"grid", "2,2", "1,1", 0, fifo}, 2971998, 10808610},
    {{"grid", "2,1", "1,1", 0, unordered}, 217454, 794960},
    {{"grid", "2,2", "1", 0, unordered}, 165660, 591774},
    {{"brokered", "2,1", "2,1", 1, unordered}, 163612, 388466},
    {{"brokered", "2,2", "2", 1, fifo}, 425343, 1251852},
    {{"brokered", "2,2", "2", 1, unordered}, 663367, 2206544},
    {{"brokered", "2,2", "1,1", 1, fifo}, 728907, 2117805},
    {{"brokered", "2,2", "1,1", 1, unordered}, 1081826, 3495741},
    {{"brokered", "2,1", "1,1", 2, fifo}, 1928919, 4824339},
    {{"brokered", "2,1", "1,1", 2, unordered}, 2653856, 7352018},
    {{"brokered", "2,1", "2", 2, fifo}, 844202, 2107295},
    {{"brokered", "2,1", "2", 2, unordered}, 1205131, 3357084},
    {{"brokered", "3", "1,1", 2, fifo}, 1125608, 2939742},
    {{"brokered", "3", "1,1", 2, unordered}, 1488294, 4465848},
    {{"bertier", "2,2", "", 3, fifo, "", 0}, 114012, 310814},
    {{"bertier", "2,2", "", 3, unordered, "", 0}, 248299, 698596},
    {{"bertier", "2,2", "", 3, fifo}, 119292, 321662},
    {{"bertier", "2,2", "", 3, unordered}, 258129, 719844},
    {{"bertier", "1,2,1", "", 2, unordered, "", 2}, 67054, 173944},
    {{"bertier", "1,1,2", "", 2, unordered, "", 2}, 67054, 173944},
    {{"bertier", "2,3", "", 2, fifo, "", 2}, 634934, 1922604},
    {{"bertier", "2,3", "", 2, unordered, "", 2}, 1085874, 3384250},
    {{"bertier", "2,2,1", "", 2, fifo, "", 0}, 647790, 1974524},
    {{"bertier", "2,2,1", "", 2, unordered, "", 0}, 2174592, 6872331},
    {{"bertier", "2,2,1", "", 2, fifo, "", 2}, 671258, 2025168},
    {{"bertier", "2,2,1", "", 2, unordered, "", 2}, 2257117, 7081753},
    {{"bertier", "2,2,2", "", 1, unordered}, 142876, 429628},
    {{"bertier", "3,3", "", 1, fifo, "", 2}, 86480, 258708},
    {{"bertier", "2,2,1", "", 0, fifo, "", 2}, 50784, 180320},
    {{"bertier", "3,2", "", 0, fifo}, 47736, 172560},
    {{"bertier", "3,2", "", 0, fifo, "", 2}, 50088, 179304},
    {{bl, "4", "2,1", 1, fifo}, 6911334, 18673200},
    {{bl, "4", "2,1", 1, unordered}, 7921308, 23290770},
    {{"grid", "2,1", "1,1", 2, fifo, "", 0}, 801613, 2018779},
    {{"grid", "2,1", "1,1", 2, fifo, "", 2}, 802255, 2018679},
    {{"grid", "2,1", "1,1", 2, unordered, "", 0}, 1457532, 4411768},
    {{"grid", "2,1", "1,1", 2, unordered, "", 2}, 1493681, 4484269},
    {{"grid", "2,1", "1,1,1", 1, fifo, "", 0}, 117753, 242112},
    {{"grid", "2,1", "1,1,1", 1, fifo, "", 2}, 117753, 242112},
    {{"grid", "2,1", "1,1,1", 1, unordered, "", 0}, 149628, 336995},
    {{"grid", "2,1", "1,1,1", 1, unordered, "", 2}, 149628, 336995},
    {{"grid", "2,2", "1,1", 1, fifo, "", 0}, 336934, 867518},
    {{"grid", "2,2", "1,1", 1, fifo, "", 2}, 336934, 867518},
    {{"grid", "2,2", "1,1", 1, unordered, "", 0}, 403882, 1144072},
    {{"grid", "2,2", "1,1", 1, unordered, "", 2}, 403882, 1144072},
    {{"grid", "2,1,1", "1,1", 1, fifo, "", 0}, 376390, 939708},
    {{"grid", "2,1,1", "1,1", 1, fifo, "", 2}, 376390, 939708},
    {{"grid", "2,1,1", "1,1", 1, unordered, "", 0}, 585526, 1641234},
    {{"grid", "2,1,1", "1,1", 1, unordered, "", 2}, 585526, 1641234},
    {{"grid", "2,1", "2", 2, fifo, "", 0}, 346879, 867553},
    {{"grid", "2,1", "2", 2, fifo, "", 2}, 346827, 867217},
    {{"grid", "2,1", "2", 2, unordered, "", 0}, 623659, 1848548},
    {{"grid", "2,1", "2", 2, unordered, "", 2}, 634983, 1871638},
    {{"grid", "2,2", "2", 1, fifo, "", 0}, 202863, 516678},
    {{"grid", "2,2", "2", 1, fifo, "", 2}, 200079, 510342},
    {{"grid", "2,2", "2", 1, unordered, "", 0}, 234139, 651670},
    {{"grid", "2,2", "2", 1, unordered, "", 2}, 234139, 651670},
    {{"grid", "2,1", "2,2", 1, fifo, "", 0}, 664662, 1394683},
    {{"grid", "2,1", "2,2", 1, fifo, "", 2}, 664662, 1394683},
    {{"grid", "2,1", "2,2", 1, unordered, "", 0}, 818514, 1874369},
    {{"grid", "2,1", "2,2", 1, unordered, "", 2}, 818514, 1874369},
    {{"grid", "2,2", "2,1", 1, fifo}, 6939786, 18748300},
    {{"grid", "2,2", "2,1", 1, unordered}, 8184880, 24304968},
    {{"grid", "2,2", "1,1", 2, fifo, "11"}, 89242, 230114},
    {{"grid", "2,2", "1,1", 2, unordered, "11"}, 153327, 455321},
};

void expect_exact(const Count& expected) {
  const auto* algorithm = find_algorithm(expected.of.algorithm);
  ASSERT_NE(algorithm, nullptr);
  const auto options = options_of(algorithm->info, expected.of);
  const auto result = algorithm->check(options);
  EXPECT_EQ(result.verdict, Verdict::holds) << testing::shown(result);
  EXPECT_EQ(result.states, expected.states);
  EXPECT_EQ(result.transitions, expected.transitions);
  if (!options.forever) {
    EXPECT_TRUE(result.acyclic);
  }
}

std::string name_of(const Case& of, std::size_t index) {
  return testing::test_name({of.algorithm, of.sites, of.instances}, index);
}
constexpr auto count_name = [](const auto& test) { return name_of(test.param.of, test.index); };

class Reservations : public ::testing::TestWithParam<Count> {};
TEST_P(Reservations, Hold) { expect_exact(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Small, Reservations, ::testing::ValuesIn(small), count_name);

std::vector<Count> large_if_deep() {
  if (!testing::deep()) return {};
  return {std::begin(large), std::end(large)};
}
INSTANTIATE_TEST_SUITE_P(Large, Reservations, ::testing::ValuesIn(large_if_deep()), count_name);

// The list of frequent users changes which instances are chosen, not whether it works.
TEST(Reservations, HoldWithTheListOfFrequentUsers) {
  const auto* grid = find_algorithm("grid");
  auto options = options_of(grid->info, {"grid", "2,2", "2", 1, unordered});
  options.setup.configure<AllocationConfig>().driver_chooses = false;
  options.setup.configure<AllocationConfig>().frequent_after = 2;
  const auto result = grid->check(options);
  EXPECT_EQ(result.verdict, Verdict::holds) << result.explanation;
  EXPECT_EQ(result.states, 100035U);
}

// In one site the queue is naimi-trehel's, world by world.
TEST(Bertier, InOneSiteIsNaimiTrehel) {
  const auto* bertier = find_algorithm("bertier");
  const auto* naimi = find_lock("naimi-trehel");
  auto options = options_of(bertier->info, {"bertier", "4", "", 2, unordered});
  const auto one = bertier->check(options);
  options.setup = make_setup(naimi->info, {.nodes = 4, .topology = "star"});
  const auto other = naimi->check(options);
  EXPECT_EQ(one.verdict, Verdict::holds);
  EXPECT_EQ(one.states, other.states);
  EXPECT_EQ(one.transitions, other.transitions);
}

// ---- what is printed, and ours without one of its rules

struct Refutation : Case {
  std::string_view departure, property;
  std::size_t steps;  // of the shortest counterexample; starvation: of its cycle
};

constexpr Refutation refutations[] = {
    {{"grid", "2", "1", 1, fifo}, "stays-locked", "deadlock", 7},                // F1
    {{"grid", "2", "1,1", 2, fifo}, "stays-locked", "invariant", 11},            // F1
    {{"bertier", "2,1,1", "", 1, fifo}, "printed", "addressee", 11},             // F2
    {{"bertier", "2,1", "", 1, unordered}, "printed", "deadlock", 9},            // F3
    {{"bertier", "2,2,1", "", 0, fifo}, "patched", "starvation", 30},            // F4; known: 36
    {{"bertier", "2,1", "", 0, unordered, "", 0}, "printed", "starvation", 10},  // F5
    {{"grid", "3", "1,1", 2, fifo, "10/01,10/01,11"}, "first-answer", "deadlock", 25},      // F6
    {{"grid", "3", "1,1,1", 2, fifo, "100,010/001,110"}, "first-answer", "invariant", 23},  // F6
    {{"grid", "3", "1,1", 1, fifo}, "any-payment", "exclusion", 12},                        // F7
    {{"grid", "3", "1,1", 2, unordered}, "one-kind", "invariant", 15},                      // F8
    {{"grid", "2", "1", 1, unordered}, "enters-again", "addressee", 8},                     // F9
    {{"grid", "2", "1,1", 2, unordered}, "count-reset", "invariant", 15},                   // F10
    // The first repairs do not suffice: in three sites, and where messages overtake each other.
    {{"bertier", "2,1,1", "", 1, unordered}, "patched", "deadlock", 14},
    {{"bertier", "2,2", "", 2, unordered}, "patched", "deadlock", 17},
    {{"grid", "2,1,1", "1", 1, unordered}, "patched", "deadlock", 20},
    {{"grid", "3", "1,1,1", 2, fifo, "100,010/001,110"}, "flat-first-answer", "invariant", 23},
    {{"bertier", "2,1", "", 0, unordered}, "hop-limit", "starvation", 10},
};

void expect_refuted(const Refutation& expected) {
  const auto* wrong = testing::find_departure(expected.algorithm, expected.departure);
  ASSERT_NE(wrong, nullptr);
  testing::expect_refuted(*wrong, options_of(wrong->algorithm->info, expected), expected.property,
                          expected.steps);
}

class RefutedReservations : public ::testing::TestWithParam<Refutation> {};
TEST_P(RefutedReservations, ByTheShortestTrace) { expect_refuted(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Departures, RefutedReservations, ::testing::ValuesIn(refutations),
                         [](const auto& test) { return name_of(test.param, test.index); });

// F8 where channels keep order: a million worlds.
TEST(RefutedReservations, OneKindOfAcknowledgementDeadlocksInOrderToo) {
  if (!testing::deep()) GTEST_SKIP() << "set TURNO_DEEP=1: takes minutes";
  expect_refuted({{"grid", "3", "1,1", 2, fifo}, "one-kind", "deadlock", 26});
}

TEST(RefutedReservations, CoverEveryDeparture) {
  testing::expect_all_refuted(refutations, [](const Info& info) {
    return info.primitive == Primitive::reservation || info.name == "bertier";
  });
}

}  // namespace
}  // namespace turno
