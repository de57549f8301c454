// Clients that enter rooms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::port {
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::HasSubstr;

class RoomsTest : public testing::Test {
 protected:
  [[nodiscard]] Caller caller(std::size_t node = 0, int protocol = 2) {
    return Caller(cluster_[node].self().client_address, protocol);
  }
  [[nodiscard]] bool waiting(std::int64_t count, std::size_t node = 0) {
    return eventually(
        [&] { return cluster_[node].daemon().rooms().statistics().waiters == count; });
  }
  static std::uint64_t fence_in(const wire::Reply& reply) {
    EXPECT_EQ(reply.kind, wire::Reply::Kind::integer) << text_of(reply);
    return static_cast<std::uint64_t>(reply.integer);
  }

  node::TestCluster cluster_{3};
};

TEST_F(RoomsTest, LetOneGroupInTogetherWithOneFence) {
  auto one = caller(0), same = caller(0), two = caller(1), other = caller(2);
  const auto fence = fence_in(one.call("ENTER hall red"));
  EXPECT_EQ(fence_in(same.call("ENTER hall red")), fence);
  EXPECT_EQ(fence_in(two.call("ENTER hall red")), fence);
  other.send("ENTER hall blue");
  ASSERT_TRUE(waiting(1, 2));
  EXPECT_EQ(one.ask("LEAVE hall"), "1");
  EXPECT_EQ(two.ask("LEAVE hall " + std::to_string(fence)), "1");
  EXPECT_EQ(two.ask("LEAVE hall"), "0");
  EXPECT_TRUE(waiting(1, 2));
  EXPECT_EQ(same.ask("LEAVE hall"), "1");
  EXPECT_GT(fence_in(other.read()), fence);
}

TEST_F(RoomsTest, AreReadersWritersLocksWithACapacity) {
  auto one = caller(0), two = caller(1), three = caller(2);
  const auto first = fence_in(one.call("ENTER book write CAPACITY 1"));
  two.send("ENTER book write CAPACITY 1");
  ASSERT_TRUE(waiting(1, 1));
  three.send("ENTER book read");
  ASSERT_TRUE(waiting(1, 2));
  // Which of two nodes is first is not promised: the second one's group is new.
  three.send("LEAVE book");
  EXPECT_EQ(one.ask("LEAVE book"), "1");
  const auto second = fence_in(two.read());
  EXPECT_GT(second, first);
  EXPECT_EQ(two.ask("LEAVE book"), "1");
  const auto third = fence_in(three.read());
  EXPECT_GT(third, first);
  EXPECT_NE(third, second);
}

TEST_F(RoomsTest, GrowForManyUsersOfOneNode) {
  std::deque<Caller> writers;
  for (int i = 0; i < 9; ++i) writers.emplace_back(cluster_[0].self().client_address, 2);
  for (auto& writer : writers) writer.send("ENTER pool swim CAPACITY 5");
  for (int i = 0; i < 5; ++i) fence_in(writers[static_cast<std::size_t>(i)].read());
  EXPECT_TRUE(waiting(4));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(writers[static_cast<std::size_t>(i)].ask("LEAVE pool"), "1");
    fence_in(writers[static_cast<std::size_t>(i) + 5].read());
  }
}

TEST_F(RoomsTest, ATryFailsWhileAnotherGroupIsInside) {
  auto one = caller(0), two = caller(1);
  fence_in(one.call("ENTER hall red TIMEOUT 0"));
  EXPECT_EQ(two.ask("ENTER hall blue TIMEOUT 0"), "null");
  EXPECT_EQ(two.ask("ENTER hall blue TIMEOUT 30"), "null");
  EXPECT_TRUE(waiting(0, 1));
  fence_in(two.call("ENTER hall red TIMEOUT 1000"));
}

TEST_F(RoomsTest, HowManyMayBeInsideIsSaidOnceAndKept) {
  auto one = caller(0), two = caller(1);
  fence_in(one.call("ENTER hall red CAPACITY 2"));
  EXPECT_EQ(two.ask("ENTER hall red CAPACITY 3"),
            "-ERR of group 'red' of room 'hall' 2 may be inside as long as it is in use, not 3");
  fence_in(two.call("ENTER hall red"));
  EXPECT_EQ(one.ask("LEAVE hall"), "1");
  for (const auto* wrong :
       {"ENTER", "ENTER hall", "ENTER hall red CAPACITY 0", "ENTER hall red CAPACITY 65536",
        "ENTER hall red CAPACITY", "ENTER hall red CAPACITY 2 CAPACITY 2", "ENTER hall red TTL 0",
        "ENTER hall red SOON", "LEAVE hall x"})
    EXPECT_THAT(one.ask(wrong), testing::StartsWith("-ERR")) << wrong;
}

// One group too many: one of those who wait is told so.
TEST_F(RoomsTest, HaveSoManyGroupsAndNoMore) {
  auto one = caller(0);
  fence_in(one.call("ENTER hall g0"));
  std::deque<Caller> others;
  for (std::size_t i = 1; i <= cluster::most_groups; ++i) {
    others.emplace_back(cluster_[i % 3].self().client_address, 2);
    others.back().send("ENTER hall g" + std::to_string(i));
  }
  ASSERT_TRUE(eventually([&] {
    std::int64_t waiters = 0, settled = 0;
    for (std::size_t node = 0; node < 3; ++node) {
      const auto& statistics = cluster_[node].daemon().rooms().statistics();
      waiters += statistics.waiters;
      settled += static_cast<std::int64_t>(statistics.refused);
    }
    return waiters == static_cast<std::int64_t>(cluster::most_groups) - 1 && settled == 1;
  }));
  EXPECT_EQ(one.ask("LEAVE hall"), "1");
  for (auto& other : others) other.send("LEAVE hall");  // pipelined: behind its entry
  std::size_t refused = 0;
  for (auto& other : others) {
    const auto reply = other.read();
    const bool in = reply.kind == wire::Reply::Kind::integer;
    if (!in) {
      EXPECT_THAT(text_of(reply), HasSubstr("-ERR room 'hall' has 64 groups already"));
    }
    refused += in ? 0 : 1;
    EXPECT_EQ(text_of(other.read()), in ? "1" : "0");
  }
  EXPECT_EQ(refused, 1U);
  fence_in(caller(1).call("ENTER hall another"));
}

// All at one node, whose first 64 wishes the others know.
TEST_F(RoomsTest, WhoComesWithOneGroupTooManyIsRefusedWhereverTheOthersWait) {
  auto one = caller(1);
  fence_in(one.call("ENTER hall g0"));
  std::deque<Caller> others;
  for (std::size_t i = 1; i <= cluster::most_groups + 2; ++i) {
    others.emplace_back(cluster_[0].self().client_address, 2);
    others.back().send("ENTER hall g" + std::to_string(i));
  }
  const auto& statistics = cluster_[0].daemon().rooms().statistics();
  EXPECT_TRUE(eventually([&] { return statistics.refused == 3; }));
  EXPECT_EQ(statistics.waiters, 63);
  EXPECT_EQ(one.ask("LEAVE hall"), "1");
  for (auto& other : others) other.send("LEAVE hall");
  std::size_t refused = 0;
  for (auto& other : others) refused += other.read().kind == wire::Reply::Kind::error ? 1U : 0U;
  EXPECT_EQ(refused, 3U);
}

// All visits of a session have one fence.
TEST_F(RoomsTest, AreLeftByTheVisitWhoseTimeIsOver) {
  auto one = caller(0), two = caller(1);
  fence_in(one.call("ENTER hall red TTL 400"));
  fence_in(one.call("ENTER hall red TTL 100"));
  EXPECT_EQ(two.ask("ENTER hall blue TIMEOUT 200"), "null") << "the first visit lasts longer";
  fence_in(two.call("ENTER hall blue TIMEOUT 5000"));
  EXPECT_EQ(one.ask("LEAVE hall"), "0");
}

TEST_F(RoomsTest, AreLeftWhenTheSessionOrTheTimeEnds) {
  auto two = caller(1), heard = caller(0, 3);
  {
    auto one = caller(0);
    fence_in(one.call("ENTER hall red"));
    two.send("ENTER hall blue");
    ASSERT_TRUE(waiting(1, 1));
  }
  fence_in(two.read());
  EXPECT_EQ(two.ask("LEAVE hall"), "1");
  fence_in(heard.call("ENTER hall red TTL 50"));
  EXPECT_EQ(heard.ask("RENEW hall 60"), "1");
  fence_in(two.call("ENTER hall blue"));
  EXPECT_THAT(text_of(heard.read()), HasSubstr("its time to live ran out"));
  EXPECT_EQ(heard.ask("RENEW hall 60"), "0");
}

TEST_F(RoomsTest, WhoIsInsideIsKnown) {
  auto one = caller(0), two = caller(1), asks = caller(2, 3);
  fence_in(one.call("ENTER hall red"));
  fence_in(two.call("ENTER hall red"));
  auto waits = caller(2);
  waits.send("ENTER hall blue");
  ASSERT_TRUE(waiting(1, 2));
  EXPECT_THAT(asks.ask("WHO hall"),
              testing::AllOf(HasSubstr(R"("kind": "room")"), HasSubstr(R"("inside": 2)"),
                             HasSubstr(R"("waiting": 1)"), HasSubstr(R"("group": "red")")));
  EXPECT_THAT(asks.ask("WAITERS hall"), HasSubstr(R"("position": 1, "group": "blue")"));
  EXPECT_THAT(asks.ask("LOCKS"), HasSubstr(R"([{"name": "hall", "kind": "room", "inside": 2)"));
}

// Where somebody that crashed may have been inside, nobody of another group gets in until the delay
// is over; the living stay where they are.
TEST_F(RoomsTest, AreKeptForTheDeadForAWhile) {
  auto one = caller(0), two = caller(1);
  const auto fence = fence_in(one.call("ENTER hall red"));
  EXPECT_EQ(fence_in(two.call("ENTER hall red")), fence);
  cluster_.crash(0);
  auto three = caller(2);
  EXPECT_EQ(fence_in(three.call("ENTER hall red")), fence) << "they are inside together";
  EXPECT_EQ(two.ask("LEAVE hall " + std::to_string(fence)), "1");
  EXPECT_EQ(three.ask("LEAVE hall"), "1");
  EXPECT_EQ(three.ask("ENTER hall blue TIMEOUT 0"), "null");
  EXPECT_GT(fence_in(three.call("ENTER hall blue")), fence);
}

TEST_F(RoomsTest, AreForgottenWhenNobodyUsesThem) {
  auto one = caller(0);
  fence_in(one.call("ENTER hall red CAPACITY 2"));
  EXPECT_EQ(one.ask("LEAVE hall"), "1");
  EXPECT_TRUE(eventually([&] {
    std::size_t known = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      auto& rooms = cluster_[i].daemon().rooms();
      rooms.retire_idle(table::Clock::now() + 1h, 10);
      known += rooms.size();
    }
    return known == 0;
  }));
  fence_in(one.call("ENTER hall red CAPACITY 3"));
}

}  // namespace
}  // namespace turno::port
