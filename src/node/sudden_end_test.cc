// A node that ends while clients hold locks at it: those who wait at others get none of them before
// the lock delay is over, since the programs that hold them have yet to notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "node/cluster_testing.h"
#include "port/resp/caller_testing.h"
#include "turno/turno.h"

namespace turno::node {
namespace {

using namespace std::chrono_literals;
using net::eventually;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SuddenEndTest : public testing::Test {
 protected:
  static constexpr auto delay = 500ms;
  // One client has one of everything at the last node, others wait for it at the first.
  void hold_and_wait() {
    holder_.lock("a");
    for (const auto* request : {"PERMIT s OF 1", "CAMPAIGN e me", "ENTER r red", "RESERVE gpu:1/1"})
      EXPECT_THAT(holder_.ask(request), testing::Not(StartsWith("-"))) << request;
    for (const auto* request :
         {"LOCK a", "PERMIT s OF 1", "CAMPAIGN e you", "ENTER r blue", "RESERVE gpu:1/1"}) {
      waiters_.push_back(std::make_unique<Caller>(cluster_[0].self().client_address));
      waiters_.back()->send(request);
    }
    for (auto& waiter : waiters_) EXPECT_TRUE(waiter->is_silent()) << "it waits";
  }
  // The holder is cut off, and the others get what it had, but not before it had time to stop.
  void expect_that_all_wait_for_the_delay(Clock::time_point ended) {
    EXPECT_THAT(holder_.read_text(), HasSubstr("the connection ended"));
    for (auto& waiter : waiters_) {
      EXPECT_THAT(waiter->read_text(), testing::Not(StartsWith("-")));
      EXPECT_GE(Clock::now() - ended, delay);
    }
  }

  TestCluster cluster_{2, [](Settings& settings) { settings.lock_delay = delay; }};
  Caller holder_{cluster_[1].self().client_address};
  std::vector<std::unique_ptr<Caller>> waiters_;
};

// As by a second signal.
TEST_F(SuddenEndTest, GivesNothingAwayWhenTheNodeIsToEndAtOnce) {
  hold_and_wait();
  const auto ended = Clock::now();
  cluster_.stop(1);
  expect_that_all_wait_for_the_delay(ended);
}

TEST_F(SuddenEndTest, GivesNothingAwayWhileTheNodeDies) {
  hold_and_wait();
  const auto ended = Clock::now();
  cluster_.crash(1);
  expect_that_all_wait_for_the_delay(ended);
}

TEST_F(SuddenEndTest, WhoHoldsAtAnotherNodeKeepsEverything) {
  Caller holder(cluster_[0].self().client_address), waiter(cluster_[0].self().client_address);
  for (const auto* request :
       {"LOCK a", "PERMIT s OF 1", "CAMPAIGN e me", "ENTER r red", "RESERVE gpu:1/1"})
    EXPECT_THAT(holder.ask(request), testing::Not(StartsWith("-"))) << request;
  waiter.send("LOCK a");
  cluster_.crash(1);
  EXPECT_TRUE(eventually([&] { return cluster_[0].members() == 1; }));
  EXPECT_TRUE(waiter.is_silent(2 * delay)) << "not even when the delay is over";
  for (const auto* request : {"UNLOCK a", "RELEASE s", "RESIGN e", "LEAVE r", "RETURN"})
    EXPECT_EQ(holder.ask(request), "1") << request;
  EXPECT_THAT(waiter.read_text(), testing::Not(StartsWith("-")));
}

// Nobody speaks for it at that moment.
TEST_F(SuddenEndTest, AnOpenedSessionEndsWithItsNode) {
  const auto opened = holder_.call("SESSION OPEN 60000");
  const auto key = opened.elements.at(0).text + " " + opened.elements.at(1).text;
  EXPECT_EQ(holder_.ask("SESSION JOIN " + key), "OK");
  hold_and_wait();
  EXPECT_EQ(holder_.ask("RESET"), "RESET");
  for (auto& waiter : waiters_) EXPECT_TRUE(waiter->is_silent()) << "the session lives on";
  const auto ended = Clock::now();
  cluster_.crash(1);
  expect_that_all_wait_for_the_delay(ended);
  EXPECT_THAT(Caller(cluster_[0].self().client_address).ask("SESSION JOIN " + key),
              StartsWith("-NOSESSION the node of this session has gone"));
}

TEST_F(SuddenEndTest, NobodyWaitsIfNobodyHolds) {
  const auto epoch = cluster_[0].epoch();
  cluster_.stop(1);
  EXPECT_TRUE(eventually([&] { return cluster_[0].epoch() > epoch; }));
  EXPECT_FALSE(cluster_[0].run([&] { return cluster_[0].daemon().delayed(); }));
}

// The nodes notice one after another, and the one that is later must not give out what the one that
// is sooner had.
TEST_F(SuddenEndTest, GivesNothingAwayWhenTheDirectoryIsLost) {
  hold_and_wait();
  std::filesystem::remove_all(cluster_.directory() / "cluster");
  EXPECT_THAT(holder_.read_text(), HasSubstr("the connection ended"));
  for (auto& waiter : waiters_) EXPECT_THAT(waiter->read_text(), StartsWith("-"));
}

// The program ends, and what is connected to it is not part of it.
TEST(EmbeddedEndTest, ClientsOfAProgramGetTimeToStop) {
  const registry::TemporaryDirectory directory;
  const auto start = [&](const char* name) {
    auto node = turno::Node::start({.directory = directory.path() / "cluster",
                                    .name = name,
                                    .lock_delay = 60s,
                                    .client_address = "127.0.0.1:0"});
    if (!node) throw std::runtime_error(node.error().message);
    return std::move(*node);
  };
  auto one = start("one"), two = start("two");
  Caller holder(two->client_address(), 3), waiter(one->client_address());
  const auto fence = holder.lock("a");
  waiter.send("LOCK a");
  EXPECT_TRUE(waiter.is_silent());
  std::thread end([&] { two.reset(); });
  EXPECT_THAT(holder.read_text(), HasSubstr("draining"));
  EXPECT_THAT(holder.read_text(), HasSubstr("lost"));
  EXPECT_TRUE(waiter.is_silent(200ms)) << "the holder has not stopped yet";
  EXPECT_EQ(holder.ask("UNLOCK a"), "1");
  EXPECT_GT(waiter.read().integer, fence);
  end.join();
  EXPECT_EQ(waiter.ask("UNLOCK a"), "1");
}

}  // namespace
}  // namespace turno::node
