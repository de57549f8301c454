// What is counted while a simulation runs, and what the result says of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/histogram.h"
#include "sim/options.h"

namespace turno::sim {

class Tally {
 public:
  void enter(Time now, Time since, std::size_t inside, Time interval) {
    ++entries_;
    waits_.add(now - since);
    waited_ += now - since;
    inside_max_ = std::max(inside_max_, inside);
    if (interval == 0) return;
    const auto place = static_cast<std::size_t>(now / interval);
    if (by_interval_.size() <= place) by_interval_.resize(place + 1);
    ++by_interval_[place];
  }
  void lose_arrival() { ++lost_arrivals_; }
  void preempt() { ++preemptions_; }
  void suspect(Time since_the_crash) { detections_.add(since_the_crash); }

  [[nodiscard]] std::uint64_t entries() const { return entries_; }

  void write(Result& result, std::size_t nodes) const {
    constexpr double ms = 1e6;
    result.entries = entries_;
    result.wait_mean_ms = waits_.mean() / ms;
    result.wait_p50_ms = static_cast<double>(waits_.quantile(0.50)) / ms;
    result.wait_p99_ms = static_cast<double>(waits_.quantile(0.99)) / ms;
    result.wait_max_ms = static_cast<double>(waits_.max()) / ms;
    result.wait_sum_ms = static_cast<double>(waited_) / ms / static_cast<double>(nodes);
    result.inside_max = inside_max_;
    result.lost_arrivals = lost_arrivals_;
    result.preemptions = preemptions_;
    result.entries_by_interval = by_interval_;
    result.suspicions = detections_.count();
    result.detection_mean_ms = detections_.mean() / ms;
    result.detection_max_ms = static_cast<double>(detections_.max()) / ms;
  }

 private:
  Histogram waits_, detections_;
  Time waited_ = 0;
  std::uint64_t entries_ = 0, lost_arrivals_ = 0, preemptions_ = 0;
  std::size_t inside_max_ = 0;
  std::vector<std::uint64_t> by_interval_;
};

// Messages by their kinds and, if wanted, by intervals too.
class MessageCount {
 public:
  MessageCount(std::size_t kinds, Time interval) : interval_(interval), by_kind_(kinds) {}

  void add(std::size_t kind, Time now) {
    ++by_kind_[kind];
    if (interval_ > 0) [[unlikely]]
      add_to_interval(kind, static_cast<std::size_t>(now / interval_));
  }

  // `kinds` names them.
  template <class Names>
  void write(Result& result, const Names& kinds) const {
    for (std::size_t i = 0; i < by_kind_.size(); ++i) {
      result.messages_by_kind.emplace_back(kinds[i], by_kind_[i]);
      result.messages += by_kind_[i];
    }
    result.messages_by_interval = by_interval_;
  }

 private:
  void add_to_interval(std::size_t kind, std::size_t place) {
    if (by_interval_.size() <= place)
      by_interval_.resize(place + 1, std::vector<std::uint64_t>(by_kind_.size()));
    ++by_interval_[place][kind];
  }

  Time interval_;
  std::vector<std::uint64_t> by_kind_;
  std::vector<std::vector<std::uint64_t>> by_interval_;
};

}  // namespace turno::sim
