// What peers say to a table: the test plays the other member of a view of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

#include "cluster/rendezvous.h"
#include "node/cluster_testing.h"
#include "protocols/mutex/token/nxr_bh.h"
#include "registry/registry_testing.h"
#include "table/lock_table.h"
#include "wire/codec.h"

namespace turno::table {

using namespace node;

using namespace protocols;
namespace {

using namespace std::chrono_literals;
using State = Waiter::State;

constexpr NodeId self{0}, other{1};

class FramesTest : public testing::Test {
 protected:
  explicit FramesTest(std::string_view algorithm = "nxr-bh")
      : link_(std::make_shared<net::Link>(
            loop_, net::Identity{1, 1}, net::Peer{2, "b", "127.0.0.1:1"},
            net::Link::Handlers{[](const std::string&) {}, [](std::uint32_t) {}})),
        table_(make_engine(algorithm), {},
               [](const Owner&, Thing, const std::string&, Fence, std::string_view) {}) {
    view_.members = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};  // the same in every run
    enter(1);
  }

  void enter(std::uint32_t epoch) {
    view_.epoch = epoch;
    table_.adopt(view_, self, {nullptr, link_}, {});
  }
  [[nodiscard]] std::string lock_of(NodeId home) const {
    for (int n = 0;; ++n)
      if (auto name = "lock " + std::to_string(n); cluster::home_of(name, view_) == home)
        return name;
  }

  // As frames are made.
  static std::string body_of(std::string_view name) {
    std::string body;
    wire::Writer(body).bytes(name);
    return body;
  }
  // A lock has no permits.
  static std::string open_of(std::string_view name) { return body_of(name) + '\0'; }
  static std::string holdings_of(std::string_view name, NodeId holder, std::uint64_t count) {
    auto body = body_of(name);
    wire::Writer out(body);
    std::vector<Holding> holdings;
    if (holder != nobody) holdings.push_back({.seat = holder});
    wire::encode(out, holdings);
    out.varint(count);
    return body;
  }
  static std::string opened_of(std::string_view name, NodeId holder, std::uint64_t count) {
    return holdings_of(name, holder, count) + '\0';
  }
  static std::string report_of(std::string_view name, NodeId holder, std::uint64_t count,
                               std::uint8_t clear = 0) {
    auto body = holdings_of(name, holder, count);
    wire::Writer(body).u8(clear);
    return body + '\0';
  }
  static std::string request() {
    std::string body;
    wire::Writer out(body);
    wire::encode(out, NxrBh::Message{});
    return body;
  }
  bool hear(NoteKind kind, std::uint64_t lock, const std::string& body) {
    return table_.receive(other, {view_.epoch, lock, frame_kind(Thing::lock, kind), body});
  }

  net::Loop loop_;  // nobody runs it: what is sent stays in the link
  std::shared_ptr<net::Link> link_;
  std::deque<Asker> askers_;
  LockTable table_;
  cluster::View view_;
};

TEST_F(FramesTest, NothingIsGrantedBeforeAllHaveReported) {
  const auto lock = lock_of(self);
  Asker asker;
  EXPECT_FALSE(table_.ready());
  EXPECT_FALSE(table_.acquire(lock, asker));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  EXPECT_TRUE(table_.ready());
  EXPECT_TRUE(table_.unreported().empty());
  EXPECT_EQ(asker.state, State::granted);
  EXPECT_EQ(asker.times_settled(), 1);
}

// The other member is the home, and does not answer: what nobody waits for any more takes no place,
// and its answer is harmless when it comes.
TEST_F(FramesTest, ANameThatWasGivenUpIsForgottenThoughItsHomeIsSilent) {
  const auto lock = lock_of(other);
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  Asker asker;
  EXPECT_FALSE(table_.acquire(lock, asker));
  EXPECT_TRUE(table_.withdraw(lock, asker));
  EXPECT_EQ(table_.size(), 0U);
  EXPECT_TRUE(hear(NoteKind::opened, global_instance(other, 1), opened_of(lock, nobody, 0)));
  EXPECT_EQ(table_.size(), 1U) << "it takes part in what was born for it";
  EXPECT_TRUE(hear(NoteKind::retire, global_instance(other, 1), ""));
  EXPECT_EQ(table_.size(), 0U);
}

// Not all have reported, and may not for long: nobody can be served, and nothing is kept for those
// who have given up.
TEST_F(FramesTest, WhoGivesUpBeforeAllHaveReportedLeavesNothing) {
  const auto lock = lock_of(self);
  Asker asker;
  EXPECT_FALSE(table_.acquire(lock, asker));
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_TRUE(table_.withdraw(lock, asker));
  EXPECT_EQ(table_.size(), 0U);
  EXPECT_TRUE(hear(NoteKind::open, 0, open_of(lock)));
  EXPECT_TRUE(hear(NoteKind::probe, 0, body_of(lock)));
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_TRUE(hear(NoteKind::forgo, 0, body_of(lock)));
  EXPECT_EQ(table_.size(), 0U);
  EXPECT_TRUE(hear(NoteKind::report, 0, report_of(lock, other, 16)));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  Asker late;
  EXPECT_FALSE(table_.acquire(lock, late)) << "the other member has it";
  EXPECT_TRUE(table_.withdraw(lock, late));
}

// Fences go on where the other member's had come to; and before their count ends, a new epoch is
// asked for. Also if the lock is always free.
TEST_F(FramesTest, AWornLockIsNoticed) {
  const auto lock = lock_of(self);
  const auto worn = cluster::most_count / 2;
  EXPECT_TRUE(hear(NoteKind::report, 0, report_of(lock, nobody, worn)));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  EXPECT_FALSE(table_.worn());
  Asker asker;
  EXPECT_TRUE(table_.acquire(lock, asker));
  EXPECT_GT(asker.fence.count(), worn);
  EXPECT_TRUE(table_.worn());
  enter(2);
  EXPECT_FALSE(table_.worn());
}

// No new epoch can be had (a full disk): then nobody gets the lock, rather than a fence that was
// given out before.
TEST_F(FramesTest, ALockWhoseFencesAreUsedUpWaitsForANewEpoch) {
  const auto lock = lock_of(self);
  EXPECT_TRUE(hear(NoteKind::report, 0, report_of(lock, nobody, cluster::spent_count - 32)));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  Asker first, second;
  EXPECT_TRUE(table_.acquire(lock, first));
  EXPECT_LT(first.fence.count(), cluster::spent_count);
  EXPECT_TRUE(table_.release(lock, first.self(), first.fence));
  EXPECT_FALSE(table_.acquire(lock, second));
  EXPECT_EQ(second.state, State::waiting);
  enter(2);
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  EXPECT_EQ(second.state, State::granted);
  EXPECT_GT(second.fence, first.fence);
  EXPECT_EQ(second.fence.epoch(), 2U);
}

TEST_F(FramesTest, AHolderElsewhereKeepsTheLock) {
  const auto lock = lock_of(self);
  Asker asker;
  EXPECT_FALSE(table_.acquire(lock, asker));
  EXPECT_TRUE(hear(NoteKind::report, 0, report_of(lock, other, 16)));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  EXPECT_EQ(asker.state, State::waiting);
  EXPECT_TRUE(table_.withdraw(lock, asker));
}

TEST_F(FramesTest, FramesThatMakeNoSenseAreRefused) {
  const auto here = lock_of(self), there = lock_of(other);
  const auto theirs = global_instance(other, 1), ours = global_instance(self, 1);
  hear(NoteKind::reported, 0, "");
  const auto too_far = cluster::most_count;
  EXPECT_FALSE(hear(NoteKind::open, 0, ""));
  EXPECT_FALSE(hear(NoteKind::open, 0, open_of("")));
  EXPECT_FALSE(hear(NoteKind::open, 0, open_of(there)));  // has its home elsewhere
  EXPECT_FALSE(hear(NoteKind::open, 0, open_of(here) + "x"));
  EXPECT_FALSE(hear(NoteKind::open, 0, open_of(std::string(513, 'x'))));
  EXPECT_FALSE(hear(NoteKind::report, 0, body_of(here)));
  EXPECT_FALSE(hear(NoteKind::report, 0, report_of(here, nobody, too_far)));
  EXPECT_FALSE(hear(NoteKind::report, 0, report_of(here, nobody, 0, 4)));
  EXPECT_FALSE(hear(NoteKind::report, 0, report_of(here, NodeId{2}, 0)));
  EXPECT_FALSE(hear(NoteKind::opened, theirs, opened_of(here, nobody, 0)));
  EXPECT_FALSE(hear(NoteKind::opened, ours, opened_of(there, nobody, 0)));
  EXPECT_FALSE(hear(NoteKind::opened, 0, opened_of(there, nobody, 0)));
  EXPECT_FALSE(hear(NoteKind::opened, global_instance(other, 0), opened_of(there, nobody, 0)));
  EXPECT_FALSE(hear(NoteKind::query, theirs, ""));
  EXPECT_FALSE(hear(NoteKind::query, 0, ""));
  EXPECT_FALSE(hear(NoteKind::retire, ours, ""));
  EXPECT_FALSE(hear(NoteKind::protocol, global_instance(NodeId{5}, 1), ""));
  EXPECT_FALSE(hear(NoteKind::go, ours, ""));
  EXPECT_FALSE(hear(NoteKind::held, theirs, ""));
  EXPECT_FALSE(hear(NoteKind::busy, 0, body_of(here)));
  EXPECT_FALSE(hear(NoteKind::probe, 0, body_of(there)));
  EXPECT_FALSE(hear(static_cast<NoteKind>(cluster::Note::kinds.size()), 0, ""));
  EXPECT_FALSE(hear(static_cast<NoteKind>(200), 0, ""));
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(FramesTest, WhatComesBeforeItsInstanceIsKnownWaits) {
  const auto before = link_->backlog();
  EXPECT_TRUE(hear(NoteKind::protocol, global_instance(other, 7), request()));
  EXPECT_EQ(link_->backlog(), before + 1);  // asks the home
  EXPECT_TRUE(hear(NoteKind::protocol, global_instance(other, 7), request()));
  EXPECT_EQ(link_->backlog(), before + 1);  // once
  EXPECT_TRUE(hear(NoteKind::gone, global_instance(other, 7), ""));
  EXPECT_EQ(table_.size(), 0U);
  // The home itself knows what there is.
  EXPECT_TRUE(hear(NoteKind::query, global_instance(self, 7), ""));
  EXPECT_EQ(link_->backlog(), before + 2);
  // What is no message of the algorithm cannot wait: the home is to begin the instance again.
  EXPECT_FALSE(hear(NoteKind::protocol, global_instance(other, 8), "anything"));
  EXPECT_EQ(link_->backlog(), before + 3);
}

// A token that nobody asked for: the lock begins again, and whoever has it keeps it.
TEST_F(FramesTest, AnImpossibleMessageCostsTheInstance) {
  const auto lock = lock_of(self);
  hear(NoteKind::reported, 0, "");
  Asker asker, waiter;
  EXPECT_TRUE(table_.acquire(lock, asker));
  EXPECT_FALSE(table_.acquire(lock, waiter));
  std::string token;
  wire::Writer out(token);
  wire::encode(out, NxrBh::Message{.kind = NxrBh::Kind::token, .fence = Fence::at(1, 7)});
  hear(NoteKind::protocol, global_instance(self, 1), token);
  EXPECT_EQ(table_.statistics().spoilt, 1U);
  EXPECT_TRUE(table_.holds(lock, asker.self(), asker.fence));
  EXPECT_EQ(waiter.state, State::waiting);
  EXPECT_TRUE(table_.release(lock, asker.self()));
  EXPECT_EQ(waiter.state, State::granted);
  EXPECT_GT(waiter.fence, asker.fence);
}

// A member that errs cannot make another keep more and more.
TEST_F(FramesTest, MessagesOfUnknownInstancesAreBounded) {
  for (std::uint64_t i = 1; i <= 20'000; ++i)
    hear(NoteKind::protocol, global_instance(other, i), request());
  EXPECT_EQ(table_.foundlings(), 4096U);
  // Of each so many; of the others the home is told at once.
  const auto before = link_->backlog();
  for (std::uint64_t i = 0; i < 20'000; ++i)
    hear(NoteKind::protocol, global_instance(other, 1), request());
  EXPECT_EQ(table_.foundlings(), 4096U);
  EXPECT_EQ(link_->backlog() - before, 20'000U - (64 + 2 * 16 - 1));
  enter(2);
  EXPECT_EQ(table_.foundlings(), 0U);
  // And of all together.
  std::size_t kept = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i)
    for (int n = 0; n < 64 + 2 * 16; ++n)
      kept += hear(NoteKind::protocol, global_instance(other, i), request()) ? 1U : 0U;
  EXPECT_EQ(kept, 65'536U);
}

TEST_F(FramesTest, ALockHeldElsewhereIsRetiredMoreRarelyUntilItIsFreed) {
  const auto lock = lock_of(self);
  EXPECT_TRUE(hear(NoteKind::report, 0, report_of(lock, other, 16)));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  const auto retire = [this] { return table_.retire_idle(Clock::now() + 1s, 10, 1h); };
  ASSERT_EQ(retire(), 1U);
  EXPECT_TRUE(hear(NoteKind::report, global_instance(self, 1), report_of(lock, other, 16)));
  EXPECT_EQ(retire(), 0U);
  Asker asker;
  EXPECT_FALSE(table_.acquire(lock, asker));  // who waits does not make it any freer
  EXPECT_EQ(retire(), 0U);
  EXPECT_TRUE(hear(NoteKind::freed, global_instance(self, 2), ""));
  EXPECT_EQ(retire(), 1U);
}

// The other member has a lock that is retired. When it says once more that it has nothing else to
// report of the view, that is no answer to the retirement.
TEST_F(FramesTest, ASecondReportOfTheViewAnswersNoRetirement) {
  const auto lock = lock_of(self);
  EXPECT_TRUE(hear(NoteKind::report, 0, report_of(lock, other, 16)));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  ASSERT_EQ(table_.retire_idle(Clock::now() + 1h, 10), 1U);
  Asker asker;
  EXPECT_FALSE(table_.acquire(lock, asker));
  EXPECT_TRUE(hear(NoteKind::reported, 0, ""));
  EXPECT_TRUE(hear(NoteKind::report, 0, report_of(lock, nobody, 16)));
  EXPECT_EQ(asker.state, State::waiting);
  // This is one, and then there is nobody.
  const auto retired = global_instance(self, 1);
  EXPECT_TRUE(hear(NoteKind::report, retired, report_of(lock, nobody, 16)));
  EXPECT_EQ(asker.state, State::granted);
  EXPECT_GT(asker.fence.count(), 16U);
}

class RandomFramesTest : public FramesTest, public testing::WithParamInterface<std::string_view> {
 protected:
  RandomFramesTest() : FramesTest(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Every, RandomFramesTest, testing::ValuesIn(engine_names()),
                         [](const auto& each) {
                           std::string name(each.param);
                           for (auto& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

// A member that has lost its mind, also about the messages of the algorithm.
TEST_P(RandomFramesTest, BreakNothing) {
  std::mt19937_64 random(7);
  const std::vector<std::string> names = {lock_of(self), lock_of(other), "x", "y"};
  const auto any = [&](std::uint64_t below) { return random() % below; };
  const auto any_bytes = [&] {
    std::string bytes(any(8) == 0 ? any(60) : any(8), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(any(3) == 0 ? random() : any(4));
    return bytes;
  };
  const auto any_count = [&] { return any(4) == 0 ? random() >> any(64) : any(100); };
  hear(NoteKind::reported, 0, "");
  std::vector<Asker*> holders(names.size()), waiters(names.size());
  for (int i = 0; i < 4000; ++i) {
    const auto which = any(names.size());
    const auto& name = names[which];
    const auto kind = static_cast<NoteKind>(any(cluster::Note::kinds.size()));
    const auto instance = global_instance(any(2) == 0 ? self : other, 1 + any(4));
    std::string body;
    switch (kind) {
      case NoteKind::report:
        body = report_of(name, any(2) == 0 ? nobody : NodeId{any(3)}, any_count(),
                         static_cast<std::uint8_t>(any(3)));
        break;
      case NoteKind::opened:
        body = opened_of(name, any(2) == 0 ? nobody : NodeId{any(3)}, any_count());
        break;
      case NoteKind::open:
        body = open_of(name);
        break;
      case NoteKind::probe:
      case NoteKind::busy:
        body = body_of(name);
        break;
      case NoteKind::protocol:
        body = any_bytes();
        break;
      default:
        body = any_bytes();
    }
    if (any(20) == 0) body.resize(any(body.size() + 1));
    hear(kind, instance, body);
    if (waiters[which] != nullptr && waiters[which]->state == State::granted)
      holders[which] = std::exchange(waiters[which], nullptr);
    if (auto*& holder = holders[which]; holder != nullptr) {
      EXPECT_TRUE(table_.release(name, holder->self(), holder->fence));
      holder = nullptr;
    } else if (waiters[which] == nullptr) {
      auto& asker = askers_.emplace_back();
      (table_.acquire(name, asker) ? holders : waiters)[which] = &asker;
    } else if (any(10) == 0 && table_.withdraw(name, *waiters[which])) {
      waiters[which] = nullptr;
    }
    if (any(100) == 0) table_.retire_idle(Clock::now() + 1h, 3);
    if (any(400) == 0) {
      enter(view_.epoch + 1);
      if (any(4) != 0) hear(NoteKind::reported, 0, "");
    }
  }
}

}  // namespace
}  // namespace turno::table
