// What Redis libraries and tools send when they connect or guard themselves, and what they accept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LibrariesTest : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] bool newer() const { return GetParam() == 3; }
  [[nodiscard]] Caller caller(std::size_t node = 0) {
    return Caller(cluster_[node].self().client_address, GetParam());
  }
  // "127.0.0.1", "4711" as Sentinel writes it.
  static std::string place(const cluster::Member& member) {
    const auto colon = member.client_address.rfind(':');
    return "\"" + member.client_address.substr(0, colon) + "\", \"" +
           member.client_address.substr(colon + 1) + "\"";
  }

  TestCluster cluster_{2};
  Caller one_ = caller();
};

INSTANTIATE_TEST_SUITE_P(Version, LibrariesTest, testing::Values(2, 3));

// ---- passwords: there are none, and nobody believes that one was checked

TEST_P(LibrariesTest, PasswordsAreRefusedAsRedisDoes) {
  EXPECT_EQ(one_.ask("AUTH secret"),
            "-ERR AUTH <password> called without any password configured for the default user. Are "
            "you sure your configuration is correct?");
  const std::string wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
  EXPECT_EQ(one_.ask("AUTH user secret"), wrong);
  EXPECT_EQ(one_.ask("HELLO 3 AUTH user secret SETNAME me"), wrong);
  EXPECT_EQ(one_.ask("HELLO 3 AUTH default secret"), wrong);
  EXPECT_NE(one_.ask("CLIENT GETNAME"), "\"me\"");  // nothing of it was done
  EXPECT_THAT(one_.ask("MEMBERS"), StartsWith(newer() ? "[{" : "[["));
}

// ---- transactions

TEST_P(LibrariesTest, NothingOfATransactionIsDone) {
  EXPECT_EQ(one_.ask("MULTI"), "OK");
  EXPECT_EQ(one_.ask("LOCK m"),
            "-ERR 'LOCK' is not done inside MULTI: there are no transactions here");
  EXPECT_THAT(one_.ask("PING"), StartsWith("-ERR 'PING' is not done inside MULTI"));
  EXPECT_THAT(one_.ask("NONSENSE"), StartsWith("-ERR 'NONSENSE' is not done inside MULTI"));
  EXPECT_EQ(one_.ask("EXEC"), "-EXECABORT Transaction discarded because of previous errors.");
  EXPECT_GT(caller().lock("m"), 0);
  EXPECT_EQ(one_.ask("PING"), "PONG");
  EXPECT_EQ(one_.ask("EXEC"), "-ERR EXEC without MULTI");
  EXPECT_EQ(one_.ask("DISCARD"), "-ERR DISCARD without MULTI");
}

TEST_P(LibrariesTest, TransactionsEndInOtherWays) {
  EXPECT_EQ(one_.ask("MULTI"), "OK");
  EXPECT_EQ(one_.ask("MULTI"), "-ERR MULTI calls can not be nested");
  EXPECT_EQ(one_.ask("EXEC"), "[]");
  EXPECT_EQ(one_.ask("MULTI"), "OK");
  EXPECT_THAT(one_.ask("LOCK m"), StartsWith("-ERR"));
  EXPECT_EQ(one_.ask("DISCARD"), "OK");
  EXPECT_EQ(one_.ask("PING"), "PONG");
  EXPECT_THAT(one_.ask("WATCH m"), StartsWith("-ERR WATCH is not supported"));
  EXPECT_EQ(one_.ask("MULTI"), "OK");
  EXPECT_EQ(one_.ask("RESET"), "RESET");
  EXPECT_EQ(one_.ask("PING"), "PONG");
}

// ---- what they want to know

TEST_P(LibrariesTest, InfoHasWhatTheyLookFor) {
  EXPECT_THAT(one_.ask("INFO"),
              AllOf(HasSubstr("redis_version:"), HasSubstr("redis_mode:standalone\r\n"),
                    HasSubstr("role:master\r\n"), HasSubstr("loading:0\r\n"),
                    HasSubstr("cluster_enabled:0\r\n"), HasSubstr("tcp_port:")));
  EXPECT_THAT(one_.ask("INFO server"), AllOf(StartsWith("\"# Server\r\n"),
                                             HasSubstr("turno_version"), Not(HasSubstr("role:"))));
  EXPECT_THAT(one_.ask("INFO REPLICATION clients"),
              AllOf(HasSubstr("role:master"), HasSubstr("connected_clients:1\r\n"),
                    Not(HasSubstr("redis_version"))));
  EXPECT_THAT(one_.ask("INFO everything"), HasSubstr("known_locks:"));
  EXPECT_EQ(one_.ask("INFO nosuch"), "\"\"");
}

TEST_P(LibrariesTest, HelloSaysThatThereIsNoClusterForThem) {
  EXPECT_THAT(one_.ask("HELLO"), HasSubstr("\"standalone\""));
  EXPECT_EQ(one_.ask("CLUSTER SLOTS"), "-ERR This instance has cluster support disabled");
}

TEST_P(LibrariesTest, Config) {
  EXPECT_EQ(one_.ask("CONFIG GET save"), newer() ? "{\"save\": \"\"}" : "[\"save\", \"\"]");
  EXPECT_EQ(one_.ask("CONFIG GET APPENDonly nothing"),
            newer() ? "{\"appendonly\": \"no\"}" : "[\"appendonly\", \"no\"]");
  EXPECT_THAT(one_.ask("CONFIG GET *"), AllOf(HasSubstr("databases"), HasSubstr("maxmemory")));
  EXPECT_EQ(one_.ask("CONFIG GET nothing"), newer() ? "{}" : "[]");
  EXPECT_THAT(one_.ask("CONFIG SET save 1"), StartsWith("-ERR CONFIG SET is not supported"));
  EXPECT_THAT(one_.ask("CONFIG GET"), StartsWith("-ERR CONFIG GET is not supported"));
}

TEST_P(LibrariesTest, ClientOptions) {
  EXPECT_EQ(one_.ask("CLIENT NO-EVICT ON"), "OK");
  EXPECT_EQ(one_.ask("CLIENT NO-TOUCH off"), "OK");
  EXPECT_EQ(one_.ask("CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type internal-ip"), "OK");
  EXPECT_THAT(one_.ask("CLIENT NO-EVICT"), StartsWith("-ERR unknown CLIENT subcommand"));
  EXPECT_THAT(one_.ask("CLIENT TRACKING ON"), StartsWith("-ERR CLIENT TRACKING is not supported"));
}

TEST_P(LibrariesTest, CommandDocs) {
  EXPECT_THAT(one_.ask("COMMAND DOCS LOCK"),
              AllOf(HasSubstr("LOCK name [TIMEOUT ms]"), HasSubstr("\"group\""),
                    HasSubstr("\"turno\""), Not(HasSubstr("UNLOCK"))));
  EXPECT_EQ(one_.ask("COMMAND DOCS nothing"), newer() ? "{}" : "[]");
  EXPECT_EQ(one_.ask("COMMAND INFO ping nothing"), "[[\"PING\", -1, [], 0, 0, 0], null]");
  EXPECT_THAT(one_.ask("COMMAND NONSENSE"), StartsWith("-ERR unknown COMMAND subcommand"));
  EXPECT_THAT(one_.ask("COMMAND LIST"),
              AllOf(HasSubstr("\"SESSION\""), HasSubstr("\"TICKET\""), HasSubstr("\"SUBSCRIBE\"")));
}

// ---- where is a node that lives?

TEST_P(LibrariesTest, EveryNodeIsASentinelAndTheMaster) {
  auto two = caller(1);
  EXPECT_EQ(one_.ask("SENTINEL get-master-addr-by-name turno"),
            "[" + place(cluster_[0].self()) + "]");
  EXPECT_EQ(two.ask("SENTINEL get-master-addr-by-name turno"),
            "[" + place(cluster_[1].self()) + "]");
  EXPECT_EQ(one_.ask("SENTINEL get-master-addr-by-name other"), "null");
  const auto port = std::to_string(
      std::stoi(cluster_[1].self().client_address.substr(std::string("127.0.0.1:").size())));
  EXPECT_THAT(one_.ask("SENTINEL sentinels turno"),
              AllOf(HasSubstr("\"" + port + "\""), HasSubstr("\"sentinel\"")));
  EXPECT_THAT(one_.ask("SENTINEL MASTERS"),
              AllOf(HasSubstr("\"turno\""), HasSubstr("\"num-other-sentinels\"")));
  EXPECT_THAT(one_.ask("SENTINEL master turno"), HasSubstr("\"role-reported\""));
  EXPECT_EQ(one_.ask("SENTINEL replicas turno"), "[]");
  EXPECT_EQ(one_.ask("SENTINEL slaves other"), "-ERR No such master with that name");
  EXPECT_THAT(one_.ask("SENTINEL nonsense"), StartsWith("-ERR unknown SENTINEL subcommand"));
  EXPECT_EQ(one_.ask("ROLE"), "[\"master\", 0, []]");
  // Over a Unix socket: where it listens for TCP.
  Caller local(cluster_[0].self().client_socket);
  EXPECT_EQ(local.ask("SENTINEL get-master-addr-by-name turno"),
            "[" + place(cluster_[0].self()) + "]");
}

// ---- who begins a command and does not go on

TEST(Patience, WithHalfACommandIsLimited) {
  const registry::TemporaryDirectory directory;
  log::set_level(log::Level::off);
  Settings settings;
  settings.directory = directory.path();
  settings.name = "a";
  settings.client_address = "127.0.0.1:0";
  auto daemon = Daemon::start(
      settings, [](const Owner&, table::Thing, const std::string&, Fence, std::string_view) {});
  ASSERT_TRUE(daemon) << daemon.error();
  auto clients = std::make_unique<Clients>(**daemon, (*daemon)->take_client_sockets(), 100ms);
  std::thread thread([&] { (*daemon)->run(); });
  {
    Caller idle((*daemon)->self().client_address), half((*daemon)->self().client_address),
        slow((*daemon)->self().client_address);
    half.send_bytes("*2\r\n$4\r\nLOCK\r\n$1\r\n");
    // Slow, but it goes on.
    for (int i = 0; i < 20; ++i) {
      slow.send_bytes("PING\r\nPI");
      EXPECT_EQ(slow.read_text(), "PONG");
      std::this_thread::sleep_for(10ms);
      slow.send_bytes("NG\r\n");
      EXPECT_EQ(slow.read_text(), "PONG");
    }
    EXPECT_EQ(half.read_text(),
              "-ERR Protocol error: the command was begun and not finished in time");
    EXPECT_EQ(half.read_text(), "-the connection ended");
    EXPECT_EQ(idle.ask("PING"), "PONG");  // who says nothing may do so
  }
  (*daemon)->stop();
  thread.join();
  clients.reset();
  (*daemon)->leave();
}

}  // namespace
}  // namespace turno::port
