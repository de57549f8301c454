// Mutexes of several clients and threads, at a node that gives out locks by the rules.
#include "turno/mutex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "client/testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

using client::LittleNode;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

std::unique_ptr<Client> client_of(const LittleNode& node) {
  auto made = Client::connect(node.address());
  EXPECT_TRUE(made);
  return std::move(*made);
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(2));
  return condition();
}

TEST(MutexOfAClient, IsTimedLockable) {
  LittleNode node;
  const auto mine = client_of(node), yours = client_of(node);
  Mutex here(*mine, "gate"), there(*yours, "gate"), other(*yours, "other");
  EXPECT_EQ(mine->identity().node, "little");
  EXPECT_EQ(mine->identity().session, "1");
  EXPECT_EQ(yours->identity().session, "2");
  EXPECT_EQ(here.fence(), 0U);
  {
    const std::scoped_lock lock(here, other);
    EXPECT_GT(here.fence(), 0U);
    EXPECT_FALSE(here.lost());
    EXPECT_FALSE(there.try_lock());
    EXPECT_FALSE(there.try_lock_for(milliseconds(5)));
    EXPECT_FALSE(there.try_lock_until(std::chrono::system_clock::now() + milliseconds(5)));
  }
  EXPECT_EQ(here.fence(), 0U);
  const std::unique_lock lock(there, std::chrono::seconds(5));
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_EQ(there.fence(), 2U);
}

TEST(MutexOfAClient, ThrowsWhatCannotBe) {
  LittleNode node;
  const auto client = client_of(node);
  EXPECT_THROW(Mutex(*client, ""), std::system_error);
  Mutex gate(*client, "gate");
  gate.lock();
  try {
    gate.lock();
    FAIL() << "locked twice";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
    EXPECT_THAT(error.what(), HasSubstr("gate"));
  }
  gate.unlock();
  gate.unlock();  // does nothing
}

TEST(MutexOfAClient, ThrowsWhenTheNodeIsGone) {
  auto node = std::make_unique<LittleNode>();
  const auto client = client_of(*node);
  Mutex gate(*client, "gate");
  gate.lock();
  node.reset();
  EXPECT_TRUE(eventually([&] { return gate.lost(); }));
  gate.unlock();
  EXPECT_THROW(gate.lock(), std::system_error);
  EXPECT_THROW((void)gate.try_lock(), std::system_error);
}

TEST(MutexOfAClient, ThatWasLostCanBeTakenByAnotherThread) {
  LittleNode node;
  const auto client = client_of(node);
  Mutex gate(*client, "gate");
  gate.lock();
  const auto token = gate.lost_token();
  std::atomic<bool> inside = false, done = false;
  std::thread other([&] {
    const std::scoped_lock lock(gate);
    inside = true;
    while (!done) std::this_thread::yield();
    EXPECT_EQ(gate.fence(), 2U);
  });
  node.take_back("gate");
  EXPECT_TRUE(eventually([&] { return inside.load(); }));
  EXPECT_TRUE(token.stop_requested());
  EXPECT_EQ(gate.fence(), 0U);
  gate.unlock();  // not the other's
  EXPECT_FALSE(node.is_free("gate"));
  done = true;
  other.join();
  EXPECT_TRUE(eventually([&] { return node.is_free("gate"); }));
}

TEST(MutexOfAClient, ExcludesUnderTimeoutsCancellationsAndLosses) {
  LittleNode node;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(client_of(node));
  std::atomic<int> inside = 0, entries = 0;
  std::atomic<std::uint64_t> last_fence = 0;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 9; ++number)
    threads.emplace_back([&, number] {
      std::minstd_rand random(number + 1);
      Mutex gate(*clients[number % 3], "gate");
      for (int turn = 0; turn < 60; ++turn) {
        Request request;
        if (random() % 3 == 0) request.timeout = milliseconds(random() % 3);
        std::stop_source stop;
        std::thread canceller;
        if (random() % 4 == 0)
          canceller = std::thread([&stop, pause = random() % 2000] {
            std::this_thread::sleep_for(std::chrono::microseconds(pause));
            stop.request_stop();
          });
        if (auto grant = gate.acquire(request, stop.get_token())) {
          EXPECT_EQ(++inside, 1);
          EXPECT_GT(grant->fence(), last_fence.exchange(grant->fence()));
          ++entries;
          --inside;
        }
        if (canceller.joinable()) canceller.join();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_GT(entries, 100);
  EXPECT_TRUE(eventually([&] { return node.is_free("gate") && node.waiting("gate") == 0; }));
}

}  // namespace
}  // namespace turno
