// Every command of the client port, what it answers, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

// In both versions of the protocol, over both kinds of sockets.
class CommandsTest : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] bool newer() const { return GetParam() == 3; }
  [[nodiscard]] std::string address() {
    return newer() ? cluster_[0].self().client_address : cluster_[0].self().client_socket;
  }
  // A map, which is a flat array in the older version.
  std::map<std::string, std::string> fields(const wire::Reply& reply) const {
    EXPECT_EQ(reply.kind, newer() ? wire::Reply::Kind::map : wire::Reply::Kind::array);
    std::map<std::string, std::string> result;
    for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2)
      result[reply.elements[i].text] = text_of(reply.elements[i + 1]);
    return result;
  }

  TestCluster cluster_{1};
  Caller caller_{address(), GetParam()}, other_{address(), GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Version, CommandsTest, testing::Values(2, 3));

TEST_P(CommandsTest, LockAndUnlock) {
  const auto fence = caller_.lock("a");
  EXPECT_GT(fence, 0);
  EXPECT_EQ(other_.ask("UNLOCK a"), "0");  // not its own
  EXPECT_EQ(caller_.ask("UNLOCK a " + std::to_string(fence + 1)), "0");
  EXPECT_EQ(caller_.ask("UNLOCK a " + std::to_string(fence)), "1");
  EXPECT_EQ(caller_.ask("UNLOCK a"), "0");
  EXPECT_GT(other_.lock("a"), fence);
  EXPECT_EQ(other_.ask("unlock a"), "1");
  EXPECT_GT(caller_.call("LoCk a TIMEOUT 5 tTl 1000").integer, fence);
}

TEST_P(CommandsTest, ALockThatIsHeldByTheSessionItself) {
  caller_.lock("a");
  EXPECT_EQ(caller_.ask("LOCK a"),
            "-HELD this session holds 'a' already and would wait for itself");
  EXPECT_EQ(caller_.ask("LOCK a TIMEOUT 0"),
            "-HELD this session holds 'a' already and would wait for itself");
  EXPECT_EQ(caller_.ask("UNLOCK a"), "1");
}

TEST_P(CommandsTest, LockRefusesWhatMakesNoSense) {
  const std::string usage =
      "-ERR wrong number of arguments; usage: LOCK name [TIMEOUT ms] [TTL ms] [ASYNC]";
  EXPECT_EQ(caller_.ask("LOCK"), usage);
  EXPECT_EQ(caller_.ask("LOCK a TIMEOUT 1 TTL 1 ASYNC x"), usage);
  EXPECT_EQ(caller_.ask(Caller::Words{"LOCK", ""}), "-ERR a lock needs a name");
  EXPECT_EQ(caller_.ask("LOCK " + std::string(513, 'x')),
            "-ERR the name is too long: at most 512 bytes");
  EXPECT_EQ(caller_.ask("LOCK a SOON"),
            "-ERR unknown option 'SOON': there are TIMEOUT ms, TTL ms and ASYNC");
  for (const auto* time : {"", " x", " -1", " 1.5", " 1x", " 99999999999999999999"}) {
    EXPECT_EQ(caller_.ask("LOCK a TIMEOUT" + std::string(time)),
              "-ERR TIMEOUT needs a number of milliseconds, 0 or above");
    EXPECT_EQ(caller_.ask("LOCK a TTL" + std::string(time)),
              "-ERR TTL needs a number of milliseconds above 0");
  }
  EXPECT_EQ(caller_.ask("LOCK a TTL 0"), "-ERR TTL needs a number of milliseconds above 0");
  EXPECT_EQ(caller_.ask("LOCK a TIMEOUT 5 TIMEOUT 6"), "-ERR TIMEOUT is given twice");
  EXPECT_EQ(caller_.ask("LOCK a ttl 5 TTL 5"), "-ERR TTL is given twice");
  EXPECT_EQ(caller_.ask("LOCK a ASYNC ASYNC"), "-ERR ASYNC is given twice");
  EXPECT_GT(caller_.lock(std::string(512, 'x')), 0);
}

TEST_P(CommandsTest, UnlockRenewAndCancelRefuseWhatMakesNoSense) {
  EXPECT_THAT(caller_.ask("UNLOCK"), HasSubstr("usage: UNLOCK name [fence]"));
  EXPECT_THAT(caller_.ask("UNLOCK a 1 2"), HasSubstr("usage: UNLOCK name [fence]"));
  EXPECT_EQ(caller_.ask("UNLOCK a x"), "-ERR 'x' is no fence");
  EXPECT_EQ(caller_.ask("UNLOCK a 0"), "-ERR '0' is no fence");
  EXPECT_EQ(caller_.ask("UNLOCK a -7"), "-ERR '-7' is no fence");
  EXPECT_EQ(caller_.ask("UNLOCK a 99999999999999999999"),
            "-ERR '99999999999999999999' is no fence");
  EXPECT_THAT(caller_.ask("RENEW a"), HasSubstr("usage: RENEW name ms [fence"));
  EXPECT_EQ(caller_.ask("RENEW a x"), "-ERR RENEW needs a number of milliseconds above 0");
  EXPECT_EQ(caller_.ask("RENEW a 0"), "-ERR RENEW needs a number of milliseconds above 0");
  EXPECT_EQ(caller_.ask("RENEW a 10 x"), "-ERR 'x' is no fence");
  EXPECT_EQ(caller_.ask("RENEW a 10"), "0");  // not held
  EXPECT_THAT(caller_.ask("CANCEL"), HasSubstr("usage: CANCEL ticket"));
  EXPECT_EQ(caller_.ask("CANCEL x"), "-ERR a ticket is a number");
  EXPECT_EQ(caller_.ask("CANCEL 7"), "0");
}

TEST_P(CommandsTest, Renew) {
  const auto fence = std::to_string(caller_.lock("a"));
  EXPECT_EQ(caller_.ask("RENEW a 100000"), "1");
  EXPECT_EQ(caller_.ask("RENEW a 100000 " + fence), "1");
  EXPECT_EQ(caller_.ask("RENEW a 100000 1" + fence), "0");
  EXPECT_EQ(other_.ask("RENEW a 100000"), "0");
}

TEST_P(CommandsTest, WhoAndWaiters) {
  EXPECT_EQ(caller_.ask("WHO a"), "null");
  EXPECT_EQ(caller_.ask("WAITERS a"), "[]");
  EXPECT_EQ(caller_.ask("LOCKS"), "[]");
  caller_.ask("CLIENT SETNAME holder");
  other_.ask("CLIENT SETNAME waiter");
  const auto fence = std::to_string(caller_.lock("a"));
  const auto session = caller_.ask("CLIENT ID"), other_session = other_.ask("CLIENT ID");
  other_.send("LOCK a");
  EXPECT_TRUE(net::eventually([&] { return caller_.ask("WAITERS a") != "[]"; }));
  const auto locks = caller_.call("LOCKS");
  ASSERT_EQ(locks.elements.size(), 1U);
  for (auto holder : {fields(caller_.call("WHO a")), fields(locks.elements[0])}) {
    holder.erase("held_ms");
    holder.erase("complete");  // of WHO only
    EXPECT_THAT(holder.at("from"), StartsWith(newer() ? "\"127.0.0.1:" : "\"unix:pid="));
    holder.erase("from");
    EXPECT_THAT(holder,
                ElementsAre(Pair("client", "\"holder\""), Pair("fence", fence),
                            Pair("kind", "\"lock\""), Pair("name", "\"a\""), Pair("node", "\"n1\""),
                            Pair("session", session), Pair("waiting", "1")));
  }
  const auto waiters = caller_.call("WAITERS a");
  ASSERT_EQ(waiters.elements.size(), 1U);
  auto waiter = fields(waiters.elements[0]);
  waiter.erase("waiting_ms");
  waiter.erase("from");
  EXPECT_THAT(waiter, ElementsAre(Pair("client", "\"waiter\""), Pair("node", "\"n1\""),
                                  Pair("position", "1"), Pair("session", other_session)));
  EXPECT_EQ(caller_.ask(Caller::Words{"WHO", ""}), "-ERR a lock needs a name");
  EXPECT_THAT(caller_.ask("WAITERS " + std::string(600, 'x')), HasSubstr("the name is too long"));
  EXPECT_THAT(caller_.ask("WHO"), HasSubstr("usage: WHO name"));
  EXPECT_THAT(caller_.ask("LOCKS x"), HasSubstr("usage: LOCKS"));
}

// A fence has more digits than a double keeps.
TEST_P(CommandsTest, FencesAsText) {
  const auto fence = caller_.lock("a");
  EXPECT_GT(fence, std::int64_t{1} << 53);
  EXPECT_EQ(caller_.ask("CLIENT FENCES TEXT"), "OK");
  const auto text = '"' + std::to_string(fence) + '"';
  EXPECT_EQ(fields(caller_.call("WHO a")).at("fence"), text);
  EXPECT_EQ(fields(other_.call("WHO a")).at("fence"), std::to_string(fence));
  EXPECT_EQ(caller_.ask("UNLOCK a " + std::to_string(fence)), "1");
  const auto again = caller_.call("LOCK a");
  EXPECT_EQ(again.kind, wire::Reply::Kind::bulk);
  EXPECT_GT(std::stoll(again.text), fence);
  EXPECT_EQ(caller_.ask("UNLOCK a " + again.text), "1");
  EXPECT_EQ(caller_.ask("CLIENT FENCES INTEGER"), "OK");
  EXPECT_EQ(caller_.call("LOCK a").kind, wire::Reply::Kind::integer);
  EXPECT_THAT(caller_.ask("CLIENT FENCES x"), HasSubstr("CLIENT FENCES TEXT"));
  EXPECT_EQ(caller_.ask("CLIENT FENCES TEXT"), "OK");
  EXPECT_EQ(caller_.ask("RESET"), "RESET");
  EXPECT_EQ(caller_.call("LOCK a").kind, wire::Reply::Kind::integer);
}

// Libraries that would make doubles of them say who they are when they connect.
TEST_P(CommandsTest, FencesAsTextForJavaScript) {
  for (const auto* library : {"ioredis", "node-redis"}) {
    Caller script(address());
    EXPECT_EQ(script.ask("CLIENT SETINFO LIB-NAME " + std::string(library)), "OK");
    EXPECT_EQ(script.call("LOCK " + std::string(library)).kind, wire::Reply::Kind::bulk);
  }
  EXPECT_EQ(other_.ask("CLIENT SETINFO LIB-NAME redis-py"), "OK");
  EXPECT_EQ(other_.call("LOCK b").kind, wire::Reply::Kind::integer);
}

TEST_P(CommandsTest, Members) {
  const auto members = caller_.call("MEMBERS");
  ASSERT_EQ(members.elements.size(), 1U);
  EXPECT_EQ(members.elements[0].kind, newer() ? wire::Reply::Kind::map : wire::Reply::Kind::array);
  EXPECT_THAT(text_of(members), AllOf(HasSubstr("\"n1\""), HasSubstr(newer() ? "true" : "1"),
                                      HasSubstr(cluster_[0].self().client_address)));
}

TEST_P(CommandsTest, Ping) {
  EXPECT_EQ(caller_.ask("PING"), "PONG");
  EXPECT_EQ(caller_.ask("ping hello"), "\"hello\"");
  EXPECT_EQ(caller_.ask(Caller::Words{"PING", std::string_view("\0\r\n", 3)}),
            std::string("\"\0\r\n\"", 5));
  EXPECT_THAT(caller_.ask("PING a b"), HasSubstr("usage: PING [text]"));
  EXPECT_EQ(caller_.ask("ECHO hello"), "\"hello\"");
  EXPECT_THAT(caller_.ask("ECHO"), HasSubstr("usage: ECHO text"));
}

TEST_P(CommandsTest, Hello) {
  const auto greeting = caller_.ask("HELLO " + std::to_string(GetParam()));
  EXPECT_THAT(greeting, AllOf(HasSubstr("\"turno\""), HasSubstr("\"n1\"")));
  EXPECT_EQ(caller_.ask("HELLO"), greeting);
  EXPECT_EQ(caller_.ask("HELLO 4"), "-NOPROTO unsupported protocol version");
  EXPECT_EQ(caller_.ask("HELLO 1"), "-NOPROTO unsupported protocol version");
  EXPECT_EQ(caller_.ask("HELLO x"), "-NOPROTO unsupported protocol version");
  EXPECT_EQ(caller_.ask("HELLO 3 SETNAME"), "-ERR Syntax error in HELLO option 'SETNAME'");
  EXPECT_EQ(caller_.ask("HELLO 3 AUTH x"), "-ERR Syntax error in HELLO option 'AUTH'");
  EXPECT_THAT(caller_.ask("HELLO 3 SETNAME me"), StartsWith("{"));
  EXPECT_EQ(caller_.ask("CLIENT GETNAME"), "\"me\"");
  EXPECT_THAT(caller_.ask("HELLO 2"), StartsWith("["));
}

// Names are checked wherever they come from, and a refused greeting changes nothing.
TEST_P(CommandsTest, HelloChecksTheName) {
  caller_.ask("CLIENT SETNAME before");
  const auto greet = [&](std::string_view name) {
    return caller_.ask(Caller::Words{"HELLO", "3", "SETNAME", name});
  };
  const std::string refusal =
      "-ERR a client name has at most 256 bytes, no spaces and no control characters";
  EXPECT_EQ(greet(std::string(257, 'x')), refusal);
  EXPECT_EQ(greet("a b"), refusal);
  EXPECT_EQ(greet("a\nb"), refusal);
  EXPECT_THAT(caller_.ask("HELLO 3 SETNAME after NONSENSE"), StartsWith("-ERR Syntax error"));
  EXPECT_EQ(caller_.ask("CLIENT GETNAME"), "\"before\"");
  // Neither the version.
  EXPECT_THAT(caller_.ask("MEMBERS"), StartsWith(newer() ? "[{" : "[["));
}

TEST_P(CommandsTest, Client) {
  EXPECT_EQ(caller_.ask("CLIENT SETNAME me"), "OK");
  EXPECT_EQ(caller_.ask("client getname"), "\"me\"");
  EXPECT_THAT(caller_.ask("CLIENT INFO"),
              AllOf(HasSubstr("name=me"), HasSubstr("resp=" + std::to_string(GetParam())),
                    HasSubstr("id=" + caller_.ask("CLIENT ID"))));
  EXPECT_NE(caller_.ask("CLIENT ID"), other_.ask("CLIENT ID"));
  EXPECT_EQ(caller_.ask("CLIENT SETINFO LIB-NAME x"), "OK");
  EXPECT_THAT(caller_.ask("CLIENT SETNAME " + std::string(257, 'x')), StartsWith("-ERR a client"));
  EXPECT_THAT(caller_.ask(Caller::Words{"CLIENT", "SETNAME", "a b"}), StartsWith("-ERR a client"));
  // Letters of all languages are welcome.
  EXPECT_EQ(caller_.ask("CLIENT SETNAME prüfstand-ñ"), "OK");
  EXPECT_THAT(caller_.ask("CLIENT"), HasSubstr("usage: CLIENT"));
  EXPECT_THAT(caller_.ask("CLIENT NONSENSE"), StartsWith("-ERR unknown CLIENT subcommand"));
  EXPECT_THAT(caller_.ask("CLIENT REPLY OFF"), StartsWith("-ERR CLIENT REPLY is not supported"));
}

TEST_P(CommandsTest, Command) {
  const auto list = caller_.call("COMMAND LIST");
  const auto count = static_cast<std::int64_t>(list.elements.size());
  EXPECT_GE(count, 15);
  EXPECT_EQ(caller_.call("COMMAND COUNT").integer, count);
  EXPECT_EQ(caller_.call("COMMAND").elements.size(), list.elements.size());
  EXPECT_EQ(caller_.call("COMMAND DOCS").elements.size(), list.elements.size() * 2);
  EXPECT_THAT(text_of(list), HasSubstr("\"LOCK\", \"UNLOCK\", \"RENEW\""));
}

TEST_P(CommandsTest, InfoAndSelect) {
  caller_.lock("a");
  EXPECT_THAT(caller_.ask("INFO"),
              AllOf(HasSubstr("node:n1\r\n"), HasSubstr("algorithm:nxr-bh\r\n"),
                    HasSubstr("members:1\r\n"), HasSubstr("held_here:1\r\n"),
                    HasSubstr("connected_clients:2\r\n"), HasSubstr("ready:1\r\n")));
  EXPECT_EQ(caller_.ask("SELECT 0"), "OK");
  EXPECT_EQ(caller_.ask("SELECT 1"), "-ERR there is only database 0");
}

TEST_P(CommandsTest, Quit) {
  caller_.lock("a");
  caller_.send_bytes(Caller::request("QUIT") + Caller::request("PING"));
  EXPECT_EQ(caller_.read_text(), "OK");
  EXPECT_EQ(caller_.read_text(), "-the connection ended");
  EXPECT_GT(other_.lock("a"), 0);
}

TEST_P(CommandsTest, WhatIsNoCommand) {
  EXPECT_EQ(caller_.ask("NONSENSE a b"),
            "-ERR unknown command 'NONSENSE'; COMMAND LIST tells what there is");
  EXPECT_EQ(caller_.ask("lokc a"),
            "-ERR unknown command 'lokc'; did you mean LOCK? COMMAND LIST tells what there is");
  EXPECT_THAT(caller_.ask("RENW a 5"), HasSubstr("did you mean RENEW?"));
  EXPECT_THAT(caller_.ask("GET a"), Not(HasSubstr("did you mean")));
  EXPECT_EQ(caller_.ask("NON\rSENSE"),
            "-ERR unknown command 'NON SENSE'; COMMAND LIST tells what there is");
  EXPECT_THAT(caller_.ask(std::string(5000, 'x')), HasSubstr(std::string(64, 'x') + "'"));
  EXPECT_EQ(caller_.ask("PING"), "PONG");  // and goes on
}

TEST_P(CommandsTest, AsPeopleTypeThem) {
  caller_.send_bytes("  lock   a \r\n\r\nWHO b\nping \"hello there\"\r\n");
  EXPECT_EQ(caller_.read().kind, wire::Reply::Kind::integer);
  EXPECT_EQ(caller_.read_text(), "null");
  EXPECT_NE(caller_.read_text(), "-the connection ended");
}

}  // namespace
}  // namespace turno::port
