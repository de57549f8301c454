// Rooms and shared mutexes from C++, at real nodes.
#include "turno/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "node/cluster_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class RoomTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Client> client(std::size_t node = 0) {
    return *Client::connect(cluster_[node].self().client_address);
  }
  static Request to(std::string group, std::chrono::milliseconds timeout = 5s) {
    Request request;
    request.timeout = timeout;
    request.group = std::move(group);
    return request;
  }
  node::TestCluster cluster_{2};
};

TEST_F(RoomTest, OfOneGroupManyAreInside) {
  const auto one = client(), two = client(1);
  Room room(*one, "hall"), same(*two, "hall");
  auto first = room.enter("red");
  ASSERT_TRUE(first) << first.error().message;
  auto again = room.enter("red");
  auto second = same.enter("red");
  ASSERT_TRUE(again && second);
  EXPECT_EQ(second->fence(), first->fence());
  EXPECT_EQ(again->fence(), first->fence());
  EXPECT_EQ(same.acquire(to("blue", 20ms)).error().code, Error::Code::timeout);
  first->release();
  again->release();
  EXPECT_EQ(room.acquire(to("blue", 0ms)).error().code, Error::Code::timeout);
  second->release();
  auto other = same.acquire(to("blue"));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->lost());
  EXPECT_EQ(other->name(), "hall");
}

TEST_F(RoomTest, SaysWhatCannotBe) {
  const auto one = client();
  Room room(*one, "hall");
  auto limited = to("red");
  limited.of = 2;
  const auto first = room.acquire(limited);
  limited.of = 3;
  const auto wrong = room.acquire(limited);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Error::Code::refused);
  EXPECT_THAT(wrong.error().message, HasSubstr("2 may be inside"));
  EXPECT_THAT(room.enter("").error().message, HasSubstr("room 'hall'"));
  EXPECT_THAT(Room(*one, "").enter("red").error().message, HasSubstr("a room needs a name"));
}

// A visit whose time is over is lost; those of others of the same client, with the same fence, are
// not.
TEST_F(RoomTest, EachVisitIsLostByItself) {
  const auto one = client();
  Room room(*one, "hall");
  const auto stays = room.enter("red");
  auto brief = to("red");
  brief.ttl = 50ms;
  const auto goes = room.acquire(brief);
  ASSERT_TRUE(stays && goes);
  EXPECT_EQ(stays->fence(), goes->fence());
  for (int i = 0; i < 500 && !stays->lost() && !goes->lost(); ++i)
    std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(goes->lost() != stays->lost()) << "one of the two";
}

TEST_F(RoomTest, ASharedMutexIsLikeThatOfTheStandard) {
  const auto one = client(), two = client(1);
  SharedMutex mine(*one, "book"), others(*two, "book");
  {
    const std::shared_lock read(mine), also(others);
    EXPECT_FALSE(mine.try_lock());
    EXPECT_FALSE(others.try_lock_for(20ms));
    EXPECT_TRUE(others.try_lock_shared());
    others.unlock_shared();
  }
  {
    const std::unique_lock write(mine);
    EXPECT_FALSE(others.try_lock_shared());
    EXPECT_FALSE(others.try_lock());
  }
  EXPECT_TRUE(others.try_lock_shared_until(std::chrono::steady_clock::now() + 5s));
  others.unlock_shared();
  others.unlock_shared();  // more than was locked
  auto write = others.acquire(Request{.timeout = 5s});
  ASSERT_TRUE(write);
  EXPECT_EQ(mine.acquire_shared(Request{.timeout = 20ms}).error().code, Error::Code::timeout);
}

}  // namespace
}  // namespace turno
