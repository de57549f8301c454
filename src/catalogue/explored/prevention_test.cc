// The policies that prevent deadlocks, in every interleaving of a few sessions that ask, hold and
// give back for ever: which of them deadlock, and under which somebody starves.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string_view>

#include "check/graph.h"
#include "protocols/policies/collective.h"
#include "protocols/policies/ordered.h"
#include "protocols/policies/preemption.h"

namespace turno {

using namespace protocols;
namespace {

using Script = std::vector<ResourceId>;  // what a session takes, in this order, again and again
using Sessions = std::vector<SessionId>;

// Each policy as the explorer sees it: `ask` says whether the session got what it asked for, or
// nothing if it may not ask; `leave` who got what they waited for. Whoever is not `queued` while it
// waits has to come again.

struct AllAtOnce {
  Collective table;
  static std::size_t steps(const Script&) { return 1; }
  std::optional<bool> ask(SessionId session, const Script& script, std::size_t) {
    const auto answer = table.request(session, script);
    if (answer == Collective::Answer::holds_already) return {};
    return answer == Collective::Answer::granted;
  }
  Sessions leave(SessionId session, const Script&) { return table.release(session); }
  [[nodiscard]] bool queued(SessionId session) const { return table.waits(session); }
  auto operator<=>(const AllAtOnce&) const = default;
};

struct ByRank {
  Ordered table;
  bool waits_in_turn = true;
  static std::size_t steps(const Script& script) { return script.size(); }
  std::optional<bool> ask(SessionId session, const Script& script, std::size_t at) {
    const auto answer = table.request(session, script[at]);
    if (answer == Ordered::Answer::out_of_order) return {};
    return answer == Ordered::Answer::granted;
  }
  Sessions leave(SessionId, const Script& script) {
    Sessions served;
    for (auto resource : script)
      if (const auto next = table.release(resource)) served.push_back(*next);
    return served;
  }
  [[nodiscard]] bool queued(SessionId) const { return waits_in_turn; }
  auto operator<=>(const ByRank&) const = default;
};

struct TakingAway {
  Preemption table;
  bool waits_in_turn = true;
  static std::size_t steps(const Script& script) { return script.size(); }
  std::optional<bool> ask(SessionId session, const Script& script, std::size_t at) {
    if (table.waits(session)) return table.go_on(session);
    return table.request(session, script[at]).granted;
  }
  Sessions leave(SessionId session, const Script&) { return table.release(session); }
  [[nodiscard]] bool queued(SessionId) const { return waits_in_turn; }
  auto operator<=>(const TakingAway&) const = default;
};

// No policy at all: one at a time in any order, and each resource has a queue.
struct Unruled {
  Possessions held;
  std::vector<Sessions> queues;
  static std::size_t steps(const Script& script) { return script.size(); }
  std::optional<bool> ask(SessionId session, const Script& script, std::size_t at) {
    const bool free = held.free(script[at]);
    if (free) held.give(session, script[at]);
    if (!free) queues[script[at]].push_back(session);
    return free;
  }
  Sessions leave(SessionId, const Script& script) {
    Sessions served;
    for (auto resource : script) {
      held.take_back(resource);
      if (queues[resource].empty()) continue;
      served.push_back(queues[resource].front());
      queues[resource].erase(queues[resource].begin());
      held.give(served.back(), resource);
    }
    return served;
  }
  [[nodiscard]] bool queued(SessionId) const { return true; }
  auto operator<=>(const Unruled&) const = default;
};

struct Session {
  std::uint32_t at = 0;  // steps of its script done
  bool waits = false;
  auto operator<=>(const Session&) const = default;
};

template <class Policy>
struct World {
  Policy policy;
  std::vector<Session> sessions;
  auto operator<=>(const World&) const = default;
};

struct Findings {
  std::size_t states = 0;
  std::optional<std::size_t> deadlock;  // after so many steps
  bool starvation = false, refused = false;
  bool operator==(const Findings&) const = default;
};

template <class Policy>
class Exploration {
 public:
  Exploration(Policy policy, std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    visit({std::move(policy), std::vector<Session>(scripts_.size())}, 0);
  }

  Findings run() {
    for (std::size_t next = 0; next < worlds_.size(); ++next) {
      graph_.begin_world();
      const auto world = worlds_[next];
      const auto before = graph_.edges();
      for (SessionId session = 0; session < scripts_.size(); ++session) act(world, session, next);
      if (graph_.edges() == before && !findings_.deadlock) findings_.deadlock = depths_[next];
    }
    findings_.states = worlds_.size();
    for (SessionId session = 0; session < scripts_.size(); ++session) {
      std::vector<std::uint8_t> waiting;
      for (const auto& world : worlds_) waiting.push_back(world.sessions[session].waits ? 1 : 0);
      if (graph_.fair_cycle(waiting)) findings_.starvation = true;
    }
    return findings_;
  }

 private:
  using Number = check::Graph::World;

  void act(const World<Policy>& world, SessionId session, std::size_t from) {
    const auto& before = world.sessions[session];
    if (before.waits && world.policy.queued(session)) return;
    auto after = world;
    auto& mine = after.sessions[session];
    if (before.at == Policy::steps(scripts_[session])) {
      mine = {};
      for (auto served : after.policy.leave(session, scripts_[session])) {
        ++after.sessions[served].at;
        after.sessions[served].waits = false;
      }
    } else {
      const auto got = after.policy.ask(session, scripts_[session], before.at);
      if (!got) findings_.refused = true;
      if (!got || (before.waits && !*got)) return;
      mine = *got ? Session{before.at + 1, false} : Session{before.at, true};
    }
    // Who holds nothing need not ask; the rest happens in the end.
    graph_.add_label(before.at == 0 && !before.waits ? 0 : session + 1);
    graph_.add_edge(visit(std::move(after), depths_[from] + 1));
  }

  Number visit(World<Policy> world, std::size_t depth) {
    const auto [at, fresh] = numbers_.try_emplace(world, static_cast<Number>(worlds_.size()));
    if (fresh) {
      worlds_.push_back(std::move(world));
      depths_.push_back(depth);
    }
    return at->second;
  }

  std::vector<Script> scripts_;
  std::map<World<Policy>, Number> numbers_;
  std::vector<World<Policy>> worlds_;
  std::vector<std::size_t> depths_;
  check::Graph graph_;
  Findings findings_;
};

template <class Policy>
Findings explored(Policy policy, std::vector<Script> scripts) {
  return Exploration<Policy>(std::move(policy), std::move(scripts)).run();
}

constexpr ResourceId a = 0, b = 1, c = 2;
const std::vector<Script> in_a_circle = {{a, b}, {b, c}, {c, a}};
const std::vector<Script> along_a_line = {{a, b}, {b, c}, {a, c}};
const std::vector<Script> large_and_small = {{a, b}, {a}, {b}};
const std::vector<Script> against_each_other = {{a, b}, {b, a}};

TEST(Prevention, IsNeeded) {
  const Unruled nothing{Possessions(3), std::vector<Sessions>(3)};
  EXPECT_EQ(explored(nothing, in_a_circle).deadlock, 6U);
  EXPECT_EQ(explored(nothing, along_a_line).deadlock, std::nullopt);
}

TEST(Prevention, CollectiveInTurnHasNeitherDeadlockNorStarvation) {
  for (const auto& scripts : {in_a_circle, along_a_line, large_and_small, against_each_other}) {
    const auto found = explored(AllAtOnce{Collective(3)}, scripts);
    EXPECT_EQ(found.deadlock, std::nullopt);
    EXPECT_FALSE(found.starvation);
  }
}

TEST(Prevention, HasTheseNumbersOfStates) {
  EXPECT_EQ(explored(AllAtOnce{Collective(3)}, in_a_circle).states, 16U);
  EXPECT_EQ(explored(ByRank{Ordered({1, 2, 3})}, along_a_line).states, 31U);
  EXPECT_EQ(explored(TakingAway{Preemption(3)}, in_a_circle).states, 59U);
}

TEST(Prevention, CollectiveWithRetriesStarvesTheLargeRequest) {
  const auto found = explored(AllAtOnce{Collective(2, Waiting::retry)}, large_and_small);
  EXPECT_EQ(found.deadlock, std::nullopt);
  EXPECT_TRUE(found.starvation);
}

TEST(Prevention, OrderedInTurnHasNeitherDeadlockNorStarvation) {
  for (const auto& scripts : {along_a_line, large_and_small}) {
    const auto found = explored(ByRank{Ordered({1, 2, 3})}, scripts);
    EXPECT_EQ(found.deadlock, std::nullopt);
    EXPECT_FALSE(found.starvation);
    EXPECT_FALSE(found.refused);
  }
}

TEST(Prevention, OrderedRefusesToCloseTheCircle) {
  EXPECT_TRUE(explored(ByRank{Ordered({1, 2, 3})}, in_a_circle).refused);
}

TEST(Prevention, OrderedWithRetriesStarves) {
  const auto found = explored(ByRank{Ordered({1, 2, 3}, Waiting::retry), false}, along_a_line);
  EXPECT_EQ(found.deadlock, std::nullopt);
  EXPECT_TRUE(found.starvation);
}

TEST(Prevention, PreemptionHasNoDeadlockButMayStarve) {
  const TakingAway in_turn{Preemption(3)};
  const TakingAway retrying{Preemption(3, Waiting::retry), false};
  for (const auto& scripts : {in_a_circle, along_a_line, against_each_other}) {
    EXPECT_EQ(explored(in_turn, scripts).deadlock, std::nullopt);
    EXPECT_EQ(explored(retrying, scripts).deadlock, std::nullopt);
    EXPECT_TRUE(explored(retrying, scripts).starvation) << "already between two";
  }
  EXPECT_FALSE(explored(in_turn, against_each_other).starvation);
  EXPECT_TRUE(explored(in_turn, along_a_line).starvation);
}

}  // namespace
}  // namespace turno
