// Hearing what happens to a session by SUBSCRIBE, as every Redis library can.
#include "port/resp/subscriptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Pattern, MatchesAsInRedis) {
  EXPECT_TRUE(matches("turno:*", "turno:lost"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("*o*o*", "turno:lost"));
  EXPECT_TRUE(matches("t?rno", "turno"));
  EXPECT_TRUE(matches("t[a-z]rno", "turno"));
  EXPECT_TRUE(matches("t[^a-c]rno", "turno"));
  EXPECT_TRUE(matches("a\\*", "a*"));
  EXPECT_TRUE(matches("**", "abc"));
  EXPECT_FALSE(matches("turno:*", "turno"));
  EXPECT_FALSE(matches("t?rno", "trno"));
  EXPECT_FALSE(matches("t[^a-z]rno", "turno"));
  EXPECT_FALSE(matches("a\\*", "ab"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("[", "a"));
  EXPECT_FALSE(matches("abc*x", "abcy"));
  // Neither recursive nor exponential.
  EXPECT_FALSE(matches(std::string(60, '*') + "a*a*a*a*a*a*b", std::string(400, 'a')));
}

class SubscriptionsTest : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] bool newer() const { return GetParam() == 3; }
  // A reply or message of this kind, as the version writes it.
  [[nodiscard]] std::string list(const std::string& elements) const {
    return (newer() ? ">[" : "[") + elements + "]";
  }
  [[nodiscard]] Caller caller(int protocol) {
    return Caller(cluster_[0].self().client_address, protocol);
  }

  TestCluster cluster_{1};
  Caller one_ = caller(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Version, SubscriptionsTest, testing::Values(2, 3));

// Each kind of reply as Redis 7 gives it.
TEST_P(SubscriptionsTest, RepliesCountChannelsAndPatterns) {
  one_.send("SUBSCRIBE turno:lost turno:granted");
  EXPECT_EQ(one_.read_text(), list("\"subscribe\", \"turno:lost\", 1"));
  EXPECT_EQ(one_.read_text(), list("\"subscribe\", \"turno:granted\", 2"));
  EXPECT_EQ(one_.ask("PSUBSCRIBE turno:*"), list("\"psubscribe\", \"turno:*\", 3"));
  EXPECT_EQ(one_.ask("SUBSCRIBE turno:lost"), list("\"subscribe\", \"turno:lost\", 3"));
  EXPECT_EQ(one_.ask("UNSUBSCRIBE turno:lost"), list("\"unsubscribe\", \"turno:lost\", 2"));
  EXPECT_EQ(one_.ask("UNSUBSCRIBE nothing"), list("\"unsubscribe\", \"nothing\", 2"));
  EXPECT_EQ(one_.ask("UNSUBSCRIBE"), list("\"unsubscribe\", \"turno:granted\", 1"));
  EXPECT_EQ(one_.ask("UNSUBSCRIBE"), list("\"unsubscribe\", null, 1"));
  EXPECT_EQ(one_.ask("PUNSUBSCRIBE"), list("\"punsubscribe\", \"turno:*\", 0"));
  EXPECT_EQ(one_.ask("PUNSUBSCRIBE"), list("\"punsubscribe\", null, 0"));
  EXPECT_THAT(one_.ask("SUBSCRIBE"), HasSubstr("usage: SUBSCRIBE"));
  EXPECT_EQ(one_.ask("PING"), "PONG");
}

TEST_P(SubscriptionsTest, TheOlderVersionTakesOnlyTheseCommandsMeanwhile) {
  one_.ask("SUBSCRIBE turno:lost");
  if (newer()) {
    EXPECT_EQ(one_.ask("PING"), "PONG");
    EXPECT_GT(one_.lock("a"), 0);
    return;
  }
  EXPECT_EQ(one_.ask("LOCK a"),
            "-ERR Can't execute 'lock': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / "
            "RESET are allowed in this context");
  EXPECT_EQ(one_.ask("PING"), "[\"pong\", \"\"]");
  EXPECT_EQ(one_.ask("PING hello"), "[\"pong\", \"hello\"]");
  EXPECT_EQ(one_.ask("UNSUBSCRIBE"), "[\"unsubscribe\", \"turno:lost\", 0]");
  EXPECT_GT(one_.lock("a"), 0);
  one_.ask("SUBSCRIBE turno:lost");
  EXPECT_EQ(one_.ask("RESET"), "RESET");
  EXPECT_EQ(one_.ask("PING"), "PONG");
}

TEST_P(SubscriptionsTest, ASubscriberHearsOfTheSessionForWhichItSpeaks) {
  auto speaker = caller(2), holder = caller(2);
  const auto opened = speaker.call("SESSION OPEN 60000");
  const auto join = "SESSION JOIN " + opened.elements[0].text + " " + opened.elements[1].text;
  EXPECT_EQ(speaker.ask(join), "OK");
  EXPECT_EQ(one_.ask(join), "OK");
  one_.ask("SUBSCRIBE turno:lost");
  one_.ask("PSUBSCRIBE turno:g* turno:[tf]*");
  one_.read();
  const auto next = [&] {
    auto reply = one_.read();
    // The newer version pushes besides: of that clients' libraries know nothing.
    while (reply.elements.at(0).text.find("message") == std::string::npos) reply = one_.read();
    return text_of(reply);
  };

  holder.lock("held");
  EXPECT_EQ(speaker.ask("LOCK held ASYNC"), "1");
  EXPECT_EQ(speaker.ask("LOCK held TIMEOUT 20 ASYNC"), "2");
  EXPECT_EQ(next(), list("\"pmessage\", \"turno:[tf]*\", \"turno:timeout\", "
                         "\"{\"event\":\"timeout\",\"lock\":\"held\",\"ticket\":2}\""));
  EXPECT_EQ(holder.ask("UNLOCK held"), "1");
  EXPECT_THAT(next(), StartsWith(list("").substr(0, newer() ? 2 : 1) +
                                 "\"pmessage\", \"turno:g*\", \"turno:granted\", "
                                 "\"{\"event\":\"granted\",\"lock\":\"held\",\"ticket\":1,"
                                 "\"fence\":\""));
  const auto fence = speaker.ask("LOCK short TTL 20");
  EXPECT_EQ(next(), list("\"message\", \"turno:lost\", \"{\"event\":\"lost\",\"lock\":\"short\","
                         "\"fence\":\"" +
                         fence + "\",\"reason\":\"its time to live ran out\"}\""));
  EXPECT_EQ(speaker.ask("PING"), "PONG");  // it is told nothing that it has not asked for
}

TEST_P(SubscriptionsTest, OthersHearNothing) {
  auto other = caller(2);
  one_.ask("PSUBSCRIBE *");
  other.ask("LOCK a TTL 10");
  EXPECT_TRUE(one_.is_silent(60ms));
}

TEST_P(SubscriptionsTest, AreLimited) {
  for (std::size_t i = 0; i < Subscriptions::most; ++i)
    one_.ask("SUBSCRIBE channel-" + std::to_string(i));
  EXPECT_THAT(one_.ask("SUBSCRIBE more"), StartsWith("-ERR too many subscriptions"));
  EXPECT_EQ(caller(GetParam())
                .ask("PSUBSCRIBE " + std::string(Subscriptions::longest_name + 1, '*'))
                .substr(0, 5),
            "-ERR ");
}

}  // namespace
}  // namespace turno::port
