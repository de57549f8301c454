// The door through which every driver feeds a protocol.
#include "core/protocol.h"

#include <gtest/gtest.h>

#include <vector>

namespace turno {
namespace {

// Writes down what it is asked to do.
template <bool Starts>
struct Diary {
  static constexpr Info info{.name = "diary"};
  struct Message {
    enum class Kind : std::uint8_t { note } kind = Kind::note;
    int page = 0;
    static constexpr std::array<std::string_view, 1> kinds = {"note"};
    static constexpr std::array<std::string_view, 2> labels = {"kind", "page"};
    [[nodiscard]] auto fields() const { return std::tie(kind, page); }
    bool operator==(const Message&) const = default;
  };
  using Out = Effects<Message>;

  std::vector<int> pages;
  static constexpr std::array<std::string_view, 1> labels = {"pages"};
  [[nodiscard]] auto fields() const { return std::tie(pages); }
  bool operator==(const Diary&) const = default;

  static Diary resume(const Setup&, NodeId, std::span<const Holding>) { return {}; }
  void start(Out& out) requires Starts { out.broadcast({.page = 1}); }
  void request(Demand, Out& out) { out.grant(Fence::at(1, 2)); }
  void release(Out& out) { out.send(NodeId{3}, {.page = 3}); }
  void receive(NodeId from, const Message& message, Out&) {
    pages.push_back(static_cast<int>(from.value) * 100 + message.page);
  }
};
using Starter = Diary<true>;
using Waiter = Diary<false>;
static_assert(Protocol<Starter> && Protocol<Waiter>);

template <class P>
typename P::Out after(P& node, const Input<typename P::Message>& input) {
  typename P::Out out;
  step(node, input, out);
  return out;
}

template <class P>
using KindOf = typename Input<typename P::Message>::Kind;

TEST(Step, StartsAProtocolThatActsUnasked) {
  Starter node;
  Starter::Out expected;
  expected.broadcast({.page = 1});
  EXPECT_EQ(after(node, {.kind = KindOf<Starter>::start}), expected);
}

TEST(Step, IgnoresTheStartOfAProtocolThatWaits) {
  Waiter node;
  EXPECT_EQ(after(node, {.kind = KindOf<Waiter>::start}), Waiter::Out{});
  EXPECT_EQ(node, Waiter{});
}

TEST(Step, CarriesTheWishAndTheFarewellOfTheUser) {
  Waiter node;
  EXPECT_EQ(after(node, {.kind = KindOf<Waiter>::request}).granted(), Fence::at(1, 2));
  Waiter::Out expected;
  expected.send(NodeId{3}, {.page = 3});
  EXPECT_EQ(after(node, {.kind = KindOf<Waiter>::release}), expected);
}

TEST(Step, DeliversAMessageWithItsSender) {
  Waiter node;
  EXPECT_EQ(
      after(node, {.kind = KindOf<Waiter>::receive, .from = NodeId{4}, .message = {.page = 5}}),
      Waiter::Out{});
  EXPECT_EQ(node.pages, std::vector<int>{405});
}

TEST(Step, ReplaysAListOfInputsToTheSameState) {
  using Kind = KindOf<Waiter>;
  const std::vector<Input<Waiter::Message>> trace = {
      {.kind = Kind::request},
      {.kind = Kind::receive, .from = NodeId{1}, .message = {.page = 1}},
      {.kind = Kind::release},
      {.kind = Kind::receive, .from = NodeId{2}, .message = {.page = 9}}};
  Waiter first, second;
  for (const auto& input : trace) after(first, input);
  for (const auto& input : trace) after(second, input);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.pages, (std::vector<int>{101, 209}));
}

TEST(NodeId, IsNobodyUntilItIsSomebody) {
  EXPECT_EQ(NodeId{}, nobody);
  EXPECT_NE(NodeId{0}, nobody);
  EXPECT_LT(NodeId{2}, NodeId{10});
  EXPECT_EQ(NodeId{7}.index(), 7U);
}

}  // namespace
}  // namespace turno
