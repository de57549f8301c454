#include "net/socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "net/credentials.h"
#include "net/testing.h"

namespace turno::net {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class UnixSocket : public testing::Test {
 protected:
  UnixSocket() {
    auto name = (fs::temp_directory_path() / "turno-socket-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    directory_ = name;
    path_ = directory_ / "a.sock";
  }
  ~UnixSocket() override {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  fs::path directory_, path_;
};

std::string failure_of(const tl::expected<Fd, Failure>& socket) {
  return socket ? "it works at " + address_of(*socket) : socket.error();
}

TEST(Socket, TakesAnyFreePort) {
  const auto first = listen("127.0.0.1:0");
  ASSERT_TRUE(first) << first.error();
  const auto second = listen(":0");
  ASSERT_TRUE(second) << second.error();
  EXPECT_THAT(address_of(*first), MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
  EXPECT_THAT(address_of(*second), StartsWith("127.0.0.1:"));
  EXPECT_NE(address_of(*first), address_of(*second));
}

// It is called in the loop's thread, and a name server may not answer for long.
TEST(Socket, ConnectsToNumbersOnly) {
  EXPECT_THAT(failure_of(connect("localhost:1")),
              HasSubstr("'localhost:1': names are not looked up here, write numbers"));
  EXPECT_THAT(failure_of(connect("no.such.name.example:1")), HasSubstr("names are not looked up"));
  const auto listener = listen("localhost:0");
  ASSERT_TRUE(listener) << listener.error();
  EXPECT_TRUE(connect(address_of(*listener)));
}

TEST(Socket, ConnectsAndTalks) {
  const auto listener = listen("localhost:0");
  ASSERT_TRUE(listener) << listener.error();
  EXPECT_FALSE(accept(*listener));  // nobody yet
  auto client = connect_blocking(address_of(*listener));
  ASSERT_TRUE(client);
  auto server = accept_blocking(*listener);
  ASSERT_TRUE(server);
  EXPECT_EQ(peer_of(client), address_of(server));
  EXPECT_EQ(peer_of(server), address_of(client));
  EXPECT_TRUE(write_all(client, "hello"));
  EXPECT_EQ(read_some(server), "hello");
  client.reset();
  EXPECT_EQ(read_some(server), "");
}

TEST(Socket, OfVersionSix) {
  const auto listener = listen("[::1]:0");
  if (!listener) GTEST_SKIP() << listener.error();
  EXPECT_THAT(address_of(*listener), MatchesRegex("\\[::1\\]:[1-9][0-9]*"));
  EXPECT_TRUE(connect_blocking(address_of(*listener)));
}

TEST(Socket, SaysWhatIsWrongWithAnAddress) {
  EXPECT_THAT(failure_of(listen("")), HasSubstr("is no address: it has no port"));
  EXPECT_THAT(failure_of(listen("4711")), StartsWith("'4711' is no address"));
  EXPECT_THAT(failure_of(connect("localhost")), StartsWith("'localhost' is no address"));
  EXPECT_THAT(failure_of(listen("300.0.0.1:1")), StartsWith("'300.0.0.1:1': "));
  // An address that no machine has.
  EXPECT_THAT(failure_of(listen("192.0.2.1:0")), StartsWith("cannot listen on 192.0.2.1:0: "));
}

TEST(Socket, RefusesPortsThatAreNone) {
  for (const auto* address : {"127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:70000", "127.0.0.1:-1",
                              ":99999999999", "127.0.0.1:12x", "127.0.0.1: 80", "127.0.0.1:http"}) {
    const auto wanted = "a port is a number from 0 to 65535";
    EXPECT_THAT(failure_of(listen(address)), HasSubstr(wanted));
    EXPECT_THAT(failure_of(connect(address)), HasSubstr(wanted));
  }
}

TEST(Socket, SaysThatAPortIsTaken) {
  const auto first = listen("127.0.0.1:0");
  ASSERT_TRUE(first);
  const auto address = address_of(*first);
  EXPECT_EQ(failure_of(listen(address)),
            "cannot listen on " + address + ": Address already in use");
}

TEST(Socket, TellsThatNobodyListens) {
  std::string address;
  {
    const auto listener = listen("127.0.0.1:0");
    ASSERT_TRUE(listener);
    address = address_of(*listener);
  }
  const auto socket = connect(address);
  ASSERT_TRUE(socket) << socket.error();
  ASSERT_TRUE(wait_for(*socket, POLLOUT));
  EXPECT_EQ(error_of(*socket), ECONNREFUSED);
}

TEST_F(UnixSocket, WithPrefixOrAsAPath) {
  const auto listener = listen("unix:" + path_.string());
  ASSERT_TRUE(listener) << listener.error();
  EXPECT_EQ(address_of(*listener), "unix:" + path_.string());
  auto client = connect_blocking(path_.string());
  ASSERT_TRUE(client);
  auto server = accept_blocking(*listener);
  ASSERT_TRUE(server);
  EXPECT_TRUE(write_all(server, "hello"));
  EXPECT_EQ(read_some(client), "hello");
}

TEST_F(UnixSocket, RefusesImpossiblePaths) {
  const std::string longest(107 - directory_.string().size() - 1, 'x');
  EXPECT_TRUE(listen((directory_ / longest).string()));
  EXPECT_THAT(failure_of(listen((directory_ / (longest + "x")).string())),
              HasSubstr("the path of a socket has at most 107 bytes"));
  EXPECT_THAT(failure_of(listen("unix:")), HasSubstr("unix:"));
  EXPECT_THAT(failure_of(listen((directory_ / "no" / "such").string())),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(failure_of(connect((directory_ / "nobody").string())),
              AllOf(StartsWith("cannot connect to "), HasSubstr("No such file or directory")));
}

TEST_F(UnixSocket, ReplacesWhatAKilledNodeLeft) {
  ASSERT_TRUE(listen(path_.string()));  // closed at once, the path stays
  ASSERT_TRUE(fs::exists(path_));
  const auto again = listen(path_.string());
  ASSERT_TRUE(again) << again.error();
  EXPECT_TRUE(connect_blocking(path_.string()));
}

TEST_F(UnixSocket, LeavesOneThatIsListenedToAlone) {
  const auto first = listen(path_.string());
  ASSERT_TRUE(first);
  EXPECT_EQ(failure_of(listen(path_.string())),
            "cannot listen on " + path_.string() + ": Address already in use");
  EXPECT_TRUE(connect_blocking(path_.string()));
  EXPECT_TRUE(accept_blocking(*first));
}

TEST_F(UnixSocket, LeavesOtherFilesAlone) {
  std::ofstream(path_) << "precious";
  EXPECT_THAT(failure_of(listen(path_.string())), HasSubstr("Address already in use"));
  std::string text;
  std::ifstream(path_) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(UnixSocket, KnowsWhoConnected) {
  const auto listener = listen(path_.string(), 0660);
  ASSERT_TRUE(listener) << listener.error();
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms{0660});
  const auto caller = connect_blocking(path_.string());
  const auto taken = accept_blocking(*listener);
  const auto known = credentials_of(taken);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->pid, ::getpid());
  EXPECT_EQ(known->user, ::geteuid());
  EXPECT_EQ(peer_of(taken),
            "unix:pid=" + std::to_string(::getpid()) + ",user=" + user_name(::geteuid()));
}

TEST(Credentials, OfATcpSocketAreNotKnown) {
  const auto listener = listen("127.0.0.1:0");
  const auto caller = connect_blocking(address_of(*listener));
  EXPECT_FALSE(credentials_of(caller));
  EXPECT_THAT(peer_of(caller), ::testing::StartsWith("127.0.0.1:"));
}

TEST(Credentials, NamesAreThoseOfTheSystem) {
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(user_name(4'000'000'000U), "4000000000");
  EXPECT_EQ((Credentials{.pid = 0, .user = 0}).text(), "user=root");
}

TEST(IsLocal, IsTheLoopbackAndWhatIsNoNetwork) {
  for (const auto* address :
       {"127.0.0.1:0", "127.9.9.9:1", ":7", "[::1]:0", "[::ffff:127.0.0.1]:0", "unix:/x", "/x"})
    EXPECT_EQ(is_local(address), true) << address;
  for (const auto* address : {"0.0.0.0:0", "[::]:0", "10.0.0.1:7", "[fe80::1]:7"})
    EXPECT_EQ(is_local(address), false) << address;
  EXPECT_FALSE(is_local("nonsense"));
}

}  // namespace
}  // namespace turno::net
