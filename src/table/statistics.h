// What a node counts. Cheap enough for every grant; read by whoever asks.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace turno::table {

struct Statistics {
  using Counter = std::atomic<std::uint64_t>;

  // Upper bounds of the buckets of waiting times, in microseconds.
  static constexpr std::array<std::uint64_t, 16> bounds_us = {
      10,     50,     100,     250,     500,       1'000,     2'500,      5'000,
      10'000, 25'000, 100'000, 250'000, 1'000'000, 5'000'000, 30'000'000, 120'000'000};

  void waited(std::chrono::nanoseconds time) {
    const auto us = static_cast<std::uint64_t>(time.count()) / 1000;
    std::size_t i = 0;
    while (i < bounds_us.size() && us > bounds_us[i]) ++i;
    add(waits[i]);
    add(waited_us, us);
  }
  // The table is locked when something is counted, so no more is needed.
  template <class T>
  static void add(std::atomic<T>& counter, T amount = 1) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  std::array<Counter, bounds_us.size() + 1> waits{};  // the last: longer than all bounds
  Counter waited_us{0};
  Counter withdrawn{0}, refused{0}, released{0}, lost{0}, retired{0}, strange_frames{0}, spoilt{0};
  std::atomic<std::int64_t> holders{0}, waiters{0};
};

}  // namespace turno::table
