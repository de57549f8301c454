#include "net/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/assert.h"

namespace turno::net {

Loop::Loop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (!epoll_ || !wake_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0)
    throw std::system_error(errno, std::system_category(), "cannot make an event loop");
}

void Loop::run() {
  runner_ = std::this_thread::get_id();
  for (;;) {
    run_posted();
    run_later();
    if (stopped_) break;
    wait();
    now_ = Clock::now();
    // A handler may forget others of this batch: forget() clears their entries.
    for (std::size_t i = 0; i < ready_.size(); ++i)
      if (ready_[i].watcher != nullptr) ready_[i].watcher->ready(ready_[i].events);
    ready_.clear();
    ring();
  }
  runner_ = std::thread::id();
}

void Loop::stop() {
  post([this] { stopped_ = true; });
}

void Loop::post(Work work) {
  {
    const std::scoped_lock guard(mutex_);
    posted_.push_back(std::move(work));
    if (posted_.size() > 1) return;  // the loop has been woken
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

void Loop::watch(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{.events = events, .data = {.ptr = &watcher}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw std::system_error(errno, std::system_category(), "cannot watch a descriptor");
}

void Loop::change(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{.events = events, .data = {.ptr = &watcher}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(int fd, const Watcher& watcher) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  for (auto& ready : ready_)
    if (ready.watcher == &watcher) ready.watcher = nullptr;
}

Loop::Timer Loop::after(Clock::duration delay, Work work) {
  const Timer timer{Clock::now() + delay, ++timer_numbers_};
  timers_.emplace(timer, std::move(work));
  return timer;
}

void Loop::cancel(Timer& timer) {
  if (timer.number != 0) timers_.erase(timer);
  timer = {};
}

void Loop::wait() {
  std::array<epoll_event, batch> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), batch, patience());
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr != nullptr) {
      ready_.push_back({event.events, static_cast<Watcher*>(event.data.ptr)});
      continue;
    }
    std::uint64_t value = 0;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &value, sizeof value);
  }
}

int Loop::patience() const {
  if (timers_.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.at - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void Loop::ring() {
  while (!timers_.empty() && timers_.begin()->first.at <= now_) {
    const auto work = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    work();
  }
}

void Loop::run_posted() {
  std::vector<Work> posted;
  {
    const std::scoped_lock guard(mutex_);
    posted.swap(posted_);
  }
  for (auto& work : posted) work();
}

void Loop::run_later() {
  // Work that is put off here may put off more.
  while (!later_.empty()) {
    std::vector<Work> works;
    works.swap(later_);
    for (auto& work : works) work();
  }
}

}  // namespace turno::net
