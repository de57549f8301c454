#include "net/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "net/testing.h"

namespace turno::net {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// A descriptor that is always ready.
class Bell final : public Loop::Watcher {
 public:
  Bell(Loop& loop, std::function<void()> ring) : loop_(loop), ring_(std::move(ring)) {
    loop_.watch(event_.get(), EPOLLIN, *this);
  }
  void forget() {
    if (event_) loop_.forget(event_.get(), *this);
    event_.reset();
  }
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  void ready(std::uint32_t) override { ring_(); }

  Loop& loop_;
  Fd event_{::eventfd(1, EFD_NONBLOCK)};
  std::function<void()> ring_;
};

TEST(Loop, StopBeforeRun) {
  Loop loop;
  loop.stop();
  loop.run();
}

TEST(Loop, KnowsItsThread) {
  Loop loop;
  EXPECT_FALSE(loop.here());
  bool inside = false;
  loop.post([&] {
    inside = loop.here();
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(loop.here());
}

// The wake-up of an earlier post was used up, and stop() relies on it: the loop must not sleep.
TEST(Loop, StopsWhenAskedJustBeforeItSleeps) {
  Loop loop;
  loop.later([&] { loop.post([] {}); });
  loop.after(0ms, [&] { loop.stop(); });
  loop.run();
}

TEST(Loop, PostFromManyThreads) {
  LoopThread thread;
  constexpr int threads = 4, each = 5000;
  std::array<int, threads> next{};  // only the loop's thread touches it
  bool in_order = true, here = true;
  std::atomic<int> done{0};
  std::vector<std::thread> posters;
  posters.reserve(threads);
  for (int t = 0; t < threads; ++t)
    posters.emplace_back([&, t] {
      for (int i = 0; i < each; ++i)
        thread.loop().post([&, t, i] {
          in_order &= next[static_cast<std::size_t>(t)]++ == i;
          here &= thread.loop().here();
          ++done;
        });
    });
  for (auto& poster : posters) poster.join();
  EXPECT_TRUE(eventually([&] { return done == threads * each; }));
  thread.stop();
  EXPECT_TRUE(in_order);
  EXPECT_TRUE(here);
}

TEST(Loop, WorkThatIsPostedByWorkRunsInTheNextRound) {
  Loop loop;
  std::vector<int> order;
  loop.post([&] {
    order.push_back(1);
    loop.post([&] {
      order.push_back(3);
      loop.stop();
    });
    loop.later([&] { order.push_back(2); });
  });
  loop.run();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(Loop, TimersRingInTheOrderOfTheirTimes) {
  Loop loop;
  std::vector<int> order;
  loop.after(30ms, [&] {
    order.push_back(4);
    loop.stop();
  });
  loop.after(10ms, [&] { order.push_back(2); });
  loop.after(0ms, [&] { order.push_back(1); });
  loop.after(20ms, [&] { order.push_back(3); });
  const auto begin = Loop::Clock::now();
  loop.run();
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
  EXPECT_GE(Loop::Clock::now() - begin, 30ms);
}

TEST(Loop, ATimerNeverRingsTooEarly) {
  Loop loop;
  std::vector<Loop::Clock::duration> early;
  for (const auto delay : {0ms, 1ms, 2ms, 5ms, 9ms}) {
    const auto due = Loop::Clock::now() + delay;
    loop.after(delay, [&early, due] {
      if (Loop::Clock::now() < due) early.push_back(due - Loop::Clock::now());
    });
  }
  loop.after(15ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_TRUE(early.empty());
}

TEST(Loop, ACancelledTimerIsSilent) {
  Loop loop;
  bool rang = false;
  auto first = loop.after(5ms, [&] { rang = true; });
  auto second = loop.after(1ms, [&] {
    loop.cancel(first);
    EXPECT_EQ(first.number, 0U);
    loop.cancel(first);  // is none now
  });
  loop.after(20ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(rang);
  loop.cancel(second);  // rang long ago
}

TEST(Loop, ATimerMayCancelItselfAndSetItselfAgain) {
  Loop loop;
  Loop::Timer timer;
  int rings = 0;
  Loop::Work ring = [&] {
    loop.cancel(timer);
    if (++rings == 3) return loop.stop();
    timer = loop.after(0ms, ring);
  };
  timer = loop.after(0ms, ring);
  loop.run();
  EXPECT_EQ(rings, 3);
}

TEST(Loop, TimersOfNoTimeDoNotKeepOthersFromTheirTurn) {
  Loop loop;
  std::unique_ptr<Bell> bell;
  bool stopped = false;
  Loop::Work again = [&] {
    if (!stopped) loop.after(0ms, again);
  };
  loop.after(0ms, again);
  bell = std::make_unique<Bell>(loop, [&] {
    stopped = true;
    bell->forget();
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(stopped);
}

TEST(Loop, WhoIsForgottenIsNotCalledInTheSameRound) {
  Loop loop;
  std::array<std::unique_ptr<Bell>, 3> bells;
  int calls = 0;
  for (auto& bell : bells)
    bell = std::make_unique<Bell>(loop, [&] {
      ++calls;
      // All three are ready: the first to be called forgets and destroys the others.
      for (auto& other : bells) {
        if (!other) continue;
        other->forget();
        if (other != bell) other.reset();
      }
      loop.stop();
    });
  loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(Loop, AWatcherIsCalledForWhatItWatchesNow) {
  Loop loop;
  int calls = 0;
  Bell bell(loop, [&] {
    ++calls;
    loop.change(bell.descriptor(), 0, bell);  // still ready, but not of interest
    loop.after(10ms, [&] { loop.change(bell.descriptor(), EPOLLIN, bell); });
    if (calls == 2) {
      bell.forget();
      loop.stop();
    }
  });
  loop.run();
  EXPECT_EQ(calls, 2);
}

TEST(Loop, LaterRunsAtTheEndOfTheRound) {
  Loop loop;
  std::vector<int> order;
  loop.after(0ms, [&] {
    loop.later([&] {
      order.push_back(2);
      loop.later([&] { order.push_back(3); });
    });
    order.push_back(1);
  });
  loop.after(1ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

// What was put off in the last round is not forgotten.
TEST(Loop, LaterRunsAlsoWhenItStops) {
  Loop loop;
  bool ran = false;
  loop.post([&] {
    loop.stop();
    loop.post([&] { loop.later([&] { ran = true; }); });
  });
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(Loop, RefusesToWatchWhatIsNoDescriptor) {
  Loop loop;
  struct Deaf final : Loop::Watcher {
    void ready(std::uint32_t) override {}
  } watcher;
  EXPECT_THROW(loop.watch(-1, EPOLLIN, watcher), std::system_error);
}

}  // namespace
}  // namespace turno::net
