// The programs and the library that people have already: redis-cli, redis-benchmark, hiredis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
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
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

// What a command of the shell writes. Not for ever.
std::string shell(const std::string& command) {
  const auto whole = "timeout 60 " + command + " 2>&1 </dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(whole.c_str(), "re"), ::pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const auto count = ::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), count);
  return text;
}

class RedisTools : public testing::Test {
 protected:
  void SetUp() override {
    if (shell("redis-cli --version").find("redis-cli") == std::string::npos)
      GTEST_SKIP() << "redis-tools is not installed";
  }
  std::string cli(const std::string& arguments) {
    return shell("redis-cli -s '" + path() + "' " + arguments);
  }
  [[nodiscard]] std::string path() { return cluster_[0].self().client_socket; }
  [[nodiscard]] std::string port() {
    const auto& address = cluster_[0].self().client_address;
    return address.substr(address.rfind(':') + 1);
  }

  TestCluster cluster_{2};
};

TEST_F(RedisTools, TheCommandLine) {
  EXPECT_EQ(cli("PING"), "PONG\n");
  EXPECT_EQ(shell("redis-cli -p " + port() + " PING"), "PONG\n");
  EXPECT_THAT(cli("LOCK a"), MatchesRegex("[0-9]+\n"));
  EXPECT_THAT(cli("LOCK a TIMEOUT 100"), MatchesRegex("[0-9]+\n"));  // the first one has gone
  EXPECT_EQ(cli("WHO a"), "\n");
  EXPECT_EQ(cli("--no-raw WHO a"), "(nil)\n");
  EXPECT_THAT(cli("--no-raw LOCK"), StartsWith("(error) ERR wrong number of arguments; usage:"));
  EXPECT_THAT(cli("MEMBERS"), AllOf(HasSubstr("n1"), HasSubstr("n2")));
  EXPECT_THAT(cli("INFO"), AllOf(HasSubstr("turno_version"), HasSubstr("members:2")));
}

TEST_F(RedisTools, TheCommandLineInTheNewerProtocol) {
  Caller holder(cluster_[1].self().client_address);
  const auto fence = holder.lock("a");
  EXPECT_THAT(cli("-3 --no-raw WHO a"),
              AllOf(HasSubstr("\"node\" => \"n2\""),
                    HasSubstr("\"fence\" => (integer) " + std::to_string(fence))));
  EXPECT_EQ(cli("-3 --no-raw LOCK a TIMEOUT 20"), "(nil)\n");
  EXPECT_THAT(cli("-3 MEMBERS"), HasSubstr("true"));
}

// As it asks for it before people type: a command has a group, and the words are known.
TEST_F(RedisTools, TheCommandLineHelps) {
  const auto help =
      shell("sh -c 'printf \"HELP LOCK\\nHELP SESSION\\n\" | redis-cli -s " + path() + "'");
  EXPECT_THAT(cli("COMMAND DOCS LOCK"), AllOf(HasSubstr("group"), HasSubstr("turno")));
  EXPECT_THAT(help, Not(HasSubstr("null")));
}

TEST_F(RedisTools, TheCommandLineThatListens) {
  const auto text = shell("sh -c 'timeout 2 redis-cli -s " + path() + " SUBSCRIBE turno:lost'");
  EXPECT_EQ(text, "subscribe\nturno:lost\n1\n");
}

TEST_F(RedisTools, TheCommandLineThatWaits) {
  auto holder = std::make_unique<Caller>(cluster_[1].self().client_address);
  holder->lock("a");
  std::thread releaser([&] {
    EXPECT_TRUE(net::eventually([&] { return cluster_[0].locks().statistics().waiters == 1; }));
    holder.reset();
  });
  EXPECT_THAT(cli("LOCK a"), MatchesRegex("[0-9]+\n"));
  releaser.join();
}

TEST_F(RedisTools, Pipes) {
  const auto text = shell("sh -c 'printf \"LOCK a\\r\\nUNLOCK a\\r\\nPING\\r\\n\" | redis-cli -s " +
                          path() + " --pipe'");
  EXPECT_THAT(text, AllOf(HasSubstr("errors: 0"), HasSubstr("replies: 3")));
}

TEST_F(RedisTools, TheBenchmark) {
  const auto benchmark = "redis-benchmark -s " + path() + " -q ";
  EXPECT_THAT(shell(benchmark + "-n 2000 -c 20 PING"),
              AllOf(HasSubstr("requests per second"), Not(HasSubstr("rror")),
                    Not(HasSubstr("Could not fetch server CONFIG"))));
  EXPECT_THAT(shell(benchmark + "-n 2000 -c 20 -P 16 PING"), HasSubstr("requests per second"));
  // Each client takes and keeps locks of its own: names that are rarely the same.
  EXPECT_THAT(shell(benchmark + "-n 2000 -c 20 -r 1000000000 LOCK lock:__rand_int__ TIMEOUT 5000"),
              HasSubstr("requests per second"));
  EXPECT_THAT(shell(benchmark + "-n 2000 -c 20 -r 1000 UNLOCK lock:__rand_int__"),
              HasSubstr("requests per second"));
  EXPECT_TRUE(net::eventually([&] { return cluster_[0].clients() == 0; }));
  EXPECT_EQ(cluster_[0].locks().statistics().holders, 0);
}

// ---- the library in C

class Hiredis : public testing::Test {
 protected:
  using Context = std::unique_ptr<redisContext, void (*)(redisContext*)>;
  using Reply = std::unique_ptr<redisReply, void (*)(void*)>;

  Context connect() {
    const auto& address = cluster_[0].self().client_address;
    Context context(::redisConnect("127.0.0.1", std::stoi(address.substr(address.rfind(':') + 1))),
                    ::redisFree);
    EXPECT_TRUE(context && context->err == 0);
    return context;
  }
  template <class... Arguments>
  static Reply call(const Context& context, const char* format, Arguments... arguments) {
    Reply reply(static_cast<redisReply*>(::redisCommand(context.get(), format, arguments...)),
                ::freeReplyObject);
    EXPECT_TRUE(reply) << context->errstr;
    return reply;
  }

  TestCluster cluster_{1};
};

TEST_F(Hiredis, LocksAndWaits) {
  const auto one = connect(), two = connect();
  const auto granted = call(one, "LOCK %s TTL %d", "a", 100'000);
  ASSERT_EQ(granted->type, REDIS_REPLY_INTEGER);
  EXPECT_EQ(call(two, "LOCK a TIMEOUT 20")->type, REDIS_REPLY_NIL);
  EXPECT_EQ(call(two, "LOCK")->type, REDIS_REPLY_ERROR);
  EXPECT_EQ(call(one, "WHO a")->type, REDIS_REPLY_ARRAY);
  EXPECT_EQ(call(one, "UNLOCK a %lld", granted->integer)->integer, 1);
  EXPECT_GT(call(two, "LOCK a")->integer, granted->integer);
}

TEST_F(Hiredis, Pipelines) {
  const auto context = connect();
  for (int i = 0; i < 1000; ++i) {
    ::redisAppendCommand(context.get(), "LOCK lock:%d", i);
    ::redisAppendCommand(context.get(), "UNLOCK lock:%d", i);
  }
  for (int i = 0; i < 2000; ++i) {
    void* reply = nullptr;
    ASSERT_EQ(::redisGetReply(context.get(), &reply), REDIS_OK);
    const Reply owned(static_cast<redisReply*>(reply), ::freeReplyObject);
    ASSERT_EQ(owned->type, REDIS_REPLY_INTEGER);
    ASSERT_EQ(i % 2 == 1, owned->integer == 1);
  }
}

// It speaks the older protocol: it learns of a loss when it unlocks.
TEST_F(Hiredis, LearnsOfALoss) {
  const auto context = connect();
  const auto fence = call(context, "LOCK a TTL 20")->integer;
  EXPECT_TRUE(net::eventually([&] { return cluster_[0].locks().statistics().lost == 1; }));
  EXPECT_EQ(call(context, "UNLOCK a")->integer, 0);
  EXPECT_GT(call(context, "LOCK a")->integer, fence);
}

// It knows no pushes, but subscriptions.
TEST_F(Hiredis, HearsOfALossBySubscription) {
  const auto opener = connect(), session = connect(), news = connect();
  const auto opened = call(opener, "SESSION OPEN 60000");
  ASSERT_EQ(opened->elements, 2U);
  for (const auto* each : {&session, &news})
    EXPECT_STREQ(
        call(*each, "SESSION JOIN %s %s", opened->element[0]->str, opened->element[1]->str)->str,
        "OK");
  EXPECT_EQ(call(news, "SUBSCRIBE turno:lost")->type, REDIS_REPLY_ARRAY);
  EXPECT_EQ(call(session, "LOCK a TTL 20")->type, REDIS_REPLY_INTEGER);
  void* message = nullptr;
  ASSERT_EQ(::redisGetReply(news.get(), &message), REDIS_OK);
  const Reply owned(static_cast<redisReply*>(message), ::freeReplyObject);
  ASSERT_EQ(owned->elements, 3U);
  EXPECT_STREQ(owned->element[1]->str, "turno:lost");
  EXPECT_THAT(owned->element[2]->str, HasSubstr("\"lock\":\"a\""));
}

}  // namespace
}  // namespace turno::port
