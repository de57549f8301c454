#include "sim/cost_clocks.h"

#include <gtest/gtest.h>

#include "core/node_ids_testing.h"

namespace turno::sim {
namespace {

TEST(CriticalPath, IsTheLongestChain) {
  CriticalPath left, right, end;
  left.observe(5);
  end.observe(left.after(10));
  end.observe(right.after(12));
  EXPECT_EQ(end.now(), 15);
  EXPECT_EQ(right.now(), 0) << "sending costs the sender nothing";
}

TEST(Odometer, CountsSinceTheLastVisit) {
  Odometer token(3);
  token.travel(10);
  EXPECT_EQ(token.visit(b), 10);
  token.travel(1);
  EXPECT_EQ(token.visit(c), 11);
  token.travel(1);
  EXPECT_EQ(token.visit(b), 2);
}

TEST(ChainDistance, OfATokenThatWasUsedIncludesItsUsersChain) {
  ChainDistance first, second;
  first.observe(7);
  second.observe(first.payment(10));
  second.observe(first.answer(12));
  EXPECT_EQ(second.distance(), 17);
  second.begin_request();
  EXPECT_EQ(second.distance(), 0);
}

// A token goes round among three. The odometer says 3 hops; the printed clock remembers a before b
// has reset its own entry.
TEST(PrintedClock, ResurrectsWhatWasReset) {
  std::vector<PrintedClock> nodes(3, PrintedClock(3));
  Odometer token(3);
  Time printed = 0, corrected = 0;
  const NodeId route[] = {b, a, c, a, b, c, b};
  NodeId at = a;
  for (const auto to : route) {
    token.travel(1);
    corrected = token.visit(to);
    printed = nodes[to.index()].receive(to, nodes[at.index()].send(1));
    at = to;
  }
  EXPECT_EQ(corrected, 2);
  EXPECT_GT(printed, corrected);
}

TEST(PrintedClock, CountsParallelMessagesInARow) {
  PrintedClock sender(3);
  sender.send(10);
  EXPECT_EQ(sender.send(10)[2], 20);
}

}  // namespace
}  // namespace turno::sim
