#include "driver.h"

#include <sys/epoll.h>

#include <numeric>
#include <queue>
#include <stdexcept>

#include "net/fd.h"

namespace turno::bench {

namespace {

using Clock = std::chrono::steady_clock;

class Driver {
 public:
  explicit Driver(const std::vector<std::unique_ptr<Talker>>& talkers)
      : talkers_(talkers), finished_(talkers.size()) {
    for (std::size_t i = 0; i < talkers.size(); ++i) {
      epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
      if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, talkers[i]->descriptor(), &event) != 0)
        throw std::runtime_error("epoll_ctl");
    }
    for (const auto& talker : talkers) talker->begin();
  }

  void step() {
    epoll_event events[64];
    const int count = ::epoll_wait(epoll_.get(), events, 64, paused_.empty() ? 10 : 1);
    for (int i = 0; i < count; ++i) {
      const auto number = events[i].data.u64;
      const auto progress = talkers_[number]->read();
      finished_[number] += progress.finished;
      if (progress.pause) paused_.push({Clock::now() + *progress.pause, number});
    }
    for (const auto now = Clock::now(); !paused_.empty() && paused_.top().first <= now;) {
      const auto number = paused_.top().second;
      paused_.pop();
      talkers_[number]->go_on();
    }
  }
  [[nodiscard]] const std::vector<std::uint64_t>& finished() const { return finished_; }

 private:
  using Pause = std::pair<Clock::time_point, std::size_t>;

  const std::vector<std::unique_ptr<Talker>>& talkers_;
  const net::Fd epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  std::vector<std::uint64_t> finished_;
  std::priority_queue<Pause, std::vector<Pause>, std::greater<>> paused_;
};

}  // namespace

std::vector<double> drive(const std::vector<std::unique_ptr<Talker>>& talkers,
                          std::chrono::milliseconds time, const std::function<bool()>& goes_on) {
  Driver driver(talkers);
  const auto begin = Clock::now();
  while (Clock::now() < begin + time && (!goes_on || goes_on())) driver.step();
  const auto seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::vector<double> rates;
  for (const auto finished : driver.finished())
    rates.push_back(static_cast<double>(finished) / seconds);
  return rates;
}

double sum(const std::vector<double>& rates) {
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace turno::bench
