// The number of a grant. It never goes back for one lock, so a resource can refuse an older one.
// The epoch (the view in which the lock lives) is in the high bits, a count in the low bits.
//
// Together they have 63 bits, so that a fence is positive in every language.
#pragma once

#include <compare>
#include <cstdint>

#include "core/assert.h"

namespace turno {

struct Fence {
  static constexpr int count_bits = 28;
  static constexpr std::uint64_t last_epoch = (std::uint64_t{1} << (63 - count_bits)) - 1;

  std::uint64_t value = 0;

  static constexpr Fence at(std::uint64_t epoch, std::uint64_t count = 0) {
    TURNO_ASSERT(epoch <= last_epoch);
    TURNO_ASSERT(count < std::uint64_t{1} << count_bits);
    return Fence{(epoch << count_bits) + count};
  }
  [[nodiscard]] constexpr std::uint64_t epoch() const { return value >> count_bits; }
  [[nodiscard]] constexpr std::uint64_t count() const {
    return value & ((std::uint64_t{1} << count_bits) - 1);
  }
  [[nodiscard]] constexpr Fence next() const { return Fence{value + 1}; }

  constexpr auto operator<=>(const Fence&) const = default;
};

}  // namespace turno
