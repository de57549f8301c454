#include "wire/receive_buffer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace turno::wire {
namespace {

TEST(ReceiveBuffer, KeepsConsumedBytesUntilItIsWrittenTo) {
  ReceiveBuffer buffer;
  buffer.append("abc");
  const auto seen = buffer.readable();
  buffer.consume(3);
  EXPECT_EQ(seen, "abc");
  EXPECT_EQ(buffer.readable(), "");
}

TEST(ReceiveBuffer, UsesItsRoomAgain) {
  ReceiveBuffer buffer;
  buffer.prepare(1000);
  for (int i = 0; i < 10'000; ++i) {
    buffer.append("0123456789");
    if (i > 0) buffer.consume(10);  // ten bytes always wait
  }
  EXPECT_EQ(buffer.readable(), "0123456789");
  EXPECT_EQ(buffer.capacity(), 1000U);
}

TEST(ReceiveBuffer, GrowsByMoreThanItIsAskedFor) {
  ReceiveBuffer buffer;
  std::size_t allocations = 0;
  for (std::size_t i = 0, before = 0; i < 100'000; ++i) {
    buffer.append("x");
    if (buffer.capacity() != before) ++allocations;
    before = buffer.capacity();
  }
  EXPECT_LT(allocations, 20U);
}

TEST(ReceiveBuffer, GivesBackWhatAnExceptionTook) {
  ReceiveBuffer buffer;
  buffer.append(std::string(1 << 20, 'x'));
  buffer.consume(1 << 20);
  buffer.prepare(100);
  EXPECT_EQ(buffer.capacity(), ReceiveBuffer::kept);
}

// The dumb twin is a string.
RC_GTEST_PROP(ReceiveBuffer, IsAQueueOfBytes,
              (std::vector<std::pair<std::string, unsigned>> steps)) {
  ReceiveBuffer buffer;
  std::string twin;
  for (const auto& [bytes, number] : steps) {
    buffer.append(bytes);
    twin += bytes;
    RC_ASSERT(buffer.readable() == twin);
    const auto size = number % (twin.size() + 1);
    buffer.consume(size);
    twin.erase(0, size);
    RC_ASSERT(buffer.readable() == twin);
  }
}

}  // namespace
}  // namespace turno::wire
