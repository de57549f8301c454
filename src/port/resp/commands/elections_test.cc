// Clients that lead, and clients that look on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::port {
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ElectionsTest : public testing::Test {
 protected:
  [[nodiscard]] Caller caller(std::size_t node = 0, int protocol = 3) {
    return Caller(cluster_[node].self().client_address, protocol);
  }
  // Leads at once. The term.
  static std::string lead(Caller& caller, const std::string& value) {
    const auto reply = caller.call("CAMPAIGN boss " + value);
    EXPECT_EQ(reply.kind, wire::Reply::Kind::integer) << text_of(reply);
    return std::to_string(reply.integer);
  }
  [[nodiscard]] bool waiting(std::int64_t count, std::size_t node) {
    return eventually(
        [&] { return cluster_[node].daemon().elections().statistics().waiters == count; });
  }
  // That somebody leads.
  [[nodiscard]] bool knows(std::size_t node, std::string_view election) {
    return cluster_[node].run(
        [&] { return cluster_[node].daemon().leaders().leader_of(election) != nullptr; });
  }
  [[nodiscard]] std::string name(std::size_t node) { return cluster_[node].self().name; }

  node::TestCluster cluster_{3};
};

TEST_F(ElectionsTest, OneLeadsAndTermsGrow) {
  auto one = caller(0), two = caller(1);
  const auto first = lead(one, "first");
  EXPECT_EQ(two.ask("CAMPAIGN boss second TIMEOUT 0"), "null");
  two.send("CAMPAIGN boss second");
  ASSERT_TRUE(waiting(1, 1));
  EXPECT_EQ(one.ask("RESIGN boss 1"), "0") << "another term";
  EXPECT_EQ(one.ask("RESIGN boss " + first), "1");
  EXPECT_EQ(one.ask("RESIGN boss"), "0");
  EXPECT_GT(two.read().integer, std::stoll(first));
}

TEST_F(ElectionsTest, WhoLeadsIsKnownEverywhere) {
  auto one = caller(0), three = caller(2);
  EXPECT_EQ(three.ask("LEADER boss"), "null");
  const auto term = lead(one, "10.0.0.7:80");
  EXPECT_THAT(
      three.ask("LEADER boss"),
      AllOf(HasSubstr("\"kind\": \"election\""), HasSubstr("\"term\": " + term),
            HasSubstr("\"value\": \"10.0.0.7:80\""), HasSubstr("\"node\": \"" + name(0) + "\""),
            HasSubstr("\"waiting\": 0"), HasSubstr("\"complete\": true")));
  EXPECT_THAT(three.ask("WHO boss"), HasSubstr("\"term\": " + term));
  EXPECT_THAT(three.ask("LOCKS"), AllOf(HasSubstr("\"kind\": \"election\""), HasSubstr("boss")));
  auto two = caller(1);
  two.send("CAMPAIGN boss x");
  ASSERT_TRUE(waiting(1, 1));
  EXPECT_THAT(three.ask("WAITERS boss"), HasSubstr("\"position\": 1"));
}

TEST_F(ElectionsTest, HaveNamesOfTheirOwn) {
  auto one = caller(0), two = caller(1);
  lead(one, "v");
  EXPECT_EQ(two.ask("WHO boss LOCK"), "null");
  const auto fence = two.lock("boss");
  EXPECT_THAT(two.ask("WHO boss"), HasSubstr("\"fence\": " + std::to_string(fence)));
  EXPECT_THAT(two.ask("WHO boss ELECTION"), HasSubstr("\"value\": \"v\""));
  EXPECT_THAT(two.ask("WHO boss DOOR"), StartsWith("-ERR 'DOOR' is no kind of thing"));
  EXPECT_EQ(one.ask("UNLOCK boss"), "0") << "it leads, and has no lock";
  EXPECT_EQ(two.ask("RESIGN boss"), "0") << "it has a lock, and does not lead";
  EXPECT_EQ(one.ask("RENEW boss 10000"), "1");
  EXPECT_EQ(two.ask("RENEW boss 10000 " + std::to_string(fence) + " ELECTION"), "0");
  EXPECT_EQ(two.ask("RENEW boss 10000 " + std::to_string(fence) + " LOCK"), "1");
}

TEST_F(ElectionsTest, ObserversArePushedEveryChange) {
  auto one = caller(0), two = caller(1), observer = caller(2);
  EXPECT_EQ(observer.ask("OBSERVE boss other"), "[null, null]");
  const auto first = lead(one, "a");
  EXPECT_THAT(observer.read_text(),
              StartsWith(">[\"leader\", \"boss\", " + first + ", \"a\", \"" + name(0) + "\", "));
  two.send("CAMPAIGN boss b");
  ASSERT_TRUE(waiting(1, 1));
  one.ask("RESIGN boss");
  const auto second = std::to_string(two.read().integer);
  auto news = observer.read_text();
  // Who ends and who begins say so themselves: the second may be heard first, and then the end of
  // the first is no news.
  if (news == ">[\"nobody\", \"boss\", " + first + "]") news = observer.read_text();
  EXPECT_THAT(news,
              StartsWith(">[\"leader\", \"boss\", " + second + ", \"b\", \"" + name(1) + "\""));
  two.hang_up();
  EXPECT_EQ(observer.read_text(), ">[\"nobody\", \"boss\", " + second + "]");
}

TEST_F(ElectionsTest, WhoObservesLaterIsToldOfWhoLeads) {
  auto one = caller(0), observer = caller(2);
  const auto term = lead(one, "a");
  ASSERT_TRUE(eventually([&] { return knows(2, "boss"); }));
  EXPECT_THAT(observer.ask("OBSERVE boss"), HasSubstr("\"term\": " + term));
  EXPECT_EQ(observer.ask("UNOBSERVE boss"), "1");
  EXPECT_EQ(observer.ask("UNOBSERVE"), "0");
  one.ask("RESIGN boss");
  EXPECT_TRUE(observer.is_silent(50ms));
}

// As libraries hear of it, that know no pushes.
TEST_F(ElectionsTest, SubscribersAreToldInAMessage) {
  auto one = caller(0), observer = caller(2, 2), other = caller(1, 2);
  EXPECT_THAT(observer.ask("OBSERVE boss"), HasSubstr("SUBSCRIBE to turno:leader:NAME"));
  EXPECT_EQ(observer.ask("SUBSCRIBE turno:leader:boss"),
            "[\"subscribe\", \"turno:leader:boss\", 1]");
  const auto term = lead(one, "a");
  const auto message = R"(["message", "turno:leader:boss", "{"event":"leader","election":"boss",)"
                       R"("term":")" +
                       term + R"(","value":"a","node":")" + name(0) + "\"";
  EXPECT_THAT(observer.read_text(), StartsWith(message));
  EXPECT_TRUE(eventually([&] { return knows(1, "boss"); }));
  other.ask("SUBSCRIBE turno:leader:boss");
  EXPECT_THAT(other.read_text(), StartsWith(message));
  one.ask("RESIGN boss");
  EXPECT_EQ(observer.read_text(),
            R"(["message", "turno:leader:boss", "{"event":"nobody","election":"boss","term":")" +
                term + "\"}\"]");
}

TEST_F(ElectionsTest, PatternsHearOfAllElections) {
  auto one = caller(0), observer = caller(0, 2);
  lead(one, "a");
  EXPECT_EQ(observer.ask("PSUBSCRIBE turno:leader:*"), "[\"psubscribe\", \"turno:leader:*\", 1]");
  EXPECT_THAT(observer.read_text(), HasSubstr("\"event\":\"leader\",\"election\":\"boss\""));
  one.ask("CAMPAIGN chief b");
  EXPECT_THAT(observer.read_text(), HasSubstr("\"event\":\"leader\",\"election\":\"chief\""));
}

TEST_F(ElectionsTest, WaitsAreToldOfAndEndAsThoseForLocks) {
  auto one = caller(0), two = caller(1);
  const auto first = lead(one, "a");
  EXPECT_EQ(two.ask("CAMPAIGN boss b ASYNC"), "1");
  EXPECT_EQ(two.ask("TICKET 1"), "[\"waiting\", \"boss\"]");
  EXPECT_EQ(two.ask("CANCEL 1"), "1");
  EXPECT_EQ(two.ask("CAMPAIGN boss b TIMEOUT 30"), "null");
  EXPECT_EQ(one.ask("CAMPAIGN boss c"),
            "-HELD this session holds 'boss' already and would wait for itself");
  EXPECT_EQ(one.ask("RENEW boss 30 " + first + " ELECTION"), "1");
  EXPECT_EQ(one.read_text(),
            ">[\"lost\", \"boss\", " + first + ", \"its time to live ran out\", \"election\"]");
  EXPECT_EQ(two.ask("CAMPAIGN boss b ASYNC"), "3");
  EXPECT_THAT(two.read_text(), StartsWith(">[\"granted\", 3, \"boss\", "));
}

TEST_F(ElectionsTest, WrongWordsAreRefused) {
  auto one = caller();
  for (const auto* wrong :
       {"CAMPAIGN boss", "CAMPAIGN boss v SOON", "CAMPAIGN boss v TTL 0", "RESIGN boss x", "LEADER",
        "OBSERVE", "CAMPAIGN boss v TIMEOUT 1 TIMEOUT 1", "RENEW boss 10 5 HALL"})
    EXPECT_THAT(one.ask(wrong), StartsWith("-ERR")) << wrong;
  EXPECT_THAT(one.ask({"CAMPAIGN", "boss", std::string(4097, 'v')}),
              HasSubstr("a leader's value has at most 4096 bytes"));
  EXPECT_THAT(one.ask({"CAMPAIGN", "", "v"}), HasSubstr("an election needs a name"));
}

}  // namespace
}  // namespace turno::port
