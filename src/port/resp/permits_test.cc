// Clients that take permits of semaphores; and how a session finds what it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/random.h"
#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"
#include "port/resp/grants.h"

namespace turno::port {
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class PermitsTest : public testing::Test {
 protected:
  explicit PermitsTest(
      std::size_t nodes = 3, node::TestCluster::Change change = [](node::Settings&) {})
      : cluster_(nodes, std::move(change)) {}

  [[nodiscard]] Caller caller(std::size_t node = 0, int protocol = 2) {
    return Caller(cluster_[node].self().client_address, protocol);
  }
  [[nodiscard]] bool waiting(std::int64_t count, std::size_t node = 0) {
    return eventually(
        [&] { return cluster_[node].daemon().semaphores().statistics().waiters == count; });
  }
  // The numbers of the permits in a reply, and their common fence.
  struct Grant {
    std::vector<std::int64_t> permits;
    std::int64_t fence = 0;
  };
  static Grant grant_in(const wire::Reply& reply) {
    Grant grant;
    EXPECT_EQ(reply.kind, wire::Reply::Kind::array) << text_of(reply);
    for (const auto& pair : reply.elements) {
      EXPECT_EQ(pair.elements.size(), 2U);
      grant.permits.push_back(pair.elements[0].integer);
      grant.fence = pair.elements[1].integer;
    }
    return grant;
  }

  node::TestCluster cluster_;
};

TEST_F(PermitsTest, EachHasItsNumberAndAFenceThatGrows) {
  auto one = caller(0), two = caller(1);
  const auto first = grant_in(one.call("PERMIT gpu OF 3 COUNT 2"));
  EXPECT_THAT(first.permits, ElementsAre(0, 1));
  const auto second = grant_in(two.call("PERMIT gpu"));
  EXPECT_THAT(second.permits, ElementsAre(2));
  EXPECT_GT(second.fence, first.fence);
  EXPECT_EQ(one.ask("RELEASE gpu"), "2");
  const auto third = grant_in(two.call("PERMIT gpu COUNT 2"));
  EXPECT_THAT(third.permits, ElementsAre(0, 1));
  EXPECT_GT(third.fence, second.fence);
}

TEST_F(PermitsTest, CanBecomeMore) {
  auto one = caller(0), two = caller(1), three = caller(2);
  grant_in(one.call("PERMIT gpu OF 1"));
  two.send("PERMIT gpu");
  ASSERT_TRUE(waiting(1, 1));
  EXPECT_EQ(three.ask("RESIZE gpu 2"), "OK");
  EXPECT_THAT(grant_in(two.read()).permits, ElementsAre(1));
  EXPECT_THAT(three.ask("PERMIT gpu OF 1"), HasSubstr("has 2 permits as long as it is in use"));
  EXPECT_EQ(three.ask("RESIZE gpu 2"), "OK");
}

// Whoever has one of those that go keeps it, and nobody gets it again.
TEST_F(PermitsTest, CanBecomeFewer) {
  auto one = caller(0), two = caller(1), three = caller(2);
  EXPECT_THAT(grant_in(one.call("PERMIT gpu OF 3")).permits, ElementsAre(0));
  const auto last = grant_in(two.call("PERMIT gpu COUNT 2"));
  EXPECT_THAT(last.permits, ElementsAre(1, 2));
  EXPECT_EQ(three.ask("RESIZE gpu 1"), "OK");
  EXPECT_EQ(two.ask("RENEW gpu 9000"), "1");
  EXPECT_THAT(three.ask("PERMIT gpu COUNT 2"), HasSubstr("has 1 permit, not 2"));
  three.send("PERMIT gpu");
  ASSERT_TRUE(waiting(1, 2));
  EXPECT_EQ(two.ask("RELEASE gpu"), "2");
  EXPECT_EQ(two.ask("PERMIT gpu TIMEOUT 300"), "null");
  EXPECT_EQ(one.ask("RELEASE gpu"), "1");
  EXPECT_THAT(grant_in(three.read()).permits, ElementsAre(0));
}

TEST_F(PermitsTest, AreResizedOnlyIfSomebodyUsesThem) {
  auto one = caller(0);
  EXPECT_THAT(one.ask("RESIZE gpu 4"), HasSubstr("nobody uses semaphore 'gpu'"));
  EXPECT_THAT(one.ask("RESIZE gpu 0"), HasSubstr("RESIZE needs a number of permits, 1 to 65535"));
  EXPECT_THAT(one.ask("RESIZE gpu 70000"), HasSubstr("1 to 65535"));
  EXPECT_THAT(one.ask("RESIZE gpu 2 ASYNC"), HasSubstr("unknown option 'ASYNC'"));
  EXPECT_THAT(grant_in(one.call("PERMIT gpu OF 3 COUNT 3")).permits, ElementsAre(0, 1, 2));
}

TEST_F(PermitsTest, WhoAsksForMuchIsNotOvertaken) {
  auto one = caller(0), two = caller(1), three = caller(2);
  grant_in(one.call("PERMIT gpu OF 2"));
  two.send("PERMIT gpu COUNT 2");
  ASSERT_TRUE(waiting(1, 1));
  three.send("PERMIT gpu");
  ASSERT_TRUE(waiting(1, 2));
  EXPECT_EQ(one.ask("RELEASE gpu"), "1");
  EXPECT_THAT(grant_in(two.read()).permits, ElementsAre(0, 1));
  EXPECT_EQ(two.ask("RELEASE gpu"), "2");
  EXPECT_EQ(grant_in(three.read()).permits.size(), 1U);
}

TEST_F(PermitsTest, ATryFailsIfTooFewAreFree) {
  auto one = caller(0), two = caller(1);
  grant_in(one.call("PERMIT gpu OF 2"));
  EXPECT_EQ(two.ask("PERMIT gpu COUNT 2 TIMEOUT 0"), "null");
  EXPECT_EQ(two.ask("PERMIT gpu COUNT 2 TIMEOUT 30"), "null");
  EXPECT_EQ(grant_in(two.call("PERMIT gpu TIMEOUT 0")).permits.size(), 1U);
}

TEST_F(PermitsTest, HowManyThereAreIsSaidOnceAndKept) {
  auto one = caller(0), two = caller(1);
  EXPECT_THAT(one.ask("PERMIT gpu"), HasSubstr("-ERR nobody uses semaphore 'gpu': say how many"));
  EXPECT_THAT(one.ask("PERMIT gpu OF 2 COUNT 3"), HasSubstr("-ERR COUNT 3 is more than OF 2"));
  grant_in(one.call("PERMIT gpu OF 2"));
  EXPECT_EQ(two.ask("PERMIT gpu OF 3"),
            "-ERR semaphore 'gpu' has 2 permits as long as it is in use, not 3");
  EXPECT_EQ(two.ask("PERMIT gpu COUNT 3"), "-ERR semaphore 'gpu' has 2 permits, not 3");
  grant_in(two.call("PERMIT gpu OF 2"));
  for (const auto* wrong :
       {"PERMIT", "PERMIT gpu OF 0", "PERMIT gpu COUNT 65536", "PERMIT gpu OF",
        "PERMIT gpu OF 2 OF 2", "PERMIT gpu TTL 0", "PERMIT gpu SOON", "RELEASE gpu x"})
    EXPECT_THAT(one.ask(wrong), testing::StartsWith("-ERR")) << wrong;
}

TEST_F(PermitsTest, GoBackWhenTheirSessionEnds) {
  auto two = caller(1);
  {
    auto one = caller(0);
    grant_in(one.call("PERMIT gpu OF 1"));
    two.send("PERMIT gpu");
    ASSERT_TRUE(waiting(1, 1));
  }
  EXPECT_THAT(grant_in(two.read()).permits, ElementsAre(0));
}

TEST_F(PermitsTest, AreLostWhenTheirTimeIsOver) {
  auto one = caller(0, 3), two = caller(1);
  const auto grant = grant_in(one.call("PERMIT gpu OF 1 TTL 60000"));
  EXPECT_EQ(one.ask("RENEW gpu 30"), "1");
  EXPECT_THAT(one.read_text(), testing::AllOf(HasSubstr(R"(>["lost", "gpu", )"),
                                              HasSubstr(std::to_string(grant.fence))));
  EXPECT_EQ(one.ask("RENEW gpu 1000"), "0");
  EXPECT_EQ(one.ask("RELEASE gpu"), "0");
  grant_in(two.call("PERMIT gpu OF 1"));
}

TEST_F(PermitsTest, OfOneSessionAreReleasedByTheirFence) {
  auto one = caller(0);
  const auto first = grant_in(one.call("PERMIT gpu OF 3"));
  grant_in(one.call("PERMIT gpu COUNT 2"));
  EXPECT_EQ(one.ask("RELEASE gpu " + std::to_string(first.fence)), "1");
  EXPECT_EQ(one.ask("RELEASE gpu " + std::to_string(first.fence)), "0");
  EXPECT_EQ(one.ask("RELEASE gpu"), "2");
}

TEST_F(PermitsTest, AsyncWaitsAreAnnounced) {
  auto one = caller(0), two = caller(1, 3);
  grant_in(one.call("PERMIT gpu OF 1"));
  EXPECT_EQ(two.ask("PERMIT gpu ASYNC"), "1");
  ASSERT_TRUE(waiting(1, 1));
  EXPECT_EQ(one.ask("RELEASE gpu"), "1");
  const auto granted = two.read_text();
  EXPECT_THAT(granted, HasSubstr(R"(>["granted", 1, "gpu", [[0, )"));
  const auto fence =
      granted.substr(granted.find("[[0, ") + 5, granted.find("]]") - granted.find("[[0, ") - 5);
  EXPECT_EQ(two.ask("TICKET 1"), "[\"granted\", \"gpu\", " + fence + ", [[0, " + fence + "]]]");
  EXPECT_EQ(two.ask("PERMIT gpu ASYNC"), "2");
  EXPECT_EQ(two.ask("CANCEL 2"), "1");
}

TEST_F(PermitsTest, WhoTellsOfAllWhoHoldSome) {
  auto one = caller(0), two = caller(1), three = caller(2);
  one.ask("CLIENT SETNAME first");
  grant_in(one.call("PERMIT gpu OF 3 COUNT 2"));
  grant_in(two.call("PERMIT gpu"));
  three.send("PERMIT gpu COUNT 2");
  ASSERT_TRUE(waiting(1, 2));
  auto asks = caller(0, 3);
  EXPECT_THAT(asks.ask("WHO gpu"),
              testing::AllOf(HasSubstr(R"("kind": "semaphore")"), HasSubstr(R"("in_use": 3)"),
                             HasSubstr(R"("waiting": 1)"), HasSubstr(R"("client": "first")"),
                             HasSubstr(R"("permits": [0, 1])"), HasSubstr(R"("permits": [2])")));
  EXPECT_THAT(asks.ask("WAITERS gpu"), HasSubstr(R"("position": 1, "count": 2)"));
  EXPECT_THAT(asks.ask("LOCKS"),
              testing::AllOf(HasSubstr(R"([{"name": "gpu", "kind": "semaphore", "in_use": 3, )"),
                             HasSubstr(R"("waiting": 1, "holders": [{)"),
                             HasSubstr(R"("permits": [0, 1])"), HasSubstr(R"("permits": [2])")));
}

// What is said of them between nodes is long.
TEST_F(PermitsTest, MayBeManyOfOneMember) {
  auto one = caller(0), two = caller(1);
  EXPECT_EQ(grant_in(one.call("PERMIT gpu OF 1000 COUNT 990")).permits.size(), 990U);
  EXPECT_THAT(grant_in(two.call("PERMIT gpu COUNT 2")).permits, ElementsAre(990, 991));
  cluster_.crash(2);
  EXPECT_EQ(grant_in(two.call("PERMIT gpu COUNT 8")).permits.size(), 8U);
  EXPECT_EQ(cluster_[1].daemon().semaphores().statistics().spoilt, 0);
}

// A lock of the same name is another thing.
TEST_F(PermitsTest, HaveNamesOfTheirOwn) {
  auto one = caller(0);
  one.lock("gpu");
  EXPECT_EQ(grant_in(one.call("PERMIT gpu OF 2")).permits.size(), 1U);
  EXPECT_EQ(one.ask("UNLOCK gpu"), "1");
  EXPECT_EQ(one.ask("RELEASE gpu"), "1");
}

TEST_F(PermitsTest, AreForgottenWhenNobodyUsesThem) {
  auto one = caller(0);
  grant_in(one.call("PERMIT gpu OF 2"));
  EXPECT_EQ(one.ask("RELEASE gpu"), "1");
  EXPECT_TRUE(eventually([&] {
    std::size_t known = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      auto& semaphores = cluster_[i].daemon().semaphores();
      semaphores.retire_idle(table::Clock::now() + 1h, 10);
      known += semaphores.size();
    }
    return known == 0;
  }));
  grant_in(one.call("PERMIT gpu OF 5"));
}

// A delay that does not pass in a test.
class PermitsOfTheDead : public PermitsTest {
 protected:
  PermitsOfTheDead()
      : PermitsTest(5, [](node::Settings& settings) { settings.lock_delay = 60s; }) {}
};

// What a member that crashed may have is kept for its clients until the delay is over; what the
// living have they keep, and all else is given out at once.
TEST_F(PermitsTest, OfTheDeadAreKeptForAWhile) {
  auto one = caller(0), two = caller(1);
  grant_in(one.call("PERMIT gpu OF 3"));
  const auto kept = grant_in(two.call("PERMIT gpu"));
  cluster_.crash(0);
  auto three = caller(2);
  EXPECT_THAT(grant_in(three.call("PERMIT gpu COUNT 2")).permits, ElementsAre(0, 2));
  EXPECT_EQ(two.ask("RELEASE gpu " + std::to_string(kept.fence)), "1");
}

TEST_F(PermitsOfTheDead, AreAllThatIsKept) {
  std::vector<Caller> callers;
  for (std::size_t i = 0; i < 5; ++i) callers.push_back(caller(i));
  EXPECT_THAT(grant_in(callers[1].call("PERMIT gpu OF 100 COUNT 2")).permits, ElementsAre(0, 1));
  EXPECT_THAT(grant_in(callers[0].call("PERMIT gpu COUNT 3")).permits, ElementsAre(2, 3, 4));
  EXPECT_EQ(callers[1].ask("RELEASE gpu"), "2");
  cluster_.crash(0);
  const auto others = grant_in(callers[2].call("PERMIT gpu COUNT 97")).permits;
  EXPECT_EQ(others.size(), 97U);
  EXPECT_THAT(others, Not(Contains(AnyOf(2, 3, 4))));
  EXPECT_EQ(callers[3].ask("PERMIT gpu TIMEOUT 0"), "null");
}

// Wherever the semaphore has its home, and although most never had one of its permits.
TEST_F(PermitsOfTheDead, AreFewWhoeverDies) {
  auto dies = caller(0);
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h"};
  for (const auto& name : names) grant_in(dies.call("PERMIT " + name + " OF 100 COUNT 3"));
  cluster_.crash(0);
  auto lives = caller(1);
  for (const auto& name : names)
    EXPECT_EQ(grant_in(lives.call("PERMIT " + name + " COUNT 97")).permits.size(), 97U) << name;
}

// ---- what a session has

std::uint64_t comparisons = 0;
struct CountingLess {
  using is_transparent = void;
  template <class T>
  bool operator()(const T& a, const T& b) const {
    ++comparisons;
    return a < b;
  }
};

HeldPermits grant_of(Thing thing, std::string name, std::uint64_t fence, std::uint64_t ticket) {
  HeldPermits held;
  held.thing = thing;
  held.name = std::move(name);
  held.fence = Fence{fence};
  held.ticket = ticket;
  return held;
}

TEST(Grants, AreFoundByTheirTicketAndByWhatTheyAreOf) {
  Grants grants;
  grants.add(grant_of(Thing::semaphore, "a", 30, 1));
  grants.add(grant_of(Thing::semaphore, "a", 20, 2));
  grants.add(grant_of(Thing::room, "a", 20, 3));
  grants.add(grant_of(Thing::semaphore, "b", 20, 4));
  ASSERT_NE(grants.find(3), nullptr);
  EXPECT_EQ(grants.find(3)->thing, Thing::room);
  EXPECT_EQ(grants.find(9), nullptr);
  const auto* first = grants.first(Thing::semaphore, "a", {});
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->ticket, 2U);
  const auto* second = grants.next(*first, {});
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->ticket, 1U);
  EXPECT_EQ(grants.next(*second, {}), nullptr);
  EXPECT_EQ(grants.next(*first, Fence{20}), nullptr);
  EXPECT_EQ(grants.first(Thing::store, "a", {}), nullptr);
  EXPECT_EQ(grants.take(2).fence, Fence{20});
  EXPECT_EQ(grants.first(Thing::semaphore, "a", Fence{20}), nullptr);
  EXPECT_EQ(grants.size(), 3U);
}

// The same as a list that is looked through.
TEST(Grants, AreWhatAListWouldHave) {
  Random random(7);
  Grants grants;
  std::vector<HeldPermits> list;
  for (std::uint64_t ticket = 1; ticket <= 5000; ++ticket) {
    const auto thing = random.below(2) == 0 ? Thing::semaphore : Thing::room;
    const auto name = std::string(1, static_cast<char>('a' + random.below(3)));
    const Fence fence{1 + random.below(3)};
    if (random.below(2) == 0) {
      list.push_back(grant_of(thing, name, fence.value, ticket));
      grants.add(list.back());
    }
    const auto asked = random.below(2) == 0 ? Fence{} : fence;
    std::vector<std::uint64_t> expected, found;
    for (const auto& each : list)
      if (each.thing == thing && each.name == name && (asked == Fence{} || each.fence == asked))
        expected.push_back(each.ticket);
    for (auto* held = grants.first(thing, name, asked); held != nullptr;
         held = grants.next(*held, asked))
      found.push_back(held->ticket);
    auto sorted = found;
    std::ranges::sort(sorted);
    ASSERT_EQ(sorted, expected);
    if (found.empty() || list.size() < 40) continue;
    std::erase_if(list, [&](const HeldPermits& each) { return each.ticket == found.front(); });
    EXPECT_EQ(grants.take(found.front()).name, name);
  }
  EXPECT_EQ(grants.size(), list.size());
}

// A hundred thousand who are in one room with one fence leave it one by one, and a hundred thousand
// semaphores are given back: a few dozen comparisons each, not thousands.
TEST(Grants, AreGivenBackInFewStepsHoweverManyThereAre) {
  constexpr std::uint64_t many = 100'000;
  GrantsInOrder<CountingLess> grants;
  for (std::uint64_t ticket = 1; ticket <= many; ++ticket) {
    grants.add(grant_of(Thing::room, "lobby", 7, ticket));
    grants.add(grant_of(Thing::semaphore, "s" + std::to_string(ticket), 7, many + ticket));
  }
  comparisons = 0;
  for (std::uint64_t ticket = 1; ticket <= many; ++ticket) {
    const auto* visit = grants.first(Thing::room, "lobby", Fence{7});
    ASSERT_NE(visit, nullptr);
    ASSERT_EQ(visit->ticket, ticket);
    grants.take(visit->ticket);
    const auto* permit = grants.first(Thing::semaphore, "s" + std::to_string(ticket), {});
    ASSERT_NE(permit, nullptr);
    grants.take(permit->ticket);
  }
  EXPECT_TRUE(grants.empty());
  EXPECT_LT(comparisons, 2 * many * 100);
}

}  // namespace
}  // namespace turno::port
