// What may go wrong, each with a protocol so small that all its worlds can be counted by hand.
#include <gtest/gtest.h>

#include "check/explorer.h"

namespace turno::check {
namespace {

enum Habits : std::uint8_t { trusting = 0, patient = 1, naive = 2 };

// Node 0 asks node 1 for leave to enter. A patient one asks again after a while; a naive one takes
// every answer for a new one. Setup::departure holds its habits.
template <bool TellsOfCrashes>
struct Courier {
  static constexpr Info info{.name = "courier"};
  static constexpr NodeId asker{0}, answerer{1};
  struct Message {
    enum class Kind : std::uint8_t { ask, yes } kind = Kind::ask;
    static constexpr std::array<std::string_view, 2> kinds = {"ask", "yes"};
    static constexpr std::array<std::string_view, 1> labels = {"kind"};
    [[nodiscard]] auto fields() const { return std::tie(kind); }
    bool operator==(const Message&) const = default;
  };
  using Kind = typename Message::Kind;
  using Out = Effects<Message>;
  static constexpr std::array<std::string_view, 1> timers = {"again"};
  static constexpr std::array<std::string_view, 3> labels = {"waiting", "alone", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(waiting, alone, fence); }
  bool operator==(const Courier&) const = default;

  std::uint8_t habits = 0;
  bool waiting = false, alone = false;
  Fence fence;

  static Courier resume(const Setup& setup, NodeId, std::span<const Holding>) {
    Courier node;
    node.habits = setup.departure;
    node.fence = Fence::at(setup.epoch);
    return node;
  }
  static bool still_expected(const Snapshot<Courier>& world, NodeId, std::uint8_t) {
    return !world.flights.empty();
  }
  void request(Demand, Out& out) {
    waiting = true;
    alone ? enter(out) : ask(out);
  }
  void release(Out&) {}
  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind == Kind::ask) return out.send(from, {.kind = Kind::yes});
    if (waiting || (habits & naive) != 0) enter(out);
  }
  void expire(std::uint8_t, Out& out) { ask(out); }
  void crash() { *this = Courier{}; }
  void suspect(NodeId, Out& out) requires TellsOfCrashes {
    alone = true;
    if (waiting) enter(out);
  }

 private:
  void ask(Out& out) {
    out.send(answerer, {.kind = Kind::ask});
    if ((habits & patient) != 0) out.arm(0, 1000);
  }
  void enter(Out& out) {
    waiting = false;
    fence = fence.next();
    if ((habits & patient) != 0) out.disarm(0);
    out.grant(fence);
  }
};

Options one_request(std::uint8_t habits, Faults faults = {}) {
  Options options;
  options.setup = {.father = {NodeId{0}, NodeId{0}}};
  options.setup.departure = habits;
  options.requesters.insert(NodeId{0});
  options.faults = faults;
  return options;
}

Result told(std::uint8_t habits, Faults faults = {}) {
  return Explorer<Courier<true>>(one_request(habits, faults)).run();
}
Result untold(std::uint8_t habits, Faults faults = {}) {
  return Explorer<Courier<false>>(one_request(habits, faults)).run();
}

std::vector<EventKind> kinds(const Result& result) {
  std::vector<EventKind> kinds;
  for (const auto& step : result.trace) kinds.push_back(step.kind);
  return kinds;
}

using enum EventKind;

TEST(Faults, WithoutAnyThereAreFiveWorlds) {
  const auto result = told(trusting);
  EXPECT_EQ(result.verdict, Verdict::holds);
  EXPECT_EQ(result.states, 5);  // idle, asked, answered, inside, left
}

TEST(Faults, ALostMessageIsMissed) {
  const auto result = told(trusting, {.losses = 1});
  EXPECT_EQ(result.property, "deadlock");
  EXPECT_EQ(kinds(result), (std::vector{request, lose}));
}

TEST(Faults, ATimerMakesUpForLosses) {
  const auto result = told(patient, {.losses = 2});
  EXPECT_EQ(result.verdict, Verdict::holds) << result.explanation;
  // idle; for 0, 1, 2 losses: asked, answered, inside, left; for 1, 2 losses: lost.
  EXPECT_EQ(result.states, 1 + 3 * 4 + 2);
}

TEST(Faults, ATimerDoesNotExpireEarlyWithoutABudget) {
  EXPECT_EQ(told(patient).states, 5);
  EXPECT_GT(told(patient, {.early_timeouts = 1}).states, 5);
}

TEST(Faults, ACopyDeceivesTheNaive) {
  EXPECT_EQ(told(trusting, {.duplicates = 1}).verdict, Verdict::holds);
  const auto result = told(naive, {.duplicates = 1});
  EXPECT_EQ(result.property, "addressee");
  EXPECT_EQ(result.trace.size(), 5);  // ask, copy, two answers or one copied, two grants
}

TEST(Faults, ATimeoutTooEarlyDeceivesTheNaive) {
  EXPECT_EQ(told(patient, {.early_timeouts = 1}).verdict, Verdict::holds);
  EXPECT_EQ(told(patient | naive, {.early_timeouts = 1}).property, "addressee");
}

TEST(Faults, ACrashThatNobodyIsToldOfIsMissed) {
  const auto result = untold(trusting, {.crashes = 1});
  EXPECT_EQ(result.property, "deadlock");
  EXPECT_EQ(kinds(result), (std::vector{request, crash}));
}

TEST(Faults, ACrashIsToldToEveryLivingNode) {
  const auto result = told(trusting, {.crashes = 2});
  EXPECT_EQ(result.verdict, Verdict::holds) << result.explanation;
}

TEST(Faults, WhatADeadNodeSentMayBeLostOrArrive) {
  const auto arrives = told(trusting, {.crashes = 1, .lost_with_sender = false});
  const auto may_be_lost = told(trusting, {.crashes = 1});
  EXPECT_EQ(may_be_lost.verdict, Verdict::holds) << may_be_lost.explanation;
  EXPECT_EQ(may_be_lost.states, arrives.states);  // as if it had died before
  EXPECT_GT(may_be_lost.transitions, arrives.transitions);
}

TEST(Faults, AWrongSuspicionLetsItIn) {
  const auto result = told(trusting, {.false_suspicions = 1});
  EXPECT_EQ(result.verdict, Verdict::holds);  // nobody else is there to be harmed
  EXPECT_GT(result.states, 5);
}

// A room that everybody enters at once, whatever it asks for; or chooses to, some time.
struct Open {
  static constexpr Info info{.name = "open", .primitive = Primitive::room};
  struct Message {
    enum class Kind : std::uint8_t { none } kind = Kind::none;
    static constexpr std::array<std::string_view, 1> kinds = {"none"};
    static constexpr std::array<std::string_view, 1> labels = {"kind"};
    [[nodiscard]] auto fields() const { return std::tie(kind); }
    bool operator==(const Message&) const = default;
  };
  using Out = Effects<Message>;
  static constexpr std::array<std::string_view, 2> labels = {"wants", "hesitates"};
  [[nodiscard]] auto fields() const { return std::tie(wants, hesitates); }
  bool operator==(const Open&) const = default;

  bool wants = false, hesitates = false;

  static Open resume(const Setup& setup, NodeId, std::span<const Holding>) {
    Open node;
    node.hesitates = setup.departure != 0;
    return node;
  }
  void request(Demand, Out& out) {
    wants = true;
    if (!hesitates) choose(0, out);
  }
  void release(Out&) {}
  void receive(NodeId, const Message&, Out&) {}
  void withdraw(Out&) { wants = false; }
  [[nodiscard]] std::uint32_t choices() const { return wants ? 1 : 0; }
  void choose(std::uint32_t, Out& out) {
    wants = false;
    out.grant(Fence::at(1, 1));
  }
  static std::string_view unmet_goal(const Snapshot<Open>& world) {
    return world.users[0].inside ? "the first stays inside" : "";
  }
};

Options two_wishes(std::uint32_t first, std::uint32_t second) {
  Options options;
  options.setup = {.father = {NodeId{0}, NodeId{0}}};
  options.scripts = {{{.group = first}}, {{.group = second}}};
  return options;
}

TEST(Wishes, TwoGroupsMayNotBeInsideTogether) {
  const auto together = Explorer<Open>(two_wishes(1, 1)).run();
  EXPECT_EQ(together.verdict, Verdict::holds) << together.explanation;
  const auto apart = Explorer<Open>(two_wishes(1, 2)).run();
  EXPECT_EQ(apart.property, "exclusion");
  EXPECT_EQ(apart.trace.size(), 2);
}

TEST(Wishes, AreChosenFromAMenu) {
  auto options = two_wishes(0, 0);
  options.scripts.clear();
  options.menus = {{{.group = 1}, {.group = 2}}};
  EXPECT_EQ(Explorer<Open>(options).run().property, "exclusion");
  options.menus = {{{.group = 1}}, {{.group = 1}}};
  EXPECT_EQ(Explorer<Open>(options).run().verdict, Verdict::holds);
}

TEST(Choices, AreMadeAtAnyTimeButInTheEnd) {
  auto options = two_wishes(1, 1);
  options.setup.departure = 1;
  const auto result = Explorer<Open>(options).run();
  EXPECT_EQ(result.verdict, Verdict::holds) << result.explanation;
  EXPECT_EQ(result.states, 16);  // idle, waiting, inside, left: each of both
}

TEST(Withdrawals, NeedNotHappen) {
  auto options = two_wishes(1, 1);
  options.setup.departure = 1;
  options.withdrawals = 1;
  const auto result = Explorer<Open>(options).run();
  EXPECT_EQ(result.verdict, Verdict::holds) << result.explanation;
}

TEST(Goals, MustBeMetWhenNothingHappensAnyMore) {
  auto options = two_wishes(1, 1);
  options.staying = true;
  const auto result = Explorer<Open>(options).run();
  EXPECT_EQ(result.property, "goal");
  EXPECT_EQ(result.explanation, "the first stays inside");
}

}  // namespace
}  // namespace turno::check
