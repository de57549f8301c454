// Clients that lock, wait, lose and vanish.
#include "port/resp/clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ClientsTest : public testing::Test {
 protected:
  explicit ClientsTest(std::size_t size = 1) : cluster_(size) {}

  [[nodiscard]] Caller caller(std::size_t node = 0, int protocol = 2) {
    return Caller(cluster_[node].self().client_address, protocol);
  }
  // Until so many wait at this node.
  [[nodiscard]] bool waiting(std::int64_t count, std::size_t node = 0) {
    return eventually([&] { return cluster_[node].locks().statistics().waiters == count; });
  }
  [[nodiscard]] bool holding(std::int64_t count, std::size_t node = 0) {
    return eventually([&] { return cluster_[node].locks().statistics().holders == count; });
  }

  TestCluster cluster_;
};

class ThreeNodes : public ClientsTest {
 protected:
  ThreeNodes() : ClientsTest(3) {}
};

// ---- order

TEST_F(ClientsTest, ManyCommandsAtOnce) {
  auto one = caller();
  std::string bytes;
  for (int i = 0; i < 500; ++i)
    bytes += Caller::request("LOCK a") + Caller::request("UNLOCK a") +
             Caller::request("PING " + std::to_string(i));
  one.send_bytes(bytes);
  std::int64_t last = 0;
  for (int i = 0; i < 500; ++i) {
    const auto fence = one.read();
    ASSERT_GT(fence.integer, last);
    last = fence.integer;
    ASSERT_EQ(one.read_text(), "1");
    ASSERT_EQ(one.read_text(), '"' + std::to_string(i) + '"');
  }
}

TEST_F(ClientsTest, RepliesKeepTheOrderOfTheCommandsWhileOneWaits) {
  auto holder = caller(), one = caller();
  holder.lock("a");
  one.send_bytes(Caller::request("PING 1") + Caller::request("LOCK a") + Caller::request("PING 2") +
                 Caller::request("WHO a") + Caller::request("LOCK b") + Caller::request("PING 3"));
  EXPECT_EQ(one.read_text(), "\"1\"");
  EXPECT_TRUE(waiting(1));
  EXPECT_TRUE(one.is_silent());
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_EQ(one.read().kind, wire::Reply::Kind::integer);
  EXPECT_EQ(one.read_text(), "\"2\"");
  EXPECT_THAT(one.read_text(), HasSubstr("\"node\", \"n1\""));
  EXPECT_EQ(one.read().kind, wire::Reply::Kind::integer);
  EXPECT_EQ(one.read_text(), "\"3\"");
}

TEST_F(ClientsTest, ClientsAreServedInTheOrderInWhichTheyCame) {
  auto holder = caller();
  auto last = holder.lock("a");
  std::vector<Caller> queue;
  for (int i = 0; i < 40; ++i) {
    queue.push_back(caller());
    queue.back().send("LOCK a");
    ASSERT_TRUE(waiting(i + 1));
  }
  holder.ask("UNLOCK a");
  for (auto& next : queue) {
    const auto fence = next.read();
    ASSERT_EQ(fence.kind, wire::Reply::Kind::integer);
    EXPECT_GT(fence.integer, last);
    last = fence.integer;
    EXPECT_EQ(next.ask("UNLOCK a"), "1");
  }
}

// ---- time

TEST_F(ClientsTest, AWaitEndsWithItsTimeAndLeavesNothing) {
  auto holder = caller(), one = caller();
  holder.lock("a");
  const auto begin = Clock::now();
  EXPECT_EQ(one.ask("LOCK a TIMEOUT 40"), "null");
  EXPECT_GE(Clock::now() - begin, 40ms);
  EXPECT_TRUE(waiting(0));
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_EQ(one.ask("UNLOCK a"), "0");
  EXPECT_GT(holder.lock("a"), 0);
}

TEST_F(ThreeNodes, ATryFailsFastIfTheLockIsHeldAnywhere) {
  auto holder = caller(0), here = caller(0), there = caller(1);
  holder.lock("a");
  const auto begin = Clock::now();
  EXPECT_EQ(here.ask("LOCK a TIMEOUT 0"), "null");
  EXPECT_EQ(there.ask("LOCK a TIMEOUT 0"), "null");
  EXPECT_LT(Clock::now() - begin, 5s);
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
}

TEST_F(ThreeNodes, ATryTakesAFreeLockWhereverItRests) {
  // The lock has been everywhere, and rests somewhere else than where it is tried.
  for (int i = 0; i < 9; ++i) {
    auto one = caller(static_cast<std::size_t>(i % 3));
    EXPECT_NE(one.ask("LOCK a TIMEOUT 0"), "null") << i;
    EXPECT_EQ(one.ask("UNLOCK a"), "1");
    EXPECT_NE(one.ask("LOCK new-" + std::to_string(i) + " TIMEOUT 0"), "null");
  }
}

TEST_F(ClientsTest, ALockIsLostWhenItsTimeToLiveIsOver) {
  auto holder = caller(0, 3), old = caller(0, 2), next = caller();
  net::LoggedLines lines;
  const auto fence = holder.ask("LOCK a TTL 30");
  old.ask("LOCK b TTL 30");
  next.send("LOCK a");
  EXPECT_EQ(holder.read_text(), ">[\"lost\", \"a\", " + fence + ", \"its time to live ran out\"]");
  EXPECT_GT(next.read().integer, std::stoll(fence));
  EXPECT_EQ(holder.ask("UNLOCK a"), "0");
  EXPECT_EQ(holder.ask("RENEW a 100"), "0");
  // The older protocol has no way to tell; but it is so.
  EXPECT_TRUE(old.is_silent(60ms));
  EXPECT_EQ(old.ask("UNLOCK b"), "0");
  EXPECT_THAT(lines.take(), HasSubstr("lost lock 'a': its time to live ran out"));
  // Lost locks can be taken again.
  EXPECT_EQ(next.ask("UNLOCK a"), "1");
  EXPECT_GT(holder.lock("a"), std::stoll(fence));
}

TEST_F(ClientsTest, RenewingKeepsALock) {
  auto holder = caller(0, 3);
  holder.ask("LOCK a TTL 400");
  EXPECT_EQ(holder.ask("RENEW a 3600000"), "1");
  EXPECT_TRUE(holder.is_silent(500ms));
  EXPECT_EQ(holder.ask("RENEW a 20"), "1");
  EXPECT_THAT(holder.read_text(), StartsWith(">[\"lost\", \"a\""));
}

// The time of a former grant does not end a later one.
TEST_F(ClientsTest, ATimeToLiveEndsWithItsGrant) {
  auto holder = caller(0, 3);
  holder.ask("LOCK a TTL 60");
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  holder.lock("a");
  EXPECT_TRUE(holder.is_silent(100ms));
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
}

// ---- waiting without blocking

TEST_F(ClientsTest, AsyncWaitsAreAnsweredByPushes) {
  auto holder = caller(), one = caller(0, 3);
  holder.lock("a");
  EXPECT_EQ(one.ask("LOCK free ASYNC"), "1");
  EXPECT_THAT(one.read_text(), StartsWith(">[\"granted\", 1, \"free\", "));
  EXPECT_EQ(one.ask("LOCK a ASYNC"), "2");
  EXPECT_EQ(one.ask("LOCK a ASYNC TIMEOUT 20"), "3");
  EXPECT_EQ(one.ask("PING"), "PONG");  // it does not block
  EXPECT_EQ(one.read_text(), ">[\"timeout\", 3, \"a\"]");
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_THAT(one.read_text(), StartsWith(">[\"granted\", 2, \"a\", "));
  // A second one of the same session waits for the first.
  EXPECT_EQ(one.ask("LOCK a ASYNC"), "4");
  EXPECT_TRUE(one.is_silent());
  EXPECT_EQ(one.ask("UNLOCK a"), "1");
  EXPECT_THAT(one.read_text(), StartsWith(">[\"granted\", 4, \"a\", "));
}

TEST_F(ClientsTest, CancelWithdraws) {
  auto holder = caller(), one = caller(0, 3), other = caller();
  holder.lock("a");
  EXPECT_EQ(one.ask("LOCK a ASYNC TIMEOUT 50"), "1");
  EXPECT_EQ(other.ask("CANCEL 1"), "0");  // not its own
  EXPECT_EQ(one.ask("CANCEL 1"), "1");
  EXPECT_EQ(one.ask("CANCEL 1"), "0");
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_TRUE(one.is_silent(80ms));  // neither granted nor timed out
  EXPECT_GT(other.lock("a"), 0);
}

// Whoever wins, exactly one of the two happens: cancelled, or granted.
TEST_F(ThreeNodes, CancelRacesWithTheGrant) {
  auto holder = caller(1), one = caller(0, 3);
  int cancelled = 0;
  for (int i = 1; i <= 100; ++i) {
    holder.lock("a");
    const auto ticket = std::to_string(i);
    ASSERT_EQ(one.ask("LOCK a ASYNC"), ticket);
    holder.send("UNLOCK a");
    if (i % 3 != 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 5));
    one.send("CANCEL " + ticket);
    auto first = one.read_text();
    if (first == "1") {
      ++cancelled;
    } else {
      const bool pushed = first.starts_with(">");
      const auto second = one.read_text();
      EXPECT_EQ(pushed ? second : first, "0");
      EXPECT_THAT(pushed ? first : second, StartsWith(">[\"granted\", " + ticket));
      EXPECT_EQ(one.ask("UNLOCK a"), "1");
    }
    EXPECT_EQ(holder.read_text(), "1");
  }
  RecordProperty("cancelled", cancelled);
  EXPECT_TRUE(one.is_silent());
  EXPECT_TRUE(holding(0, 0));
}

// ---- vanishing

TEST_F(ThreeNodes, WhoVanishesWhileItWaitsLosesItsPlace) {
  for (const bool abruptly : {false, true})
    for (const std::size_t node : {0U, 1U}) {
      auto holder = caller(0), next = caller(2);
      auto gone = caller(node);
      holder.lock("a");
      gone.send("LOCK a");
      ASSERT_TRUE(waiting(1, node));
      next.send("LOCK a");
      ASSERT_TRUE(waiting(1, 2));
      if (abruptly) {
        net::reset(gone.socket());
      } else {
        gone.hang_up();
      }
      ASSERT_TRUE(waiting(0, node));
      EXPECT_EQ(holder.ask("UNLOCK a"), "1");
      EXPECT_GT(next.read().integer, 0);
      EXPECT_EQ(next.ask("UNLOCK a"), "1");
    }
}

TEST_F(ThreeNodes, WhoVanishesWhileItHoldsLosesItsLocks) {
  for (const bool abruptly : {false, true}) {
    auto next = caller(1), other = caller(2);
    auto gone = caller(0, 3);
    gone.lock("a");
    gone.lock("b");
    gone.ask("LOCK c TTL 100000");
    gone.ask("LOCK a ASYNC");  // and waits for itself
    next.send("LOCK a");
    ASSERT_TRUE(waiting(1, 1));
    if (abruptly) {
      net::reset(gone.socket());
    } else {
      gone.hang_up();
    }
    EXPECT_GT(next.read().integer, 0);
    EXPECT_GT(other.lock("b"), 0);
    EXPECT_GT(other.lock("c"), 0);
    EXPECT_TRUE(holding(0, 0));
    EXPECT_TRUE(waiting(0, 0));
  }
}

// It sent its commands and will say no more; what was answered by then arrives.
TEST_F(ClientsTest, AHalfClosedConnectionGetsItsReplies) {
  auto half = caller();
  half.send_bytes(Caller::request("PING") + Caller::request("LOCK a"));
  ::shutdown(half.socket().get(), SHUT_WR);
  EXPECT_EQ(half.read_text(), "PONG");
  EXPECT_EQ(half.read().kind, wire::Reply::Kind::integer);
  EXPECT_EQ(half.read_text(), "-the connection ended");
  EXPECT_GT(caller().lock("a"), 0);
}

TEST_F(ClientsTest, AHalfClosedConnectionDoesNotWait) {
  auto holder = caller(), half = caller();
  holder.lock("a");
  half.send("LOCK a");
  ASSERT_TRUE(waiting(1));
  ::shutdown(half.socket().get(), SHUT_WR);
  EXPECT_EQ(half.read_text(), "-the connection ended");
  EXPECT_TRUE(waiting(0));
}

TEST_F(ClientsTest, WhenTheNodeEndsWhoWaitsIsToldAndAllConnectionsEnd) {
  auto holder = caller(0, 3), waiter = caller(), async = caller(0, 3);
  holder.lock("a");
  waiter.send_bytes(Caller::request("LOCK a") + Caller::request("LOCK b"));
  EXPECT_EQ(async.ask("LOCK a ASYNC"), "1");
  ASSERT_TRUE(waiting(2));
  cluster_.stop(0);
  EXPECT_EQ(waiter.read_text(), "-UNAVAILABLE the node ends; the lock was not taken");
  EXPECT_EQ(waiter.read_text(), "-the connection ended");  // and asks for nothing more
  EXPECT_EQ(async.read_text(),
            ">[\"failed\", 1, \"a\", \"the node ends; the lock was not taken\"]");
  EXPECT_EQ(async.read_text(), "-the connection ended");
  EXPECT_EQ(holder.read_text(), "-the connection ended");
}

// It went back to a protocol that knows no pushes: an array that nobody asked for would be taken
// for the reply to the next command.
TEST_F(ClientsTest, NothingIsPushedInVersionTwo) {
  auto holder = caller(), one = caller(0, 3);
  holder.lock("a");
  EXPECT_EQ(one.ask("LOCK a ASYNC"), "1");
  EXPECT_EQ(one.ask("LOCK b TTL 20 ASYNC"), "2");
  EXPECT_THAT(one.read_text(), StartsWith(">[\"granted\", 2"));
  EXPECT_EQ(one.call("HELLO 2").kind, wire::Reply::Kind::array);
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_TRUE(holding(1));
  EXPECT_TRUE(one.is_silent(50ms));
  EXPECT_EQ(one.ask("PING"), "PONG");
  EXPECT_EQ(one.ask("UNLOCK a"), "1");
}

}  // namespace
}  // namespace turno::port
