#include "protocols/policies/banker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/random.h"

namespace turno::protocols {
namespace {

using Amounts = Banker::Amounts;
using Answer = Banker::Answer;

TEST(Banker, GrantsWhatIsThereAndLeavesAWayToFinish) {
  Banker banker({3});
  ASSERT_TRUE(banker.admit({3}));
  ASSERT_TRUE(banker.admit({2}));
  EXPECT_EQ(banker.request(0, {1}), Answer::granted);
  EXPECT_EQ(banker.request(1, {1}), Answer::granted);
  EXPECT_EQ(banker.free(), Amounts{1});
  EXPECT_EQ(banker.request(0, {1}), Answer::unsafe) << "then neither could finish";
  EXPECT_EQ(banker.held(0), Amounts{1}) << "an answer that is no grant changes nothing";
  EXPECT_EQ(banker.request(1, {1}), Answer::granted) << "1 can finish, then 0";
  EXPECT_EQ(banker.request(0, {1}), Answer::wait);
  banker.release(1, {2});
  EXPECT_EQ(banker.request(0, {2}), Answer::granted);
}

TEST(Banker, RefusesWhatNobodyCouldGrant) {
  Banker banker({2, 1});
  EXPECT_FALSE(banker.admit({2, 2})) << "more than there is";
  ASSERT_TRUE(banker.admit({1, 1}));
  EXPECT_EQ(banker.processes(), 1U);
  EXPECT_EQ(banker.request(0, {2, 0}), Answer::too_much) << "more than was declared";
  EXPECT_EQ(banker.request(0, {1, 0}), Answer::granted);
  EXPECT_EQ(banker.request(0, {1, 0}), Answer::too_much);
  EXPECT_EQ(banker.remaining(0), (Amounts{0, 1}));
}

// The textbook's example with five processes and three types.
TEST(Banker, FindsTheOrderOfTheTextbook) {
  Banker banker({10, 5, 7});
  for (const auto& claim :
       std::vector<Amounts>{{7, 5, 3}, {3, 2, 2}, {9, 0, 2}, {2, 2, 2}, {4, 3, 3}})
    ASSERT_TRUE(banker.admit(claim));
  const std::vector<Amounts> held = {{0, 1, 0}, {2, 0, 0}, {3, 0, 2}, {2, 1, 1}, {0, 0, 2}};
  for (std::size_t i = 0; i < held.size(); ++i)
    ASSERT_EQ(banker.request(i, held[i]), Answer::granted) << i;
  EXPECT_EQ(banker.free(), (Amounts{3, 3, 2}));
  EXPECT_EQ(banker.request(1, {1, 0, 2}), Answer::granted);
  EXPECT_EQ(banker.request(4, {3, 3, 0}), Answer::wait);
  EXPECT_EQ(banker.request(0, {0, 2, 0}), Answer::unsafe);
}

// A state as plain numbers.
struct Loose {
  Amounts free;
  std::vector<Amounts> held, claims;

  [[nodiscard]] bool may_take(std::size_t process, std::size_t type) const {
    return free[type] > 0 && held[process][type] < claims[process][type];
  }
  void take(std::size_t process, std::size_t type) { --free[type], ++held[process][type]; }
  auto operator<=>(const Loose&) const = default;
};

// The dumb twin: tries every order.
bool safe_by_trying_every_order(const Loose& state) {
  std::vector<std::size_t> order(state.held.size());
  std::iota(order.begin(), order.end(), 0U);
  do {
    auto free = state.free;
    const bool all = std::all_of(order.begin(), order.end(), [&](std::size_t process) {
      for (std::size_t type = 0; type < free.size(); ++type)
        if (state.claims[process][type] - state.held[process][type] > free[type]) return false;
      for (std::size_t type = 0; type < free.size(); ++type)
        free[type] += state.held[process][type];
      return true;
    });
    if (all) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

// Claims, what is held within them, and what is left over.
Loose random_state(Random& random, std::size_t processes, std::size_t types) {
  Loose state;
  for (std::size_t type = 0; type < types; ++type)
    state.free.push_back(1 + static_cast<std::uint32_t>(random.below(5)));
  const auto total = state.free;
  for (std::size_t process = 0; process < processes; ++process) {
    state.claims.emplace_back();
    state.held.emplace_back();
    for (std::size_t type = 0; type < types; ++type) {
      const auto claim = static_cast<std::uint32_t>(random.below(total[type] + 1));
      const auto held =
          static_cast<std::uint32_t>(random.below(std::min(claim, state.free[type]) + 1));
      state.claims.back().push_back(claim);
      state.held.back().push_back(held);
      state.free[type] -= held;
    }
  }
  return state;
}

Banker banker_of(const Loose& state) {
  auto total = state.free;
  for (const auto& held : state.held)
    for (std::size_t type = 0; type < total.size(); ++type) total[type] += held[type];
  return Banker::resume(total, state.claims, state.held);
}

TEST(Banker, AgreesWithTryingEveryOrderOnTenThousandRandomStates) {
  Random random(7);
  std::size_t safe = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto state = random_state(random, 2 + random.below(4), 1 + random.below(3));
    const auto banker = banker_of(state);
    ASSERT_EQ(banker.safe(), safe_by_trying_every_order(state)) << "state " << i;
    safe += banker.safe() ? 1 : 0;
    if (!banker.safe()) continue;
    // A request of one unit is granted if and only if the state after it is safe.
    const auto process = random.below(state.held.size());
    const auto type = random.below(state.free.size());
    if (!state.may_take(process, type)) continue;
    auto after = state;
    after.take(process, type);
    Amounts one(state.free.size(), 0);
    one[type] = 1;
    auto asked = banker;
    ASSERT_EQ(asked.request(process, one) == Answer::granted, safe_by_trying_every_order(after));
  }
  EXPECT_GT(safe, 1'000U);
  EXPECT_LT(safe, 9'000U) << "both kinds must occur";
}

// ---- small systems, completely

// Takes one unit at a time; who has all that it claims gives everything back and is gone, which
// nothing can prevent. Gone: it claims nothing.
std::vector<Loose> successors(const Loose& state, bool with_banker) {
  std::vector<Loose> all;
  for (std::size_t process = 0; process < state.held.size(); ++process) {
    if (state.held[process] == state.claims[process]) {
      auto after = state;
      for (std::size_t type = 0; type < state.free.size(); ++type)
        after.free[type] += std::exchange(after.held[process][type], 0);
      after.claims[process].assign(state.free.size(), 0);
      if (after != state) all.push_back(std::move(after));
      continue;
    }
    for (std::size_t type = 0; type < state.free.size(); ++type) {
      if (!state.may_take(process, type)) continue;
      auto after = state;
      after.take(process, type);
      if (!with_banker || banker_of(after).safe()) all.push_back(std::move(after));
    }
  }
  return all;
}

struct Totals {
  std::size_t systems = 0, states = 0, deadlocked = 0, unsafe = 0;
  std::size_t doomed = 0;  // from which not all can finish any more
};

struct Explored {
  std::map<Loose, std::vector<Loose>> next;
  std::set<Loose> good;  // from which all can still finish
};

Explored explore(const Loose& first, bool with_banker) {
  Explored explored;
  std::vector<Loose> todo = {first};
  while (!todo.empty()) {
    const auto state = todo.back();
    todo.pop_back();
    if (explored.next.contains(state)) continue;
    const auto after = successors(state, with_banker);
    explored.next[state] = after;
    todo.insert(todo.end(), after.begin(), after.end());
  }
  const Amounts nothing(first.free.size(), 0);
  const auto done = [&](const Amounts& claim) { return claim == nothing; };
  for (bool more = true; more;) {
    more = false;
    for (const auto& [state, after] : explored.next) {
      const bool good = std::all_of(state.claims.begin(), state.claims.end(), done) ||
                        std::any_of(after.begin(), after.end(), [&](const Loose& next) {
                          return explored.good.contains(next);
                        });
      if (good) more = explored.good.insert(state).second || more;
    }
  }
  return explored;
}

void add_system(const Loose& first, bool with_banker, Totals& totals) {
  const auto explored = explore(first, with_banker);
  ++totals.systems;
  for (const auto& [state, after] : explored.next) {
    ++totals.states;
    const bool doomed = !explored.good.contains(state);
    totals.doomed += doomed ? 1 : 0;
    totals.deadlocked += doomed && after.empty() ? 1 : 0;
    totals.unsafe += banker_of(state).safe() ? 0 : 1;
  }
}

// Every non-empty claim of one process.
std::vector<Amounts> claims_within(const Amounts& total) {
  std::vector<Amounts> all;
  const auto second = total.size() > 1 ? total[1] : 0;
  for (std::uint32_t a = 0; a <= total[0]; ++a)
    for (std::uint32_t b = 0; b <= second; ++b)
      if (a + b > 0) all.push_back(total.size() > 1 ? Amounts{a, b} : Amounts{a});
  return all;
}

void add_systems(const Amounts& total, std::size_t processes, std::size_t from,
                 std::vector<Amounts>& chosen, bool with_banker, Totals& totals) {
  const auto claims = claims_within(total);
  if (chosen.size() == processes) {
    const std::vector<Amounts> nothing(processes, Amounts(total.size(), 0));
    return add_system({.free = total, .held = nothing, .claims = chosen}, with_banker, totals);
  }
  for (auto i = from; i < claims.size(); ++i) {  // in order: who is who does not matter
    chosen.push_back(claims[i]);
    add_systems(total, processes, i, chosen, with_banker, totals);
    chosen.pop_back();
  }
}

Totals explore_all_small_systems(bool with_banker) {
  Totals totals;
  for (const auto& total : std::vector<Amounts>{{1}, {2}, {3}, {4}, {1, 1}, {1, 2}, {2, 2}})
    for (std::size_t processes = 2; processes <= 3; ++processes) {
      std::vector<Amounts> chosen;
      add_systems(total, processes, 0, chosen, with_banker, totals);
    }
  return totals;
}

TEST(Banker, IsNeededInSmallSystems) {
  const auto totals = explore_all_small_systems(false);
  EXPECT_EQ(totals.systems, 277U);
  EXPECT_EQ(totals.states, 16'663U);
  EXPECT_EQ(totals.deadlocked, 1'068U);
  EXPECT_EQ(totals.unsafe, 2'352U);
  EXPECT_EQ(totals.doomed, totals.unsafe) << "who uses its claim loses nothing by the banker";
}

TEST(Banker, KeepsEverySmallSystemFromDeadlock) {
  const auto totals = explore_all_small_systems(true);
  EXPECT_EQ(totals.systems, 277U);
  EXPECT_EQ(totals.states, 14'311U);
  EXPECT_EQ(totals.deadlocked, 0U);
  EXPECT_EQ(totals.unsafe, 0U);
  EXPECT_EQ(totals.doomed, 0U);
}

}  // namespace
}  // namespace turno::protocols
