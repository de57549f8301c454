// Semaphores from C++, at real nodes.
#include "turno/semaphore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "node/cluster_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SemaphoreTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Client> client(std::size_t node = 0) {
    return *Client::connect(cluster_[node].self().client_address);
  }
  node::TestCluster cluster_{2};
};

TEST_F(SemaphoreTest, OfOneClientSeveralGrantsAreHeldAtOnce) {
  const auto one = client(), two = client(1);
  Semaphore semaphore(*one, "gpu", 3), same(*two, "gpu", 0);
  auto first = semaphore.acquire({.permits = 2});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(first->permits(), ElementsAre(0, 1));
  auto second = semaphore.acquire(Request{});
  ASSERT_TRUE(second);
  EXPECT_THAT(second->permits(), ElementsAre(2));
  EXPECT_GT(second->fence(), first->fence());
  EXPECT_EQ(second->name(), "gpu");
  EXPECT_EQ(same.acquire({.timeout = 0ms}).error().code, Error::Code::timeout);
  first->release();
  auto third = same.acquire({.timeout = 5s, .permits = 2});
  ASSERT_TRUE(third);
  EXPECT_THAT(third->permits(), ElementsAre(0, 1));
}

TEST_F(SemaphoreTest, IsLikeThatOfTheStandard) {
  const auto one = client();
  Semaphore semaphore(*one, "gpu", 2);
  semaphore.acquire();
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire_for(20ms));
  semaphore.release();
  EXPECT_TRUE(semaphore.try_acquire_until(std::chrono::steady_clock::now() + 5s));
  semaphore.release(2);
  semaphore.release();  // more than was acquired
  EXPECT_TRUE(semaphore.acquire({.timeout = 5s, .permits = 2}));
}

TEST_F(SemaphoreTest, SaysWhatCannotBe) {
  const auto one = client(), two = client(1);
  EXPECT_THAT(Semaphore(*one, "gpu", 0).acquire(Request{}).error().message,
              HasSubstr("nobody uses semaphore 'gpu'"));
  auto held = Semaphore(*one, "gpu", 2).acquire(Request{});
  const auto wrong = Semaphore(*two, "gpu", 3).acquire(Request{}).error();
  EXPECT_EQ(wrong.code, Error::Code::refused);
  EXPECT_THAT(wrong.message, HasSubstr("has 2 permits as long as it is in use, not 3"));
  EXPECT_EQ(Semaphore(*one, "", 1).acquire(Request{}).error().code, Error::Code::invalid);
  EXPECT_EQ(Semaphore(*two, "gpu", 2).acquire({.permits = 3}).error().code, Error::Code::refused);
}

TEST_F(SemaphoreTest, TellsThatPermitsAreLost) {
  const auto one = client();
  auto grant = Semaphore(*one, "gpu", 1).acquire({.ttl = 20ms});
  ASSERT_TRUE(grant);
  const auto token = grant->lost_token();
  EXPECT_TRUE(net::eventually([&] { return token.stop_requested(); }));
  EXPECT_TRUE(grant->lost());
  EXPECT_TRUE(Semaphore(*one, "gpu", 1).acquire({.timeout = 5s}));
}

}  // namespace
}  // namespace turno
