// Rooms with recovery, explored: whoever crashes, joins, gives up or forgets an idle room, at any
// moment, never are two groups inside, nor more of a group than it may have, everybody who lives is
// served, and fences grow from one group to the next. Exact numbers; and desks without one of their
// rules, which must be refuted.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "check/options.h"
#include "cluster/recovering.h"
#include "protocols/arrangement.h"
#include "protocols/group/quorum_group.h"

namespace turno::cluster {

namespace testing {

// In what is made from room_test.cc.in.
template <Protocol P>
check::Result explore_room(const check::Options& options);

}  // namespace testing

namespace rooms {
namespace {

using check::Verdict;
using protocols::QuorumGroup;
using Without = Rules::Without;

struct System {
  std::string_view name;
  std::string_view groups;     // of each member's users, as in "ab,a"
  std::uint32_t capacity = 0;  // of group b; 0: unlimited
  std::uint32_t crashes = 0, joins = 0, retirements = 0, withdrawals = 0;
  std::uint8_t users = 1;  // of a member that wait at once
  bool delay = false;      // clients outlive their node
  bool forgetful = true;
  std::uint64_t states = 0, transitions = 0;
};

std::vector<std::vector<Wish>> parse(std::string_view groups) {
  std::vector<std::vector<Wish>> scripts(1);
  for (const char c : groups) {
    if (c == ',') {
      scripts.emplace_back();
    } else {
      scripts.back().push_back({.group = static_cast<std::uint32_t>(c - 'a')});
    }
  }
  return scripts;
}

check::Options options_of(const System& system, Without without = Without::nothing) {
  check::Options options;
  options.scripts = parse(system.groups);
  const auto nodes = options.scripts.size();
  options.setup = protocols::arrangement({}, 1, nodes, NodeId{nodes - 1});
  const auto unlimited = RoomSetup::unlimited;
  options.setup.room.capacity = {unlimited, system.capacity == 0 ? unlimited : system.capacity};
  options.setup.departure = static_cast<std::uint8_t>(without);
  auto& config = options.setup.configure<RecoveringConfig>();
  static constexpr Info no_votes_of_members;
  config.arrange = [made = protocols::arrangements(no_votes_of_members)](
                       std::uint32_t epoch, std::size_t members, NodeId home) -> const Setup& {
    auto& setup = const_cast<Setup&>(made(epoch, members, home));
    setup.configure<QuorumGroup::Config>().fence_each = true;
    return setup;
  };
  config.quorums = protocols::quorums_of;
  for (std::size_t i = nodes - system.joins; i < nodes; ++i) config.absent.insert(NodeId{i});
  config.rules = {.tries = false, .seats = 1};
  config.delay = system.delay;
  config.forgetful = system.forgetful;
  options.channels = check::Channels::fifo;  // as the links of a cluster
  options.users = {.count = system.users, .outlive_nodes = system.delay};
  options.overlapping = true;
  options.faults.crashes = system.crashes;
  options.faults.joins = system.joins;
  options.faults.retires = system.retirements;
  options.withdrawals = system.withdrawals;
  options.max_states = 600'000;
  return options;
}

check::Result explore(const check::Options& options) {
  return testing::explore_room<QuorumGroup>(options);
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
    {.name = "alone", .groups = "a,", .states = 8, .transitions = 7},
    {.name = "one_group", .groups = "a,a", .states = 37, .transitions = 51},
    {.name = "two_groups", .groups = "a,b", .states = 104, .transitions = 141},
    {.name = "writers", .groups = "b,b", .capacity = 1, .states = 32, .transitions = 39},
    {.name = "two_users", .groups = "aa,b", .users = 2, .states = 610, .transitions = 966},
    {.name = "two_writers",
     .groups = "bb,a",
     .capacity = 1,
     .users = 2,
     .states = 1059,
     .transitions = 1580},
    {.name = "two_users_each", .groups = "ab,ab", .users = 2, .states = 5882, .transitions = 10211},
    {.name = "three_users", .groups = "aaa,b", .users = 2, .states = 2623, .transitions = 4527},
    {.name = "withdrawal",
     .groups = "ab,b",
     .withdrawals = 1,
     .users = 2,
     .states = 5143,
     .transitions = 9420},
    {.name = "retirement",
     .groups = "aa,b",
     .retirements = 1,
     .users = 2,
     .states = 3694,
     .transitions = 6403},
    {.name = "retirement_of_writers",
     .groups = "bb,ba",
     .capacity = 2,
     .retirements = 1,
     .users = 2,
     .states = 41861,
     .transitions = 79501},
    {.name = "crash", .groups = "a,b", .crashes = 1, .states = 674, .transitions = 1359},
    {.name = "crash_of_two_users",
     .groups = "ab,b",
     .crashes = 1,
     .users = 2,
     .states = 6795,
     .transitions = 15620},
    {.name = "join", .groups = "a,b", .joins = 1, .states = 228, .transitions = 340},
    {.name = "escrow",
     .groups = "ab,a",
     .crashes = 1,
     .users = 2,
     .delay = true,
     .states = 6359,
     .transitions = 15346},
    {.name = "escrow_of_writers",
     .groups = "bb,ba",
     .capacity = 2,
     .crashes = 1,
     .users = 2,
     .delay = true,
     .states = 52908,
     .transitions = 132507},
    {.name = "escrow_of_three",
     .groups = "a,,b",
     .crashes = 1,
     .delay = true,
     .states = 6599,
     .transitions = 15920},
    {.name = "escrow_of_writers_of_three",
     .groups = "b,b,b",
     .capacity = 2,
     .crashes = 1,
     .delay = true,
     .states = 29813,
     .transitions = 83355},
    {.name = "crash_and_withdrawal",
     .groups = "ab,b",
     .crashes = 1,
     .withdrawals = 1,
     .users = 2,
     .states = 29645,
     .transitions = 72502},
    {.name = "crash_and_retirement",
     .groups = "aa,b",
     .crashes = 1,
     .retirements = 1,
     .users = 2,
     .states = 26799,
     .transitions = 65463},
    {.name = "three_members", .groups = "a,b,", .states = 333, .transitions = 525},
    {.name = "join_of_a_third", .groups = "a,b,", .joins = 1, .states = 6973, .transitions = 18315},
    {.name = "crash_of_three",
     .groups = "a,b,",
     .crashes = 1,
     .states = 11761,
     .transitions = 29873},
    {.name = "escrow_and_retirement",
     .groups = "aa,b",
     .crashes = 1,
     .retirements = 1,
     .users = 2,
     .delay = true,
     .states = 43125,
     .transitions = 107190},
};

class Rooms : public ::testing::TestWithParam<System> {};
TEST_P(Rooms, AreExact) { expect_exactly(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Exact, Rooms, ::testing::ValuesIn(small),
                         [](const auto& test) { return std::string(test.param.name); });

// ---- what does not hold

struct Refutation {
  Without without;
  System system;
  std::string_view property;
  std::size_t steps;
};

constexpr System retirement{.groups = "aa,b", .retirements = 1, .users = 2};
constexpr System retired_writers{.groups = "bb,ba", .capacity = 2, .retirements = 1, .users = 2};
constexpr System crash{.groups = "ab,b", .crashes = 1, .users = 2};
constexpr System three{.groups = "a,b,a", .crashes = 1};
constexpr System three_members{.groups = "a,b,"};
constexpr System outliving{.groups = "ab,a", .crashes = 1, .users = 2, .delay = true};
constexpr System withdrawal{.groups = "ab,b", .withdrawals = 1, .users = 2};

// That a report names its inquiry is not among them: in these small systems nothing goes wrong
// without it.
constexpr Refutation refutations[] = {
    {Without::all_reports, retirement, "exclusion", 6},
    {Without::epochs, three, "deadlock", 7},
    {Without::fence_epoch, crash, "fence", 4},
    {Without::fence_floor, retirement, "fence", 7},
    {Without::escrow, outliving, "exclusion", 6},
    {Without::giving_back, withdrawal, "deadlock", 15},
    {Without::leaving_between, retirement, "deadlock", 16},
    {Without::orphans, three_members, "deadlock", 16},
    {Without::memory, outliving, "exclusion", 18},
};

TEST(Rooms, WithoutARuleAreRefuted) {
  for (const auto& [without, system, property, steps] : refutations) {
    SCOPED_TRACE(Rules::names[static_cast<std::size_t>(without)]);
    const auto result = explore(options_of(system, without));
    EXPECT_EQ(result.verdict, Verdict::violated);
    EXPECT_EQ(result.property, property) << result.explanation;
    EXPECT_EQ(result.trace.size(), steps);
  }
}

}  // namespace
}  // namespace rooms
}  // namespace turno::cluster
