// Nodes embedded in a program: several in this one, which meet in a directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "net/testing.h"
#include "registry/registry_testing.h"
#include "table/engine.h"
#include "turno/turno.h"

namespace turno {
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::HasSubstr;

class EmbeddedTest : public testing::Test {
 protected:
  std::unique_ptr<Node> start(const std::string& algorithm = {}) {
    auto node = Node::start({.directory = (directory_.path() / "cluster").string(),
                             .name = "n" + std::to_string(++count_),
                             .algorithm = algorithm,
                             .lock_delay = 100ms});
    if (!node) throw std::runtime_error(node.error().message);
    return std::move(*node);
  }

  registry::TemporaryDirectory directory_;
  int count_ = 0;
};

class EveryAlgorithm : public EmbeddedTest, public testing::WithParamInterface<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Embedded, EveryAlgorithm, testing::ValuesIn(table::engine_names()),
                         [](const auto& each) {
                           std::string name(each.param);
                           for (auto& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST_P(EveryAlgorithm, CountsExactlyAndItsFencesGrow) {
  constexpr int nodes = 3, threads = 4, rounds = 60;
  std::vector<std::unique_ptr<Node>> all;
  all.reserve(nodes);
  for (int i = 0; i < nodes; ++i) all.push_back(start(std::string(GetParam())));
  // Read and written in two steps: two users at a time would lose counts.
  std::atomic<int> counter{0}, inside{0};
  std::atomic<std::uint64_t> last_fence{0};
  std::atomic<int> mistakes{0};
  std::vector<std::thread> users;
  users.reserve(std::size_t{nodes} * threads);
  for (int i = 0; i < nodes * threads; ++i)
    users.emplace_back([&, i] {
      Mutex mutex(*all[static_cast<std::size_t>(i % nodes)], "the counter");
      for (int round = 0; round < rounds; ++round) {
        const std::scoped_lock guard(mutex);
        mistakes += ++inside == 1 ? 0 : 1;
        mistakes += mutex.fence() > last_fence.exchange(mutex.fence()) ? 0 : 1;
        const int value = counter.load();
        if (round % 3 == 0) std::this_thread::yield();
        counter.store(value + 1);
        --inside;
      }
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(counter, nodes * threads * rounds);
  EXPECT_EQ(mistakes, 0);
}

TEST_F(EmbeddedTest, RefusesImpossibleOptions) {
  const auto nowhere = Node::start({.directory = ""});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Error::Code::invalid);
  const auto unknown =
      Node::start({.directory = directory_.path().string(), .algorithm = "no-such"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no lock algorithm 'no-such'"));
  const auto at = Node::start(
      {.directory = directory_.path().string(), .name = "x", .client_address = "nowhere"});
  ASSERT_FALSE(at);
  EXPECT_THAT(at.error().message, HasSubstr("'nowhere' is no address"));
}

TEST_F(EmbeddedTest, RefusesImpossibleRequests) {
  const auto node = start();
  for (const auto& name : {std::string(), std::string(513, 'x')}) {
    const auto grant = node->acquire(name);
    ASSERT_FALSE(grant);
    EXPECT_EQ(grant.error().code, Error::Code::invalid);
  }
  EXPECT_TRUE(node->acquire(std::string(512, 'x')));
  for (const auto ttl : {0ms, -5ms}) {
    const auto grant = node->acquire("a", {.ttl = ttl});
    ASSERT_FALSE(grant);
    EXPECT_EQ(grant.error().code, Error::Code::invalid);
  }
  EXPECT_EQ(node->acquire("a", {.timeout = -1ms}).error().code, Error::Code::invalid);
  auto grant = node->acquire("a");
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->name(), "a");
  EXPECT_EQ(grant->renew(0ms).error().code, Error::Code::invalid);
}

TEST_F(EmbeddedTest, ATryFailsFastIfSomebodyElseHasTheLock) {
  const auto one = start(), two = start();
  Mutex here(*one, "a"), there(*two, "a");
  here.lock();
  for (auto* other : {&here, &there}) {
    bool taken = true;
    std::thread([&] { taken = other->try_lock(); }).join();
    EXPECT_FALSE(taken);
  }
  here.unlock();
  // It rests with the first node now; that is no reason to fail, once its home has heard of it.
  EXPECT_TRUE(eventually([&] { return there.try_lock(); }));
  there.unlock();
}

TEST_F(EmbeddedTest, AWaitEndsWithItsTime) {
  const auto one = start(), two = start();
  const auto held = one->acquire("a");
  ASSERT_TRUE(held);
  for (auto* node : {one.get(), two.get()}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto grant = node->acquire("a", {.timeout = 30ms});
    ASSERT_FALSE(grant);
    EXPECT_EQ(grant.error().code, Error::Code::timeout);
    EXPECT_THAT(grant.error().message, HasSubstr("'a'"));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
  }
}

TEST_F(EmbeddedTest, AWaitThatIsCancelledLeavesNothing) {
  const auto one = start(), two = start();
  for (auto* node : {one.get(), two.get()}) {
    auto held = one->acquire("a");
    ASSERT_TRUE(held);
    std::stop_source stop;
    std::thread canceller([&] {
      std::this_thread::sleep_for(20ms);
      stop.request_stop();
    });
    const auto grant = node->acquire("a", {}, stop.get_token());
    canceller.join();
    ASSERT_FALSE(grant);
    EXPECT_EQ(grant.error().code, Error::Code::cancelled);
    held->release();
    EXPECT_TRUE(one->acquire("a"));
  }
  // Cancelled before it began.
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(one->acquire("a", {}, stopped.get_token()).error().code, Error::Code::cancelled);
}

// For ever, in other words.
TEST_F(EmbeddedTest, TimesMayBeVeryLong) {
  const auto node = start();
  auto held = node->acquire("a", {.ttl = std::chrono::milliseconds::max()});
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->renew(std::chrono::milliseconds::max()));
  std::thread releaser([&] {
    std::this_thread::sleep_for(30ms);
    held->release();
  });
  const auto grant = node->acquire("a", {.timeout = std::chrono::milliseconds::max()});
  EXPECT_TRUE(grant);
  releaser.join();
}

TEST_F(EmbeddedTest, ALockWithATimeToLiveIsLost) {
  const auto one = start(), two = start();
  auto grant = one->acquire("a", {.ttl = 50ms});
  ASSERT_TRUE(grant);
  const auto token = grant->lost_token();
  EXPECT_FALSE(grant->lost());
  std::atomic<bool> told{false};
  const std::stop_callback callback(token, [&] { told = true; });
  const auto next = two->acquire("a");  // waits until it is lost
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), grant->fence());
  EXPECT_TRUE(grant->lost());
  EXPECT_TRUE(eventually([&] { return told.load(); }));
  EXPECT_TRUE(grant->lost_token().stop_requested());  // also for who asks later
  EXPECT_EQ(grant->renew(1s).error().code, Error::Code::lost);
}

TEST_F(EmbeddedTest, ALockThatIsRenewedIsNotLost) {
  const auto node = start();
  auto grant = node->acquire("a", {.ttl = 400ms});
  ASSERT_TRUE(grant);
  ASSERT_TRUE(grant->renew(1h));
  std::this_thread::sleep_for(500ms);
  EXPECT_FALSE(grant->lost());
  const auto token = grant->lost_token();
  grant->release();
  EXPECT_FALSE(token.stop_requested());  // a release is no loss
}

TEST_F(EmbeddedTest, WhatIsHeldWhenTheRegistryVanishesIsLost) {
  const net::LoggedLines lines;
  const auto node = start();
  auto grant = node->acquire("a");
  ASSERT_TRUE(grant);
  const auto token = grant->lost_token();
  std::atomic<bool> told{false};
  const std::stop_callback callback(token, [&] { told = true; });
  std::filesystem::remove_all(directory_.path() / "cluster");
  EXPECT_TRUE(eventually([&] { return told.load(); }));
  EXPECT_TRUE(grant->lost());
  const auto again = node->acquire("a");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Error::Code::unavailable);
}

TEST_F(EmbeddedTest, ANodeThatLeavesPassesItsLocksOn) {
  auto one = start();
  const auto two = start();
  auto held = one->acquire("a");
  ASSERT_TRUE(held);
  const auto fence = held->fence();
  std::thread leaver([&] {
    std::this_thread::sleep_for(30ms);
    held->release();
    one.reset();
  });
  const auto grant = two->acquire("a");
  leaver.join();
  ASSERT_TRUE(grant);
  EXPECT_GT(grant->fence(), fence);
  EXPECT_TRUE(two->acquire("b"));
}

// Locks that nobody uses are forgotten; programs that keep their mutexes do not notice.
TEST_F(EmbeddedTest, AMutexOutlivesTheMemoryOfItsLock) {
  auto node = Node::start(
      {.directory = (directory_.path() / "cluster").string(), .name = "n", .idle = 20ms});
  ASSERT_TRUE(node) << node.error().message;
  Mutex mutex(**node, "a");
  std::uint64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    const std::scoped_lock guard(mutex);
    EXPECT_GT(mutex.fence(), last);
    last = mutex.fence();
    std::this_thread::sleep_for(60ms);  // held, and later free, for longer than that
  }
}

}  // namespace
}  // namespace turno
