// Lamport's logical clock, and the priority it gives to a request: the smaller pair (time, node)
// goes first, and no two requests have the same pair.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <tuple>

#include "core/node_id.h"

namespace turno {

struct Priority {
  std::uint64_t time = 0;
  NodeId node;

  constexpr auto operator<=>(const Priority&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(time, node); }
};

class LamportClock {
 public:
  [[nodiscard]] constexpr std::uint64_t now() const { return time_; }
  constexpr std::uint64_t tick() { return ++time_; }
  constexpr void observe(std::uint64_t time) { time_ = std::max(time_, time); }

  constexpr bool operator==(const LamportClock&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(time_); }

 private:
  std::uint64_t time_ = 0;
};

}  // namespace turno
