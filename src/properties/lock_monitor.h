// Watches one lock from outside: never two inside, fences that only grow, and somebody gets in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/describe.h"
#include "core/fence.h"

namespace turno {

class LockMonitor {
 public:
  void enter(Fence fence) {
    ++entries_;
    inside_max_ = std::max(inside_max_, ++inside_);
    if (inside_ > 1) complain("two nodes are inside at once");
    if (fence <= last_)
      complain("fence " + describe(fence) + " is granted after fence " + describe(last_));
    last_ = fence;
  }
  void leave() { --inside_; }
  void stalled() { complain("nobody gets in any more"); }

  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  [[nodiscard]] std::uint64_t inside_max() const { return inside_max_; }
  [[nodiscard]] bool violated() const { return !violation_.empty(); }
  [[nodiscard]] const std::string& violation() const { return violation_; }

 private:
  void complain(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  std::uint64_t entries_ = 0, inside_ = 0, inside_max_ = 0;
  Fence last_;
  std::string violation_;
};

}  // namespace turno
