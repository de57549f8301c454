// Clients that send garbage, or too much, or do not read; and many of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"
#include "port/resp/clients.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ClientsLoadTest : public testing::Test {
 protected:
  [[nodiscard]] Caller caller(int protocol = 2) {
    return Caller(cluster_[0].self().client_address, protocol);
  }
  TestCluster cluster_{1};
};

// ---- garbage

TEST_F(ClientsLoadTest, GarbageIsRefusedWithAReasonAndLogged) {
  auto honest = caller();
  honest.lock("a");
  const std::string large(70'000, 'x');
  for (const auto& bytes :
       {std::string("*1\r\nPING\r\n"), std::string("*1000000000\r\n"), std::string("*-1\r\n*x\r\n"),
        std::string("*1\r\n$-5\r\n"), std::string("*1\r\n$4294967296\r\n"),
        "*2\r\n$4\r\nLOCK\r\n$70000\r\n" + large + "\r\n", std::string("*1\r\n$4\r\nPINGxx"),
        large}) {
    SCOPED_TRACE(bytes.substr(0, 30));
    net::LoggedLines lines;
    auto one = caller();
    (void)net::write_all(one.socket(), bytes);
    EXPECT_THAT(one.read_text(), StartsWith("-ERR Protocol error"));
    EXPECT_EQ(one.read_text(), "-the connection ended");
    EXPECT_THAT(lines.take(), AllOf(HasSubstr("warning"), HasSubstr("Protocol error")));
  }
  EXPECT_EQ(honest.ask("UNLOCK a"), "1");
}

TEST_F(ClientsLoadTest, ABrowserGetsNowhere) {
  auto browser = caller();
  browser.send_bytes("POST / HTTP/1.1\r\nHost: localhost\r\n\r\nLOCK a\r\n");
  EXPECT_THAT(browser.read_text(), StartsWith("-ERR unknown command 'POST'"));
  EXPECT_EQ(browser.read_text(), "-the connection ended");
  auto other = caller();
  other.send_bytes("GET / HTTP/1.1\r\nHost: localhost\r\n\r\nLOCK a\r\n");
  EXPECT_THAT(other.read_text(), StartsWith("-ERR unknown command 'GET'"));
  EXPECT_THAT(other.read_text(), StartsWith("-ERR unknown command 'Host:'"));
  EXPECT_EQ(other.read_text(), "-the connection ended");
  EXPECT_EQ(caller().ask("WHO a"), "null");
}

TEST_F(ClientsLoadTest, RandomBytesHarmNobody) {
  std::mt19937 random(11);
  constexpr std::string_view likely = "*$\r\n0123-LOCK ";
  const net::LoggedLines lines;
  auto honest = caller();
  for (int i = 0; i < 200; ++i) {
    std::string bytes;
    const auto size = random() % 200;
    for (std::size_t n = 0; n < size; ++n)
      bytes += random() % 2 == 0 ? likely[random() % likely.size()] : static_cast<char>(random());
    auto one = caller();
    (void)net::write_all(one.socket(), bytes);
    if (i % 20 != 0) continue;
    EXPECT_EQ(honest.ask("PING"), "PONG");
  }
  EXPECT_TRUE(eventually([&] { return cluster_[0].clients() == 1; }));
  EXPECT_EQ(honest.ask("PING"), "PONG");
}

TEST_F(ClientsLoadTest, CommandsInSmallPieces) {
  auto one = caller();
  for (const char byte : Caller::request("LOCK a") + Caller::request("PING"))
    one.send_bytes({&byte, 1});
  EXPECT_EQ(one.read().kind, wire::Reply::Kind::integer);
  EXPECT_EQ(one.read_text(), "PONG");
}

// ---- too much

// More replies than are kept for a client: it gets them all, when it reads them.
TEST_F(ClientsLoadTest, AClientThatReadsLateGetsEverything) {
  auto late = caller(), other = caller();
  constexpr int count = 400;
  const std::string text(30'000, 'x');
  std::thread writer([&] {
    for (int i = 0; i < count; ++i)
      late.send_bytes(Caller::request("PING " + std::to_string(i) + text));
  });
  // Meanwhile others are served.
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(other.ask("PING"), "PONG");
  for (int i = 0; i < count; ++i) ASSERT_EQ(late.read_text(), '"' + std::to_string(i) + text + '"');
  writer.join();
}

// All commands are there at once, and their replies do not fit.
TEST_F(ClientsLoadTest, ManyCommandsWithLongReplies) {
  auto one = caller();
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += Caller::request("COMMAND DOCS");
  bytes += Caller::request("PING");
  one.send_bytes(bytes);
  for (int i = 0; i < 1000; ++i) ASSERT_GT(one.read().elements.size(), 10U) << i;
  EXPECT_EQ(one.read_text(), "PONG");
}

TEST_F(ClientsLoadTest, QuitIsAnsweredAfterLongReplies) {
  auto one = caller();
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += Caller::request("COMMAND DOCS");
  bytes += Caller::request("QUIT");
  one.send_bytes(bytes);
  std::this_thread::sleep_for(50ms);  // what is not read fills all buffers
  for (int i = 0; i < 1000; ++i) ASSERT_GT(one.read().elements.size(), 10U) << i;
  EXPECT_EQ(one.read_text(), "OK");
  EXPECT_EQ(one.read_text(), "-the connection ended");
}

TEST_F(ClientsLoadTest, AClientThatNeverReadsCostsLittleAndLosesItsLocks) {
  auto deaf = caller();
  deaf.lock("a");
  const int large = 4096;  // a small buffer in the kernel
  ::setsockopt(deaf.socket().get(), SOL_SOCKET, SO_RCVBUF, &large, sizeof large);
  const timeval soon{.tv_sec = 0, .tv_usec = 200'000};
  ::setsockopt(deaf.socket().get(), SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  const auto request = Caller::request("PING " + std::string(60'000, 'x'));
  std::size_t sent = 0;
  while (sent < (std::size_t{64} << 20) && net::write_all(deaf.socket(), request))
    sent += request.size();
  EXPECT_LT(sent, std::size_t{64} << 20);  // the node stopped to read
  auto other = caller();
  EXPECT_EQ(other.ask("PING"), "PONG");
  deaf.hang_up();
  EXPECT_GT(other.lock("a"), 0);
}

TEST_F(ClientsLoadTest, CommandsBehindAWaitAreNotReadWithoutEnd) {
  auto holder = caller();
  auto one = caller();
  holder.lock("a");
  one.send("LOCK a");
  ASSERT_TRUE(eventually([&] { return cluster_[0].locks().statistics().waiters == 1; }));
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += Caller::request("PING " + std::to_string(i));
  one.send_bytes(bytes);
  EXPECT_TRUE(one.is_silent());
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_EQ(one.read().kind, wire::Reply::Kind::integer);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(one.read_text(), '"' + std::to_string(i) + '"');
}

// ---- many

TEST_F(ClientsLoadTest, FiveHundredClients) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  constexpr std::size_t count = 500;
  std::vector<Caller> callers;
  callers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    callers.push_back(caller());
    callers.back().send("LOCK a");
    callers.back().send("UNLOCK a");
  }
  std::vector<std::int64_t> fences;
  for (auto& each : callers) {
    fences.push_back(each.read().integer);
    EXPECT_EQ(each.read_text(), "1");
  }
  std::sort(fences.begin(), fences.end());
  EXPECT_EQ(std::adjacent_find(fences.begin(), fences.end()), fences.end());
  EXPECT_GT(fences.front(), 0);
  EXPECT_EQ(cluster_[0].clients(), count);
  callers.clear();
  EXPECT_TRUE(eventually([&] { return cluster_[0].clients() == 0; }));
  EXPECT_EQ(cluster_[0].locks().statistics().holders, 0);
}

// Some are left for other nodes, the registry and HTTP.
TEST(Clients, DoNotUseAllDescriptors) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{.rlim_cur = 128, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  TestCluster cluster(1);
  ::setrlimit(RLIMIT_NOFILE, &before);
  net::LoggedLines lines;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < 96; ++i) {
    callers.push_back(std::make_unique<Caller>(cluster[0].self().client_address));
    EXPECT_EQ(callers.back()->ask("PING"), "PONG");
  }
  Caller more(cluster[0].self().client_address);
  EXPECT_EQ(more.read_text(), "-ERR max number of clients reached");
  EXPECT_THAT(lines.take(), HasSubstr("96 clients are connected: more are refused"));
  callers.pop_back();
  EXPECT_TRUE(
      eventually([&] { return Caller(cluster[0].self().client_address).ask("PING") == "PONG"; }));
}

// It must not miss that a lock is lost, nor may what it is told fill the memory.
TEST_F(ClientsLoadTest, WhoDoesNotReadWhatItIsToldIsHungUpOn) {
  auto one = caller();
  const auto opened = one.call("SESSION OPEN 60000");
  const auto join = "SESSION JOIN " + opened.elements[0].text + " " + opened.elements[1].text;
  auto silent = caller(), talks = caller();
  EXPECT_EQ(silent.ask(join), "OK");
  EXPECT_EQ(talks.ask(join), "OK");
  silent.ask("PSUBSCRIBE *");
  for (int i = 0; i < 250; ++i)
    silent.ask("PSUBSCRIBE " + std::string(static_cast<std::size_t>(i) + 2, '*'));
  net::LoggedLines lines;
  for (int i = 0; i < 600; ++i)
    ASSERT_GT(talks.call("LOCK l" + std::to_string(i) + " ASYNC").integer, 0);
  EXPECT_THAT(lines.take(), HasSubstr("it does not read what it is told: hung up"));
  EXPECT_EQ(talks.ask("PING"), "PONG");
}

// Who connects then waits, and the log says why.
TEST_F(ClientsLoadTest, WithoutDescriptorsTheLogSaysSo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers need descriptors themselves";
#endif
  net::LoggedLines lines;
  const auto& address = cluster_[0].self().client_address;
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(10))));
  const net::Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup(socket.get());
  ::close(next);
  const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  EXPECT_TRUE(net::write_all(socket, "PING\r\n"));
  EXPECT_FALSE(net::wait_for(socket, POLLIN, 50ms));
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(net::read_some(socket), "+PONG\r\n");
  EXPECT_THAT(lines.take(), HasSubstr("too many open files"));
}

TEST_F(ClientsLoadTest, OneClientMayWaitForManyLocks) {
  auto holder = caller(3), one = caller(3);
  std::string locks, waits;
  constexpr int count = 2000;
  for (int i = 0; i < count; ++i) {
    locks += Caller::request("LOCK l" + std::to_string(i));
    waits += Caller::request("LOCK l" + std::to_string(i) + " ASYNC");
  }
  std::thread writer([&] { holder.send_bytes(locks); });
  for (int i = 0; i < count; ++i) ASSERT_GT(holder.read().integer, 0);
  writer.join();
  writer = std::thread([&] { one.send_bytes(waits); });
  for (int i = 0; i < count; ++i) ASSERT_EQ(one.read().integer, i + 1);
  writer.join();
  EXPECT_EQ(cluster_[0].locks().statistics().waiters, count);
  holder.hang_up();
  for (int i = 0; i < count; ++i) ASSERT_EQ(one.read().kind, wire::Reply::Kind::push);
  one.hang_up();
  EXPECT_TRUE(eventually([&] { return cluster_[0].locks().statistics().holders == 0; }));
}

}  // namespace
}  // namespace turno::port
