// The table of one node alone: no network, no threads, every step by hand.
#include "table/lock_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "node/cluster_testing.h"
#include "registry/registry_testing.h"

namespace turno::table {

using namespace node;
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = Waiter::State;

class LockTableTest : public testing::TestWithParam<std::string_view> {
 protected:
  struct Loss {
    std::uint64_t session;
    std::string lock;
    Fence fence;
    std::string reason;
    bool operator==(const Loss&) const = default;
  };

  explicit LockTableTest(std::string_view algorithm)
      : table_(make_engine(algorithm), {.longest_turn = 1h},
               [this](const Owner& owner, Thing, const std::string& lock, Fence fence,
                      std::string_view reason) {
                 losses_.push_back({owner.session, lock, fence, std::string(reason)});
                 EXPECT_TRUE(others_may_lock()) << "who is told may make a system call";
               }) {
    view_.members = {registry::member_named("a")};
    enter(1);
  }
  LockTableTest() : LockTableTest(GetParam()) {}

  void enter(std::uint32_t epoch, bool delayed = false) {
    view_.epoch = epoch;
    table_.adopt(view_, NodeId{0}, {nullptr}, {.delayed = delayed, .dead = "b"});
  }
  Asker& ask(const std::string& lock) {
    ++sessions_;
    auto& asker = askers_.emplace_back(sessions_, "client " + std::to_string(sessions_));
    table_.acquire(lock, asker);
    return asker;
  }
  bool release(const std::string& lock, const Asker& asker) {
    return table_.release(lock, asker.self(), asker.fence);
  }
  // The fence of a user that comes and goes.
  Fence visit(const std::string& lock) {
    const auto& asker = ask(lock);
    EXPECT_EQ(asker.state, State::granted);
    EXPECT_TRUE(release(lock, asker));
    return asker.fence;
  }
  bool others_may_lock() {
    return std::async(
               std::launch::async,
               [this] { return std::unique_lock(table_.mutex(), std::try_to_lock).owns_lock(); })
        .get();
  }
  std::size_t retire_all() { return table_.retire_idle(Clock::now() + 1h, table_.size()); }

  std::vector<Loss> losses_;
  std::deque<Asker> askers_;  // who may still stand in a queue of the table
  std::uint64_t sessions_ = 0;
  LockTable table_;
  cluster::View view_;
};

// To one node alone the algorithms look much the same: a token, permissions, one that starts first.
INSTANTIATE_TEST_SUITE_P(Algorithm, LockTableTest,
                         testing::Values("nxr-bh", "lamport", "token-ring"));

TEST_P(LockTableTest, AFreeLockIsGrantedAtOnce) {
  Asker asker;
  EXPECT_TRUE(table_.acquire("a", asker));
  EXPECT_EQ(asker.state, State::granted);
  EXPECT_EQ(asker.fence.epoch(), 1U);
  EXPECT_GT(asker.fence.count(), 0U);
  EXPECT_EQ(asker.times_settled(), 0);
  EXPECT_TRUE(table_.holds("a", asker.self()));
  EXPECT_FALSE(table_.holds("b", asker.self()));
  EXPECT_TRUE(release("a", asker));
  EXPECT_FALSE(table_.holds("a", asker.self()));
}

TEST_P(LockTableTest, UsersAreServedInTheOrderInWhichTheyCame) {
  ask("a");
  for (int i = 0; i < 50; ++i) ask("a");
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(askers_[i + 1].state, State::waiting);
    EXPECT_TRUE(release("a", askers_[i]));
    EXPECT_EQ(askers_[i + 1].state, State::granted);
    EXPECT_EQ(askers_[i + 1].times_settled(), 1);
    // Within a turn of the node, and from one turn to the next.
    EXPECT_GT(askers_[i + 1].fence, askers_[i].fence);
  }
  EXPECT_TRUE(release("a", askers_[50]));
  EXPECT_GT(visit("a"), askers_[50].fence);
}

TEST_P(LockTableTest, LocksDoNotKnowEachOther) {
  ask("a");
  EXPECT_EQ(ask("b").state, State::granted);
  EXPECT_EQ(ask(std::string("a\0", 2)).state, State::granted);
  EXPECT_EQ(ask("a").state, State::waiting);
}

TEST_P(LockTableTest, WhoWithdrawsIsNotServed) {
  const auto& holder = ask("a");
  auto& first = ask("a");
  auto& second = ask("a");
  auto& third = ask("a");
  EXPECT_TRUE(table_.withdraw("a", second));
  EXPECT_EQ(second.state, State::failed);
  EXPECT_FALSE(table_.withdraw("a", second));
  release("a", holder);
  EXPECT_EQ(first.state, State::granted);
  EXPECT_FALSE(table_.withdraw("a", first));  // too late
  release("a", first);
  EXPECT_EQ(third.state, State::granted);
  release("a", third);
  EXPECT_EQ(second.times_settled(), 0);
  EXPECT_EQ(table_.statistics().waiters, 0);
  EXPECT_EQ(table_.statistics().holders, 0);
  EXPECT_EQ(table_.statistics().withdrawn, 1U);
}

TEST_P(LockTableTest, WhenAllWaitersWithdrewTheLockIsFree) {
  const auto& holder = ask("a");
  auto& waiter = ask("a");
  EXPECT_TRUE(table_.withdraw("a", waiter));
  release("a", holder);
  EXPECT_GT(visit("a"), holder.fence);
}

TEST_P(LockTableTest, OnlyTheHolderReleasesAndWithItsFence) {
  const auto& holder = ask("a");
  const auto& other = ask("a");
  EXPECT_FALSE(table_.release("a", other.self()));
  EXPECT_FALSE(table_.release("a", holder.self(), Fence{holder.fence.value + 1}));
  EXPECT_FALSE(table_.release("b", holder.self()));
  EXPECT_TRUE(table_.release("a", holder.self(), holder.fence));
  EXPECT_FALSE(table_.release("a", holder.self(), holder.fence));
  EXPECT_TRUE(table_.release("a", other.self()));
}

TEST_P(LockTableTest, WhatIsTakenBackIsReported) {
  const auto& holder = ask("a");
  const auto& next = ask("a");
  EXPECT_FALSE(table_.take_back("a", next.fence, "why"));
  EXPECT_FALSE(table_.take_back("b", holder.fence, "why"));
  EXPECT_TRUE(table_.take_back("a", holder.fence, "its time ran out"));
  EXPECT_THAT(losses_,
              ElementsAre(Loss{holder.self().session, "a", holder.fence, "its time ran out"}));
  EXPECT_EQ(next.state, State::granted);
  EXPECT_FALSE(release("a", holder));
  EXPECT_FALSE(table_.take_back("a", holder.fence, "again"));
  EXPECT_EQ(table_.statistics().lost, 1U);
}

TEST_P(LockTableTest, AtTheEndNobodyKeepsAnything) {
  const auto& holder = ask("a");
  const auto& waiter = ask("a");
  table_.end("the node ends");
  EXPECT_THAT(losses_,
              ElementsAre(Loss{holder.self().session, "a", holder.fence, "the node ends"}));
  EXPECT_EQ(waiter.state, State::failed);
  EXPECT_EQ(waiter.times_settled(), 1);
  EXPECT_EQ(ask("a").state, State::failed);
  EXPECT_EQ(ask("new").state, State::failed);
  EXPECT_FALSE(release("a", holder));
}

TEST_P(LockTableTest, IdleLocksAreForgottenAndTheirFencesStillGrow) {
  std::vector<Fence> fences;
  fences.reserve(30);
  for (int i = 0; i < 30; ++i) fences.push_back(visit("lock " + std::to_string(i)));
  for (int i = 0; i < 20; ++i) fences[0] = visit("lock 0");
  EXPECT_EQ(table_.size(), 30U);
  EXPECT_EQ(table_.retire_idle(Clock::now() - 1h, 1000), 0U);  // not so long
  EXPECT_EQ(table_.retire_idle(Clock::now() + 1h, 10), 10U);
  EXPECT_EQ(table_.size(), 20U);
  EXPECT_EQ(retire_all(), 20U);
  EXPECT_EQ(table_.size(), 0U);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_GT(visit("lock " + std::to_string(i)), fences[i]);
}

TEST_P(LockTableTest, AHeldLockIsNotForgotten) {
  const auto& holder = ask("a");
  const auto& waiter = ask("a");
  EXPECT_GE(retire_all(), 1U);  // it begins again with the same holder
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_TRUE(table_.holds("a", holder.self()));
  EXPECT_EQ(waiter.state, State::waiting);
  EXPECT_TRUE(release("a", holder));
  EXPECT_EQ(waiter.state, State::granted);
  EXPECT_GT(waiter.fence, holder.fence);
  retire_all();
  EXPECT_TRUE(release("a", waiter));
  retire_all();
  EXPECT_EQ(table_.size(), 0U);
  EXPECT_GT(visit("a"), waiter.fence);
  EXPECT_THAT(losses_, IsEmpty());
}

// To look after each idle time for locks that somebody keeps is in vain, and costs messages.
TEST_P(LockTableTest, AHeldLockIsRetiredEverMoreRarely) {
  const auto& holder = ask("a");
  const auto retire_after = [this](int idle_times) {
    return table_.retire_idle(Clock::now() + 1s + (idle_times - 1) * 1h, 1, 1h);
  };
  for (const int idle_times : {1, 2, 4, 8, 16, 32, 64, 64}) {
    EXPECT_EQ(retire_after(idle_times / 2), 0U) << idle_times;
    EXPECT_EQ(retire_after(idle_times), 1U) << idle_times;
  }
  EXPECT_TRUE(table_.holds("a", holder.self()));
  EXPECT_TRUE(release("a", holder));
  EXPECT_EQ(retire_after(1), 1U);  // it is used again
  EXPECT_EQ(table_.size(), 0U);
}

TEST_P(LockTableTest, AnOpenEntryStays) {
  auto& entry = table_.open("a");
  EXPECT_EQ(entry.name, "a");
  retire_all();
  EXPECT_EQ(table_.size(), 1U);
  Asker asker;
  asker.pins = true;
  ASSERT_TRUE(table_.acquire(entry, asker));
  table_.close(entry);
  retire_all();
  EXPECT_EQ(table_.size(), 1U);  // the grant keeps it
  EXPECT_TRUE(table_.holds(entry, asker.fence));
  EXPECT_TRUE(table_.take_back("a", asker.fence, "lost"));
  EXPECT_FALSE(table_.holds(entry, asker.fence));
  EXPECT_EQ(table_.size(), 1U);
  table_.give_back(entry, asker.fence);
  retire_all();
  EXPECT_EQ(table_.size(), 0U);
}

TEST_P(LockTableTest, NamesMayBeLongAndHaveAnyBytes) {
  std::string longest(LockTable::longest_name, '\0');
  for (std::size_t i = 0; i < longest.size(); ++i) longest[i] = static_cast<char>(i * 7);
  const auto& holder = ask(longest);
  EXPECT_EQ(holder.state, State::granted);
  EXPECT_EQ(ask(longest).state, State::waiting);
  ASSERT_EQ(table_.sightings(longest, 10).list.size(), 2U);
  EXPECT_EQ(table_.sightings(longest, 10).list[0].lock, longest);
}

TEST_P(LockTableTest, PeopleSeeWhoHoldsAndWhoWaits) {
  const auto& holder = ask("a");
  ask("a");
  ask("a");
  ask("b");
  const auto all = table_.sightings("a", 10);
  const auto& seen = all.list;
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_TRUE(seen[0].is(Sighting::Kind::holds));
  EXPECT_EQ(seen[0].client, "client 1");
  EXPECT_EQ(seen[0].session, 1U);
  EXPECT_EQ(seen[0].fence, holder.fence);
  EXPECT_EQ(all.waiting, 2U);
  EXPECT_FALSE(all.cut);
  EXPECT_TRUE(seen[1].is(Sighting::Kind::waits));
  EXPECT_EQ(seen[1].session, 2U);
  EXPECT_EQ(seen[2].session, 3U);
  EXPECT_GE(seen[2].age, 0ms);
  EXPECT_THAT(table_.sightings("nobody's", 10).list, IsEmpty());
  EXPECT_EQ(table_.sightings("", 10).list.size(), 4U);
}

// However many wait, they are counted, and no holder is left out for them.
TEST_P(LockTableTest, PeopleSeeHoldersFirstAndHearOfWhatIsLeftOut) {
  for (int i = 0; i < 5; ++i) ask("a");
  ask("b");
  const auto all = table_.sightings("", 2);
  EXPECT_TRUE(all.cut);
  ASSERT_EQ(all.list.size(), 2U);
  for (const auto& each : all.list) EXPECT_TRUE(each.is(Sighting::Kind::holds));
  const auto one = table_.sightings("a", 2);
  EXPECT_TRUE(one.cut);
  EXPECT_EQ(one.waiting, 4U);
  EXPECT_EQ(one.list.size(), 2U);
}

// ---- views

TEST_P(LockTableTest, HoldersKeepAndWaitersWaitInANewView) {
  const auto& holder = ask("a");
  const auto& first = ask("a");
  const auto& second = ask("a");
  const auto before = visit("b");
  enter(2);
  EXPECT_TRUE(table_.holds("a", holder.self()));
  EXPECT_EQ(first.state, State::waiting);
  EXPECT_TRUE(release("a", holder));
  EXPECT_EQ(first.state, State::granted);
  EXPECT_GT(first.fence, holder.fence);
  EXPECT_TRUE(release("a", first));
  EXPECT_EQ(second.state, State::granted);
  EXPECT_GT(second.fence, first.fence);
  EXPECT_GT(visit("b"), before);
  enter(5);
  EXPECT_TRUE(release("a", second));
  EXPECT_EQ(visit("a").epoch(), 5U);
}

// After a crash a lock may be held by the dead until the delay is over: one that this node cannot
// know all about. This node's own locks are not.
TEST_P(LockTableTest, AfterACrashUnknownLocksWaitForTheDelay) {
  const auto& holder = ask("held");
  enter(2, true);
  enter(3, true);
  const auto unused = table_.sightings("a", 10);
  ASSERT_EQ(unused.list.size(), 1U) << "who asked for it now would have to wait";
  EXPECT_TRUE(unused.list[0].is(Sighting::Kind::kept));
  EXPECT_EQ(unused.list[0].lock, "a");
  EXPECT_EQ(table_.size(), 1U) << "looking makes nothing";
  const auto& waiter = ask("a");
  EXPECT_EQ(waiter.state, State::waiting);
  const auto kept = table_.sightings("a", 10).list.at(0);
  EXPECT_TRUE(kept.is(Sighting::Kind::kept));
  EXPECT_EQ(kept.client, "b");
  EXPECT_TRUE(release("held", holder));
  EXPECT_EQ(ask("held").state, State::granted);
  table_.end_delay();
  EXPECT_THAT(table_.sightings("unused", 10).list, IsEmpty());
  EXPECT_EQ(waiter.state, State::granted);
  EXPECT_EQ(waiter.times_settled(), 1);
  EXPECT_EQ(ask("b").state, State::granted);
}

// It was the home of all its locks before, and knew who had what: what it does not know, nobody
// had.
TEST_P(LockTableTest, AfterACrashLocksThatThisNodeWouldKnowAreFree) {
  visit("a");
  retire_all();
  enter(2, true);
  EXPECT_EQ(ask("a").state, State::granted);
  EXPECT_EQ(ask("fresh").state, State::granted);
}

TEST_P(LockTableTest, WhoWithdrawsDuringTheDelayLeavesNothing) {
  enter(2, true);
  enter(3, true);
  auto& waiter = ask("a");
  EXPECT_TRUE(table_.withdraw("a", waiter));
  table_.end_delay();
  EXPECT_EQ(waiter.times_settled(), 0);
  EXPECT_EQ(ask("a").state, State::granted);
}

}  // namespace
}  // namespace turno::table
