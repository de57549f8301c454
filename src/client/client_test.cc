// Conversations of a client with a node that the test plays, word for word.
#include "turno/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "client/conversation_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

using namespace client;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Code = Error::Code;

class Conversation : public ::testing::Test {
 protected:
  // Nobody is looked for when the only node has gone.
  const Client::Options quick{.connect_timeout = milliseconds(400),
                              .answer_timeout = milliseconds(300)};
  void SetUp() override { connect(quick); }
  void connect(Client::Options options) {
    auto connecting =
        std::async(std::launch::async, [&] { return Client::connect(node.address(), options); });
    node.welcome();
    auto connected = connecting.get();
    ASSERT_TRUE(connected) << connected.error().message;
    client = std::move(*connected);
  }
  std::future<Result> acquire(const std::string& name, Request request = {},
                              std::stop_token stop = {}) {
    return std::async(std::launch::async,
                      [this, name, request, stop] { return client->acquire(name, request, stop); });
  }
  // A client that holds a lock.
  Grant holding(const std::string& name, int ticket, int fence) {
    auto result = acquire(name);
    EXPECT_EQ(node.next(), "LOCK " + name + " ASYNC");
    node.say(":" + std::to_string(ticket) + "\r\n" + granted(name, ticket, fence));
    return *result.get();
  }
  ScriptedNode node;
  std::unique_ptr<Client> client;
};

TEST_F(Conversation, AGrantAndItsRelease) {
  auto result = acquire("gate");
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  node.say(":1\r\n");
  node.say(granted("gate", 1, 42));
  auto grant = soon(result);
  ASSERT_TRUE(grant) << grant.error().message;
  EXPECT_EQ(grant->fence(), 42U);
  EXPECT_EQ(grant->name(), "gate");
  EXPECT_FALSE(grant->lost());
  grant->release();
  EXPECT_EQ(node.next(), "UNLOCK gate 42");
  EXPECT_FALSE(*grant);
  grant->release();  // does nothing
  node.say(":1\r\n");
  client.reset();
  EXPECT_EQ(node.next(), "(closed)");
}

TEST_F(Conversation, OptionsAreSaid) {
  auto result = acquire("gate", {.timeout = milliseconds(0), .ttl = milliseconds(700)});
  EXPECT_EQ(node.next(), "LOCK gate ASYNC TIMEOUT 0 TTL 700");
  node.say(":1\r\n" + granted("gate", 1, 42));
  auto grant = soon(result);
  ASSERT_TRUE(grant);
  auto renewed = std::async(std::launch::async, [&] { return grant->renew(milliseconds(900)); });
  EXPECT_EQ(node.next(), "RENEW gate 900 42 lock");
  node.say(":1\r\n");
  EXPECT_TRUE(soon(renewed));
  renewed = std::async(std::launch::async, [&] { return grant->renew(milliseconds(900)); });
  EXPECT_EQ(node.next(), "RENEW gate 900 42 lock");
  node.say(":0\r\n");
  EXPECT_EQ(soon(renewed).error().code, Code::lost);
  EXPECT_TRUE(grant->lost());
  EXPECT_EQ(grant->renew(milliseconds(900)).error().code, Code::lost);
}

TEST_F(Conversation, ImpossibleWishesAreRefusedHere) {
  EXPECT_EQ(client->acquire("").error().code, Code::invalid);
  EXPECT_EQ(client->acquire(std::string(70'000, 'x')).error().code, Code::invalid);
  EXPECT_EQ(client->acquire("x", {.timeout = milliseconds(-1)}).error().code, Code::invalid);
  EXPECT_EQ(client->acquire("x", {.ttl = milliseconds(0)}).error().code, Code::invalid);
  EXPECT_EQ(Client::connect("nowhere").error().code, Code::invalid);
}

TEST_F(Conversation, ATimeoutNamesTheHolder) {
  auto result = acquire("gate", {.timeout = milliseconds(50)});
  EXPECT_THAT(node.next(), HasSubstr("LOCK gate ASYNC TIMEOUT "));
  node.say(":1\r\n" + timed_out("gate", 1));
  EXPECT_EQ(node.next(), "WHO gate lock");
  node.say("%4\r\n" + bulk("node") + bulk("n2") + bulk("session") + number(9) + bulk("client") +
           bulk("backup") + bulk("held_ms") + number(3210));
  const auto error = soon(result).error();
  EXPECT_EQ(error.code, Code::timeout);
  EXPECT_FALSE(error.perhaps_taken);
  EXPECT_EQ(error.message,
            "lock 'gate' was not acquired within 50 ms; held by node n2, session 9 (backup), for "
            "3.2 s");
}

TEST_F(Conversation, ATimeoutNamesWhoDidNotAnswer) {
  auto result = acquire("gate", {.timeout = milliseconds(50)});
  EXPECT_THAT(node.next(), HasSubstr("LOCK gate ASYNC TIMEOUT "));
  node.say(":1\r\n" + timed_out("gate", 1));
  EXPECT_EQ(node.next(), "WHO gate lock");
  node.say("-INCOMPLETE nobody that answered holds 'gate'; n3 (pid 7, stopped) did not answer\r\n");
  EXPECT_EQ(soon(result).error().message,
            "lock 'gate' was not acquired within 50 ms; nobody that answered holds 'gate'; n3 (pid "
            "7, stopped) did not answer");
}

TEST_F(Conversation, ATimeoutTellsOfTheDeadAndOfTheSilent) {
  const auto told = [&](const std::string& answer) {
    auto result = acquire("gate", {.timeout = milliseconds(50)});
    EXPECT_THAT(node.next(), HasSubstr("LOCK gate ASYNC TIMEOUT "));
    node.say(":1\r\n" + timed_out("gate", 1));
    EXPECT_EQ(node.next(), "WHO gate lock");
    node.say(answer);
    return soon(result).error().message;
  };
  EXPECT_THAT(told("%3\r\n" + bulk("node") + bulk("n2") + bulk("kept_for") + bulk("n4") +
                   bulk("free_in_ms") + number(800)),
              HasSubstr("; kept for the clients of n4, which crashed; free in 0.8 s"));
  EXPECT_THAT(told("%3\r\n" + bulk("node") + bulk("n2") + bulk("leaving") + "#t\r\n" +
                   bulk("waiting") + number(2)),
              HasSubstr("; kept by node n2, which leaves: free when it has left; 2 wait"));
}

TEST_F(Conversation, RefusalsAreTold) {
  auto result = acquire("gate");
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  node.say("-ERR the name is reserved\r\n");
  EXPECT_EQ(soon(result).error().code, Code::refused);

  result = acquire("gate");
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  node.say("-LOADING not yet\r\n");
  const auto error = soon(result).error();
  EXPECT_EQ(error.code, Code::unavailable);
  EXPECT_THAT(error.message, HasSubstr("not yet"));
}

TEST_F(Conversation, AWithdrawnWaitLeavesNothing) {
  std::stop_source stop;
  auto result = acquire("gate", {}, stop.get_token());
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  node.say(":8\r\n");
  stop.request_stop();
  EXPECT_EQ(node.next(), "CANCEL 8");
  node.say(":1\r\n");
  const auto error = soon(result).error();
  EXPECT_EQ(error.code, Code::cancelled);
  EXPECT_FALSE(error.perhaps_taken);
}

TEST_F(Conversation, AGrantThatCrossesTheWithdrawalIsGivenBack) {
  std::stop_source stop;
  auto result = acquire("gate", {}, stop.get_token());
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  node.say(":8\r\n");
  stop.request_stop();
  EXPECT_EQ(node.next(), "CANCEL 8");
  node.say(granted("gate", 8, 5) + ":0\r\n");
  EXPECT_EQ(node.next(), "UNLOCK gate 5");
  const auto error = soon(result).error();
  EXPECT_EQ(error.code, Code::cancelled);
  EXPECT_FALSE(error.perhaps_taken);
}

TEST_F(Conversation, AWaitCanBeWithdrawnBeforeTheTicketIsThere) {
  std::stop_source stop;
  auto result = acquire("gate", {}, stop.get_token());
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  stop.request_stop();
  std::this_thread::sleep_for(milliseconds(20));
  node.say(":8\r\n");
  EXPECT_EQ(node.next(), "CANCEL 8");
  node.say(":1\r\n");
  EXPECT_EQ(soon(result).error().code, Code::cancelled);

  // And before it is asked: nothing is said.
  EXPECT_EQ(client->acquire("gate", {}, stop.get_token()).error().code, Code::cancelled);
}

TEST_F(Conversation, AGrantForNobodyIsGivenBack) {
  node.say(granted("gate", 99, 5));
  EXPECT_EQ(node.next(), "UNLOCK gate 5");
}

TEST_F(Conversation, ASlowNodeIsNotWaitedForAndItsLateGrantIsGivenBack) {
  auto held = holding("other", 7, 1);  // or the connection would be given up
  auto result = acquire("gate", {.timeout = milliseconds(10)});
  EXPECT_THAT(node.next(), HasSubstr("LOCK gate"));
  const auto error = soon(result).error();
  EXPECT_EQ(error.code, Code::timeout);
  EXPECT_TRUE(error.perhaps_taken);
  EXPECT_THAT(error.message, HasSubstr("does not answer"));
  node.say(":1\r\n" + granted("gate", 1, 3));
  EXPECT_EQ(node.next(), "CANCEL 1");
  EXPECT_EQ(node.next(), "UNLOCK gate 3");
  node.say(":0\r\n:1\r\n");
  EXPECT_FALSE(held.lost());
  held.release();
  EXPECT_EQ(node.next(), "UNLOCK other 1");
  EXPECT_EQ(node.next(), "(closed)") << "what is new goes to a connection that answers";
}

TEST_F(Conversation, ACancelledWaitDoesNotWaitLongForAHungNode) {
  std::stop_source stop;
  auto result = acquire("gate", {}, stop.get_token());
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  node.say(":1\r\n");
  stop.request_stop();
  EXPECT_EQ(node.next(), "CANCEL 1");
  const auto error = soon(result).error();
  EXPECT_EQ(error.code, Code::cancelled);
  EXPECT_TRUE(error.perhaps_taken);
}

TEST_F(Conversation, NothingBlocksWhenTheNodeDoesNotRead) {
  client.reset();
  node.hang_up();
  connect({.answer_timeout = milliseconds(3000)});
  auto grant = holding("gate", 1, 42);
  const std::string padding(60'000, 'x');
  std::vector<std::future<Result>> waiting;
  std::stop_source stop;
  for (int i = 0; i < 20; ++i) {
    std::atomic<pid_t> thread = 0;
    waiting.push_back(std::async(std::launch::async, [&, name = std::to_string(i) + padding] {
      const auto token = stop.get_token();
      thread = ::gettid();
      return client->acquire(name, {}, token);
    }));
    // It has asked when it sleeps and lets others use the client.
    EXPECT_TRUE(eventually([&] { return thread != 0 && sleeps(thread); }));
    (void)client->identity();
  }
  grant.release();
  stop.request_stop();
  for (auto& result : waiting) EXPECT_EQ(soon(result).error().code, Code::cancelled);
  // The node is told when it reads again, or sees that the session has ended.
  int locks = 0;
  auto request = node.next();
  for (; request != "UNLOCK gate 42" && request != "(closed)"; request = node.next()) {
    EXPECT_TRUE(request.starts_with("LOCK ")) << request.substr(0, 20);
    ASSERT_LE(++locks, 20);
  }
}

TEST_F(Conversation, ALostLockIsTold) {
  auto grant = holding("gate", 1, 42);
  const auto token = grant.lost_token();
  std::atomic<bool> told = false;
  const std::stop_callback callback(token, [&] { told = true; });
  node.say(push("lost", bulk("gate") + number(41) + bulk("an older one"), 4));
  node.say(push("news", bulk("of a newer node"), 2));
  node.say(push("lost", bulk("gate") + number(42) + bulk("its time is over"), 4));
  EXPECT_TRUE(eventually([&] { return told.load(); }));
  EXPECT_TRUE(grant.lost());
  EXPECT_TRUE(token.stop_requested());
  EXPECT_THAT(grant.renew(milliseconds(1)).error().message, HasSubstr("its time is over"));
  grant.release();  // "I have stopped"
  EXPECT_EQ(node.next(), "UNLOCK gate 42");
  node.say(":0\r\n");
  EXPECT_TRUE(holding("gate", 2, 43));
}

TEST_F(Conversation, ABrokenConnectionLosesWhatIsHeldAndTheWaitsMove) {
  auto grant = holding("gate", 1, 42);
  auto other = holding("other", 2, 7);
  // It waits behind this client's own hold, and says nothing: that it sleeps is seen from outside.
  std::atomic<pid_t> thread = 0;
  auto behind = std::async(std::launch::async, [&] {
    thread = ::gettid();
    return client->acquire("gate");
  });
  EXPECT_TRUE(eventually([&] { return thread != 0 && sleeps(thread); }));
  auto waiting = acquire("door");
  EXPECT_EQ(node.next(), "LOCK door ASYNC");
  node.say(":3\r\n");
  node.hang_up();
  EXPECT_TRUE(eventually([&] { return grant.lost() && other.lost(); }));
  EXPECT_TRUE(eventually([&] { return other.lost_token().stop_requested(); }));
  EXPECT_THAT(grant.renew(milliseconds(1)).error().message, HasSubstr("broke: the node closed it"));

  node.welcome();
  std::set<std::string> asked{node.next(), node.next()};
  EXPECT_THAT(asked, ::testing::ElementsAre("LOCK door ASYNC", "LOCK gate ASYNC"));
  node.hang_up();
  node.listener().stop();
  grant.release();  // there is nobody to tell
  EXPECT_EQ(soon(behind).error().code, Code::disconnected);
  const auto error = soon(waiting).error();
  EXPECT_EQ(error.code, Code::disconnected);
  EXPECT_TRUE(error.perhaps_taken);
  EXPECT_THAT(error.message,
              ::testing::AllOf(HasSubstr("then no node answers"), HasSubstr(node.address())));
}

TEST_F(Conversation, WithoutANodeTheNextAttemptFailsAtOnce) {
  node.listener().stop();
  node.hang_up();
  EXPECT_TRUE(eventually([&] {
    const auto result = client->acquire("gate");
    return !result && result.error().code == Code::unavailable && !result.error().perhaps_taken;
  }));
  EXPECT_EQ(client->who("gate").error().code, Code::unavailable);
  node.listener().listen();
  auto again = acquire("gate");
  node.welcome();
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  node.say(":1\r\n" + granted("gate", 1, 43));
  EXPECT_EQ(soon(again)->fence(), 43U);
}

TEST_F(Conversation, GarbageEndsTheConnection) {
  const auto nonsense = [&](std::string_view bytes) {
    auto grant = holding("held", 1, 42);
    auto result = acquire("gate");
    EXPECT_EQ(node.next(), "LOCK gate ASYNC");
    node.listener().stop();
    node.say(bytes);
    const auto error = soon(result).error();
    EXPECT_EQ(error.code, Code::disconnected) << bytes;
    EXPECT_TRUE(eventually([&] { return grant.lost(); }));
    EXPECT_EQ(node.next(), "(closed)");
    node.hang_up();
    node.listener().listen();
    grant.release();
    client.reset();
    connect(quick);
    return error.message;
  };
  EXPECT_THAT(nonsense("HTTP/1.1 400 Bad Request\r\n\r\n"), HasSubstr("garbage"));
  EXPECT_THAT(nonsense("$99999999999\r\n"), HasSubstr("garbage"));
  EXPECT_THAT(nonsense("+a word where a ticket should be\r\n"), HasSubstr("makes no sense"));
  EXPECT_THAT(nonsense(":5\r\n:6\r\n"), HasSubstr("no question"));
  EXPECT_THAT(nonsense(">0\r\n"), HasSubstr("makes no sense"));
  EXPECT_THAT(nonsense(":5\r\n>2\r\n+granted\r\n:5\r\n"), HasSubstr("makes no sense"));
  EXPECT_THAT(nonsense(":5\r\n" + granted("wrong", 5, 5)), HasSubstr("makes no sense"));
  EXPECT_THAT(nonsense(">2\r\n+lost\r\n+held\r\n"), HasSubstr("makes no sense"));
}

TEST_F(Conversation, ThreadsOfOneProgramQueueHere) {
  auto first = holding("gate", 1, 42);
  auto second = acquire("gate");
  std::this_thread::sleep_for(milliseconds(20));
  std::stop_source stop;
  auto third = acquire("gate", {}, stop.get_token());
  auto fourth = acquire("gate", {.timeout = milliseconds(30)});
  const auto tried = client->acquire("gate", {.timeout = milliseconds(0)});
  EXPECT_EQ(tried.error().code, Code::timeout);
  EXPECT_EQ(node.next(), "WHO gate lock");  // the fourth gives up
  node.say("_\r\n");
  EXPECT_EQ(soon(fourth).error().code, Code::timeout);
  stop.request_stop();
  EXPECT_EQ(soon(third).error().code, Code::cancelled);
  first.release();
  EXPECT_EQ(node.next(), "UNLOCK gate 42");
  EXPECT_EQ(node.next(), "LOCK gate ASYNC");
  node.say(":1\r\n:2\r\n" + granted("gate", 2, 43));
  EXPECT_EQ(soon(second)->fence(), 43U);
}

TEST(ClientOf, WhatDoesNotGreetIsRefused) {
  ScriptedNode node;
  const auto connect = [&](std::string_view answer) {
    auto connecting = std::async(std::launch::async, [&] {
      return Client::connect(node.address(), {.name = "me", .connect_timeout = milliseconds(200)});
    });
    node.accept();
    EXPECT_EQ(node.next(), "HELLO 3 SETNAME me");
    node.say(answer);
    auto error = soon(connecting).error();
    EXPECT_EQ(node.next(), "(closed)");
    node.hang_up();
    return error;
  };
  EXPECT_EQ(connect("-NOPROTO unsupported protocol version\r\n").code, Code::refused);
  EXPECT_EQ(connect("-ERR unknown command\r\n").code, Code::refused);
  const auto silent = connect("");
  EXPECT_EQ(silent.code, Code::unavailable);
  EXPECT_THAT(silent.message, HasSubstr("did not answer"));
  EXPECT_EQ(connect("220 smtp.example.org ESMTP\r\n").code, Code::unavailable);
}

TEST(ClientOf, NobodyFails) {
  const auto result = Client::connect("unix:/nowhere/socket");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::unavailable);
  EXPECT_THAT(result.error().message, HasSubstr("unix:/nowhere/socket"));
}

}  // namespace
}  // namespace turno
