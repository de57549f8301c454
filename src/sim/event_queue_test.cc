// The two event queues against a sorted list.
#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <list>

#include "core/random.h"

namespace turno::sim {
namespace {

template <class Queue>
class EventQueues : public ::testing::Test {};
using Queues = ::testing::Types<FourAryHeap, RadixHeap>;
TYPED_TEST_SUITE(EventQueues, Queues);

TYPED_TEST(EventQueues, PopInTheOrderOfTimeThenOfInsertion) {
  TypeParam queue;
  std::list<Ticket> twin;  // kept sorted; equal times in the order of insertion
  Random random(1);
  Time now = 0;
  std::uint32_t next = 0;
  for (int i = 0; i < 200'000; ++i) {
    if (twin.empty() || random.below(100) < (twin.size() < 50 ? 60 : 40)) {
      // Often the same time as another event, sometimes now, sometimes far away.
      const Time delays[] = {0, static_cast<Time>(random.below(5)),
                             static_cast<Time>(random.below(1000)), Time{1} << random.below(50)};
      const auto time = now + delays[random.below(4)];
      auto at = twin.end();
      while (at != twin.begin() && std::prev(at)->time > time) --at;
      twin.insert(at, {time, next});
      queue.push(time, next++);
    } else {
      const auto got = queue.pop();
      ASSERT_EQ(got.time, twin.front().time);
      ASSERT_EQ(got.slot, twin.front().slot);
      now = got.time;
      twin.pop_front();
    }
    ASSERT_EQ(queue.empty(), twin.empty());
  }
}

TEST(EventQueue, KeepsEventsByValueAndReusesTheirPlaces) {
  for (const std::size_t pending : {10UL, 10'000UL}) {  // either queue
    EventQueue<std::string> queue(pending);
    for (int i = 0; i < 1000; ++i) {
      queue.push(i, "first " + std::to_string(i));
      queue.push(i, "second " + std::to_string(i));
      EXPECT_EQ(queue.pop(), std::pair(Time{i}, "first " + std::to_string(i)));
      EXPECT_EQ(queue.pop().second, "second " + std::to_string(i));
    }
    EXPECT_TRUE(queue.empty());
  }
}

}  // namespace
}  // namespace turno::sim
