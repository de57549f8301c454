// Counts of lengths of time, in buckets of less than one percent width. The mean and the maximum
// are exact, quantiles are exact to a bucket.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/event_queue.h"

namespace turno::sim {

class Histogram {
 public:
  Histogram() : counts_(sub_buckets * 58, 0) {}

  void add(Time value) {
    ++counts_[bucket(static_cast<std::uint64_t>(value))];
    ++count_;
    sum_ += static_cast<double>(value);
    if (value > max_) max_ = value;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  [[nodiscard]] Time max() const { return max_; }

  // The smallest value that at least the share q of all values do not exceed, up to bucket width.
  [[nodiscard]] Time quantile(double q) const {
    const auto target = static_cast<std::uint64_t>(q * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > target || (seen == count_ && seen > 0)) return middle(i) < max_ ? middle(i) : max_;
    }
    return 0;
  }

 private:
  static constexpr std::size_t sub_buckets = 128;  // per power of two

  static std::size_t bucket(std::uint64_t value) {
    if (value < sub_buckets) return value;
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 8;
    return (shift + 1) * sub_buckets + ((value >> shift) - sub_buckets);
  }
  static Time middle(std::size_t bucket) {
    if (bucket < sub_buckets) return static_cast<Time>(bucket);
    const auto shift = bucket / sub_buckets - 1;
    const auto low = (sub_buckets + bucket % sub_buckets) << shift;
    return static_cast<Time>(low + ((std::uint64_t{1} << shift) >> 1));
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  Time max_ = 0;
};

}  // namespace turno::sim
