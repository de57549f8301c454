#include "protocols/allocation/brokered.h"

#include <gtest/gtest.h>

#include "protocols/allocation/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
constexpr std::int64_t ms = 1'000'000;

TEST(Planning, KnowsWhenAnInstanceCanBeThere) {
  auto setup = sited({2, 1}, {1, 1, 1, 1});
  const AllocationConfig config{.local_ns = 1 * ms, .remote_ns = 50 * ms};
  const Chains chains = {{},
                         {.last = n1, .tenure = 1},
                         {.last = n2, .tenure = 1, .ends = 700 * ms},
                         {.last = n0, .tenure = 1, .ends = 90 * ms}};
  const Planning planning{setup, config, chains, n0, 100 * ms};
  EXPECT_EQ(planning.available(0, n1), 101U * ms) << "it travels with the plan";
  EXPECT_EQ(planning.available(1, n1), 101U * ms) << "it is there";
  EXPECT_EQ(planning.available(2, n1), 750U * ms) << "after its last user, and then remote";
  EXPECT_EQ(planning.available(3, n1), 101U * ms) << "idle since long";
}

TEST(Planning, TakesTheLatestThatIsEarlyEnough) {
  auto setup = sited({3}, {3, 1});
  const Chains chains = {{.last = n1, .tenure = 1, .ends = 10 * ms},
                         {.last = n2, .tenure = 1, .ends = 20 * ms},
                         {.last = n2, .tenure = 1, .ends = 90 * ms},
                         {.last = n1, .tenure = 1, .ends = 30 * ms}};
  const AllocationConfig config;
  const Planning planning{setup, config, chains, n0, 0};
  const Needs needs(needing({1, 1}).demand());
  const auto start = planning.start(n0, needs);
  EXPECT_EQ(start, 30U * ms);
  EXPECT_EQ(planning.choice(n0, needs, start), (Instances{1, 3}))
      << "instance 0 is left to somebody who can start earlier";
}

TEST(Brokered, BrokerPlansForItsSite) {
  const auto setup = sited({2, 2}, {1, 1});
  Cluster<Brokered> cluster(setup);
  cluster.want(n1, needing({1}));
  cluster.want(n3, needing({0, 1}));
  cluster.drain();
  EXPECT_TRUE(cluster.inside(1) && cluster.inside(3));
  EXPECT_TRUE(cluster[2].queue.has) << "it went to the other broker, not to node 3";
  EXPECT_EQ(cluster.broken(), "");
}

TEST(Brokered, TokensGoFromUserToUser) {
  const auto setup = sited({3}, {1});
  Cluster<Brokered> cluster(setup);
  cluster.want(n1, needing({1}));
  cluster.drain();
  cluster.want(n2, needing({1}));
  cluster.drain();
  const auto step = cluster.leave(n1);
  ASSERT_EQ(step.sends.size(), 1U);
  EXPECT_EQ(step.sends.front().to, n2);
  const auto entered = cluster.drain().back();
  EXPECT_EQ(entered.units.front(), (Unit{0, Fence::at(1, 2)}));
  EXPECT_TRUE(cluster.leave(n2).sends.empty()) << "it stays where it is used last";
  EXPECT_TRUE(cluster.want(n2, needing({1})).entered) << "and can be used again there at once";
}

TEST(Brokered, InquiryThatComesBeforeTheTokenWaitsForIt) {
  const auto setup = sited({3}, {1});
  auto node = Brokered::resume(setup, n1, {});
  Effects<Brokered::Message> asked;
  const auto wish = needing({1});
  node.request(wish.demand(), asked);
  receive(node, n0, {.kind = Brokered::Kind::inquiry, .successors = {{{0, 2}, n1, n2}}});
  receive(node, n0, {.kind = Brokered::Kind::plan, .awaited = {{0, 2}}});
  const auto out =
      receive(node, n2, {.kind = Brokered::Kind::tokens, .held = {{{0, 2}, Fence::at(1, 1)}}});
  EXPECT_TRUE(out.granted());
  const auto after = release(node);
  ASSERT_EQ(after.sends().size(), 1U);
  EXPECT_EQ(after.sends()[0].to, n2);
  EXPECT_EQ(after.sends()[0].message.held.front().tenure.number, 3U);
}

TEST(Brokered, KeepsTheControlTokenAWhile) {
  auto setup = sited({1, 1}, {1});
  setup.configure<AllocationConfig>().remote_ns = 10 * ms;
  auto broker = Brokered::resume(setup, n0, {});
  broker.usual_wait = 100 * ms;
  auto out = receive(broker, n1, {.kind = Brokered::Kind::ask, .ask = {n1}});
  EXPECT_TRUE(out.sends().empty());
  ASSERT_EQ(out.alarms().size(), 1U);
  EXPECT_EQ(out.alarms()[0].delay_ns, 40 * ms) << "its share of the usual wait, less the journey";
  broker.told_time(40 * ms);
  out.clear();
  broker.expire(0, out);
  EXPECT_EQ(out.sends().size(), 1U);
  EXPECT_FALSE(broker.queue.has);
}

TEST(Brokered, LeavesTheChoiceToTheDriverIfTold) {
  auto setup = sited({2, 1}, {2});
  setup.configure<AllocationConfig>().driver_chooses = true;
  setup.configure<AllocationConfig>().bypasses = 1;
  Effects<Brokered::Message> out;
  auto broker = Brokered::resume(setup, n0, {});
  const auto wish = needing({1});
  broker.request(wish.demand(), out);
  broker.receive(n1, {.kind = Brokered::Kind::request, .needs = Needs(wish.demand())}, out);
  EXPECT_EQ(broker.choices(), 4U) << "two requests, two instances";
  broker.receive(n2, {.kind = Brokered::Kind::ask, .ask = {n2}}, out);
  EXPECT_EQ(broker.choices(), 5U) << "or it passes the control token";
  broker.choose(4, out);
  EXPECT_EQ(broker.requests.front().overtaken, 1U);
  EXPECT_EQ(broker.choices(), 2U) << "not again";
}

}  // namespace
}  // namespace turno::protocols
