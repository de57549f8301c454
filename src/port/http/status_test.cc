#include "port/http/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/json_testing.h"
#include "port/http/http_testing.h"

namespace turno::port {

using namespace node;
using namespace table;
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

NodeSighting holder(std::string node, std::string lock, std::uint64_t fence) {
  return {std::move(node),
          {std::move(lock), "client", 7, Sighting::Kind::holds, Fence{fence}, 30ms, "here"}};
}
NodeSighting waiter(std::string node, std::string lock, std::chrono::milliseconds age) {
  return {std::move(node),
          {std::move(lock), "other", 8, Sighting::Kind::waits, Fence{}, age, "there"}};
}

TEST(LocksJson, GroupsWhatWasSeenByLock) {
  const Findings findings{
      .found = {waiter("b", "y", 10ms), holder("a", "x", 5), waiter("a", "x", 20ms)}};
  EXPECT_EQ(
      locks_json(findings),
      R"({"complete":true,"silent":[],"truncated":false,"locks":[)"
      R"({"name":"x","kind":"lock","holder":{"node":"a","session":"7","client":"client","from":"here",)"
      R"("fence":"5","held_ms":30},"waiters":[{"node":"a","session":"8","client":"other",)"
      R"("from":"there","waiting_ms":20}]},)"
      R"({"name":"y","kind":"lock","holder":null,"waiters":[{"node":"b","session":"8","client":"other",)"
      R"("from":"there","waiting_ms":10}]}]})"
      "\n");
}

TEST(LocksJson, NamesWhoDidNotAnswerAndWhatIsKnownOfThem) {
  Findings findings{.found = {{"n1", {"x", "n2", 0, Sighting::Kind::noted, Fence{}, 70ms}},
                              {"n2", {"y", "n4", 0, Sighting::Kind::kept, Fence{}, 800ms}},
                              {"n3", {"z", "", 0, Sighting::Kind::leaving}}},
                    .silent = {{"n1", 123, cluster::ProcessState::stopped}}};
  EXPECT_EQ(
      locks_json(findings),
      R"({"complete":false,"silent":[{"name":"n1","pid":123,"state":"stopped"}],)"
      R"("truncated":false,"locks":[)"
      R"({"name":"x","kind":"lock","holder":null,"perhaps_held":{"node":"n1","told_by":"n2",)"
      R"("told_ms":70},"waiters":[]},)"
      R"({"name":"y","kind":"lock","holder":null,"kept":{"for":"n4","free_in_ms":800},"waiters":[]},)"
      R"({"name":"z","kind":"lock","holder":null,"leaving":{"node":"n3"},"waiters":[]}]})"
      "\n");
}

TEST(LocksJson, BelievesTheLaterHolderAndPutsTheLongestWaitFirst) {
  const auto text =
      lock_json("x", {.found = {holder("a", "x", 5), waiter("a", "x", 1ms), holder("b", "x", 6),
                                holder("c", "x", 4), waiter("d", "x", 9ms)}});
  EXPECT_THAT(text, HasSubstr(R"("holder":{"node":"b")"));
  EXPECT_THAT(text, HasSubstr(R"("waiters":[{"node":"d")"));
}

TEST(LocksJson, SaysIfAMemberHadMoreToTell) {
  EXPECT_THAT(locks_json({.cut = {"a"}}), HasSubstr("\"truncated\":true"));
  EXPECT_THAT(lock_json("x", {.cut = {"a"}, .waiting = 70'000}),
              AllOf(HasSubstr("\"truncated\":true"), HasSubstr("\"waiting\":70000")));
}

TEST(LocksJson, TellsWhoWaitsForWhom) {
  DeadlockWatch::Chain chain;
  EXPECT_THAT(lock_json("x", {}, chain), HasSubstr(R"("chain":[],"deadlock":null)"));
  auto& link = chain.links.emplace_back();
  link.node = "n1";
  link.who = {.party = {1, 2}, .client = "anna", .from = "unix"};
  link.has = {0, "x"};
  link.wants = cluster::NamedThing{1, "gpu"};
  link.waiting_ms = 7;
  link.stuck = true;
  chain.deadlock = "a circle";
  EXPECT_THAT(
      lock_json("x", {}, chain),
      HasSubstr(R"("chain":[{"node":"n1","session":"2","client":"anna","from":"unix",)"
                R"("has":{"kind":"lock","name":"x"},"waits_for":{"kind":"semaphore","name":"gpu"},)"
                R"("waiting_ms":7,"stuck":true}],"deadlock":"a circle")"));
}

Sighting of(Thing thing, std::string name, Sighting::Kind kind = Sighting::Kind::holds) {
  return {.lock = std::move(name),
          .client = "anna",
          .session = 7,
          .kind = kind,
          .age = 30ms,
          .from = "here",
          .thing = thing};
}

// Whoever reads it must not take them for free.
TEST(LocksJson, ShowsAllWhoHaveSomeOfIt) {
  auto permits = of(Thing::semaphore, "x"), dead = of(Thing::semaphore, "x", Sighting::Kind::kept);
  permits.fence = Fence{5};
  permits.permits = {0, 3};
  dead.client = "n9";
  dead.permits = {1};
  auto waits = of(Thing::semaphore, "x", Sighting::Kind::waits);
  waits.count = 2;
  const Findings semaphore{.found = {{"a", permits}, {"b", dead}, {"c", waits}}, .waiting = 1};
  const std::string described =
      R"({"name":"x","kind":"semaphore","in_use":3,"holders":[{"node":"a","session":"7",)"
      R"("client":"anna","from":"here","fence":"5","held_ms":30,"permits":[0,3]},)"
      R"({"node":"b","kept":{"for":"n9","free_in_ms":30},"permits":[1]}],)"
      R"("waiters":[{"node":"c","session":"7","client":"anna","from":"here","waiting_ms":30,)"
      R"("count":2}])";
  EXPECT_THAT(lock_json("x", semaphore), testing::StartsWith(described + R"(,"waiting":1)"));
  EXPECT_THAT(locks_json(semaphore), HasSubstr(described + "}"));

  auto guest = of(Thing::room, "x"), waiting_guest = of(Thing::room, "x", Sighting::Kind::waits);
  guest.group = "red";
  waiting_guest.group = "blue";
  const auto room = lock_json("x", {.found = {{"a", guest}, {"b", waiting_guest}}, .waiting = 1});
  EXPECT_THAT(room, AllOf(HasSubstr(R"("kind":"room","inside":1,"holders":[{)"),
                          HasSubstr(R"("held_ms":30,"group":"red"}])"),
                          HasSubstr(R"("waiting_ms":30,"group":"blue"}])")));

  auto reserved = of(Thing::store, "x"), wants = of(Thing::store, "x", Sighting::Kind::waits);
  reserved.resources = {{"gpu", 4, Fence{6}}};
  wants.resources = {{"gpu", 2}, {"tape", 1}};
  const auto store = lock_json("x", {.found = {{"a", reserved}, {"b", wants}}, .waiting = 1});
  EXPECT_THAT(store, AllOf(HasSubstr(R"("kind":"store","in_use":1,"holders":[{)"),
                           HasSubstr(R"("resources":[{"type":"gpu","number":4,"fence":"6"}]}])"),
                           HasSubstr(R"("wants":"gpu:2 tape:1"}])")));
  for (const auto& text : {room, store, locks_json(semaphore)}) {
    EXPECT_TRUE(is_json(text)) << text;
    EXPECT_EQ(text.find("\"holder\""), std::string::npos) << text;
  }
}

TEST(LocksJson, IsWellFormedWhateverTheNames) {
  const auto text = locks_json({.found = {holder("a\"", "\xff\n{}", 5)}});
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
  EXPECT_THAT(get(first.http(), "/locks").body,
              HasSubstr("\"complete\":false,\"silent\":[{\"name\":\"second\""));
  // It says nothing; the first one is ready for what does not need it, and says whom it misses.
  EXPECT_TRUE(eventually([&] {
    return get(first.http(), "/readyz").body.find("silent: second (pid ") != std::string::npos;
  }));
  EXPECT_THAT(get(first.http(), "/metrics").body,
              AllOf(ContainsRegex("turno_peer_silent_seconds.peer=\"second\". [1-9]"),
                    HasSubstr("turno_registry_failing 0\n")));

  second.run();
  EXPECT_TRUE(eventually([&] { return get(first.http(), "/readyz").status == 200; }));
  const auto status = get(first.http(), "/status").body;
  EXPECT_TRUE(is_json(status)) << status;
  for (const auto* part :
       {R"("node":{"name":"first","id":")", R"("version":")" TURNO_VERSION "\"", R"("uptime_s":)",
        R"("ready":true)", R"("cluster":{"epoch":2,"algorithm":"nxr-bh","lock_delay_ms":1000,)",
        R"("members":[{"name":"first","pid":)", R"({"name":"second","pid":)", R"("link_up":true)",
        R"("locks":{"known":0,"held":0,"waiting":0,"acquired":0,)",
        R"("rooms":{"known":0,"held":0,)", R"("stores":{"known":0,)", R"("semaphores":{"known":0,)",
        R"("messages":{"request":0,)", R"("control-open":0)", R"("clients":{"connected":0)"})
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
      EXPECT_THAT(
          page.body,
          HasSubstr("\"name\":\"a/b \xc3\xa9\",\"kind\":\"lock\",\"holder\":{\"node\":\"first\""));
      EXPECT_THAT(page.body, HasSubstr(R"("waiters":[{"node":"second","session":"2")"));
      EXPECT_THAT(page.body, HasSubstr("\"complete\":true"));
    }
    EXPECT_THAT(
        get(node->http(), "/locks/unknown").body,
        HasSubstr(R"({"name":"unknown","kind":"lock","holder":null,"waiters":[],"waiting":0,)"
                  R"("chain":[],"deadlock":null,"complete":true,"silent":[])"));
  }
}

}  // namespace
}  // namespace turno::port
