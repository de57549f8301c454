#include "catalogue/crashes.h"

#include <gtest/gtest.h>

#include "catalogue/system.h"

namespace turno {
namespace {

std::string refusal(const auto& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Crashes, AreReadInTheOrderOfTime) {
  const auto crashes = parse_moments("10s:2,500ms:0", 3);
  ASSERT_EQ(crashes.size(), 2);
  EXPECT_EQ(crashes[0].time, 500'000'000);
  EXPECT_EQ(crashes[0].node, NodeId{0});
  EXPECT_EQ(crashes[1].node, NodeId{2});
}

TEST(Crashes, ComeOneByOneUpOrDown) {
  const auto down = crashes_in_order(5'000'000'000, "15..13", 16);
  ASSERT_EQ(down.size(), 3);
  EXPECT_EQ(down[0].node, NodeId{15});
  EXPECT_EQ(down[2].node, NodeId{13});
  EXPECT_EQ(down[2].time, 15'000'000'000);
  EXPECT_EQ(crashes_in_order(1, "1..3", 4)[1].node, NodeId{2});
  EXPECT_EQ(crashes_in_order(1, "3,0", 4)[1].node, NodeId{0});
}

TEST(Crashes, OfUnknownNodesAreRefused) {
  EXPECT_EQ(refusal([] { parse_moments("1s:3", 3); }),
            "node 3 in '3' does not exist: the nodes are 0 to 2");
  EXPECT_EQ(refusal([] { parse_moments("1s", 3); }), "'1s' is not TIME:NODE, as in 5s:3");
  EXPECT_EQ(refusal([] { parse_moments("1s:0-1", 3); }),
            "'0-1' is not one node; give one for each crash");
  EXPECT_EQ(refusal([] { crashes_in_order(0, "1", 3); }), "--crash-every is a time above 0");
}

TEST(Crashes, OnlyTheLivingCrashAndOnlyTheDeadRecover) {
  const auto crashes = parse_moments("1s:0,2s:0", 3);
  EXPECT_EQ(refusal([&] { refuse_impossible(crashes, {}); }),
            "node 0 cannot crash at 2s: it has crashed already");
  EXPECT_NO_THROW(refuse_impossible(crashes, parse_moments("1.5s:0", 3)));
  EXPECT_EQ(refusal([&] { refuse_impossible({}, parse_moments("1s:1", 3)); }),
            "node 1 cannot recover at 1s: it has not crashed");
}

}  // namespace
}  // namespace turno
