#include "core/clock/vector_clock.h"

#include <gtest/gtest.h>

#include "core/clock/lamport_clock.h"
#include "core/node_ids_testing.h"
#include "core/random.h"

namespace turno {
namespace {

TEST(VectorClock, OrdersWhatAMessageConnects) {
  VectorClock sender(2), receiver(2);
  sender.tick(a);
  const auto sent = sender;
  receiver.tick(b);
  const auto earlier = receiver;
  receiver.observe(sent);
  receiver.tick(b);
  EXPECT_TRUE(sent.before(receiver));
  EXPECT_TRUE(earlier.before(receiver));
  EXPECT_FALSE(receiver.before(sent));
  EXPECT_TRUE(sent.concurrent(earlier));
  EXPECT_FALSE(sent.before(sent));
  EXPECT_FALSE(sent.concurrent(sent));
}

// Random messages among three: the order is exactly reachability, and a Lamport clock respects it.
TEST(VectorClock, KnowsExactlyWhatHappenedBefore) {
  struct Event {
    NodeId node;
    VectorClock clock;
    std::uint64_t lamport;
    std::vector<bool> past;  // which events happened before
  };
  Random random(3);
  std::vector<Event> events;
  std::vector<VectorClock> clocks(3, VectorClock(3));
  std::vector<LamportClock> lamports(3);
  std::vector<std::size_t> last(3, SIZE_MAX);
  for (std::size_t i = 0; i < 200; ++i) {
    const NodeId node{random.below(3)};
    Event event{node, {}, 0, std::vector<bool>(200)};
    const auto inherit = [&](std::size_t from) {
      event.past[from] = true;
      for (std::size_t k = 0; k < i; ++k)
        if (events[from].past[k]) event.past[k] = true;
    };
    if (last[node.index()] != SIZE_MAX) inherit(last[node.index()]);
    if (!events.empty() && random.below(2) == 0) {
      const auto from = random.below(events.size());
      clocks[node.index()].observe(events[from].clock);
      lamports[node.index()].observe(events[from].lamport);
      inherit(from);
    }
    clocks[node.index()].tick(node);
    event.clock = clocks[node.index()];
    event.lamport = lamports[node.index()].tick();
    last[node.index()] = i;
    events.push_back(event);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      EXPECT_EQ(events[k].clock.before(events[i].clock), events[i].past[k]);
      if (events[i].past[k]) {
        EXPECT_LT(events[k].lamport, events[i].lamport);
      }
    }
  }
  EXPECT_TRUE(events.front().clock.of(c) <= 1);
}

}  // namespace
}  // namespace turno
