// The event loop of a node: descriptors, timers, and work from other threads. One thread runs it.
//
// It is epoll and nothing more; ARCHITECTURE.md says why it is not Boost.Asio.
//
// Thread safety: post(), stop() and here() from anywhere, all else from the loop's thread, or from
// anywhere while no thread runs it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "net/fd.h"

namespace turno::net {

class Loop {
 public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<void()>;

  // Who is told that a descriptor is ready. `events` are those of epoll.
  class Watcher {
   public:
    virtual void ready(std::uint32_t events) = 0;

   protected:
    ~Watcher() = default;
  };

  struct Timer {
    Clock::time_point at;
    std::uint64_t number = 0;  // 0: none
    auto operator<=>(const Timer&) const = default;
  };

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() = default;

  void run();   // until stop() is called
  void stop();  // also if run() has not begun yet
  void post(Work work);
  // Whether the caller is the thread that runs the loop.
  [[nodiscard]] bool here() const { return runner_.load() == std::this_thread::get_id(); }

  // Level triggered. A watcher that is forgotten is not called any more, not even in this round.
  void watch(int fd, std::uint32_t events, Watcher& watcher);
  void change(int fd, std::uint32_t events, Watcher& watcher);
  void forget(int fd, const Watcher& watcher);

  Timer after(Clock::duration delay, Work work);
  // Does nothing if it already rang. The timer becomes none.
  void cancel(Timer& timer);

  // At the end of this round, before the loop sleeps: for writes that are better made together.
  void later(Work work) { later_.push_back(std::move(work)); }
  [[nodiscard]] Clock::time_point now() const { return now_; }  // of this round

 private:
  static constexpr int batch = 256;
  struct Ready {
    std::uint32_t events;
    Watcher* watcher;
  };

  void wait();
  void ring();
  void run_posted();
  void run_later();
  [[nodiscard]] int patience() const;  // in milliseconds

  Fd epoll_, wake_;
  std::atomic<std::thread::id> runner_;
  std::atomic<bool> stopped_{false};
  Clock::time_point now_ = Clock::now();
  std::vector<Ready> ready_;
  std::map<Timer, Work> timers_;
  std::uint64_t timer_numbers_ = 0;
  std::vector<Work> later_;
  std::mutex mutex_;  // of posted_
  std::vector<Work> posted_;
};

}  // namespace turno::net
