// Deadlocks of clients at different nodes: found, told, ended, or prevented.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::node {
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DeadlockTest : public testing::Test {
 protected:
  explicit DeadlockTest(std::size_t nodes, TestCluster::Change change)
      : cluster_(nodes, std::move(change)) {}

  [[nodiscard]] Caller caller(std::size_t node, int protocol = 3) {
    return Caller(cluster_[node].self().client_address, protocol);
  }
  [[nodiscard]] static TestCluster::Change policy(DeadlockPolicy policy) {
    return [policy](Settings& settings) { settings.declarations.declare_deadlocks(policy); };
  }
  // Of all nodes.
  template <class Count>
  std::uint64_t sum(Count count) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < nodes(); ++i)
      all += cluster_[i].run([&] { return count(cluster_[i].deadlocks()); });
    return all;
  }
  std::uint64_t found() {
    return sum([](const DeadlockWatch& watch) { return watch.found(); });
  }
  std::uint64_t aborted() {
    return sum([](const DeadlockWatch& watch) { return watch.aborted(); });
  }
  virtual std::size_t nodes() { return 5; }

  TestCluster cluster_;
};

struct Detecting : DeadlockTest {
  Detecting() : DeadlockTest(5, policy(DeadlockPolicy::detect)) {}
};
struct Aborting : DeadlockTest {
  Aborting() : DeadlockTest(5, policy(DeadlockPolicy::abort)) {}
};

TEST_F(Detecting, ADeadlockIsReportedOnceAndGoesOn) {
  auto anna = caller(0), bert = caller(1), cleo = caller(2);
  anna.lock("disk");
  bert.lock("tape");
  anna.send("LOCK tape");
  bert.send("LOCK disk");
  EXPECT_TRUE(eventually([&] { return found() == 1; }));
  const auto why = cleo.ask("WHY disk");
  EXPECT_THAT(why, AllOf(HasSubstr("\"has\": \"disk\""), HasSubstr("\"waits_for\": \"tape\""),
                         HasSubstr("\"stuck\": true"), Not(HasSubstr("\"deadlock\": null"))));
  EXPECT_TRUE(anna.is_silent(1500ms)) << "so long that it is looked for again";
  EXPECT_TRUE(bert.is_silent());
  EXPECT_EQ(found(), 1U);
  bert.hang_up();
  EXPECT_THAT(anna.read_text(), Not(StartsWith("-")));
  EXPECT_THAT(cleo.ask("WHY disk"),
              AllOf(HasSubstr("\"waits_for\": null"), HasSubstr("\"deadlock\": null")));
}

// A store is asked for as a whole.
TEST_F(Detecting, WhyTellsOfAStoresHoldersToo) {
  auto anna = caller(0), bert = caller(1), cleo = caller(2);
  anna.lock("disk");
  EXPECT_THAT(bert.ask("RESERVE tape:2/2"), StartsWith("["));
  EXPECT_THAT(cleo.ask("WHY resources"),
              AllOf(HasSubstr("\"has\": \"resources\""), HasSubstr("\"waits_for\": null")));
  anna.send("RESERVE tape");
  bert.send("LOCK disk");
  EXPECT_TRUE(eventually([&] { return found() == 1; }));
  EXPECT_THAT(cleo.ask("WHY resources"),
              AllOf(HasSubstr("\"has\": \"resources\""), HasSubstr("\"waits_for\": \"disk\""),
                    HasSubstr("\"stuck\": true"), Not(HasSubstr("\"deadlock\": null"))));
}

TEST_F(Aborting, TheYoungestOfTwoGetsAnErrorAndKeepsWhatItHas) {
  auto anna = caller(0);
  std::this_thread::sleep_for(5ms);  // so that it is the elder
  auto bert = caller(1);
  anna.lock("disk");
  const auto tape = bert.lock("tape");
  bert.send("LOCK disk");
  anna.send("LOCK tape");
  EXPECT_THAT(bert.read_text(),
              AllOf(StartsWith("-DEADLOCK"), HasSubstr("has lock 'disk'"),
                    HasSubstr("waits for lock 'tape'"), HasSubstr("at n1"), HasSubstr("at n2")));
  EXPECT_TRUE(anna.is_silent()) << "it waits as before";
  EXPECT_EQ(bert.ask("RENEW tape 60000 " + std::to_string(tape)), "1");
  EXPECT_EQ(bert.ask("UNLOCK tape"), "1");
  EXPECT_THAT(anna.read_text(), Not(StartsWith("-")));
  EXPECT_EQ(aborted(), 1U);
}

TEST_F(Aborting, ACircleOfFiveEndsWithOneOfThem) {
  std::vector<Caller> callers;
  for (std::size_t i = 0; i < 5; ++i) callers.push_back(caller(i));
  for (std::size_t i = 0; i < 5; ++i) callers[i].lock("lock-" + std::to_string(i));
  for (std::size_t i = 0; i < 5; ++i) callers[i].send("LOCK lock-" + std::to_string((i + 1) % 5));
  std::size_t told = 5;
  EXPECT_TRUE(eventually([&] {
    for (std::size_t i = 0; i < 5; ++i)
      if (!callers[i].is_silent(0ms)) told = i;
    return told < 5;
  }));
  EXPECT_THAT(callers[told].read_text(), StartsWith("-DEADLOCK"));
  // The others go on one after the other, backwards.
  for (std::size_t i = 0; i < 4; ++i) {
    const auto giving = (told + 5 - i) % 5, next = (giving + 4) % 5;
    callers[giving].hang_up();
    EXPECT_THAT(callers[next].read_text(), Not(StartsWith("-")));
  }
  EXPECT_EQ(aborted(), 1U);
}

TEST_F(Aborting, WhoWaitsWithATicketIsToldAndMayAskHow) {
  auto anna = caller(0), bert = caller(1);
  anna.lock("disk");
  bert.lock("tape");
  anna.send("LOCK tape");
  const auto ticket = bert.ask("LOCK disk ASYNC");
  // Whoever began last: both in the same millisecond, perhaps.
  std::string told;
  EXPECT_TRUE(eventually([&] { return aborted() == 1; }));
  if (!bert.is_silent()) {
    EXPECT_THAT(bert.read_text(), StartsWith(">[\"deadlock\", " + ticket +
                                             ", \"disk\", \"lock 'disk' was not taken"));
    EXPECT_THAT(bert.ask("TICKET " + ticket), StartsWith("[\"failed\", \"disk\", "));
  } else {
    EXPECT_THAT(anna.read_text(), StartsWith("-DEADLOCK"));
  }
}

TEST_F(Aborting, ThingsOfAllKindsAreHeldAndWaitedFor) {
  auto anna = caller(0), bert = caller(1), cleo = caller(2), dora = caller(3);
  anna.ask("PERMIT gpu OF 2");
  bert.ask("PERMIT gpu OF 2");
  cleo.ask("ENTER hall read");
  dora.ask("CAMPAIGN boss dora");
  dora.send("PERMIT gpu");
  anna.send("ENTER hall write");
  cleo.send("CAMPAIGN boss cleo");
  EXPECT_TRUE(dora.is_silent(700ms)) << "bert may give its permit back";
  EXPECT_EQ(found(), 0U);
  bert.send("CAMPAIGN boss bert");
  EXPECT_TRUE(eventually([&] { return aborted() == 1; }));
}

TEST_F(Aborting, ResourcesOfAStoreAreWaitedForByTheirTypes) {
  auto anna = caller(0), bert = caller(1), cleo = caller(2);
  anna.ask("RESERVE gpu:2/3 tape:1/4");
  cleo.ask("RESERVE gpu:1/3");
  bert.lock("disk");
  anna.send("LOCK disk");
  // Of tapes there are enough; for two gpus anna must give back hers.
  bert.send("RESERVE gpu:2 tape:1");
  EXPECT_TRUE(eventually([&] { return aborted() == 1; }));
  auto& told = bert.is_silent(0ms) ? anna : bert;
  EXPECT_THAT(told.read_text(),
              AllOf(StartsWith("-DEADLOCK"), HasSubstr("'gpu' of store 'resources'")));
}

TEST_F(Aborting, WhoMayStillGetAResourceIsNotInADeadlock) {
  auto anna = caller(0), bert = caller(1), cleo = caller(2);
  anna.ask("RESERVE gpu:1/2");
  cleo.ask("RESERVE gpu:1/2");
  bert.lock("disk");
  anna.send("LOCK disk");
  bert.send("RESERVE gpu:1");
  EXPECT_TRUE(bert.is_silent(700ms)) << "cleo may give its gpu back";
  EXPECT_EQ(found(), 0U);
  cleo.ask("RETURN");
  EXPECT_THAT(bert.read_text(), HasSubstr("gpu"));
}

struct Ordered : DeadlockTest {
  Ordered()
      : DeadlockTest(2, [](Settings& settings) {
          auto& declared = settings.declarations;
          declared.declare_deadlocks(DeadlockPolicy::ordered);
          declared.declare_deadlocks(Thing::lock, "last-*",
                                     {.policy = DeadlockPolicy::ordered, .rank = 2});
          declared.declare_deadlocks(Thing::lock, "free-*", {.policy = DeadlockPolicy::detect});
          declared.declare_deadlocks(Thing::store, "gpu",
                                     {.policy = DeadlockPolicy::ordered, .rank = 3});
        }) {}
  std::size_t nodes() override { return 2; }
};
struct Collective : DeadlockTest {
  Collective()
      : DeadlockTest(2, [](Settings& settings) {
          settings.declarations.declare_deadlocks(Thing::lock, "db-*",
                                                  {.policy = DeadlockPolicy::collective});
          settings.declarations.declare_deadlocks(Thing::semaphore, "db-*",
                                                  {.policy = DeadlockPolicy::collective});
        }) {}
  std::size_t nodes() override { return 2; }
};

// Each type of the store has its own place; all that is asked for at once is asked for in turn.
TEST_F(Ordered, SoAreReservations) {
  auto anna = caller(0);
  EXPECT_THAT(anna.ask("RESERVE tape/1 gpu:1/2"), Not(StartsWith("-")));
  EXPECT_EQ(anna.ask("LOCK last-one"),
            "-DEADLOCK this session has resource 'gpu' (rank 3), and may not ask for lock "
            "'last-one' (rank 2) then (policy ordered: by rank, then by name): give that back "
            "first");
  EXPECT_THAT(anna.ask("RESERVE gpu:1"), StartsWith("-DEADLOCK this session has resource 'gpu'"));
  EXPECT_EQ(anna.ask("RETURN"), "2");
  anna.lock("last-one");
  EXPECT_THAT(anna.ask("RESERVE tape"),
              StartsWith("-DEADLOCK this session has lock 'last-one' (rank 2), and may not ask for "
                         "resource 'tape' (rank 0)"));
  EXPECT_THAT(anna.ask("RESERVE gpu:1"), Not(StartsWith("-")));
}

TEST_F(Ordered, RequestsAreMadeByRankAndThenByName) {
  auto anna = caller(0), bert = caller(1);
  anna.lock("last-a");
  EXPECT_THAT(anna.ask("LOCK z"),
              AllOf(StartsWith("-DEADLOCK"), HasSubstr("has lock 'last-a' (rank 2)"),
                    HasSubstr("may not ask for lock 'z' (rank 0)")));
  EXPECT_THAT(anna.ask("PERMIT p OF 1 ASYNC"), StartsWith("-DEADLOCK"));
  EXPECT_EQ(anna.call("LOCK last-b").kind, wire::Reply::Kind::integer);
  EXPECT_EQ(anna.call("LOCK free-a").kind, wire::Reply::Kind::integer) << "not in the order";
  EXPECT_EQ(anna.call("LOCK c TIMEOUT 0").kind, wire::Reply::Kind::integer)
      << "who tries waits not";
  EXPECT_EQ(anna.ask("UNLOCK last-a") + anna.ask("UNLOCK last-b"), "11");
  EXPECT_THAT(anna.ask("LOCK b"), StartsWith("-DEADLOCK"));
  EXPECT_EQ(anna.call("LOCK d").kind, wire::Reply::Kind::integer);
  // Who has permits may not ask for more of the same.
  bert.ask("PERMIT p OF 2");
  EXPECT_THAT(bert.ask("PERMIT p"), StartsWith("-DEADLOCK"));
  EXPECT_EQ(sum([](const DeadlockWatch& watch) { return watch.refused(); }), 4U);
}

TEST_F(Ordered, WhoWaitsForOneThingInTheOrderAsksForNoOther) {
  auto anna = caller(0), bert = caller(1);
  anna.lock("a");
  bert.ask("LOCK a ASYNC");
  EXPECT_THAT(bert.ask("LOCK b"), AllOf(StartsWith("-DEADLOCK"), HasSubstr("waits for lock 'a'")));
  EXPECT_EQ(bert.call("LOCK free-b").kind, wire::Reply::Kind::integer);
}

TEST_F(Collective, WhoHasSomethingAsksForNothingMore) {
  auto anna = caller(0), bert = caller(1);
  anna.lock("other");
  anna.lock("db-1");
  EXPECT_THAT(anna.ask("LOCK another"),
              AllOf(StartsWith("-DEADLOCK"), HasSubstr("has lock 'db-1'")));
  EXPECT_EQ(anna.call("LOCK db-2 TIMEOUT 0").kind, wire::Reply::Kind::integer);
  EXPECT_EQ(anna.ask("UNLOCK db-1") + anna.ask("UNLOCK db-2"), "11");
  EXPECT_EQ(anna.call("LOCK another").kind, wire::Reply::Kind::integer);
  EXPECT_EQ(text_of(anna.call("PERMIT db-3 OF 3 COUNT 3")).substr(0, 2), "[[") << "all at once";
  // Who waits for something would have this while it waits.
  bert.ask("LOCK other ASYNC");
  EXPECT_THAT(bert.ask("LOCK db-1"),
              AllOf(StartsWith("-DEADLOCK"), HasSubstr("waits for lock 'other'")));
}

// A room whose visitors wait for their own.
TEST_F(Aborting, WhoWaitsForItselfIsTold) {
  auto anna = caller(0);
  anna.ask("ENTER hall read");
  EXPECT_THAT(
      anna.ask("ENTER hall write"),
      AllOf(StartsWith("-DEADLOCK"), HasSubstr("has room 'hall' and waits for room 'hall'")));
}

TEST_F(Aborting, TasksOfOneSessionMayWaitForEachOther) {
  auto anna = caller(0);
  const auto fence = anna.lock("disk");
  anna.ask("LOCK disk ASYNC");
  EXPECT_TRUE(anna.is_silent(500ms));
  EXPECT_EQ(anna.ask("UNLOCK disk " + std::to_string(fence)), "1");
  EXPECT_THAT(anna.read_text(), StartsWith(">[\"granted\""));
  EXPECT_EQ(found(), 0U);
}

TEST_F(Aborting, AMemberThatIsGoneAndAWaitThatHasEndedMakeItVanish) {
  auto anna = caller(0, 2), bert = caller(1, 2);
  anna.lock("disk");
  bert.lock("tape");
  bert.send("LOCK disk TIMEOUT 50");
  anna.send("LOCK tape");
  EXPECT_EQ(bert.read_text(), "null");
  EXPECT_TRUE(anna.is_silent(500ms));
  cluster_.crash(1);
  EXPECT_THAT(anna.read_text(), Not(StartsWith("-")));
}

}  // namespace
}  // namespace turno::node
