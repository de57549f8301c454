// Deadlocks as programs in C++ see them, at real nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "node/cluster_testing.h"
#include "turno/turno.h"

namespace turno {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DeadlockOfClients, EndsTheWaitOfTheYoungerOne) {
  node::TestCluster cluster(2, [](node::Settings& settings) {
    settings.declarations.declare_deadlocks(port::DeadlockPolicy::abort);
    settings.declarations.declare_deadlocks(table::Thing::lock, "z-*",
                                            {.policy = port::DeadlockPolicy::ordered});
  });
  const auto elder = *Client::connect(cluster[0].self().client_address);
  std::this_thread::sleep_for(5ms);
  const auto younger = *Client::connect(cluster[1].self().client_address);
  auto disk = elder->acquire("disk"), tape = younger->acquire("tape");
  auto wish = std::async(std::launch::async, [&] { return elder->acquire("tape"); });
  const auto refused = younger->acquire("disk");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Error::Code::deadlock);
  EXPECT_EQ(to_error_code(refused.error().code), std::errc::resource_deadlock_would_occur);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("deadlock: lock 'disk' was not taken"),
                                             HasSubstr("has lock 'tape'")));
  EXPECT_FALSE(refused.error().perhaps_taken);
  EXPECT_FALSE(tape->lost());
  tape->release();
  EXPECT_TRUE(wish.get());

  auto last = younger->acquire("z-2");
  const auto early = younger->acquire("z-1");
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Error::Code::deadlock);
  EXPECT_THAT(early.error().message, HasSubstr("may not ask for lock 'z-1'"));
}

}  // namespace
}  // namespace turno
