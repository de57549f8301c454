// What attacks found, each as a test: with real nodes and real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::node {

using namespace table;
using namespace port;
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::HasSubstr;
using State = Waiter::State;

std::uint64_t control_messages(TestCluster& cluster, std::size_t nodes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < nodes; ++i) sum += cluster[i].locks().engine().control_messages();
  return sum;
}

// ---- a lock that was taken back is not renewed

TEST(Renew, SaysNoWhenTheLockWasTakenBackAMomentAgo) {
  TestCluster cluster(1);
  Caller other(cluster[0].self().client_address), victim(cluster[0].self().client_address);
  other.lock("y");
  for (int round = 0; round < 20; ++round) {
    // The time to live and the wait end in one round of the loop: what stands behind the wait is
    // looked at before the session has heard of its loss.
    victim.send("LOCK x TTL 20");
    victim.send("LOCK y TIMEOUT 20");
    victim.send("RENEW x 60000");
    victim.send("UNLOCK x");
    EXPECT_EQ(victim.read().kind, wire::Reply::Kind::integer);
    EXPECT_EQ(victim.read_text(), "null");
    const auto renewed = victim.read_text(), unlocked = victim.read_text();
    EXPECT_EQ(renewed, unlocked) << "what cannot be given back cannot be kept either";
  }
}

// ---- nobody waits for itself

TEST(Session, DoesNotWaitForItself) {
  TestCluster cluster(1);
  Caller holder(cluster[0].self().client_address), caller(cluster[0].self().client_address, 3);
  holder.lock("x");
  EXPECT_EQ(caller.ask("LOCK x ASYNC"), "1");
  EXPECT_THAT(caller.ask("LOCK x"), HasSubstr("-HELD"));
  EXPECT_THAT(caller.ask("LOCK x TIMEOUT 0"), HasSubstr("-HELD"));
  EXPECT_EQ(holder.ask("UNLOCK x"), "1");
  EXPECT_THAT(caller.read_text(), HasSubstr(">[\"granted\", 1, \"x\""));
  EXPECT_THAT(caller.ask("LOCK x"), HasSubstr("-HELD"));
  EXPECT_EQ(caller.ask("UNLOCK x"), "1");
}

TEST(Session, HoldsNoMoreThanItMay) {
  TestCluster cluster(1);
  Caller caller(cluster[0].self().client_address);
  constexpr int most = 100'000, batch = 1000;
  for (int first = 0; first < most; first += batch) {
    std::string bytes;
    for (int i = first; i < first + batch; ++i)
      bytes += Caller::request("LOCK n" + std::to_string(i));
    caller.send_bytes(bytes);
    for (int i = 0; i < batch; ++i) ASSERT_EQ(caller.read().kind, wire::Reply::Kind::integer);
  }
  EXPECT_THAT(caller.ask("LOCK one-more"), HasSubstr("too many locks: at most 100000"));
  EXPECT_EQ(caller.ask("UNLOCK n0"), "1");
  caller.lock("one-more");
}

// ---- tries

class TriesTest : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Algorithm, TriesTest,
                         testing::Values("nxr-bh", "ricart-agrawala", "maekawa", "suzuki-kasami",
                                         "raymond", "lamport"),
                         [](const auto& each) {
                           std::string name(each.param);
                           for (auto& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

// As five machines do whose cron starts the same job at the same time.
TEST_P(TriesTest, OfFiveAtOnceExactlyOneWins) {
  constexpr std::size_t nodes = 5;
  TestCluster cluster(nodes, [](Settings& settings) { settings.algorithm = GetParam(); });
  for (int round = 0; round < 20; ++round) {
    const auto lock = round % 2 == 0 ? "fresh-" + std::to_string(round) : "used";
    std::vector<std::unique_ptr<Asker>> askers;
    for (std::size_t i = 0; i < nodes; ++i) askers.push_back(std::make_unique<Asker>(i + 1));
    std::vector<std::thread> threads;
    const auto began = Clock::now();
    for (std::size_t i = 0; i < nodes; ++i)
      threads.emplace_back([&, i] { cluster[i].locks().attempt(lock, *askers[i]); });
    for (auto& thread : threads) thread.join();
    std::size_t winner = nodes;
    for (std::size_t i = 0; i < nodes; ++i) {
      ASSERT_TRUE(eventually([&] {
        const std::scoped_lock guard(cluster[i].locks().mutex());
        return askers[i]->state == State::granted || askers[i]->state == State::refused;
      })) << lock;
      if (askers[i]->state != State::granted) continue;
      EXPECT_EQ(winner, nodes) << "two have won " << lock;
      winner = i;
    }
    ASSERT_LT(winner, nodes) << "nobody has won " << lock;
    EXPECT_LT(Clock::now() - began, 900ms) << "at once, and not because time ran out";
    EXPECT_TRUE(cluster[winner].locks().release(lock, askers[winner]->self()));
  }
}

TEST(Try, ThatFailsCostsTwoMessagesAndWaitsForNobodyElse) {
  constexpr std::size_t nodes = 4;
  TestCluster cluster(nodes);
  const auto lock = cluster.lock_at_home(1);
  Asker holder;
  ASSERT_TRUE(cluster[0].locks().acquire(lock, holder) ||
              eventually([&] { return holder.is_settled(); }));
  // Its home hears of a lock that is held for a while.
  const auto held = [&] {
    for (const auto& count : cluster[0].locks().engine().control())
      if (count.kind == "held" && count.count > 0) return true;
    return false;
  };
  ASSERT_TRUE(eventually(held));
  const Stopped bystander(cluster[3]);
  const auto before = control_messages(cluster, nodes);
  constexpr int tries = 20;
  for (int i = 0; i < tries; ++i) {
    Asker asker;
    const auto began = Clock::now();
    EXPECT_FALSE(cluster[2].locks().attempt(lock, asker));
    EXPECT_TRUE(eventually([&] { return asker.is_settled(); }));
    EXPECT_EQ(asker.state, State::refused);
    EXPECT_LT(Clock::now() - began, 500ms);
  }
  EXPECT_LE(control_messages(cluster, nodes) - before, 2U * tries);
  EXPECT_TRUE(cluster[0].locks().release(lock, holder.self()));
}

// One connection that tries as fast as it can, while a member is stopped: nothing piles up, neither
// questions nor frames for the member that does not take them.
TEST(Try, InAPipelineKeepsNothing) {
  TestCluster cluster(3);
  const auto lock = cluster.lock_at_home(0);
  Caller holder(cluster[0].self().client_address), caller(cluster[1].self().client_address, 3);
  holder.lock(lock);
  auto& daemon = cluster[1].daemon();
  const auto questions = [&] { return cluster[1].run([&] { return daemon.open_questions(); }); };
  const auto backlog = [&] {
    return cluster[1].run([&] { return daemon.peers().link(cluster[2].self().id)->backlog(); });
  };
  const Stopped bystander(cluster[2]);
  const auto before = backlog();
  std::string bytes;
  constexpr int tries = 3000;
  for (int i = 0; i < tries; ++i) bytes += Caller::request("LOCK " + lock + " TIMEOUT 0 ASYNC");
  caller.send_bytes(bytes);
  int tickets = 0, timeouts = 0;
  std::size_t most = 0;
  while (timeouts < tries) {
    const auto reply = caller.read();
    ASSERT_NE(reply.kind, wire::Reply::Kind::error) << reply.text;
    ++(reply.kind == wire::Reply::Kind::push ? timeouts : tickets);
    if ((tickets + timeouts) % 500 == 0) most = std::max(most, questions());
  }
  EXPECT_EQ(tickets, tries);
  EXPECT_EQ(cluster[1].locks().statistics().waiters, 0);
  EXPECT_EQ(most, 0U);
  EXPECT_LE(backlog(), before);
}

// ---- idle locks

TEST(IdleLock, IsForgottenByEveryAlgorithmAndIsQuiet) {
  for (const auto algorithm : engine_names()) {
    TestCluster cluster(3, [&](Settings& settings) {
      settings.algorithm = algorithm;
      settings.idle = 100ms;
    });
    Asker asker;
    ASSERT_TRUE(cluster[0].locks().acquire("a", asker) ||
                eventually([&] { return asker.is_settled(); }));
    EXPECT_TRUE(cluster[0].locks().release("a", asker.self()));
    EXPECT_TRUE(eventually([&] {
      return cluster[0].locks().size() + cluster[1].locks().size() + cluster[2].locks().size() == 0;
    })) << algorithm;
  }
}

// A token that circulates for nobody rests between its rounds.
TEST(IdleLock, OfATokenRingDoesNotBurnACore) {
  TestCluster cluster(3, [&](Settings& settings) { settings.algorithm = "token-ring"; });
  Asker asker;
  ASSERT_TRUE(cluster[0].locks().acquire("a", asker) ||
              eventually([&] { return asker.is_settled(); }));
  EXPECT_TRUE(cluster[0].locks().release("a", asker.self()));
  const auto tokens = [&] {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (const auto& count : cluster[i].locks().engine().messages()) sum += count.count;
    return sum;
  };
  std::this_thread::sleep_for(100ms);
  const auto before = tokens();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(tokens() - before, 1000U);
  EXPECT_GT(tokens() - before, 0U);
}

}  // namespace
}  // namespace turno::node
