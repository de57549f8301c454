// Sessions that are no connections: opened, joined from many connections, kept and run out.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <thread>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"
#include "port/resp/leases.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class SessionsTest : public testing::Test {
 protected:
  [[nodiscard]] Caller caller(std::size_t node = 0, int protocol = 2) {
    return Caller(cluster_[node].self().client_address, protocol);
  }
  // Opens a session. Its id and secret, as JOIN wants them.
  std::string open(const std::string& ttl = "60000") {
    const auto opened = caller().call("SESSION OPEN " + ttl);
    EXPECT_EQ(opened.elements.size(), 2U) << text_of(opened);
    if (opened.elements.size() != 2) return "nothing";
    return opened.elements[0].text + " " + opened.elements[1].text;
  }
  Caller joined(const std::string& key, int protocol = 2) {
    auto made = caller(0, protocol);
    EXPECT_EQ(made.ask("SESSION JOIN " + key), "OK");
    return made;
  }
  // From 127.0.0.`host`, which is another address than that of all others.
  Caller caller_from(int host) {
    auto made = caller();
    const auto& node = cluster_[0].self().client_address;
    sockaddr_in own{}, other{};
    own.sin_family = other.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + static_cast<std::uint32_t>(host));
    other.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    other.sin_port = htons(static_cast<std::uint16_t>(std::stoi(node.substr(node.rfind(':') + 1))));
    net::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&other), sizeof other), 0);
    made.socket() = std::move(socket);
    return made;
  }
  // The last one, as JOIN wants it.
  static std::string open_many(Caller& caller, std::size_t count) {
    std::string requests, key;
    for (std::size_t i = 0; i < count; ++i) requests += Caller::request("SESSION OPEN 60000");
    caller.send_bytes(requests);
    for (std::size_t i = 0; i < count; ++i) {
      const auto opened = caller.read();
      EXPECT_EQ(opened.elements.size(), 2U) << text_of(opened);
      if (opened.elements.size() != 2) return "nothing";
      key = opened.elements[0].text + " " + opened.elements[1].text;
    }
    return key;
  }
  [[nodiscard]] bool holding(std::int64_t count) {
    return eventually([&] { return cluster_[0].locks().statistics().holders == count; });
  }
  [[nodiscard]] bool waiting(std::int64_t count) {
    return eventually([&] { return cluster_[0].locks().statistics().waiters == count; });
  }

  TestCluster cluster_{2};
};

TEST_F(SessionsTest, AnyConnectionSpeaksForIt) {
  const auto key = open();
  EXPECT_THAT(key, MatchesRegex("s[0-9]+-[0-9a-f]+ [0-9a-f]+"));
  EXPECT_EQ(key.substr(key.find(' ') + 1).size(), 32U);
  EXPECT_NE(key, open());
  auto one = joined(key), two = joined(key, 3), other = caller();
  const auto fence = one.lock("a");
  EXPECT_THAT(two.ask("LOCK a"), StartsWith("-HELD"));
  EXPECT_EQ(other.ask("UNLOCK a"), "0");
  EXPECT_EQ(two.ask("RENEW a 60000 " + std::to_string(fence)), "1");
  EXPECT_EQ(two.ask("UNLOCK a"), "1");
  EXPECT_EQ(one.ask("UNLOCK a"), "0");
}

// Else it would be done for the connection's own session, which nobody meant.
TEST_F(SessionsTest, NothingIsDoneForOneThatIsOver) {
  const auto key = open();
  auto one = joined(key), two = joined(key);
  ASSERT_EQ(two.ask("SESSION CLOSE"), "OK");
  for (const auto* command : {"LOCK a",
                              "UNLOCK a",
                              "PERMIT s OF 2",
                              "RELEASE s",
                              "ENTER hall red",
                              "LEAVE hall",
                              "RESERVE gpu:1/2",
                              "RETURN",
                              "CAMPAIGN e v",
                              "RESIGN e",
                              "RENEW a 1000",
                              "CANCEL 1",
                              "TICKET 1",
                              "SUBSCRIBE turno:lost",
                              "PSUBSCRIBE turno:*",
                              "SESSION KEEP",
                              "SESSION CLOSE",
                              "SESSION INHERIT",
                              "SESSION HELD a",
                              "SESSION BEQUEATH n t"})
    EXPECT_THAT(one.ask(command), StartsWith("-NOSESSION the session for which")) << command;
  for (const auto* command : {"WHO a", "WAITERS a", "WHY a", "LOCKS", "MEMBERS", "LEADER e"})
    EXPECT_THAT(one.ask(command), Not(StartsWith("-"))) << command;
  for (auto* table : {static_cast<Table*>(&cluster_[0].locks()),
                      static_cast<Table*>(&cluster_[0].daemon().semaphores()),
                      static_cast<Table*>(&cluster_[0].daemon().rooms()),
                      static_cast<Table*>(&cluster_[0].daemon().stores()),
                      static_cast<Table*>(&cluster_[0].daemon().elections())})
    EXPECT_EQ(table->statistics().holders, 0) << table::name(table->thing());
}

TEST_F(SessionsTest, OutlivesItsConnections) {
  const auto key = open();
  {
    auto one = joined(key);
    one.lock("a");
    EXPECT_THAT(one.ask("PERMIT gpu OF 2"), StartsWith("["));
  }
  EXPECT_TRUE(eventually([&] { return cluster_[0].clients() == 0; }));
  EXPECT_EQ(cluster_[0].locks().statistics().holders, 1);
  auto two = joined(key);
  EXPECT_THAT(two.ask("SESSION INFO"), HasSubstr("\"name\", \"gpu\", \"kind\", \"semaphore\""));
  EXPECT_THAT(two.ask("SESSION INFO"), HasSubstr("\"name\", \"a\", \"kind\", \"lock\", \"fence\""));
  EXPECT_EQ(two.ask("UNLOCK a"), "1");
}

TEST_F(SessionsTest, RunsOutAndReleasesEverything) {
  const auto key = open("60");
  auto one = joined(key, 3), two = joined(key), next = caller(1);
  one.lock("a");
  EXPECT_EQ(two.ask("PSUBSCRIBE turno:*"), "[\"psubscribe\", \"turno:*\", 1]");
  next.send("LOCK a");
  EXPECT_GT(next.read().integer, 0);
  EXPECT_THAT(one.read_text(),
              AllOf(StartsWith(">[\"lost\", \"a\", "), HasSubstr("\"its session ran out\"")));
  EXPECT_THAT(two.read_text(), HasSubstr("\"turno:lost\""));
  EXPECT_EQ(one.ask("LOCK b"),
            "-NOSESSION the session for which this connection spoke ran out: what it held is "
            "released; SESSION JOIN another one, or RESET");
  EXPECT_THAT(one.ask("UNLOCK a"), StartsWith("-NOSESSION"));
  EXPECT_THAT(one.ask("SESSION KEEP"), StartsWith("-NOSESSION"));
  EXPECT_THAT(one.ask("SESSION INFO"), StartsWith("-NOSESSION"));
  EXPECT_EQ(one.ask("PING"), "PONG");
  EXPECT_THAT(one.ask("SESSION JOIN " + key), StartsWith("-NOSESSION there is no such session"));
  EXPECT_EQ(one.ask("SESSION JOIN " + open()), "OK");
  EXPECT_GT(one.lock("b"), 0);
  EXPECT_EQ(two.ask("RESET"), "RESET");
  EXPECT_GT(two.lock("c"), 0);
}

TEST_F(SessionsTest, AnyCommandKeepsIt) {
  const auto key = open("300");
  auto one = joined(key), two = joined(key);
  one.lock("a");
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(60ms);
    EXPECT_EQ(two.ask("PING"), "PONG");
  }
  EXPECT_EQ(one.ask("SESSION KEEP"), "OK");
  EXPECT_EQ(one.ask("SESSION KEEP 60000"), "OK");
  EXPECT_THAT(one.ask("SESSION INFO"),
              AllOf(HasSubstr("\"ttl_ms\", 60000"), HasSubstr("\"connections\", 2")));
  EXPECT_EQ(one.ask("SESSION KEEP 30"), "OK");
  EXPECT_TRUE(holding(0));
}

// Who waits for an answer cannot say anything.
TEST_F(SessionsTest, DoesNotRunOutWhileAReplyIsAwaited) {
  auto holder = caller();
  holder.lock("a");
  auto one = joined(open("40"));
  one.send("LOCK a");
  EXPECT_TRUE(one.is_silent(150ms));
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_GT(one.read().integer, 0);
}

TEST_F(SessionsTest, Closes) {
  const auto key = open();
  auto one = joined(key), two = joined(key), waiter = joined(key), holder = caller();
  holder.lock("held");
  one.lock("a");
  waiter.send_bytes(Caller::request("LOCK held") + Caller::request("LOCK b"));
  ASSERT_TRUE(waiting(1));
  EXPECT_EQ(two.ask("SESSION CLOSE"), "OK");
  EXPECT_TRUE(holding(1));
  EXPECT_TRUE(waiting(0));
  EXPECT_EQ(waiter.read_text(), "-UNAVAILABLE the session was closed; the lock was not taken");
  EXPECT_THAT(waiter.read_text(), StartsWith("-NOSESSION"));
  EXPECT_THAT(one.ask("UNLOCK a"), StartsWith("-NOSESSION the session for which this connection "
                                              "spoke was closed"));
  EXPECT_THAT(two.ask("SESSION CLOSE"), StartsWith("-NOSESSION"));
}

// A connection that goes takes its own waits with it, and nothing else.
TEST_F(SessionsTest, AConnectionThatGoesTakesItsWaitsWithIt) {
  const auto key = open();
  auto holder = caller(), one = joined(key), two = joined(key);
  holder.lock("a");
  holder.lock("b");
  one.send("LOCK a");
  EXPECT_EQ(two.ask("LOCK b ASYNC"), "2");
  ASSERT_TRUE(waiting(2));
  EXPECT_EQ(two.ask("CANCEL 1"), "0");  // somebody waits for its answer
  one.hang_up();
  ASSERT_TRUE(waiting(1));
  two.hang_up();
  EXPECT_TRUE(eventually([&] { return cluster_[0].clients() == 1; }));
  EXPECT_EQ(holder.ask("UNLOCK b"), "1");
  EXPECT_TRUE(holding(2));
  EXPECT_THAT(joined(key).ask("TICKET 2"), StartsWith("[\"granted\", \"b\", "));
}

TEST_F(SessionsTest, RefusesWhoDoesNotKnowTheSecret) {
  net::LoggedLines lines;
  const auto key = open();
  const auto id = key.substr(0, key.find(' ')), secret = key.substr(key.find(' ') + 1);
  auto one = caller();
  const std::string refusal =
      "-NOSESSION there is no such session: it ran out, was closed, or the secret is another";
  EXPECT_EQ(one.ask("SESSION JOIN " + id + " " + std::string(32, '0')), refusal);
  EXPECT_EQ(one.ask("SESSION JOIN " + id + " x"), refusal);
  EXPECT_EQ(one.ask("SESSION JOIN s9999" + id.substr(id.find('-')) + " " + secret), refusal);
  EXPECT_THAT(one.ask("SESSION JOIN nonsense " + secret),
              StartsWith("-NOSESSION that is no session's id"));
  EXPECT_THAT(one.ask("SESSION JOIN " + id), StartsWith("-ERR unknown SESSION subcommand"));
  EXPECT_EQ(one.ask("SESSION JOIN " + key), "OK");
  EXPECT_THAT(one.ask("SESSION INFO"), Not(HasSubstr(secret)));
  EXPECT_THAT(lines.take(), Not(HasSubstr(secret)));
}

TEST_F(SessionsTest, AnotherNodeTellsWhereItLives) {
  const auto key = open();
  EXPECT_EQ(caller(1).ask("SESSION JOIN " + key), "-NOSESSION this session lives at n1 (" +
                                                      cluster_[0].self().client_address +
                                                      "): connect there");
  auto there = caller(1);
  cluster_.stop(0);
  EXPECT_TRUE(eventually([&] { return cluster_[1].members() == 1; }));
  EXPECT_EQ(there.ask("SESSION JOIN " + key),
            "-NOSESSION the node of this session has gone, and with it what the session held");
}

TEST_F(SessionsTest, WhoHoldsSomethingItselfCannotJoin) {
  const auto key = open();
  auto one = caller();
  one.lock("a");
  EXPECT_THAT(one.ask("SESSION JOIN " + key), StartsWith("-ERR this connection holds locks"));
  EXPECT_EQ(one.ask("UNLOCK a"), "1");
  EXPECT_EQ(one.ask("SESSION JOIN " + key), "OK");
  EXPECT_EQ(one.ask("SESSION JOIN " + key), "OK");  // again is the same
  // From one session to another: the first one lives on.
  one.lock("a");
  EXPECT_EQ(one.ask("SESSION JOIN " + open()), "OK");
  EXPECT_EQ(one.ask("UNLOCK a"), "0");
  EXPECT_EQ(joined(key).ask("UNLOCK a"), "1");
}

TEST_F(SessionsTest, RefusesWhatMakesNoSense) {
  auto one = caller();
  for (const auto* ttl : {"0", "-1", "x", "86400001", "1.5"})
    EXPECT_EQ(one.ask("SESSION OPEN " + std::string(ttl)),
              "-ERR a session needs a number of milliseconds above 0, at most 86400000");
  EXPECT_THAT(one.ask("SESSION"), HasSubstr("usage: SESSION OPEN"));
  EXPECT_THAT(one.ask("SESSION OPEN"), StartsWith("-ERR unknown SESSION subcommand"));
  EXPECT_THAT(one.ask("SESSION NONSENSE"), StartsWith("-ERR unknown SESSION subcommand"));
  EXPECT_THAT(one.ask("SESSION KEEP"),
              StartsWith("-NOSESSION this connection speaks for itself only"));
  EXPECT_THAT(one.ask("SESSION CLOSE"), StartsWith("-NOSESSION"));
  EXPECT_THAT(one.ask("SESSION INFO"),
              AllOf(HasSubstr("\"ttl_ms\", 0"), HasSubstr("\"holds\", []")));
}

// One user or address may take many, by any number of connections, and leaves the rest to others.
TEST_F(SessionsTest, AreLimited) {
  auto greedy = caller();
  const auto key = open_many(greedy, Leases::most - Leases::reserve);
  const auto objection = AllOf(StartsWith("-ERR this node has 9000 open sessions, 9000 of them"),
                               HasSubstr("by address 127.0.0.1: the last 1000 are for others"));
  EXPECT_THAT(greedy.ask("SESSION OPEN 1000"), objection);
  EXPECT_THAT(caller().ask("SESSION OPEN 1000"), objection) << "it is the same by another way";
  Caller local("unix:" + cluster_[0].self().client_socket);
  open_many(local, 1);
  auto left = Leases::reserve - 1;
  for (int host = 2; left > 0; ++host) {
    auto other = caller_from(host);
    const auto some = std::min(left, Leases::few);
    open_many(other, some);
    left -= some;
    EXPECT_THAT(other.ask("SESSION OPEN 1000"), StartsWith("-ERR this node has "));
  }
  auto late = caller_from(99);
  EXPECT_THAT(late.ask("SESSION OPEN 1000"),
              "-ERR this node has too many open sessions: at most 10000");
  EXPECT_EQ(joined(key).ask("SESSION CLOSE"), "OK");
  open_many(late, 1);
}

// A user name and a password are what every library sends on every connection that it makes.
TEST_F(SessionsTest, AuthIsAJoin) {
  const auto key = open();
  auto one = caller(), two = caller();
  EXPECT_EQ(one.ask("AUTH " + key), "OK");
  EXPECT_EQ(two.call("HELLO 3 AUTH " + key + " SETNAME pool").kind, wire::Reply::Kind::map);
  one.lock("a");
  EXPECT_EQ(two.ask("UNLOCK a"), "1");
  EXPECT_EQ(one.ask("CLIENT GETNAME"), "\"pool\"");
  EXPECT_THAT(caller().ask("AUTH " + key.substr(0, key.find(' ')) + " wrong"),
              StartsWith("-NOSESSION"));
}

TEST_F(SessionsTest, ResetIsANewConnection) {
  const auto key = open();
  auto one = joined(key, 3);
  one.lock("a");
  EXPECT_EQ(one.ask("RESET"), "RESET");
  EXPECT_EQ(one.ask("UNLOCK a"), "0");  // of the other session
  one.lock("b");
  EXPECT_EQ(one.ask("RESET"), "RESET");
  EXPECT_GT(caller().lock("b"), 0);
  EXPECT_EQ(joined(key).ask("UNLOCK a"), "1");
}

// ---- waits that block nobody, also for who cannot be told

TEST_F(SessionsTest, TicketsTellHowAWaitStands) {
  auto holder = caller(), one = caller();
  holder.lock("a");
  EXPECT_EQ(one.ask("LOCK a ASYNC"), "1");
  EXPECT_EQ(one.ask("LOCK a TIMEOUT 20 ASYNC"), "2");
  EXPECT_EQ(one.ask("LOCK b TIMEOUT 0 ASYNC"), "3");
  EXPECT_EQ(one.ask("LOCK a TIMEOUT 0 ASYNC"), "4");
  EXPECT_EQ(one.ask("PING"), "PONG");
  EXPECT_EQ(one.ask("TICKET 1"), "[\"waiting\", \"a\"]");
  EXPECT_THAT(one.ask("TICKET 3"), StartsWith("[\"granted\", \"b\", "));
  EXPECT_TRUE(eventually([&] { return one.ask("TICKET 2") == "[\"timeout\", \"a\"]"; }));
  EXPECT_TRUE(eventually([&] { return one.ask("TICKET 4") == "[\"timeout\", \"a\"]"; }));
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_TRUE(eventually([&] { return one.ask("TICKET 1").starts_with("[\"granted\", \"a\""); }));
  EXPECT_EQ(one.ask("UNLOCK a"), "1");
  EXPECT_EQ(one.ask("TICKET 1"), "null");
  EXPECT_EQ(one.ask("TICKET 99"), "null");
  EXPECT_EQ(one.ask("TICKET x"), "-ERR a ticket is a number");
  EXPECT_TRUE(one.is_silent());
}

}  // namespace
}  // namespace turno::port
