// What peers say to a table: the test plays the other member of a view of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

#include "cluster/registry_testing.h"
#include "cluster/rendezvous.h"
#include "node/cluster_testing.h"
#include "node/lock_table.h"
#include "wire/codec.h"

namespace turno::node {
namespace {

using namespace std::chrono_literals;
using State = Waiter::State;

constexpr NodeId self{0}, other{1};

class FramesTest : public testing::Test {
 protected:
  explicit FramesTest(std::string_view algorithm = "nxr-bh")
      : link_(std::make_shared<net::Link>(loop_, net::Identity{1, 1}, "127.0.0.1:1", 0ms,
                                          [](const std::string&) {})),
        table_(make_engine(algorithm), {},
               [](const Owner&, const std::string&, Fence, std::string_view) {}) {
    view_.members = {{.id = 1, .name = "a"}, {.id = 2, .name = "b"}};  // the same in every run
    enter(1);
  }

  void enter(std::uint32_t epoch) {
    view_.epoch = epoch;
    table_.adopt(view_, self, {nullptr, link_}, false);
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
  static std::string body_of(std::string_view name, NodeId holder, std::uint64_t count,
                             std::uint8_t flags) {
    auto body = body_of(name);
    wire::Writer out(body);
    wire::encode(out, holder);
    out.varint(count);
    out.u8(flags);
    return body;
  }
  bool hear(FrameKind kind, std::uint64_t lock, const std::string& body) {
    return table_.receive(other, {view_.epoch, lock, static_cast<std::uint8_t>(kind), body});
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
  EXPECT_TRUE(hear(FrameKind::reported, 0, ""));
  EXPECT_TRUE(table_.ready());
  EXPECT_TRUE(table_.unreported().empty());
  EXPECT_EQ(asker.state, State::granted);
  EXPECT_EQ(asker.times_settled(), 1);
}

// Fences go on where the other member's had come to; and before their count ends, a new epoch is
// asked for. Also if the lock is always free.
TEST_F(FramesTest, AWornLockIsNoticed) {
  const auto lock = lock_of(self);
  const auto worn = std::uint64_t{1} << (Fence::count_bits - 2);
  EXPECT_TRUE(hear(FrameKind::report, 0, body_of(lock, nobody, worn, 0)));
  EXPECT_TRUE(hear(FrameKind::reported, 0, ""));
  EXPECT_FALSE(table_.worn());
  Asker asker;
  EXPECT_TRUE(table_.acquire(lock, asker));
  EXPECT_GT(asker.fence.count(), worn);
  EXPECT_TRUE(table_.worn());
  enter(2);
  EXPECT_FALSE(table_.worn());
}

TEST_F(FramesTest, AHolderElsewhereKeepsTheLock) {
  const auto lock = lock_of(self);
  Asker asker;
  EXPECT_FALSE(table_.acquire(lock, asker));
  EXPECT_TRUE(hear(FrameKind::report, 0, body_of(lock, nobody, 16, 1)));
  EXPECT_TRUE(hear(FrameKind::reported, 0, ""));
  EXPECT_EQ(asker.state, State::waiting);
  EXPECT_TRUE(table_.withdraw(lock, asker));
}

TEST_F(FramesTest, FramesThatMakeNoSenseAreRefused) {
  const auto here = lock_of(self), there = lock_of(other);
  const auto theirs = global_instance(other, 1), ours = global_instance(self, 1);
  hear(FrameKind::reported, 0, "");
  const auto too_far = std::uint64_t{1} << (Fence::count_bits - 1);
  EXPECT_FALSE(hear(FrameKind::open, 0, ""));
  EXPECT_FALSE(hear(FrameKind::open, 0, body_of("")));
  EXPECT_FALSE(hear(FrameKind::open, 0, body_of(there)));  // has its home elsewhere
  EXPECT_FALSE(hear(FrameKind::open, 0, body_of(here) + "x"));
  EXPECT_FALSE(hear(FrameKind::open, 0, body_of(std::string(513, 'x'))));
  EXPECT_FALSE(hear(FrameKind::report, 0, body_of(here)));
  EXPECT_FALSE(hear(FrameKind::report, 0, body_of(here, nobody, too_far, 0)));
  EXPECT_FALSE(hear(FrameKind::report, 0, body_of(here, nobody, 0, 4)));
  EXPECT_FALSE(hear(FrameKind::report, 0, body_of(here, NodeId{2}, 0, 0)));
  EXPECT_FALSE(hear(FrameKind::opened, theirs, body_of(here, nobody, 0, 0)));
  EXPECT_FALSE(hear(FrameKind::opened, ours, body_of(there, nobody, 0, 0)));
  EXPECT_FALSE(hear(FrameKind::opened, 0, body_of(there, nobody, 0, 0)));
  EXPECT_FALSE(hear(FrameKind::opened, global_instance(other, 0), body_of(there, nobody, 0, 0)));
  EXPECT_FALSE(hear(FrameKind::query, theirs, ""));
  EXPECT_FALSE(hear(FrameKind::query, 0, ""));
  EXPECT_FALSE(hear(FrameKind::retire, ours, ""));
  EXPECT_FALSE(hear(FrameKind::protocol, global_instance(NodeId{5}, 1), ""));
  EXPECT_FALSE(hear(FrameKind::answer, 0, ""));
  EXPECT_FALSE(hear(static_cast<FrameKind>(200), 0, ""));
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(FramesTest, WhatComesBeforeItsInstanceIsKnownWaits) {
  const auto before = link_->backlog();
  EXPECT_TRUE(hear(FrameKind::protocol, global_instance(other, 7), "anything"));
  EXPECT_EQ(link_->backlog(), before + 1);  // asks the home
  EXPECT_TRUE(hear(FrameKind::protocol, global_instance(other, 7), "more"));
  EXPECT_EQ(link_->backlog(), before + 1);  // once
  EXPECT_TRUE(hear(FrameKind::gone, global_instance(other, 7), ""));
  EXPECT_EQ(table_.size(), 0U);
  // The home itself knows what there is.
  EXPECT_TRUE(hear(FrameKind::query, global_instance(self, 7), ""));
  EXPECT_EQ(link_->backlog(), before + 2);
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

// A member that has lost its mind, but for the messages of the algorithm: against a member that
// breaks the rules of the algorithm itself there is no defence.
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
  hear(FrameKind::reported, 0, "");
  std::vector<Asker*> holders(names.size()), waiters(names.size());
  for (int i = 0; i < 4000; ++i) {
    const auto which = any(names.size());
    const auto& name = names[which];
    const auto kind = static_cast<FrameKind>(3 + any(10));
    const auto instance = global_instance(any(2) == 0 ? self : other, 1 + any(4));
    std::string body;
    switch (kind) {
      case FrameKind::report:
      case FrameKind::opened:
        body = body_of(name, any(2) == 0 ? nobody : NodeId{any(3)}, any_count(),
                       static_cast<std::uint8_t>(any(5)));
        break;
      case FrameKind::open:
        body = body_of(name);
        break;
      case FrameKind::protocol:
        body = '\xff' + any_bytes();  // no kind that there is
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
      if (any(4) != 0) hear(FrameKind::reported, 0, "");
    }
  }
}

}  // namespace
}  // namespace turno::node
