#include "port/http/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/json_testing.h"
#include "port/http/http_testing.h"
#include "table/sightings.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

NodeSighting holder(std::string node, std::string lock, std::uint64_t fence) {
  return {std::move(node), {std::move(lock), "client", 7, true, Fence{fence}, 30ms, 0}};
}
NodeSighting waiter(std::string node, std::string lock, std::chrono::milliseconds age) {
  return {std::move(node), {std::move(lock), "other", 8, false, Fence{}, age, 0}};
}

TEST(LocksJson, GroupsWhatWasSeenByLock) {
  EXPECT_EQ(locks_json({waiter("b", "y", 10ms), holder("a", "x", 5), waiter("a", "x", 20ms)}, true),
            R"({"complete":true,"truncated":false,"locks":[)"
            R"({"name":"x","holder":{"node":"a","session":7,"client":"client","fence":5,)"
            R"("held_ms":30},"waiters":[{"node":"a","session":8,"client":"other",)"
            R"("waiting_ms":20}]},)"
            R"({"name":"y","holder":null,"waiters":[{"node":"b","session":8,"client":"other",)"
            R"("waiting_ms":10}]}]})"
            "\n");
  EXPECT_EQ(locks_json({}, false), "{\"complete\":false,\"truncated\":false,\"locks\":[]}\n");
}

TEST(LocksJson, BelievesTheLaterHolderAndPutsTheLongestWaitFirst) {
  const auto text = lock_json("x",
                              {holder("a", "x", 5), waiter("a", "x", 1ms), holder("b", "x", 6),
                               holder("c", "x", 4), waiter("d", "x", 9ms)},
                              true);
  EXPECT_THAT(text, HasSubstr(R"("holder":{"node":"b")"));
  EXPECT_THAT(text, HasSubstr(R"("waiters":[{"node":"d")"));
}

TEST(LocksJson, SaysIfAMemberHadMoreToTell) {
  std::vector<NodeSighting> found;
  for (std::size_t i = 0; i < most_sightings; ++i)
    found.push_back(holder(i % 2 == 0 ? "a" : "b", "x" + std::to_string(i), i));
  EXPECT_THAT(locks_json(found, true), HasSubstr("\"truncated\":false"));
  for (std::size_t i = 0; i < most_sightings / 2; ++i)
    found.push_back(holder("a", "y" + std::to_string(i), i));
  EXPECT_THAT(locks_json(found, true), HasSubstr("\"truncated\":true"));
}

TEST(LocksJson, IsWellFormedWhateverTheNames) {
  const auto text = locks_json({holder("a\"", "\xff\n{}", 5)}, true);
  EXPECT_TRUE(is_json(text)) << text;
}

// Two nodes, the second of which is slow to begin.
TEST(Status, ShowsWhoIsMissingAndThenTheWholeCluster) {
  const registry::TemporaryDirectory directory;
  TestNode first(directory.path(), "first");
  first.run();
  EXPECT_EQ(get(first.http(), "/readyz").body, "ready\n");

  TestNode second(directory.path(), "second");
  EXPECT_TRUE(eventually([&] { return get(first.http(), "/readyz").status == 503; }));
  EXPECT_THAT(get(first.http(), "/readyz").body,
              HasSubstr("not ready: in view 2 there is no report yet from second"));
  EXPECT_EQ(get(first.http(), "/healthz").status, 200);
  EXPECT_THAT(get(first.http(), "/status").body, HasSubstr("\"ready\":false"));
  EXPECT_THAT(get(first.http(), "/locks").body, HasSubstr("\"complete\":false"));

  second.run();
  EXPECT_TRUE(eventually([&] { return get(first.http(), "/readyz").status == 200; }));
  const auto status = get(first.http(), "/status").body;
  EXPECT_TRUE(is_json(status)) << status;
  for (const auto* part :
       {R"("node":{"name":"first","id":")", R"("version":")" TURNO_VERSION "\"", R"("uptime_s":)",
        R"("ready":true)", R"("cluster":{"epoch":2,"algorithm":"nxr-bh","lock_delay_ms":1000,)",
        R"("members":[{"name":"first","pid":)", R"({"name":"second","pid":)", R"("link_up":true)",
        R"("locks":{"known":0,"held":0,"waiting":0,"acquired":0,)", R"("messages":{"request":0,)",
        R"("control-open":0)", R"("clients":{"connected":0)"})
    EXPECT_THAT(status, HasSubstr(part));

  // Held at one, asked for at the other, seen from both.
  const Owner one{1, "holder"}, other{2, "waiter"};
  const TestUser holds(first.locks(), one, "a/b \xc3\xa9");
  EXPECT_TRUE(eventually([&] {
    return get(second.http(), "/locks").body.find(R"("client":"holder")") != std::string::npos;
  }));
  const TestUser waits(second.locks(), other, "a/b \xc3\xa9");
  for (auto* node : {&first, &second}) {
    for (const auto* path : {"/locks", "/locks/", "/locks/a/b%20%C3%A9", "/locks/a%2Fb%20%C3%A9"}) {
      const auto page = get(node->http(), path);
      EXPECT_EQ(page.status, 200);
      EXPECT_THAT(page.head, HasSubstr("Content-Type: application/json\r\n"));
      EXPECT_TRUE(is_json(page.body)) << page.body;
      EXPECT_THAT(page.body, HasSubstr("\"name\":\"a/b \xc3\xa9\",\"holder\":{\"node\":\"first\""));
      EXPECT_THAT(page.body, HasSubstr(R"("waiters":[{"node":"second","session":2)"));
      EXPECT_THAT(page.body, HasSubstr("\"complete\":true"));
    }
    EXPECT_THAT(get(node->http(), "/locks/unknown").body,
                HasSubstr(R"({"name":"unknown","holder":null,"waiters":[],"complete":true)"));
  }
}

}  // namespace
}  // namespace turno::port
