// Sessions of rooms: all who enter with one fence. And how many are inside, on average, while
// somebody is.
#pragma once

#include <cstdint>

#include "core/fence.h"
#include "sim/distribution.h"

namespace turno::sim {

class SessionCount {
 public:
  void enter(Time now, Fence fence) {
    pass(now);
    ++inside_;
    if (fence != last_) ++sessions_;
    last_ = fence;
  }
  void leave(Time now) {
    pass(now);
    --inside_;
  }

  [[nodiscard]] std::uint64_t sessions() const { return sessions_; }
  [[nodiscard]] bool open() const { return inside_ > 0; }
  [[nodiscard]] double inside_mean() const { return in_use_ > 0 ? together_ / in_use_ : 0; }

 private:
  void pass(Time now) {
    const auto time = static_cast<double>(now - since_);
    since_ = now;
    if (inside_ == 0) return;
    in_use_ += time;
    together_ += time * static_cast<double>(inside_);
  }

  std::uint64_t sessions_ = 0, inside_ = 0;
  Fence last_;
  Time since_ = 0;
  double in_use_ = 0, together_ = 0;
};

}  // namespace turno::sim
