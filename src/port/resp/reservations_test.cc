// Clients that reserve several resources at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"

namespace turno::port {
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// What a reservation has: "gpu:0" and the like, with the fence of each.
struct Reserved {
  std::uint64_t fence = 0;
  std::map<std::string, std::uint64_t> resources;
};
Reserved reserved(const wire::Reply& reply) {
  Reserved got;
  EXPECT_EQ(reply.elements.size(), 2U) << text_of(reply);
  if (reply.elements.size() != 2) return got;
  got.fence = static_cast<std::uint64_t>(reply.elements[0].integer);
  for (const auto& each : reply.elements[1].elements)
    got.resources[each.elements[0].text + ":" + std::to_string(each.elements[1].integer)] =
        static_cast<std::uint64_t>(each.elements[2].integer);
  return got;
}

class ReservationsTest : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] Caller caller(std::size_t node = 0, int protocol = 2) {
    return Caller(cluster_[node].self().client_address, protocol);
  }
  [[nodiscard]] bool waiting(std::int64_t count, std::size_t node = 0) {
    return eventually(
        [&] { return cluster_[node].daemon().stores().statistics().waiters == count; });
  }
  node::TestCluster cluster_{3, [](node::Settings& settings) { settings.allocator = GetParam(); }};
};
INSTANTIATE_TEST_SUITE_P(By, ReservationsTest,
                         testing::Values("central-allocator", "brokered", "grid",
                                         "bouabdallah-laforest"),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(ReservationsTest, AreGrantedWholeOrNotAtAll) {
  auto one = caller(0), two = caller(1), three = caller(2);
  const auto first = reserved(one.call("RESERVE gpu:2/3 licence:1/1"));
  EXPECT_EQ(first.resources.size(), 3U);
  EXPECT_TRUE(first.resources.contains("licence:0"));
  two.send("RESERVE gpu:1 licence");
  ASSERT_TRUE(waiting(1, 1));
  three.send("RESERVE gpu:2");
  ASSERT_TRUE(waiting(1, 2));
  EXPECT_EQ(one.ask("RETURN"), "3");
  const auto second = reserved(two.read());
  EXPECT_EQ(second.resources.size(), 2U);
  EXPECT_GT(second.resources.at("licence:0"), first.resources.at("licence:0"));
  // Most algorithms have told the third one long ago which it is to get, also if others are free.
  const bool decides_late = std::string_view(GetParam()) == "central-allocator";
  if (!decides_late) {
    EXPECT_EQ(two.ask("RETURN " + std::to_string(second.fence)), "2");
  }
  const auto third = reserved(three.read());
  EXPECT_EQ(third.resources.size(), 2U);
  for (const auto& [name, fence] : third.resources) {
    EXPECT_FALSE(decides_late && second.resources.contains(name)) << name << " is used twice";
    EXPECT_LE(fence, third.fence);
    for (const auto* before : {&first, &second}) {
      const auto same = before->resources.find(name);
      EXPECT_TRUE(same == before->resources.end() || fence > same->second) << name;
    }
  }
  if (decides_late) {
    EXPECT_EQ(two.ask("RETURN " + std::to_string(second.fence)), "2");
  }
  EXPECT_EQ(three.ask("RETURN 77"), "0");
  EXPECT_EQ(three.ask("RETURN"), "2");
}

// Several of one node hold and wait at once, and each is served, in whatever order.
TEST_P(ReservationsTest, EachUserOfANodeStandsForItself) {
  std::mutex mutex;
  std::set<std::pair<std::string, std::uint64_t>> grants;
  {
    std::vector<std::jthread> users;
    for (int i = 0; i < 9; ++i)
      users.emplace_back([&] {
        auto user = caller(0);
        const auto got = reserved(user.call("RESERVE tape:1/2"));
        EXPECT_EQ(got.resources.size(), 1U);
        {
          const std::scoped_lock guard(mutex);
          grants.insert(got.resources.begin(), got.resources.end());
        }
        EXPECT_EQ(user.ask("RETURN"), "1");
      });
  }
  EXPECT_EQ(grants.size(), 9U) << "no instance is given out twice with one fence";
}

TEST_P(ReservationsTest, WhoGivesUpLeavesNothingBehind) {
  auto one = caller(0), two = caller(1), three = caller(1);
  const auto first = reserved(one.call("RESERVE gpu:1/1"));
  EXPECT_EQ(two.ask("RESERVE gpu TIMEOUT 0"), "null");
  EXPECT_EQ(two.ask("RESERVE gpu TIMEOUT 30"), "null");
  EXPECT_TRUE(waiting(0, 1));
  three.send("RESERVE gpu");
  ASSERT_TRUE(waiting(1, 1));
  EXPECT_EQ(one.ask("RETURN"), "1");
  EXPECT_GT(reserved(three.read()).resources.at("gpu:0"), first.resources.at("gpu:0"));
}

// Types come in while others are held: the fences of those go on.
TEST_P(ReservationsTest, NewTypesComeInWhileOthersAreHeld) {
  auto one = caller(0), two = caller(1);
  std::uint64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    const auto gpu = reserved(one.call("RESERVE gpu:1/1"));
    EXPECT_GT(gpu.resources.at("gpu:0"), last);
    last = gpu.resources.at("gpu:0");
    reserved(two.call("RESERVE type" + std::to_string(i) + ":2/3"));
    EXPECT_EQ(one.ask("RETURN " + std::to_string(gpu.fence)), "1");
  }
  EXPECT_EQ(two.ask("RETURN"), "8");
}

// The same with the usual algorithm only: it is not the algorithm's affair.
class ReservationCommandsTest : public ReservationsTest {};
INSTANTIATE_TEST_SUITE_P(By, ReservationCommandsTest, testing::Values("central-allocator"));

TEST_P(ReservationCommandsTest, HowManyThereAreIsSaidOnceAndKept) {
  auto one = caller(0), two = caller(1);
  EXPECT_EQ(two.ask("RESERVE gpu"),
            "-ERR nobody has said how many of 'gpu' store 'resources' has: say it, as in gpu:1/8");
  const auto first = reserved(one.call("RESERVE gpu:2/4"));
  EXPECT_EQ(two.ask("RESERVE gpu:1/5"),
            "-ERR store 'resources' has 4 of 'gpu' as long as it is in use, not 5");
  EXPECT_EQ(two.ask("RESERVE gpu:5"), "-ERR store 'resources' has 4 of 'gpu', not 5");
  EXPECT_EQ(two.ask("RESERVE tape:4/3"), "-ERR store 'resources' has 3 of 'tape', not 4");
  EXPECT_EQ(two.ask("RESERVE tape:1/1024 TIMEOUT 1000"),
            "-ERR store 'resources' has no place for 'tape': at most 64 types of together 1024 "
            "instances are used at once");
  reserved(two.call("RESERVE gpu:1/9 IN another"));  // another store is another thing
  for (const auto* wrong :
       {"RESERVE", "RESERVE gpu:0", "RESERVE gpu:x", "RESERVE gpu:1/", "RESERVE gpu:1/1025",
        "RESERVE :1", "RESERVE gpu:1 gpu:1", "RESERVE gpu:1 IN", "RESERVE gpu,tape",
        "RESERVE gpu IN a IN b", "RESERVE TIMEOUT 5", "RESERVE gpu TTL 0", "RETURN x"})
    EXPECT_THAT(one.ask(wrong), StartsWith("-ERR")) << wrong;
  EXPECT_EQ(one.ask("RETURN " + std::to_string(first.fence)), "2");
}

TEST_P(ReservationCommandsTest, AreToldOf) {
  auto one = caller(0), two = caller(1, 3), three = caller(2);
  EXPECT_EQ(one.ask("CLIENT SETNAME trainer"), "OK");
  const auto first = reserved(one.call("RESERVE gpu:2/2 TTL 60000"));
  const auto ticket = two.call("RESERVE gpu:1 ASYNC").integer;
  ASSERT_TRUE(waiting(1, 1));
  EXPECT_THAT(three.ask("WHO resources"),
              testing::AllOf(HasSubstr("store"), HasSubstr("trainer"), HasSubstr("gpu")));
  EXPECT_THAT(three.ask("WAITERS resources STORE"), HasSubstr("gpu:1"));
  EXPECT_THAT(three.ask("INFO stores"),
              testing::AllOf(HasSubstr("allocator:central-allocator"), HasSubstr("known_stores:")));
  EXPECT_EQ(one.ask("RENEW resources 60000 " + std::to_string(first.fence) + " STORE"), "1");
  EXPECT_EQ(one.ask("RENEW resources 60000 " + std::to_string(first.fence + 1) + " STORE"), "0");
  EXPECT_THAT(two.ask("TICKET " + std::to_string(ticket)), HasSubstr("waiting"));
  EXPECT_EQ(one.ask("RETURN"), "2");
  const auto push = two.read();
  ASSERT_EQ(push.elements.size(), 4U) << text_of(push);
  EXPECT_EQ(push.elements[0].text, "granted");
  EXPECT_EQ(reserved(push.elements[3]).resources.size(), 1U);
  const auto standing = two.call("TICKET " + std::to_string(ticket));
  ASSERT_EQ(standing.elements.size(), 4U) << text_of(standing);
  EXPECT_EQ(standing.elements[3].elements.size(), 1U);
  EXPECT_EQ(two.ask("CANCEL " + std::to_string(ticket)), "0");
}

TEST_P(ReservationCommandsTest, EndWithTheirTimeToLiveAndTheirSession) {
  auto one = caller(0, 3), two = caller(1);
  const auto first = reserved(one.call("RESERVE gpu:1/1 TTL 50"));
  const auto lost = one.read();
  ASSERT_EQ(lost.elements.size(), 5U) << text_of(lost);
  EXPECT_EQ(lost.elements[0].text, "lost");
  EXPECT_EQ(lost.elements[1].text, "resources");
  EXPECT_EQ(static_cast<std::uint64_t>(lost.elements[2].integer), first.fence);
  EXPECT_EQ(lost.elements[4].text, "store");
  EXPECT_EQ(one.ask("RETURN"), "0");
  {
    auto brief = caller(2);
    reserved(brief.call("RESERVE gpu"));
    two.send("RESERVE gpu");
    ASSERT_TRUE(waiting(1, 1));
  }
  EXPECT_EQ(reserved(two.read()).resources.size(), 1U);
}

}  // namespace
}  // namespace turno::port
