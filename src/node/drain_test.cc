// A node that leaves in good order: its clients move with what they have, or are given time to
// stop. Nobody else gets a lock before its holder has let go of it, or had the lock delay for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "node/cluster_testing.h"
#include "port/http/status.h"
#include "port/resp/caller_testing.h"

namespace turno::node {
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DrainTest : public testing::Test {
 protected:
  explicit DrainTest(std::chrono::milliseconds lock_delay = 60s)
      : cluster_(3, [lock_delay](Settings& settings) { settings.lock_delay = lock_delay; }) {}

  [[nodiscard]] Caller caller(std::size_t node, int protocol = 3) {
    return Caller(cluster_[node].self().client_address, protocol);
  }
  void drain(std::size_t node) {
    cluster_[node].run([&] { cluster_[node].daemon().drain("told to"); });
  }
  // It has left by itself.
  [[nodiscard]] bool is_gone() {
    return eventually([&] { return cluster_[0].members() == 2; });
  }
  [[nodiscard]] std::string draining(std::size_t node) {
    return ">[\"draining\", \"" + cluster_[node].self().name + "\", \"told to: the node leaves\"]";
  }

  TestCluster cluster_;
};

TEST_F(DrainTest, EndsAtOnceIfNobodyHasAnything) {
  auto idle = caller(2);
  drain(2);
  EXPECT_TRUE(is_gone());
}

TEST_F(DrainTest, WaitsForAHolderThatWasToldToStop) {
  auto holder = caller(2), waiter = caller(0);
  const auto fence = holder.lock("a");
  waiter.send("LOCK a");
  drain(2);
  EXPECT_EQ(holder.read_text(), draining(2));
  EXPECT_EQ(holder.read_text(),
            ">[\"lost\", \"a\", " + std::to_string(fence) + ", \"told to: the node leaves\"]");
  EXPECT_EQ(holder.ask("RENEW a 1000"), "0") << "it is lost";
  EXPECT_TRUE(waiter.is_silent(100ms)) << "but nobody else has it";
  EXPECT_EQ(holder.ask("UNLOCK a " + std::to_string(fence)), "1");
  EXPECT_GT(waiter.read().integer, fence);
  EXPECT_TRUE(is_gone());
}

// As libraries hear of it, that know no pushes.
TEST_F(DrainTest, TellsSubscribers) {
  auto holder = caller(2, 2), news = caller(2, 2);
  holder.lock("a");
  news.ask("SUBSCRIBE turno:draining");
  drain(2);
  EXPECT_EQ(news.read_text(),
            "[\"message\", \"turno:draining\", \"{\"event\":\"draining\",\"reason\":\"told to: "
            "the node leaves\"}\"]");
}

TEST_F(DrainTest, TakesTheEndOfAConnectionForAWord) {
  auto holder = caller(2), waiter = caller(0);
  const auto fence = holder.lock("a");
  waiter.send("LOCK a");
  drain(2);
  EXPECT_EQ(holder.read_text(), draining(2));
  holder.hang_up();
  EXPECT_GT(waiter.read().integer, fence);
}

TEST_F(DrainTest, GivesNothingOutAnyMore) {
  auto holder = caller(2), other = caller(2);
  holder.lock("a");
  drain(2);
  EXPECT_EQ(other.read_text(), draining(2));
  EXPECT_THAT(other.ask("LOCK b"), StartsWith("-DRAINING"));
  EXPECT_THAT(other.ask("SESSION INHERIT"), StartsWith("-DRAINING"));
  EXPECT_THAT(other.ask("SESSION OPEN 1000"), StartsWith("-DRAINING"));
  const auto& address = cluster_[2].self().client_address;
  EXPECT_THAT(other.ask("SENTINEL get-master-addr-by-name turno"),
              Not(HasSubstr(address.substr(address.rfind(':') + 1))));
  EXPECT_THAT(text_of(other.call("HELLO 3")), HasSubstr("\"draining\": true"));
  EXPECT_THAT(cluster_[2].run([&] { return port::unready_reason(cluster_[2].daemon()); }),
              HasSubstr("leaves"));
}

TEST_F(DrainTest, TellsThoseWhoWaitThatTheyWaitInVain) {
  auto holder = caller(0), waiter = caller(2, 2);
  holder.lock("a");
  waiter.send("LOCK a");
  EXPECT_TRUE(eventually([&] { return cluster_[2].locks().statistics().waiters == 1; }));
  drain(2);
  EXPECT_THAT(waiter.read_text(), StartsWith("-UNAVAILABLE"));
  EXPECT_TRUE(is_gone());
}

// Anybody may use locks by TCP, but not end nodes.
TEST_F(DrainTest, ByACommandOfWhoRunsTheNode) {
  EXPECT_THAT(caller(2).ask("DRAIN"), StartsWith("-NOPERM"));
  EXPECT_EQ(cluster_[0].members(), 3U);
}

// ---- clients that move

TEST_F(DrainTest, AClientThatMovesKeepsItsLocks) {
  auto before = caller(2), after = caller(1), waiter = caller(0);
  EXPECT_EQ(before.ask("CLIENT CAPA MOVE"), "OK");
  const auto fence = before.lock("a");
  before.lock("b");
  waiter.send("LOCK a");
  std::this_thread::sleep_for(300ms);
  drain(2);
  EXPECT_EQ(before.read_text(), draining(2));
  const auto ticket = after.call("SESSION INHERIT").text;
  EXPECT_EQ(before.ask("SESSION BEQUEATH " + cluster_[1].self().name + " " + ticket), "2");
  EXPECT_EQ(before.ask("UNLOCK a"), "0") << "it lets go of it where it is now";
  EXPECT_TRUE(is_gone());
  EXPECT_EQ(after.call("SESSION HELD a b other").elements.size(), 2U);
  const auto who = caller(1).call("WHO a");
  for (std::size_t i = 0; i + 1 < who.elements.size(); i += 2)
    if (who.elements[i].text == "held_ms") {
      EXPECT_GE(who.elements[i + 1].integer, 300) << "it has been held all the time";
    }
  EXPECT_EQ(after.ask("RENEW a 60000 " + std::to_string(fence)), "1");
  EXPECT_TRUE(waiter.is_silent(100ms));
  EXPECT_EQ(after.ask("UNLOCK a " + std::to_string(fence)), "1");
  EXPECT_GT(waiter.read().integer, fence);
  EXPECT_EQ(after.ask("UNLOCK b"), "1");
}

// The first is held up by somebody who stays, so that the second has nothing to bequeath yet.
TEST_F(DrainTest, WhoHasMovedMovesOnWhenTheOtherNodeLeavesToo) {
  auto before = caller(2), between = caller(1), after = caller(0), stays = caller(2);
  EXPECT_EQ(before.ask("CLIENT CAPA MOVE"), "OK");
  EXPECT_EQ(between.ask("CLIENT CAPA MOVE"), "OK");
  const auto fence = before.lock("a");
  stays.lock("c");
  drain(2);
  EXPECT_EQ(before.read_text(), draining(2));
  auto ticket = between.call("SESSION INHERIT").text;
  EXPECT_EQ(before.ask("SESSION BEQUEATH " + cluster_[1].self().name + " " + ticket), "1");
  drain(1);
  EXPECT_EQ(between.read_text(), draining(1));
  ticket = after.call("SESSION INHERIT").text;
  between.send("SESSION BEQUEATH " + cluster_[0].self().name + " " + ticket);
  EXPECT_TRUE(between.is_silent(100ms)) << "it waits until it can";
  stays.hang_up();
  auto answer = between.read_text();
  if (answer.starts_with(">[\"members\"")) answer = between.read_text();  // the first is gone
  EXPECT_EQ(answer, "1");
  EXPECT_TRUE(eventually([&] { return cluster_[0].members() == 1; }));
  EXPECT_EQ(after.ask("RENEW a 60000 " + std::to_string(fence)), "1");
  EXPECT_EQ(after.ask("UNLOCK a " + std::to_string(fence)), "1");
}

TEST_F(DrainTest, AClientThatMovesMayLetGoBeforeItsNodeIsGone) {
  auto before = caller(2), after = caller(1), waiter = caller(0), stays = caller(2);
  EXPECT_EQ(before.ask("CLIENT CAPA MOVE"), "OK");
  before.lock("a");
  stays.lock("c");
  waiter.send("LOCK a");
  drain(2);
  EXPECT_EQ(before.read_text(), draining(2));
  const auto ticket = after.call("SESSION INHERIT").text;
  EXPECT_EQ(before.ask("SESSION BEQUEATH " + cluster_[1].self().name + " " + ticket), "1");
  EXPECT_THAT(caller(0).ask("WHO a"), HasSubstr("\"node\": \"" + cluster_[1].self().name));
  EXPECT_EQ(after.ask("UNLOCK a"), "1");
  EXPECT_TRUE(waiter.is_silent(50ms));
  for (const auto node : {0, 1, 2}) {
    const auto who = caller(static_cast<std::size_t>(node)).ask("WHO a");
    EXPECT_THAT(who, HasSubstr("\"node\": \"" + cluster_[2].self().name + "\", \"leaving\": true"));
    EXPECT_THAT(who, HasSubstr("\"waiting\": 1"));
  }
  stays.hang_up();
  EXPECT_EQ(waiter.read().kind, wire::Reply::Kind::integer);
}

TEST_F(DrainTest, WhatIsRefusedStaysWhereItIs) {
  auto before = caller(2), waiter = caller(0);
  EXPECT_EQ(before.ask("CLIENT CAPA MOVE"), "OK");
  before.lock("a");
  EXPECT_THAT(before.ask("SESSION BEQUEATH n1 x"), StartsWith("-ERR")) << "the node stays";
  waiter.send("LOCK a");
  drain(2);
  EXPECT_EQ(before.read_text(), draining(2));
  EXPECT_THAT(before.ask("SESSION BEQUEATH " + cluster_[1].self().name + " guess"),
              StartsWith("-REFUSED"));
  EXPECT_THAT(before.ask("SESSION BEQUEATH nobody guess"), StartsWith("-REFUSED"));
  EXPECT_TRUE(waiter.is_silent());
  EXPECT_EQ(before.ask("UNLOCK a"), "1");
  EXPECT_EQ(waiter.read().kind, wire::Reply::Kind::integer);
}

TEST_F(DrainTest, ATimeToLiveGoesOnAtTheNextNode) {
  auto before = caller(2), after = caller(1);
  EXPECT_EQ(before.ask("CLIENT CAPA MOVE"), "OK");
  EXPECT_EQ(before.call("LOCK a TTL 300").kind, wire::Reply::Kind::integer);
  drain(2);
  EXPECT_EQ(before.read_text(), draining(2));
  const auto ticket = after.call("SESSION INHERIT").text;
  EXPECT_EQ(before.ask("SESSION BEQUEATH " + cluster_[1].self().name + " " + ticket), "1");
  EXPECT_THAT(after.read_text(), StartsWith(">[\"lost\", \"a\""));
  EXPECT_TRUE(is_gone());
  EXPECT_EQ(caller(0).call("LOCK a").kind, wire::Reply::Kind::integer);
}

// The heir is stopped for a while, so that the lock is on its way for longer than it has to live.
TEST_F(DrainTest, ATimeToLiveGoesOnWhileItsLockMoves) {
  for (const bool taken : {true, false}) {
    TestCluster cluster(2, [](Settings& settings) { settings.lock_delay = 60s; });
    Caller before(cluster[1].self().client_address, 3), after(cluster[0].self().client_address, 3);
    EXPECT_EQ(before.ask("CLIENT CAPA MOVE"), "OK");
    EXPECT_EQ(before.call("LOCK a TTL 2000").kind, wire::Reply::Kind::integer);
    const auto ticket = taken ? after.call("SESSION INHERIT").text : "guess";
    cluster[1].run([&] { cluster[1].daemon().drain("told to"); });
    EXPECT_THAT(before.read_text(), HasSubstr("draining"));
    {
      const Stopped heir(cluster[0]);
      before.send("SESSION BEQUEATH " + cluster[0].self().name + " " + ticket);
      std::this_thread::sleep_for(2100ms);
    }
    const auto began = Clock::now();
    EXPECT_THAT(before.read_text(), StartsWith(taken ? "1" : "-REFUSED"));
    EXPECT_THAT((taken ? after : before).read_text(), StartsWith(">[\"lost\", \"a\""));
    EXPECT_LT(Clock::now() - began, 1500ms) << "else it had begun anew";
  }
}

TEST_F(DrainTest, WhoHasMovedKeepsItsLocksIfItsNodeDiesInstead) {
  auto before = caller(2), after = caller(1), waiter = caller(0);
  EXPECT_EQ(before.ask("CLIENT CAPA MOVE"), "OK");
  before.lock("a");
  auto stays = caller(2);
  stays.lock("b");  // the node cannot leave before this one has let go
  waiter.send("LOCK a");
  drain(2);
  EXPECT_EQ(before.read_text(), draining(2));
  const auto ticket = after.call("SESSION INHERIT").text;
  EXPECT_EQ(before.ask("SESSION BEQUEATH " + cluster_[1].self().name + " " + ticket), "1");
  cluster_.crash(2);
  EXPECT_TRUE(is_gone());
  EXPECT_TRUE(waiter.is_silent(100ms));
  EXPECT_EQ(after.ask("UNLOCK a"), "1");
  EXPECT_EQ(waiter.read().kind, wire::Reply::Kind::integer);
}

TEST_F(DrainTest, WhoSpeaksForAnOpenedSessionIsToldToStop) {
  auto holder = caller(2), waiter = caller(0);
  const auto opened = holder.call("SESSION OPEN 60000");
  EXPECT_EQ(
      holder.ask("SESSION JOIN " + opened.elements.at(0).text + " " + opened.elements.at(1).text),
      "OK");
  const auto fence = holder.lock("a");
  waiter.send("LOCK a");
  drain(2);
  EXPECT_EQ(holder.read_text(), draining(2));
  EXPECT_THAT(holder.read_text(), StartsWith(">[\"lost\", \"a\""));
  EXPECT_TRUE(waiter.is_silent(100ms));
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_GT(waiter.read().integer, fence);
  EXPECT_TRUE(is_gone());
}

// They do not move, not even with a client that does.
TEST_F(DrainTest, WhoHasPermitsOrIsInARoomOrHasResourcesIsToldToStop) {
  const std::pair<const char*, const char*> all[] = {
      {"PERMIT s OF 1", "RELEASE s"}, {"ENTER r red", "LEAVE r"}, {"RESERVE gpu:1/1", "RETURN"}};
  auto holder = caller(2);
  EXPECT_EQ(holder.ask("CLIENT CAPA MOVE"), "OK");
  std::vector<Caller> waiters;
  for (const auto& [take, _] : all) {
    EXPECT_THAT(holder.ask(take), Not(StartsWith("-"))) << take;
    waiters.push_back(caller(0));
    waiters.back().send(std::string_view(take) == "ENTER r red" ? "ENTER r blue" : take);
  }
  drain(2);
  EXPECT_EQ(holder.read_text(), draining(2));
  for (std::size_t i = 0; i < waiters.size(); ++i)
    EXPECT_THAT(holder.read_text(), StartsWith(">[\"lost\""));
  for (auto& waiter : waiters) EXPECT_TRUE(waiter.is_silent(100ms)) << "it has not stopped yet";
  for (const auto& [_, give_back] : all) EXPECT_EQ(holder.ask(give_back), "1") << give_back;
  for (auto& waiter : waiters) EXPECT_THAT(waiter.read_text(), Not(StartsWith("-")));
  EXPECT_TRUE(is_gone());
}

class DrainInTimeTest : public DrainTest {
 protected:
  static constexpr auto delay = 400ms;
  DrainInTimeTest() : DrainTest(delay) {}
};

TEST_F(DrainInTimeTest, WhoCannotBeToldIsCutOffAndHasTheLockDelay) {
  auto holder = caller(2, 2), waiter = caller(0);
  const auto fence = holder.lock("a");
  waiter.send("LOCK a");
  const auto began = Clock::now();
  drain(2);
  EXPECT_THAT(holder.read_text(), HasSubstr("the connection ended"));
  EXPECT_LT(Clock::now() - began, delay);
  EXPECT_GT(waiter.read().integer, fence);
  EXPECT_GE(Clock::now() - began, delay);
}

TEST_F(DrainInTimeTest, ASessionForWhichNobodySpeaksHasTheLockDelay) {
  auto opener = caller(2, 2), waiter = caller(0);
  const auto opened = opener.call("SESSION OPEN 60000");
  const auto key = opened.elements.at(0).text + " " + opened.elements.at(1).text;
  EXPECT_EQ(opener.ask("SESSION JOIN " + key), "OK");
  const auto fence = opener.lock("a");
  opener.hang_up();
  waiter.send("LOCK a");
  EXPECT_TRUE(waiter.is_silent());
  const auto began = Clock::now();
  drain(2);
  EXPECT_GT(waiter.read().integer, fence);
  EXPECT_GE(Clock::now() - began, delay);
  EXPECT_TRUE(is_gone());
  EXPECT_THAT(caller(0).ask("SESSION JOIN " + key), StartsWith("-NOSESSION the node of this"));
}

// The one that leaves does not give it to others before the clients of its heir had time to stop.
TEST_F(DrainInTimeTest, WhoHasMovedHasTheLockDelayIfItsNewNodeDies) {
  auto before = caller(2), after = caller(1), waiter = caller(0);
  EXPECT_EQ(before.ask("CLIENT CAPA MOVE"), "OK");
  const auto fence = before.lock("a");
  auto stays = caller(2);
  stays.lock("b");
  waiter.send("LOCK a");
  drain(2);
  EXPECT_EQ(before.read_text(), draining(2));
  const auto ticket = after.call("SESSION INHERIT").text;
  EXPECT_EQ(before.ask("SESSION BEQUEATH " + cluster_[1].self().name + " " + ticket), "1");
  const auto crash = Clock::now();
  cluster_.crash(1);
  EXPECT_GT(waiter.read().integer, fence);
  EXPECT_GE(Clock::now() - crash, delay);
}

TEST_F(DrainInTimeTest, WhoWasToldAndDoesNotAnswerIsCutOffInTime) {
  auto holder = caller(2), waiter = caller(0);
  const auto fence = holder.lock("a");
  waiter.send("LOCK a");
  const auto began = Clock::now();
  drain(2);
  EXPECT_EQ(holder.read_text(), draining(2));
  EXPECT_THAT(holder.read_text(), StartsWith(">[\"lost\""));
  EXPECT_THAT(holder.read_text(), HasSubstr("the connection ended"));
  EXPECT_GE(Clock::now() - began, delay / 2);
  EXPECT_GT(waiter.read().integer, fence);
  EXPECT_GE(Clock::now() - began, delay);
}

}  // namespace
}  // namespace turno::node
