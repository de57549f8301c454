// Semaphores with recovery, explored: whoever crashes, joins, gives up or forgets an idle
// semaphore, at any moment, no permit is held twice, everybody who lives is served, and fences grow
// for each permit. Exact numbers; and desks without one of their rules, which must be refuted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "check/options.h"
#include "cluster/recovering.h"
#include "protocols/arrangement.h"
#include "protocols/kmutex/k_out_of_m.h"

namespace turno::cluster {

namespace testing {

// In what is made from pool_test.cc.in.
template <Protocol P>
check::Result explore_pool(const check::Options& options);

}  // namespace testing

namespace pools {
namespace {

using check::Verdict;
using protocols::KOutOfM;
using Without = Rules::Without;

struct System {
  std::string_view name;
  std::uint32_t permits = 1;
  std::string_view counts;  // what each member's users ask for, as `turno check --counts`
  std::uint32_t crashes = 0, joins = 0, retirements = 0, withdrawals = 0;
  std::uint8_t users = 1;  // of a member that wait at once
  bool delay = false;      // clients outlive their node
  bool forgetful = true;
  // A user that asks for none resizes it, from so many permits, if that is another number.
  std::uint32_t at_first = 0, resized = 0;
  std::uint64_t states = 0, transitions = 0;
};

// "12?,1": the first member's users ask for one permit, then try for two; the second's for one. "0"
// resizes it, and the next one back.
std::vector<std::vector<Wish>> parse(std::string_view counts) {
  std::vector<std::vector<Wish>> scripts(1);
  for (const char c : counts) {
    if (c == ',') {
      scripts.emplace_back();
    } else if (c == '?') {
      scripts.back().back().only_try = true;
    } else {
      scripts.back().push_back(
          {.needs = {{0, static_cast<std::uint16_t>(c - '0')}}, .only_try = c == '0'});
    }
  }
  return scripts;
}

check::Options options_of(const System& system, Without without = Without::nothing) {
  check::Options options;
  options.scripts = parse(system.counts);
  const auto nodes = options.scripts.size();
  options.setup = protocols::arrangement(KOutOfM::info, 1, nodes, NodeId{nodes - 1});
  options.setup.permits = system.permits;
  options.setup.departure = static_cast<std::uint8_t>(without);
  auto& config = options.setup.configure<RecoveringConfig>();
  config.arrange = [made = protocols::arrangements(KOutOfM::info), remember = system.delay](
                       std::uint32_t epoch, std::size_t members, NodeId home) -> const Setup& {
    auto& setup = const_cast<Setup&>(made(epoch, members, home));
    setup.configure<KOutOfM::Config>() = {.plain = true, .remember = remember};
    return setup;
  };
  for (std::size_t i = nodes - system.joins; i < nodes; ++i) config.absent.insert(NodeId{i});
  config.rules = {.tries = false};
  config.delay = system.delay;
  config.forgetful = system.forgetful;
  config.permits = system.at_first;
  config.resized = system.resized;
  options.channels = check::Channels::fifo;  // as the links of a cluster
  options.users = {.count = system.users, .outlive_nodes = system.delay};
  options.overlapping = true;
  options.faults.crashes = system.crashes;
  options.faults.joins = system.joins;
  options.faults.retires = system.retirements;
  options.withdrawals = system.withdrawals;
  options.max_states = 6'000'000;
  return options;
}

check::Result explore(const check::Options& options) {
  return testing::explore_pool<KOutOfM>(options);
}

void expect_exactly(const System& expected) {
  const auto result = explore(options_of(expected));
  EXPECT_EQ(result.verdict, Verdict::holds)
      << expected.name << ": " << result.property << ": " << result.explanation << "\n"
      << conversation(result.trace);
  EXPECT_TRUE(result.states == expected.states && result.transitions == expected.transitions)
      << expected.name << " .states = " << result.states
      << ", .transitions = " << result.transitions;
  EXPECT_TRUE(result.acyclic);
}

constexpr System small[] = {
    {.name = "alone", .permits = 2, .counts = "1,1", .states = 59, .transitions = 78},
    {.name = "large_requests", .permits = 2, .counts = "2,12", .states = 358, .transitions = 640},
    {.name = "two_users",
     .permits = 2,
     .counts = "12,1",
     .users = 2,
     .states = 264,
     .transitions = 462},
    {.name = "withdrawal",
     .permits = 2,
     .counts = "12,1",
     .withdrawals = 1,
     .users = 2,
     .states = 1118,
     .transitions = 2157},
    {.name = "retirement",
     .permits = 2,
     .counts = "11,1",
     .retirements = 1,
     .users = 2,
     .states = 3023,
     .transitions = 5604},
    {.name = "crash",
     .permits = 2,
     .counts = "1,1,1",
     .crashes = 1,
     .states = 198779,
     .transitions = 697158},
    {.name = "crash_of_two_users",
     .permits = 2,
     .counts = "11,1",
     .crashes = 1,
     .users = 2,
     .states = 1717,
     .transitions = 3762},
    {.name = "join",
     .permits = 2,
     .counts = "1,2,1",
     .joins = 1,
     .states = 81875,
     .transitions = 272712},
    {.name = "escrow",
     .permits = 2,
     .counts = "11,1",
     .crashes = 1,
     .users = 2,
     .delay = true,
     .states = 3787,
     .transitions = 8367},
    {.name = "escrow_of_part",
     .permits = 3,
     .counts = "11,1",
     .crashes = 1,
     .users = 2,
     .delay = true,
     .states = 3673,
     .transitions = 8093},
    {.name = "escrow_after_releases",
     .permits = 2,
     .counts = "21,1",
     .crashes = 1,
     .withdrawals = 1,
     .users = 2,
     .delay = true,
     .states = 26347,
     .transitions = 67459},
    {.name = "escrow_and_retirement",
     .permits = 2,
     .counts = "11,1",
     .crashes = 1,
     .retirements = 1,
     .users = 2,
     .delay = true,
     .states = 48249,
     .transitions = 123042},
    {.name = "tries",
     .permits = 2,
     .counts = "1?1,2?",
     .users = 2,
     .states = 310,
     .transitions = 564},
    {.name = "tries_of_three",
     .permits = 1,
     .counts = "1?,1,1?",
     .states = 6014,
     .transitions = 16624},
    {.name = "grow",
     .permits = 2,
     .counts = "11,01",
     .users = 2,
     .at_first = 1,
     .resized = 2,
     .states = 895,
     .transitions = 1575},
    {.name = "shrink",
     .permits = 3,
     .counts = "211,01",
     .users = 2,
     .at_first = 3,
     .resized = 1,
     .states = 16224,
     .transitions = 40743},
    {.name = "shrink_and_withdrawal",
     .permits = 2,
     .counts = "11,01",
     .withdrawals = 1,
     .users = 2,
     .at_first = 2,
     .resized = 1,
     .states = 4830,
     .transitions = 9450},
    {.name = "shrink_and_crash",
     .permits = 2,
     .counts = "11,01",
     .crashes = 1,
     .users = 2,
     .at_first = 2,
     .resized = 1,
     .states = 5201,
     .transitions = 12237},
    {.name = "shrink_and_escrow",
     .permits = 2,
     .counts = "11,01",
     .crashes = 1,
     .users = 2,
     .delay = true,
     .at_first = 2,
     .resized = 1,
     .states = 10384,
     .transitions = 24561},
    {.name = "grow_and_escrow",
     .permits = 2,
     .counts = "11,01",
     .crashes = 1,
     .users = 2,
     .delay = true,
     .at_first = 1,
     .resized = 2,
     .states = 9151,
     .transitions = 21774},
};

// Only if TURNO_DEEP is set in the environment.
constexpr System large[] = {
    {.name = "escrow_of_three",
     .permits = 2,
     .counts = "1,1,1",
     .crashes = 1,
     .delay = true,
     .states = 675355,
     .transitions = 2366652},
    {.name = "escrow_twice",
     .permits = 2,
     .counts = "1,1,1",
     .crashes = 2,
     .delay = true,
     .states = 3921494,
     .transitions = 16547394},
    {.name = "escrow_and_join",
     .permits = 2,
     .counts = "1,1,1",
     .crashes = 1,
     .joins = 1,
     .delay = true,
     .states = 4264593,
     .transitions = 16697054},
};

class Pools : public ::testing::TestWithParam<System> {};
TEST_P(Pools, AreExact) { expect_exactly(GetParam()); }
TEST(Pools, AreExactInLargeSystems) {
  if (std::getenv("TURNO_DEEP") == nullptr) GTEST_SKIP() << "set TURNO_DEEP=1: takes minutes";
  for (const auto& system : large) expect_exactly(system);
}
INSTANTIATE_TEST_SUITE_P(Exact, Pools, ::testing::ValuesIn(small),
                         [](const auto& test) { return std::string(test.param.name); });

// ---- what does not hold

struct Refutation {
  Without without;
  System system;
  std::string_view property;
  std::size_t steps;
  bool large = false;
};

constexpr System retirement{.permits = 2, .counts = "11,1", .retirements = 1, .users = 2};
constexpr System one_permit{.permits = 1, .counts = "11,1", .retirements = 1, .users = 2};
constexpr System crash{.permits = 2, .counts = "11,1", .crashes = 1, .users = 2};
constexpr System three{.permits = 2, .counts = "1,1,1", .crashes = 1};
constexpr System outliving{.permits = 2, .counts = "11,1", .crashes = 1, .users = 2, .delay = true};
constexpr System releasing{.permits = 2, .counts = "21,1", .crashes = 1, .users = 2, .delay = true};
constexpr System retiring{
    .permits = 2, .counts = "11,,1", .crashes = 1, .retirements = 1, .delay = true};
constexpr System two_dead_of_two{.permits = 2, .counts = "1,,1", .crashes = 2, .delay = true};
constexpr System two_deaths{.permits = 2, .counts = "1,1,1", .crashes = 2, .delay = true};
constexpr System shrinking{
    .permits = 2, .counts = "2,011", .users = 2, .at_first = 2, .resized = 1};
constexpr System back_again{.permits = 2,
                            .counts = "2,010",
                            .crashes = 1,
                            .users = 2,
                            .delay = true,
                            .at_first = 2,
                            .resized = 1};
constexpr System withdrawal{.permits = 2, .counts = "12,1", .withdrawals = 1, .users = 2};

// That a report names its inquiry is not among them: whoever holds a permit is asked by everybody
// who wants one, so it hears of an instance that was born without it, and ends it.
constexpr Refutation refutations[] = {
    {Without::all_reports, retirement, "fence", 14},
    {Without::epochs, three, "deadlock", 7},
    {Without::fence_epoch, crash, "fence", 8},
    {Without::fence_floor, retirement, "fence", 13},
    {Without::escrow, outliving, "exclusion", 8},
    {Without::giving_back, withdrawal, "assertion", 5},
    {Without::leaving_between, one_permit, "deadlock", 15},
    {Without::orphans, retirement, "deadlock", 10},
    {Without::memory, outliving, "exclusion", 8},
    {Without::surplus, shrinking, "assertion", 13},
    {Without::old_numbers, back_again, "exclusion", 12},
    {Without::held, outliving, "exclusion", 11},
    {Without::last_request, outliving, "exclusion", 8},
    {Without::answers, outliving, "exclusion", 11},
    {Without::releases, releasing, "exclusion", 14},
    {Without::others_gone, two_deaths, "exclusion", 18, true},
    {Without::witnesses, retiring, "exclusion", 25, true},
    {Without::kept_before, two_dead_of_two, "exclusion", 16},
};

// The larger ones only if TURNO_DEEP is set in the environment.
TEST(Pools, WithoutARuleAreRefuted) {
  const bool deep = std::getenv("TURNO_DEEP") != nullptr;
  for (const auto& [without, system, property, steps, large] : refutations) {
    if (large && !deep) continue;
    SCOPED_TRACE(Rules::names[static_cast<std::size_t>(without)]);
    const auto result = explore(options_of(system, without));
    EXPECT_EQ(result.verdict, Verdict::violated);
    EXPECT_EQ(result.property, property) << result.explanation;
    EXPECT_EQ(result.trace.size(), steps);
  }
}

}  // namespace
}  // namespace pools
}  // namespace turno::cluster
