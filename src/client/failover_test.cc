// A client whose node dies, leaves, or stops answering, and that knows others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "client/addresses.h"
#include "client/conversation_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

using namespace client;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = Error::Code;
using Clock = std::chrono::steady_clock;

// The client is connected with the first node, and has learned that there is the second.
class Failover : public ::testing::Test {
 protected:
  void connect(Client::Options options = {.answer_timeout = milliseconds(500)}) {
    options.notice = [this](const std::string& text) {
      const std::scoped_lock lock(mutex_);
      notices_ += text + "\n";
    };
    auto connecting =
        std::async(std::launch::async, [&] { return Client::connect(first.address(), options); });
    first.welcome(members({first.address(), second.address()}));
    auto connected = soon(connecting);
    ASSERT_TRUE(connected) << connected.error().message;
    client = std::move(*connected);
  }
  std::future<Result> acquire(const std::string& name, Request request = {},
                              std::stop_token stop = {}) {
    return std::async(std::launch::async,
                      [this, name, request, stop] { return client->acquire(name, request, stop); });
  }
  Grant holding_at_first(const std::string& name, int ticket, int fence) {
    auto result = acquire(name);
    EXPECT_EQ(first.next(), "LOCK " + name + " ASYNC");
    first.say(number(ticket) + granted(name, ticket, fence));
    return *soon(result);
  }
  std::string notices() {
    const std::scoped_lock lock(mutex_);
    return notices_;
  }

  ScriptedNode first, second;
  std::unique_ptr<Client> client;
  std::mutex mutex_;
  std::string notices_;
};

TEST_F(Failover, AWaitMovesWhenItsNodeDies) {
  connect();
  auto waiting = acquire("gate", {.ttl = milliseconds(7000)});
  EXPECT_EQ(first.next(), "LOCK gate ASYNC TTL 7000");
  first.say(":1\r\n");
  first.hang_up();
  first.listener().stop();
  second.welcome();
  EXPECT_EQ(second.next(), "LOCK gate ASYNC TTL 7000");
  second.say(":1\r\n" + granted("gate", 1, 42));
  EXPECT_EQ(soon(waiting)->fence(), 42U);
  EXPECT_THAT(notices(), AllOf(HasSubstr(first.address() + " broke: the node closed it"),
                               HasSubstr("its place in the queue is lost")));
}

TEST_F(Failover, AWaitMovesToNodesThatWereStartedSince) {
  ScriptedNode third;
  connect({.answer_timeout = milliseconds(500),
           .find_nodes = [&] { return std::vector{third.address()}; }});
  auto waiting = acquire("gate");
  EXPECT_EQ(first.next(), "LOCK gate ASYNC");
  first.say(":1\r\n");
  second.listener().stop();
  first.hang_up();
  first.listener().stop();
  third.welcome();
  EXPECT_EQ(third.next(), "LOCK gate ASYNC");
  third.say(":1\r\n" + granted("gate", 1, 42));
  EXPECT_EQ(soon(waiting)->fence(), 42U);
}

TEST_F(Failover, AWaitThatMovesKeepsItsDeadline) {
  connect();
  auto waiting = acquire("gate", {.timeout = milliseconds(60'000)});
  EXPECT_EQ(first.next(), "LOCK gate ASYNC TIMEOUT 60000");
  first.say(":1\r\n");
  std::this_thread::sleep_for(milliseconds(30));
  first.hang_up();
  first.listener().stop();
  second.welcome();
  const auto asked = second.next();
  EXPECT_THAT(asked, HasSubstr("LOCK gate ASYNC TIMEOUT 59"));
  second.say(":9\r\n" + timed_out("gate", 9));
  const auto error = soon(waiting).error();
  EXPECT_EQ(error.code, Code::timeout);
  EXPECT_TRUE(error.perhaps_taken) << "the first node may have granted it in its last moment";
}

// The second node is stopped: it lets others connect, and says nothing.
TEST_F(Failover, AWaitThatIsOverDoesNotLastForTheNameOfTheHolder) {
  connect({.connect_timeout = milliseconds(15'000), .answer_timeout = milliseconds(500)});
  auto waiting = acquire("gate", {.timeout = milliseconds(50)});
  EXPECT_THAT(first.next(), HasSubstr("LOCK gate ASYNC TIMEOUT"));
  const auto began = Clock::now();
  first.say(":1\r\n" + timed_out("gate", 1));
  first.hang_up();
  first.listener().stop();
  EXPECT_EQ(soon(waiting).error().code, Code::timeout);
  EXPECT_LT(Clock::now() - began, milliseconds(7000));
}

TEST_F(Failover, AQuestionLastsNoLongerThanItMay) {
  connect({.connect_timeout = milliseconds(15'000), .answer_timeout = milliseconds(15'000)});
  const auto began = Clock::now();
  EXPECT_FALSE(client->who("gate", "lock", milliseconds(50)));  // the first says nothing
  first.hang_up();
  first.listener().stop();
  EXPECT_FALSE(client->who("gate", "lock", milliseconds(50)));  // nor does the second
  EXPECT_LT(Clock::now() - began, milliseconds(7000));
}

TEST_F(Failover, KnowsAllNodesAndFirstTheOneThatItUses) {
  connect();
  EXPECT_EQ(client->addresses(), (std::vector{first.address(), second.address()}));
}

TEST_F(Failover, AWaitMovesWhenItsNodeIsSilentAndTheConnectionIsGivenUp) {
  connect();
  auto waiting = acquire("gate");
  EXPECT_EQ(first.next(), "LOCK gate ASYNC");
  first.say(":1\r\n");
  // Now it is stopped.
  second.welcome();
  EXPECT_EQ(second.next(), "LOCK gate ASYNC");
  second.say(":1\r\n" + granted("gate", 1, 42));
  EXPECT_EQ(soon(waiting)->fence(), 42U);
  EXPECT_THAT(notices(), HasSubstr(first.address() + " does not answer"));
  // It goes on, and finds what was said to it, and that the session is over.
  std::string last;
  while (last != "(closed)" && last != "(nothing)") {
    last = first.next();
    EXPECT_TRUE(last == "PING" || last == "CANCEL 1" || last == "(closed)") << last;
  }
  EXPECT_EQ(last, "(closed)");
}

TEST_F(Failover, NodesThatJoinedSinceAreKnown) {
  ScriptedNode third{"third"};
  connect();
  auto waiting = acquire("gate");
  EXPECT_EQ(first.next(), "LOCK gate ASYNC");
  first.say(":1\r\n");
  // The second has left meanwhile; the one that came is where the wait goes on.
  first.say(push("members", members({first.address(), third.address()}), 2));
  first.hang_up();
  first.listener().stop();
  third.welcome();
  EXPECT_EQ(third.next(), "LOCK gate ASYNC");
  third.say(":1\r\n" + granted("gate", 1, 42));
  EXPECT_EQ(soon(waiting)->fence(), 42U);
}

TEST_F(Failover, ANodeThatAnswersPingsKeepsItsWaits) {
  connect({.answer_timeout = milliseconds(200)});
  auto waiting = acquire("gate");
  EXPECT_EQ(first.next(), "LOCK gate ASYNC");
  first.say(":1\r\n");
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(first.next(), "PING");
    first.say("+PONG\r\n");
  }
  first.say(granted("gate", 1, 42));
  EXPECT_EQ(soon(waiting)->fence(), 42U);
}

TEST_F(Failover, WhatIsHeldBehindASilentNodeIsKeptWhileTheRestMoves) {
  connect();
  auto held = holding_at_first("held", 1, 42);
  auto waiting = acquire("gate");
  EXPECT_EQ(first.next(), "LOCK gate ASYNC");  // and does not answer
  second.welcome();
  EXPECT_EQ(second.next(), "LOCK gate ASYNC");
  second.say(":1\r\n" + granted("gate", 1, 7));
  auto moved = soon(waiting);
  EXPECT_EQ(moved->fence(), 7U);
  EXPECT_FALSE(held.lost());
  // The first goes on, and grants what is not wanted any more.
  first.say(":2\r\n");
  auto said = first.next();
  if (said == "PING") said = first.next();
  EXPECT_EQ(said, "CANCEL 2");
  first.say(granted("gate", 2, 9) + ":0\r\n");
  EXPECT_EQ(first.next(), "UNLOCK gate 9");
  first.say(":1\r\n");
  held.release();
  EXPECT_EQ(first.next(), "UNLOCK held 42");
  EXPECT_EQ(first.next(), "(closed)");
  moved->release();
  EXPECT_EQ(second.next(), "UNLOCK gate 7");
}

TEST_F(Failover, ATryDoesNotWaitLongForASilentNode) {
  connect({.answer_timeout = milliseconds(1000)});
  auto trying = acquire("gate", {.timeout = milliseconds(0)});
  EXPECT_EQ(first.next(), "LOCK gate ASYNC TIMEOUT 0");
  second.welcome();
  EXPECT_EQ(second.next(), "LOCK gate ASYNC TIMEOUT 0");
  second.say(":1\r\n" + granted("gate", 1, 7));
  EXPECT_EQ(soon(trying)->fence(), 7U);
}

TEST_F(Failover, ANodeThatLeavesSendsItsWaitsElsewhere) {
  connect();
  auto waiting = acquire("gate");
  EXPECT_EQ(first.next(), "LOCK gate ASYNC");
  first.say(":1\r\n" + push("failed", number(1) + bulk("gate") + bulk("the node ends"), 4));
  second.welcome();
  EXPECT_EQ(second.next(), "LOCK gate ASYNC");
  second.say("-DRAINING the node leaves\r\n");
  first.accept();
  EXPECT_EQ(first.next(), "HELLO 3");
  first.say(first.greeting(true));
  second.welcome();
  EXPECT_EQ(second.next(), "LOCK gate ASYNC");
  second.say(":1\r\n" + granted("gate", 1, 7));
  EXPECT_EQ(soon(waiting)->fence(), 7U);
}

TEST_F(Failover, AWaitCanBeWithdrawnWhileItLooksForANode) {
  connect();
  std::stop_source stop;
  auto waiting = acquire("gate", {}, stop.get_token());
  EXPECT_EQ(first.next(), "LOCK gate ASYNC");
  first.listener().stop();
  second.listener().stop();
  first.hang_up();
  stop.request_stop();
  EXPECT_EQ(soon(waiting).error().code, Code::cancelled);
}

TEST_F(Failover, ThreadsThatLoseTheirNodeAllMove) {
  connect();
  std::vector<std::future<Result>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(acquire("gate-" + std::to_string(i)));
    EXPECT_THAT(first.next(), HasSubstr("LOCK gate-"));
    first.say(number(i + 1));
  }
  first.hang_up();
  first.listener().stop();
  second.welcome();
  for (int i = 0; i < 5; ++i) {
    const auto asked = second.next();
    ASSERT_THAT(asked, HasSubstr("LOCK gate-"));
    second.say(number(i + 1) + granted(asked.substr(5, 6), i + 1, 50 + i));
  }
  for (auto& each : waiting) EXPECT_TRUE(soon(each));
}

TEST(Connecting, TriesTheNextAddressWhenOneIsSilent) {
  // Whoever is asked first says nothing: it accepts through its backlog.
  ScriptedNode silent;
  LittleNode node;
  for (int i = 0; i < 4; ++i) {
    const auto began = std::chrono::steady_clock::now();
    const auto client =
        Client::connect(std::vector<std::string>{silent.address(), node.address()}, {});
    ASSERT_TRUE(client) << client.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(4));
    EXPECT_TRUE((*client)->acquire("gate"));
  }
}

TEST(Connecting, SpreadsOverTheNodes) {
  LittleNode one, other;
  int first = 0;
  for (int i = 0; i < 100; ++i) {
    const auto client =
        Client::connect(std::vector<std::string>{one.address(), other.address()}, {});
    ASSERT_TRUE(client);
    EXPECT_EQ(one.sessions() + other.sessions(), 1U);
    first += static_cast<int>(one.sessions());
    one.forget_sessions();
    other.forget_sessions();
  }
  EXPECT_GT(first, 10);
  EXPECT_LT(first, 90);
}

TEST(Connecting, NamesEveryAddressAndWhyItFailed) {
  ScriptedNode silent;
  const auto result = Client::connect(std::vector<std::string>{"unix:/nowhere/1", silent.address()},
                                      {.connect_timeout = milliseconds(300)});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::unavailable);
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("unix:/nowhere/1 (No such file or directory)"),
                    HasSubstr(silent.address() + ": the node did not answer")));
  EXPECT_EQ(Client::connect(std::vector<std::string>{}, {}).error().code, Code::invalid);
  EXPECT_EQ(Client::connect(std::vector<std::string>{"unix:/a", "nonsense"}, {}).error().code,
            Code::invalid);
}

net::Address tcp(const std::string& text) { return *net::parse_address(text); }

std::vector<std::string> texts(const Addresses& addresses) {
  std::vector<std::string> all;
  for (const auto& known : addresses.in_order()) all.push_back(known.address.text());
  return all;
}

TEST(AddressesOfACluster, AreGivenAndLearned) {
  Addresses addresses({tcp("10.0.0.1:7")}, 1);
  const std::vector<Member> members{{1, "n1", "10.0.0.1:7", "unix:/n1.sock"},
                                    {2, "n2", "10.0.0.2:7", "unix:/n2.sock"},
                                    {3, "n3", "", ""}};
  addresses.learn(members, tcp("10.0.0.1:7"));
  EXPECT_THAT(texts(addresses), ::testing::UnorderedElementsAre("10.0.0.1:7", "10.0.0.2:7"));
  EXPECT_TRUE(addresses.same_cluster(members));
  const std::vector<Member> others{{4, "n1", "10.0.0.1:7", ""}, {5, "n5", "10.0.0.5:7", ""}};
  EXPECT_FALSE(addresses.same_cluster(others));
  addresses.postpone(tcp("10.0.0.1:7"));
  EXPECT_EQ(texts(addresses).back(), "10.0.0.1:7");
  addresses.learn(others, tcp("10.0.0.1:7"));
  EXPECT_THAT(texts(addresses), ::testing::UnorderedElementsAre("10.0.0.1:7", "10.0.0.5:7"));
  // What an older node says teaches nothing.
  addresses.learn(members_from(wire::Reply{}), tcp("10.0.0.1:7"));
  EXPECT_EQ(texts(addresses).size(), 2U);
}

TEST(AddressesOfACluster, AreUnixSocketsForWhoCameByOne) {
  ScriptedNode node;
  const auto path = node.address().substr(5);
  Addresses addresses({tcp("unix:/given")}, 1);
  addresses.learn(std::vector<Member>{{1, "n1", "10.0.0.1:7", path},
                                      {2, "n2", "10.0.0.2:7", "unix:/not/there"}},
                  tcp("unix:/given"));
  EXPECT_THAT(texts(addresses),
              ::testing::UnorderedElementsAre("unix:/given", node.address(), "10.0.0.2:7"));
}

}  // namespace
}  // namespace turno
