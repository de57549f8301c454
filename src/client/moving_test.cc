// A client whose node leaves in good order: what is held and what is waited for moves to another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/conversation_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

using namespace client;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

// Connected with the node "old", which knows the node "heir".
class Moving : public ::testing::Test {
 protected:
  void SetUp() override {
    Client::Options options;
    options.notice = [this](const std::string& text) {
      const std::scoped_lock lock(mutex_);
      notices_ += text + "\n";
    };
    options.held_by = [this](int) { ++connections_told_; };
    auto connecting =
        std::async(std::launch::async, [&] { return Client::connect(old.address(), options); });
    old.welcome(members({old.address(), heir.address()}));
    auto connected = soon(connecting);
    ASSERT_TRUE(connected) << connected.error().message;
    client = std::move(*connected);
  }
  std::future<Result> acquire(const std::string& name, Request request = {}) {
    return std::async(std::launch::async,
                      [this, name, request] { return client->acquire(name, request); });
  }
  Grant holding(const std::string& name, int ticket, int fence) {
    auto result = acquire(name);
    EXPECT_EQ(old.next(), "LOCK " + name + " ASYNC");
    old.say(number(ticket) + granted(name, ticket, fence));
    return *soon(result);
  }
  void drain() { old.say(push("draining", bulk("old") + bulk("upgrade"), 3)); }
  // Up to the question whose answer decides.
  void begin_bequest() {
    drain();
    heir.welcome();
    EXPECT_EQ(heir.next(), "SESSION INHERIT");
    heir.say(bulk("t1"));
    EXPECT_EQ(old.next(), "SESSION BEQUEATH heir t1");
  }
  std::string notices() {
    const std::scoped_lock lock(mutex_);
    return notices_;
  }
  bool has_moved() {
    return eventually([&] { return notices().find("held at node heir now") != std::string::npos; });
  }
  static std::string held(const std::vector<std::pair<std::string, int>>& all) {
    auto text = "*" + std::to_string(all.size()) + "\r\n";
    for (const auto& [name, fence] : all) text += "*2\r\n" + bulk(name) + number(fence);
    return text;
  }

  ScriptedNode old{"old"}, heir{"heir"};
  std::unique_ptr<Client> client;
  std::atomic<int> connections_told_ = 0;
  std::mutex mutex_;
  std::string notices_;
};

TEST_F(Moving, WhatIsHeldIsHandedOver) {
  auto gate = holding("gate", 1, 42);
  auto door = holding("door", 2, 7);
  EXPECT_EQ(connections_told_, 2);
  begin_bequest();
  old.say(":2\r\n");
  EXPECT_TRUE(has_moved());
  EXPECT_EQ(connections_told_, 3);
  EXPECT_EQ(old.next(), "(closed)");
  old.hang_up();
  EXPECT_FALSE(gate.lost() || door.lost());
  auto renewed = std::async(std::launch::async, [&] { return gate.renew(milliseconds(900)); });
  EXPECT_EQ(heir.next(), "RENEW gate 900 42 lock");
  heir.say(":1\r\n");
  EXPECT_TRUE(soon(renewed));
  gate.release();
  EXPECT_EQ(heir.next(), "UNLOCK gate 42");
  door.release();
  EXPECT_EQ(heir.next(), "UNLOCK door 7");
  EXPECT_EQ(client->identity().node, "heir");
}

TEST_F(Moving, ReleasesArePutOffUntilItIsKnownWhoHasTheLock) {
  auto gate = holding("gate", 1, 42);
  auto door = holding("door", 2, 7);
  begin_bequest();
  gate.release();
  old.say(":2\r\n");
  EXPECT_EQ(heir.next(), "UNLOCK gate 42");
  EXPECT_TRUE(has_moved());
  EXPECT_FALSE(door.lost());
}

TEST_F(Moving, AGrantThatCrossesTheBequestIsHandedOverToo) {
  auto gate = holding("gate", 1, 42);
  auto waiting = acquire("door");
  EXPECT_EQ(old.next(), "LOCK door ASYNC");
  old.say(":2\r\n");
  drain();
  heir.welcome();
  EXPECT_EQ(heir.next(), "LOCK door ASYNC");  // not answered yet
  EXPECT_EQ(heir.next(), "SESSION INHERIT");
  heir.say(":5\r\n" + bulk("t1"));
  auto asked = old.next();
  EXPECT_EQ(asked, "CANCEL 2");
  EXPECT_EQ(old.next(), "SESSION BEQUEATH heir t1");
  old.say(granted("door", 2, 8) + ":0\r\n:2\r\n");
  auto door = soon(waiting);
  EXPECT_EQ(door->fence(), 8U) << "the older grant is kept";
  EXPECT_EQ(heir.next(), "CANCEL 5");
  heir.say(":1\r\n");
  EXPECT_TRUE(has_moved());
  EXPECT_FALSE(gate.lost() || door->lost());
  door->release();
  EXPECT_EQ(heir.next(), "UNLOCK door 8");
}

TEST_F(Moving, WaitsStandInTheNewQueueBeforeTheyLeaveTheOldOne) {
  auto waiting = acquire("gate");
  EXPECT_EQ(old.next(), "LOCK gate ASYNC");
  old.say(":1\r\n");
  drain();
  heir.welcome();
  EXPECT_EQ(heir.next(), "LOCK gate ASYNC");
  heir.say(":9\r\n");
  EXPECT_EQ(old.next(), "CANCEL 1");
  old.say(":1\r\n");
  EXPECT_EQ(old.next(), "(closed)");
  heir.say(granted("gate", 9, 42));
  EXPECT_EQ(soon(waiting)->fence(), 42U);
}

TEST_F(Moving, ARefusalLeavesEverythingWhereItIsAndIsTriedAgain) {
  auto gate = holding("gate", 1, 42);
  begin_bequest();
  old.say("-ERR heir does not answer\r\n");
  EXPECT_EQ(heir.next(), "SESSION HELD gate");
  heir.say("*0\r\n");
  EXPECT_EQ(heir.next(), "SESSION INHERIT") << "there is no third node: it is asked again";
  EXPECT_FALSE(gate.lost());
  heir.say(bulk("t2"));
  EXPECT_EQ(old.next(), "SESSION BEQUEATH heir t2");
  old.say(":1\r\n");
  EXPECT_TRUE(has_moved());
  EXPECT_FALSE(gate.lost());
}

TEST_F(Moving, WhatWentBeforeARefusalIsAtTheHeir) {
  auto gate = holding("gate", 1, 42);
  auto door = holding("door", 2, 7);
  begin_bequest();
  old.say("-REFUSED the second part\r\n");
  EXPECT_EQ(heir.next(), "SESSION HELD door gate");
  heir.say(held({{"door", 7}}));
  EXPECT_EQ(heir.next(), "SESSION INHERIT");
  door.release();
  EXPECT_EQ(heir.next(), "UNLOCK door 7");
  gate.release();
  EXPECT_EQ(old.next(), "UNLOCK gate 42");
}

TEST_F(Moving, IfTheNodeEndsWithoutAnAnswerTheHeirIsAsked) {
  auto gate = holding("gate", 1, 42);
  auto door = holding("door", 2, 7);
  begin_bequest();
  door.release();
  old.hang_up();
  EXPECT_EQ(heir.next(), "SESSION HELD gate door");
  heir.say(held({{"gate", 41}}));  // not yet
  EXPECT_EQ(heir.next(), "SESSION HELD gate door");
  heir.say(held({{"gate", 42}, {"door", 7}}));
  EXPECT_EQ(heir.next(), "UNLOCK door 7");
  EXPECT_TRUE(has_moved());
  EXPECT_FALSE(gate.lost());
  gate.release();
  EXPECT_EQ(heir.next(), "UNLOCK gate 42");
}

TEST_F(Moving, WhatTheHeirDoesNotHaveIsLost) {
  auto gate = holding("gate", 1, 42);
  begin_bequest();
  old.hang_up();
  for (auto asked = heir.next(); asked == "SESSION HELD gate" && !gate.lost();
       asked = gate.lost() ? "" : heir.next())
    heir.say("*0\r\n");
  EXPECT_TRUE(eventually([&] { return gate.lost(); }));
  EXPECT_THAT(gate.renew(milliseconds(1)).error().message, HasSubstr("broke: the node closed it"));
}

// A request has a limit, and so has an answer.
TEST_F(Moving, TheHeirIsAskedForAFewAtATime) {
  std::vector<Grant> grants;
  for (int i = 0; i < 100; ++i) grants.push_back(holding("lock-" + std::to_string(i), i + 1, 7));
  begin_bequest();
  old.hang_up();
  std::size_t asked = 0;
  while (asked < grants.size()) {
    std::istringstream words(heir.next());
    std::vector<std::pair<std::string, int>> all;
    std::string session, what;
    words >> session >> what;
    ASSERT_EQ(what, "HELD");
    for (std::string name; words >> name;) all.emplace_back(name, 7);
    EXPECT_LE(all.size(), 60U);
    asked += all.size();
    heir.say(held(all));
  }
  EXPECT_TRUE(has_moved());
  for (const auto& grant : grants) EXPECT_FALSE(grant.lost());
}

TEST_F(Moving, ALossWhileTheNodeLeavesIsAnsweredWhenTheUserHasStopped) {
  auto gate = holding("gate", 1, 42);
  heir.listener().stop();  // there is nowhere to go
  drain();
  old.say(push("lost", bulk("gate") + number(42) + bulk("the node leaves"), 4));
  EXPECT_TRUE(eventually([&] { return gate.lost(); }));
  gate.release();
  EXPECT_EQ(old.next(), "UNLOCK gate 42");
  EXPECT_EQ(old.next(), "(closed)");
}

TEST_F(Moving, ANodeThatLeavesTooIsNoHeir) {
  auto gate = holding("gate", 1, 42);
  drain();
  heir.accept();
  EXPECT_EQ(heir.next(), "HELLO 3");
  heir.say(heir.greeting(true));
  EXPECT_EQ(heir.next(), "(closed)");
  heir.welcome();  // that was another one at the same place
  EXPECT_EQ(heir.next(), "SESSION INHERIT");
  heir.say(bulk("t1"));
  EXPECT_EQ(old.next(), "SESSION BEQUEATH heir t1");
  old.say(":1\r\n");
  EXPECT_TRUE(has_moved());
}

TEST_F(Moving, AClientCanEndWhileItMoves) {
  auto gate = holding("gate", 1, 42);
  begin_bequest();
  gate.release();
  client.reset();
  EXPECT_EQ(old.next(), "(closed)");
}

}  // namespace
}  // namespace turno
