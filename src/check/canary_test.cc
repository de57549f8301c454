// Does the checker notice? Deliberately broken locks, each of which must be refuted by the property
// that it breaks, and limits that must be reported as limits.
#include <gtest/gtest.h>

#include "check/explorer.h"
#include "core/topology.h"
#include "protocols/mutex/token/naimi_trehel.h"

namespace turno::check {

using namespace protocols;
namespace {

// A lock that lets everybody in, or nobody, or loses its token, or repeats its fences, ...
enum class Sin : std::uint8_t {
  none,
  lets_all_in,
  lets_nobody_in,
  loses_the_token,
  doubles_the_token,
  repeats_fences,
  grants_unasked,
  writes_to_nobody,
  forgets_one,
  circles_for_ever,
  breaks_its_word
};

// Setup::departure says which sin.
struct Sinner {
  static constexpr Info info{.name = "sinner"};
  struct Message {
    enum class Kind : std::uint8_t { ask, token } kind = Kind::ask;
    Fence fence;
    static constexpr std::array<std::string_view, 2> kinds = {"ask", "token"};
    static constexpr std::array<std::string_view, 2> labels = {"kind", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, fence); }
    bool operator==(const Message&) const = default;
  };
  using Out = Effects<Message>;

  NodeId self;
  Sin sin = Sin::none;
  bool token = false, wanting = false, owes = false;
  Fence fence;
  static constexpr std::array<std::string_view, 4> labels = {"token", "wanting", "owes", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(token, wanting, owes, fence); }
  bool operator==(const Sinner&) const = default;

  static Sinner resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Sinner node;
    node.self = self;
    node.sin = static_cast<Sin>(setup.departure);
    node.token = self == setup.root();
    if (node.token) node.fence = Fence::at(setup.epoch);
    return node;
  }
  [[nodiscard]] NodeId other() const { return NodeId{1 - self.index()}; }

  void request(Demand, Out& out) {
    wanting = true;
    if (sin == Sin::lets_nobody_in) return;
    if (sin == Sin::lets_all_in) return out.grant(fence = Fence::at(1, self.value + 1));
    if (sin == Sin::writes_to_nobody) out.send(nobody, {.kind = Message::Kind::ask});
    if (token) return enter(out);
    out.send(other(), {.kind = Message::Kind::ask});
  }
  void release(Out& out) {
    wanting = false;
    if (owes && sin != Sin::forgets_one) pass(out);
    if (sin == Sin::forgets_one) owes = false;
  }
  void receive(NodeId, const Message& message, Out& out) {
    if (message.kind == Message::Kind::token) {
      token = true;
      fence = message.fence;
      if (wanting) return enter(out);
      if (sin == Sin::circles_for_ever) return pass(out);
      if (sin == Sin::grants_unasked) return enter(out);
      return;
    }
    owes = true;
    if (token && !wanting) pass(out);
  }
  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message& message) { return message.kind == Message::Kind::token; }
  static std::string_view broken_invariant(const Snapshot<Sinner>& world) {
    if (world.nodes[0].sin == Sin::breaks_its_word && world.users[1].inside)
      return "node 1 never gets in";
    return {};
  }

 private:
  void enter(Out& out) {
    if (sin != Sin::repeats_fences) fence = fence.next();
    out.grant(sin == Sin::repeats_fences ? Fence::at(1, 1) : fence);
    if (sin == Sin::circles_for_ever) owes = true;
    if (sin == Sin::grants_unasked && !owes) out.send(other(), {.kind = Message::Kind::ask});
  }
  void pass(Out& out) {
    owes = false;
    if (sin != Sin::loses_the_token)
      out.send(other(), {.kind = Message::Kind::token, .fence = fence});
    if (sin == Sin::doubles_the_token) return;
    token = false;
    fence = {};
  }
};

Options two_nodes(std::uint16_t requests = 1) {
  Options options;
  Random random(1);
  options.setup.father = fathers(Topology::line, 2, random);
  options.requests = requests;
  return options;
}

Result judged(Sin sin, std::uint16_t requests = 1) {
  auto options = two_nodes(requests);
  options.setup.departure = static_cast<std::uint8_t>(sin);
  return Explorer<Sinner>(options).run();
}

TEST(Canary, WithoutSinHolds) {
  const auto result = judged(Sin::none);
  EXPECT_EQ(result.verdict, Verdict::holds) << result.property << " " << result.explanation;
  EXPECT_TRUE(result.acyclic);
}
TEST(Canary, ExclusionIsNoticed) {
  const auto result = judged(Sin::lets_all_in);
  EXPECT_EQ(result.property, "exclusion");
  EXPECT_EQ(result.trace.size(), 2U);
}
TEST(Canary, DeadlockIsNoticed) {
  EXPECT_EQ(judged(Sin::lets_nobody_in).property, "deadlock");
  EXPECT_EQ(judged(Sin::forgets_one).property, "deadlock");
}
TEST(Canary, ALostTokenIsNoticed) { EXPECT_EQ(judged(Sin::loses_the_token).property, "token"); }
TEST(Canary, ASecondTokenIsNoticed) { EXPECT_EQ(judged(Sin::doubles_the_token).property, "token"); }
TEST(Canary, ARepeatedFenceIsNoticed) { EXPECT_EQ(judged(Sin::repeats_fences).property, "fence"); }
TEST(Canary, AMessageToNobodyIsNoticed) {
  EXPECT_EQ(judged(Sin::writes_to_nobody).property, "addressee");
}
TEST(Canary, AnEntryNobodyAskedForIsNoticed) {
  EXPECT_EQ(judged(Sin::grants_unasked).property, "addressee");
}
TEST(Canary, ABrokenInvariantIsNoticed) {
  const auto result = judged(Sin::breaks_its_word);
  EXPECT_EQ(result.property, "invariant");
  EXPECT_EQ(result.explanation, "node 1 never gets in");
}
TEST(Canary, ATokenThatCirclesIsNoEndButNoTrap) {
  const auto result = judged(Sin::circles_for_ever);
  EXPECT_EQ(result.verdict, Verdict::holds) << result.property << " " << result.explanation;
  EXPECT_FALSE(result.acyclic);
}

TEST(Canary, WhatANodeSeesToBeImpossibleIsNoticed) {
  auto options = two_nodes();
  options.faults.duplicates = 1;
  options.property = "assertion";
  const auto result = Explorer<NaimiTrehel>(options).run();
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_NE(result.explanation.find("requesting && !token"), std::string::npos)
      << result.explanation;
}

// It holds emptily if nobody ever asks: that is a violation too.
TEST(Canary, HoldingEmptilyIsNoticed) {
  auto options = two_nodes();
  options.requesters.insert(NodeId{7});
  const auto result = Explorer<NaimiTrehel>(options).run();
  EXPECT_EQ(result.property, "sometimes");
}

TEST(Canary, OnlyTheChosenPropertyIsLookedAt) {
  auto options = two_nodes();
  options.property = "fence";
  EXPECT_EQ(Explorer<Sinner>(options).run().verdict, Verdict::holds);
}

// Two nodes that serve themselves first starve the third: only an endless run shows it.
struct Greedy {
  static constexpr Info info{.name = "greedy"};
  struct Message {
    enum class Kind : std::uint8_t { ask, grant, back } kind = Kind::ask;
    Fence fence;
    static constexpr std::array<std::string_view, 3> kinds = {"ask", "grant", "back"};
    static constexpr std::array<std::string_view, 2> labels = {"kind", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  NodeId self, holder;
  NodeSet waiting;  // the smallest is served first
  Fence fence;
  static constexpr std::array<std::string_view, 3> labels = {"holder", "waiting", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(holder, waiting, fence); }
  bool operator==(const Greedy&) const = default;
  static Greedy resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Greedy node;
    node.self = self;
    if (self == NodeId{0}) node.fence = Fence::at(setup.epoch);
    return node;
  }
  void request(Demand, Out& out) { out.send(NodeId{0}, {.kind = Kind::ask}); }
  void release(Out& out) { out.send(NodeId{0}, {.kind = Kind::back}); }
  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind == Kind::grant) return out.grant(message.fence);
    if (message.kind == Kind::ask) waiting.insert(from);
    if (message.kind == Kind::back) holder = nobody;
    if (holder != nobody || waiting.empty()) return;
    waiting.for_each([&](NodeId node) {
      if (holder == nobody) holder = node;
    });
    waiting.erase(holder);
    fence = fence.next();
    out.send(holder, {.kind = Kind::grant, .fence = fence});
  }
};

TEST(Canary, StarvationIsNoticedInAnEndlessRunOnly) {
  Options options;
  Random random(1);
  options.setup.father = fathers(Topology::star, 4, random);
  for (std::size_t i = 1; i < 4; ++i) options.requesters.insert(NodeId{i});
  options.requests = 2;
  EXPECT_EQ(Explorer<Greedy>(options).run().verdict, Verdict::holds);
  options.forever = true;
  const auto result = Explorer<Greedy>(options).run();
  EXPECT_EQ(result.property, "starvation");
  EXPECT_GT(result.trace.size(), result.cycle_from);
  // On the cycle somebody else enters, and the starving node does nothing.
  bool others_enter = false;
  for (auto i = result.cycle_from; i < result.trace.size(); ++i) {
    others_enter = others_enter || result.trace[i].entered;
    EXPECT_NE(result.trace[i].node, NodeId{3});
  }
  EXPECT_TRUE(others_enter);
}

TEST(Limits, AreReportedAsLimits) {
  Options options;
  Random random(1);
  options.setup.father = fathers(Topology::line, 5, random);
  options.requests = 2;
  options.max_states = 1000;
  auto result = Explorer<NaimiTrehel>(options).run();
  EXPECT_EQ(result.verdict, Verdict::limit);
  EXPECT_EQ(result.property, "max-states");
  EXPECT_LT(result.states, 1100U);
  options.max_states = 1'000'000'000;
  options.max_bytes = 1000;
  result = Explorer<NaimiTrehel>(options).run();
  EXPECT_EQ(result.verdict, Verdict::limit);
  EXPECT_EQ(result.property, "memory");
}

TEST(Limits, ProgressIsReported) {
  Options options;
  Random random(1);
  options.setup.father = fathers(Topology::line, 5, random);
  options.requests = 2;
  options.max_states = 200'000;
  std::vector<Progress> reports;
  options.progress = [&](const Progress& progress) { reports.push_back(progress); };
  EXPECT_EQ(Explorer<NaimiTrehel>(options).run().verdict, Verdict::limit);
  ASSERT_FALSE(reports.empty());
  EXPECT_GT(reports.back().states, 65'536U);
}

}  // namespace
}  // namespace turno::check
