#include "core/container/queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "core/node_id.h"

namespace turno {
namespace {

struct Operation {
  enum class Kind { push, pop, append, clear } kind = Kind::push;
  int value = 0;
  std::vector<int> values;
};

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  constexpr const char* names[] = {"push", "pop", "append", "clear"};
  return out << names[static_cast<int>(operation.kind)] << " " << operation.value << " and "
             << operation.values.size() << " more";
}

rc::Gen<Operation> any_operation() {
  using Kind = Operation::Kind;
  const auto small = rc::gen::inRange(0, 5);
  return rc::gen::build<Operation>(
      rc::gen::set(&Operation::kind,
                   rc::gen::weightedElement<Kind>(
                       {{10, Kind::push}, {8, Kind::pop}, {3, Kind::append}, {1, Kind::clear}})),
      rc::gen::set(&Operation::value, small),
      rc::gen::set(&Operation::values, rc::gen::container<std::vector<int>>(small)));
}

// The dumb twin of the queue is a std::deque.
void apply(const Operation& operation, Queue<int>& queue, std::deque<int>& twin) {
  switch (operation.kind) {
    case Operation::Kind::push:
      queue.push(operation.value);
      twin.push_back(operation.value);
      break;
    case Operation::Kind::pop:
      if (twin.empty()) break;
      RC_ASSERT(queue.pop() == twin.front());
      twin.pop_front();
      break;
    case Operation::Kind::append:
      queue.append(operation.values);
      twin.insert(twin.end(), operation.values.begin(), operation.values.end());
      break;
    case Operation::Kind::clear:
      queue.clear();
      twin.clear();
      break;
  }
}

RC_GTEST_PROP(Queue, BehavesLikeADeque, ()) {
  Queue<int> queue;
  std::deque<int> twin;
  for (const auto& operation : *rc::gen::container<std::vector<Operation>>(any_operation())) {
    apply(operation, queue, twin);
    RC_ASSERT(queue.size() == twin.size());
    RC_ASSERT(queue.empty() == twin.empty());
    RC_ASSERT(std::equal(queue.begin(), queue.end(), twin.begin(), twin.end()));
    for (int value = 0; value < 5; ++value)
      RC_ASSERT(queue.contains(value) ==
                (std::find(twin.begin(), twin.end(), value) != twin.end()));
    if (twin.empty()) continue;
    RC_ASSERT(queue.front() == twin.front());
    RC_ASSERT(queue.back() == twin.back());
  }
}

RC_GTEST_PROP(Queue, IsEqualToAnotherWithTheSameElements, ()) {
  Queue<int> queue;
  std::deque<int> twin;
  for (const auto& operation : *rc::gen::container<std::vector<Operation>>(any_operation()))
    apply(operation, queue, twin);
  Queue<int> rebuilt;  // its past is shorter: what was popped must not count
  rebuilt.append(twin);
  RC_ASSERT(queue == rebuilt);
  rebuilt.push(7);
  RC_ASSERT(!(queue == rebuilt));
}

TEST(Queue, ServesInOrderThroughManyPops) {
  Queue<int> queue;
  for (int i = 0; i < 1000; ++i) queue.push(i);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(queue.front(), i);
    ASSERT_EQ(queue.back(), 999);
    ASSERT_EQ(queue.pop(), i);
    ASSERT_FALSE(queue.contains(i)) << "what was popped is gone";
  }
  EXPECT_TRUE(queue.empty());
}

// Counts its living copies.
struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
  bool operator==(const Counted&) const = default;
};

TEST(Queue, ForgetsWhatWasPoppedEvenIfItIsNeverEmpty) {
  Queue<Counted> queue{Counted{}, Counted{}};
  for (int i = 0; i < 10'000; ++i) {
    queue.push(Counted{});
    queue.pop();
    ASSERT_LT(Counted::alive, 40) << "after " << i << " rounds";
  }
  EXPECT_EQ(queue.size(), 2U);
}

TEST(Queue, LetsItsLastElementBeChanged) {
  Queue<std::string> queue{"a", "b"};
  queue.back() = "c";
  EXPECT_EQ(queue, (Queue<std::string>{"a", "c"}));
}

TEST(Queue, TellsOrderApart) {
  EXPECT_NE((Queue<int>{1, 2}), (Queue<int>{2, 1}));
  EXPECT_NE((Queue<int>{1}), (Queue<int>{1, 1}));
}

TEST(QueueDeathTest, HasNothingToGiveWhenEmpty) {
  Queue<int> queue{1};
  queue.pop();
  EXPECT_DEATH(queue.pop(), "!empty");
  EXPECT_DEATH((void)queue.front(), "!empty");
  EXPECT_DEATH((void)queue.back(), "!empty");
}

}  // namespace
}  // namespace turno
