#include "port/resp/lock_replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "port/resp/caller_testing.h"

namespace turno::port {
namespace {

using namespace std::chrono_literals;
using cluster::ProcessState;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = Sighting::Kind;

std::string reply(void (*write)(wire::ReplyWriter&, std::string_view, const Findings&),
                  const Findings& findings, int protocol = 3) {
  std::string bytes;
  wire::ReplyWriter out(bytes, protocol);
  write(out, "L", findings);
  wire::ReplyParser parser;
  parser.feed(bytes);
  EXPECT_EQ(parser.next(), wire::Status::ready);
  const auto text = text_of(parser.reply());
  EXPECT_EQ(parser.next(), wire::Status::more) << "one reply to one command";
  return text;
}

const NodeSighting holder{"n1", {"L", "me", 7, Kind::holds, Fence{5}, 30ms}};
const NodeSighting waiter{"n2", {"L", "you", 8, Kind::waits, Fence{}, 20ms}};
const NodeSighting kept{"n2", {"L", "n4", 0, Kind::kept, Fence{}, 800ms}};
const NodeSighting noted{"n3", {"L", "n2", 3, Kind::noted, Fence{}, 70ms}};
const NodeSighting leaving{"n3", {"L", "", 0, Kind::leaving}};
const SilentMember silent{"n3", 123, ProcessState::stopped};

TEST(WhoReply, IsNullOnlyIfAllAnsweredAndNobodyHasIt) {
  EXPECT_EQ(reply(write_who, {}), "null");
  EXPECT_EQ(reply(write_who, {.found = {waiter}, .waiting = 1}), "null");
  EXPECT_EQ(
      reply(write_who, {.silent = {silent}}),
      "-INCOMPLETE nobody that answered holds 'L', but it may be held elsewhere; n3 (pid 123, "
      "stopped) did not answer: `kill -CONT 123` lets it go on, `kill -9 123` ends it");
}

TEST(WhoReply, TellsTheHolderAndHowManyWait) {
  EXPECT_EQ(
      reply(write_who, {.found = {waiter, holder}, .cut = {"n2"}, .waiting = 70'000}),
      R"({"name": "L", "kind": "lock", "node": "n1", "session": 7, "client": "me", "from": "", "fence": 5, )"
      R"("held_ms": 30, "waiting": 70000, "complete": true})");
  EXPECT_THAT(reply(write_who, {.found = {holder}, .silent = {silent}}),
              HasSubstr(R"("complete": false, "silent": [{"silent": "n3", "pid": 123, )"
                        R"("state": "stopped"}]})"));
}

TEST(WhoReply, TellsWhatIsKeptOrNotedAsNoHolder) {
  EXPECT_EQ(
      reply(write_who, {.found = {kept}}),
      R"({"name": "L", "kind": "lock", "node": "n2", "kept_for": "n4", "free_in_ms": 800, "waiting": 0, )"
      R"("complete": true})");
  EXPECT_THAT(
      reply(write_who, {.found = {noted}, .silent = {silent}}),
      StartsWith(R"({"name": "L", "kind": "lock", "node": "n3", "told_by": "n2", "told_ms": 70, )"
                 R"("waiting": 0, "complete": false)"));
  EXPECT_THAT(reply(write_who, {.found = {noted, holder}}), HasSubstr("\"client\": \"me\""));
}

// It has moved to a node where it was let go of; meanwhile another may have died.
TEST(WhoReply, TellsWhoLeavesAndKeepsItAsNoHolder) {
  EXPECT_EQ(
      reply(write_who, {.found = {leaving}}),
      R"({"name": "L", "kind": "lock", "node": "n3", "leaving": true, "waiting": 0, "complete": true})");
  EXPECT_THAT(reply(write_locks, {.found = {leaving, noted}}), HasSubstr("\"leaving\": true"));
  EXPECT_THAT(reply(write_who, {.found = {leaving, holder}}), HasSubstr("\"client\": \"me\""));
  EXPECT_THAT(reply(write_who, {.found = {leaving, kept}}), HasSubstr("\"kept_for\": \"n4\""));
}

TEST(ListReplies, EndWithWhatIsMissing) {
  const Findings findings{.found = {waiter, holder}, .silent = {silent}, .cut = {"n2"}};
  const std::string end = R"({"silent": "n3", "pid": 123, "state": "stopped"}, {"cut": "n2"}])";
  EXPECT_THAT(reply(write_waiters, findings),
              AllOf(StartsWith(R"([{"node": "n2", "session": 8)"), ::testing::EndsWith(end)));
  EXPECT_THAT(reply(write_locks, findings),
              AllOf(StartsWith(R"([{"name": "L", "kind": "lock", "node": "n1")"),
                    ::testing::EndsWith(end)));
  EXPECT_EQ(reply(write_locks, {.found = {waiter}}), "[]");
  EXPECT_EQ(reply(write_waiters, {}), "[]");
  EXPECT_EQ(reply(write_waiters, {.silent = {silent}}, 2),
            R"([["silent", "n3", "pid", 123, "state", "stopped"]])");
}

}  // namespace
}  // namespace turno::port
