// Reservations from C++, at real nodes.
#include "turno/reservation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "node/cluster_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ReservationTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Client> client(std::size_t node = 0) {
    return *Client::connect(cluster_[node].self().client_address);
  }
  node::TestCluster cluster_{2};
};

TEST_F(ReservationTest, NamesItsResources) {
  const auto one = client(), two = client(1);
  Reservation both(*one, {{.type = "gpu", .count = 2, .of = 2}, {.type = "tape", .of = 1}});
  auto first = both.acquire();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->name(), "resources");
  const auto had = first->resources();
  ASSERT_EQ(had.size(), 3U);
  EXPECT_EQ(had[2].type, "tape");
  for (const auto& each : had) EXPECT_LE(each.fence, first->fence());
  Reservation gpu(*two, {{.type = "gpu"}});
  EXPECT_EQ(gpu.acquire({.timeout = 0ms}).error().code, Error::Code::timeout);
  EXPECT_EQ(gpu.acquire({.timeout = 20ms}).error().code, Error::Code::timeout);
  first->release();
  const auto second = gpu.acquire({.timeout = 5s});
  ASSERT_TRUE(second) << second.error().message;
  const auto has = second->resources();
  ASSERT_EQ(has.size(), 1U);
  EXPECT_GT(has[0].fence, had[has[0].number].fence);
  EXPECT_FALSE(second->lost());
}

TEST_F(ReservationTest, SaysWhatCannotBe) {
  const auto one = client();
  const auto first = Reservation(*one, {{.type = "gpu", .of = 2}}).acquire();
  ASSERT_TRUE(first);
  const auto refused = [&](std::vector<Claim> claims, std::string store = "resources") {
    const auto grant = Reservation(*one, std::move(claims), std::move(store)).acquire();
    EXPECT_FALSE(grant);
    return grant ? std::string() : grant.error().message;
  };
  EXPECT_THAT(refused({{.type = "gpu", .of = 3}}), HasSubstr("has 2 of 'gpu' as long as it is"));
  EXPECT_THAT(refused({{.type = "gpu", .count = 3}}), HasSubstr("has 2 of 'gpu', not 3"));
  EXPECT_THAT(refused({{.type = "disk"}}), HasSubstr("nobody has said how many of 'disk'"));
  EXPECT_THAT(refused({}), HasSubstr("RESERVE needs resources"));
  EXPECT_THAT(refused({{.type = "gpu"}}, ""), HasSubstr("a store needs a name"));
  EXPECT_TRUE(Reservation(*one, {{.type = "gpu", .of = 3}}, "another").acquire());
}

// One whose time is over is lost, another of the same client is not.
TEST_F(ReservationTest, EachIsLostByItself) {
  const auto one = client();
  Reservation gpu(*one, {{.type = "gpu", .of = 2}});
  const auto stays = gpu.acquire();
  auto goes = gpu.acquire({.ttl = 50ms});
  ASSERT_TRUE(stays && goes);
  EXPECT_NE(stays->fence(), goes->fence());
  for (int i = 0; i < 500 && !goes->lost(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(goes->lost());
  EXPECT_FALSE(stays->lost());
}

TEST_F(ReservationTest, IsLockedLikeAMutex) {
  const auto one = client(), two = client(1);
  Reservation mine(*one, {{.type = "gpu", .count = 2, .of = 2}}), others(*two, {{.type = "gpu"}});
  {
    const std::unique_lock guard(mine);
    EXPECT_EQ(mine.resources().size(), 2U);
    EXPECT_FALSE(others.try_lock());
    EXPECT_FALSE(others.try_lock_for(20ms));
  }
  EXPECT_TRUE(others.try_lock_until(std::chrono::steady_clock::now() + 5s));
  EXPECT_FALSE(mine.try_lock()) << "one of the two is left";
  others.unlock();
  others.unlock();  // more than was locked
  EXPECT_TRUE(mine.try_lock_for(5s));
}

}  // namespace
}  // namespace turno
