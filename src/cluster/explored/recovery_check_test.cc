// Recovery, explored: whoever crashes, joins or forgets an idle lock, at any moment, every
// algorithm keeps its promises to those who live. Exact numbers, as in
// catalogue/explored/state_counts_test.cc; and recovery without one of its rules, which must be
// refuted.
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
#include "cluster/explored/recovery_counts_testing.h"
#include "cluster/recovering.h"
#include "protocols/arrangement.h"
#include "protocols/list.h"

namespace turno::cluster {

using namespace protocols;

namespace testing {

using Recovered = TURNO_RECOVERED;

// In what is made from algorithm_test.cc.in.
template <Protocol P>
check::Result explore(const check::Options& options);

}  // namespace testing

namespace {

using check::Verdict;

template <class P>
check::Options options_of(const System& system) {
  check::Options options;
  const NodeId home{system.nodes - 1};
  options.setup = arrangement(P::info, 1, system.nodes, home);
  auto& config = options.setup.configure<RecoveringConfig>();
  config.arrange = arrangements(P::info);
  for (std::size_t i = system.nodes - system.joins; i < system.nodes; ++i)
    config.absent.insert(NodeId{i});
  options.channels = check::Channels::fifo;  // as the links of a cluster
  options.requests = system.requests;
  options.faults.crashes = system.crashes;
  options.faults.joins = system.joins;
  options.faults.retires = system.retirements;
  const auto& desk = system.desk;
  config.rules = {.in_a_row = desk.in_a_row,
                  .eager = desk.eager,
                  .collective = desk.collective,
                  .tries = desk.tries};
  config.delay = desk.delay;
  config.forgetful = desk.forgetful;
  config.refusals = desk.refusals;
  options.users = {.count = desk.users,
                   .try_only = desk.tries,
                   .wait_too = desk.waits,
                   .outlive_nodes = desk.delay};
  options.withdrawals = system.withdrawals;
  options.faults.lapses = system.lapses;
  options.faults.spoils = system.spoils;
  options.faults.early_timeouts = system.early_timeouts;
  options.faults.moves = system.moves;
  options.faults.expulsions = system.expulsions;
  for (std::size_t i = 0; i < system.requesters; ++i) options.requesters.insert(NodeId{i});
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
  EXPECT_TRUE(result.states == expected.states && result.transitions == expected.transitions)
      << "    {\"" << expected.algorithm << "\", " << expected.system.name << ", " << result.states
      << ", " << result.transitions << "},";
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

// Where everybody reports on every lock, and reports name no inquiry that could differ, the desk
// has exactly the worlds of the recovery that came before it. (With a token, or two crashes, there
// are fewer: that a lock is surely free is reported only if somebody has crashed a moment ago.)
TEST(RecoveryCounts, WithIndividualReportsAreThoseOfTheFirstRecovery) {
  const Desks individual{.collective = false};
  const System crash{.name = "individual", .crashes = 1, .desk = individual};
  const System join{.name = "individual", .joins = 1, .desk = individual};
  for (const auto& count : std::vector<Count>{{"central", crash, 5038, 13272},
                                              {"ricart-agrawala", crash, 132125, 486258},
                                              {"maekawa", crash, 41015, 120573},
                                              {"central", join, 2464, 6783},
                                              {"ricart-agrawala", join, 28282, 95963},
                                              {"maekawa", join, 11609, 33610}})
    expect_exactly(count);
}

// ---- recovery without one of its rules

using Without = Rules::Without;

template <class P>
check::Result explore_without(Without rule, std::string_view property, const System& system) {
  auto options = options_of<P>(system);
  options.setup.departure = static_cast<std::uint8_t>(rule);
  options.property = property;
  return testing::explore<P>(options);
}

struct Refutation {
  Without rule;
  std::string_view name;
  std::string_view property;
  System system;
  std::size_t steps;  // of the shortest counterexample
};

class RecoveryWithoutARule : public ::testing::TestWithParam<Refutation> {};

TEST_P(RecoveryWithoutARule, IsRefutedByTheShortestTrace) {
  const auto& [rule, name, property, system, steps] = GetParam();
  // dir never needs messages of instances not known yet: its requests go to the home. Of all
  // algorithms only maekawa may be granted its turn before the home has answered a try.
  const auto result =
      rule == Without::orphans     ? explore_without<RicartAgrawala>(rule, property, system)
      : rule == Without::own_users ? explore_without<Maekawa>(rule, property, system)
                                   : explore_without<Dir>(rule, property, system);
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.property, property) << result.explanation;
  EXPECT_EQ(result.trace.size(), steps) << conversation(result.trace);
}

constexpr System two_nodes{"two_nodes", 2, 1, 1};
constexpr System two_nodes_retired{"two_nodes_retired", 2, 2, 0, 0, 1};
constexpr System three_nodes{"three_nodes", 3, 1};
constexpr System join_and_retirement{"join_and_retirement", 3, 1, 0, 1, 1};
constexpr System withdrawal{.name = "withdrawal", .nodes = 2, .withdrawals = 1};
constexpr System outliving{.name = "outliving", .nodes = 2, .crashes = 1, .desk = delay};
constexpr System too_short_a_delay{
    .name = "too_short_a_delay", .nodes = 2, .crashes = 1, .desk = delay, .early_timeouts = 1};
constexpr System lapse{.name = "lapse", .nodes = 2, .requests = 2, .desk = two_users, .lapses = 1};
constexpr System crossing_tries{
    .name = "crossing_tries", .nodes = 3, .requests = 2, .desk = tries_or_waits, .requesters = 2};
constexpr System outlived{.name = "outlived", .nodes = 2, .desk = delay, .expulsions = 1};
constexpr System too_early{
    .name = "too_early", .nodes = 2, .desk = delay, .early_timeouts = 1, .expulsions = 1};
constexpr System lonely_try{
    .name = "lonely_try", .nodes = 2, .desk = {.tries = true, .forgetful = true}, .requesters = 1};
constexpr Refutation refutations[] = {
    // A member that was dropped while it lives acts on until its authority is over. Its user must
    // be told by then, and others must not go on before.
    {Without::escrow, "escrow_of_the_living", "exclusion", outlived, 4},
    {Without::nothing, "delay_shorter_than_authority", "exclusion", too_early, 5},
    {Without::authority, "authority", "exclusion", outlived, 5},
    {Without::warning, "warning", "exclusion", outlived, 6},
    // A live holder that has not reported yet shares its lock.
    {Without::all_reports, "all_reports", "exclusion", four_nodes, 8},
    // What was sent in an earlier view comes true in a later one.
    {Without::epochs, "epochs", "exclusion", one_crash, 11},
    {Without::epochs, "epochs", "deadlock", one_crash, 7},
    // The count begins anew in every view.
    {Without::fence_epoch, "fence_epoch", "fence", two_nodes, 4},
    // The count begins anew when an idle lock is forgotten.
    {Without::fence_floor, "fence_floor", "fence", two_nodes_retired, 4},
    // "I have nothing" comes late, when the home has retired the lock of one who has it.
    {Without::inquiries, "inquiries", "exclusion", join_and_retirement, 10},
    {Without::inquiries, "inquiries", "exclusion", crash_and_retirement, 12},
    // What a client of the dead still uses is given to another.
    {Without::escrow, "escrow", "exclusion", outliving, 4},
    // The home forgets an idle lock that the dead may have had, and takes it for unused.
    {Without::memory, "memory", "exclusion", escrows, 10},
    {Without::nothing, "too_short_a_delay", "exclusion", too_short_a_delay, 5},
    // The turn of one that gave up waiting stays with its member for ever.
    {Without::giving_back, "giving_back", "deadlock", withdrawal, 8},
    // So does the lock of one that left while there was no instance.
    {Without::leaving_between, "leaving_between", "deadlock", one_crash, 10},
    // A question to a member that has not heard of the lock yet is never answered.
    {Without::orphans, "orphans", "deadlock", three_nodes, 15},
    // One whose time was over, and who does not know, lets go of what another has.
    {Without::fences_of_users, "fences_of_users", "exclusion", lapse, 9},
    // A member asks for a second turn while its user is inside, and the votes for it are lost.
    {Without::own_users, "own_users", "deadlock", crossing_tries, 18},
    // One that has moved lets go where it was, and its heir claims what another has.
    {Without::bequests, "bequests", "exclusion", move, 20},
    // One that has moved is forgotten with the member that it came from.
    {Without::heirs, "heirs", "exclusion", move, 9},
    // One that was refused elsewhere is taken for moved, and what it has is never given back.
    {Without::reclaims, "reclaims", "deadlock", refused_move, 15},
    // Nobody gets what is free, because all who try are told that somebody has it.
    {Without::winners, "winners", "goal", lonely_try, 3},
    // The home refuses all who try, because of one that has left.
    {Without::freeing, "freeing", "goal", tries, 14},
    // Whoever was sent what cannot be waits for another instance for ever.
    {Without::spoils, "spoils", "deadlock", spoiled, 6},
};
std::string name_of_rule(const ::testing::TestParamInfo<Refutation>& info) {
  return std::string(info.param.name) + "_" + std::string(info.param.property) + "_" +
         std::string(info.param.system.name);
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
