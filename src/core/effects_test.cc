#include "core/effects.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/node_ids_testing.h"

namespace turno {
namespace {

using Out = Effects<int>;

TEST(Effects, AreEmptyAtFirst) {
  const Out out;
  EXPECT_TRUE(out.sends().empty());
  EXPECT_FALSE(out.granted());
}

TEST(Effects, RecordSendsInTheirOrder) {
  Out out;
  out.send(b, 7);
  out.broadcast(8);
  out.send(a, 9);
  ASSERT_EQ(out.sends().size(), 3U);
  EXPECT_EQ(out.sends()[0], (Out::Send{b, 7}));
  EXPECT_EQ(out.sends()[1], (Out::Send{Out::everyone, 8}));
  EXPECT_EQ(out.sends()[2], (Out::Send{a, 9}));
}

TEST(Effects, KeepMoreThanFitsInline) {
  Out out;
  for (int i = 0; i < 100; ++i) out.send(a, i);
  ASSERT_EQ(out.sends().size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(out.sends()[static_cast<std::size_t>(i)].message, i);
}

TEST(Effects, RememberTheGrant) {
  Out out;
  out.grant(Fence::at(1, 5));
  EXPECT_EQ(out.granted(), Fence::at(1, 5));
}

TEST(Effects, AreValues) {
  Out one, other;
  one.send(b, 7);
  EXPECT_NE(one, other);
  other.send(b, 7);
  EXPECT_EQ(one, other);
  one.grant(Fence::at(1));
  EXPECT_NE(one, other);
  one.clear();
  EXPECT_EQ(one, Out{});
}

TEST(Effects, SpellBroadcastsOut) {
  Out out;
  out.send(b, 7);
  out.broadcast(8);
  std::vector<std::pair<NodeId, int>> seen;
  out.for_each_send(b, 3, [&](NodeId to, int message) { seen.emplace_back(to, message); });
  const std::vector<std::pair<NodeId, int>> expected = {{b, 7}, {NodeId{0}, 8}, {NodeId{2}, 8}};
  EXPECT_EQ(seen, expected) << "to everybody but the sender, in order";
}

TEST(Effects, TellABroadcastFromNobodyAndFromEveryNode) {
  EXPECT_NE(Out::everyone, nobody);
  EXPECT_GT(Out::everyone, NodeId{10'000'000});
}

TEST(EffectsDeathTest, GrantAtMostOnceInAStep) {
  Out out;
  out.grant(Fence::at(1, 1));
  EXPECT_DEATH(out.grant(Fence::at(1, 2)), "!grant_");
}

}  // namespace
}  // namespace turno
