// Real time, and the time of a run: since its start, and divided by its scale.
#pragma once

#include <time.h>

#include <cstdint>

#include "sim/event_queue.h"

namespace turno::field {

inline std::int64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

struct RunClock {
  std::int64_t start_ns = 0;
  double scale = 1;  // a second of the run takes so many seconds

  [[nodiscard]] sim::Time now() const {
    const auto real = monotonic_ns() - start_ns;
    return real < 0 ? 0 : static_cast<sim::Time>(static_cast<double>(real) / scale);
  }
  // How long it takes until then; never less than nothing.
  [[nodiscard]] std::int64_t real_until(sim::Time time) const {
    const auto left =
        static_cast<double>(time) * scale - static_cast<double>(monotonic_ns() - start_ns);
    if (left <= 0) return 0;
    return left > 1e18 ? std::int64_t{1'000'000'000'000'000'000} : static_cast<std::int64_t>(left);
  }
};

inline void sleep_ns(std::int64_t real) {
  const timespec time{real / 1'000'000'000, real % 1'000'000'000};
  ::nanosleep(&time, nullptr);
}

}  // namespace turno::field
