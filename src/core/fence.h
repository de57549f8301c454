// The number of a grant. It never goes back for one lock, so a resource can refuse an older one.
// The epoch (the view in which the lock lives) is in the high bits, a count in the low bits.
#pragma once

#include <compare>
#include <cstdint>

#include "core/assert.h"

namespace turno {

struct Fence {
  static constexpr int count_bits = 40;

  std::uint64_t value = 0;

  static constexpr Fence at(std::uint32_t epoch, std::uint64_t count = 0) {
    TURNO_ASSERT(epoch < std::uint32_t{1} << (64 - count_bits));
    TURNO_ASSERT(count < std::uint64_t{1} << count_bits);
    return Fence{(std::uint64_t{epoch} << count_bits) + count};
  }
  [[nodiscard]] constexpr std::uint32_t epoch() const {
    return static_cast<std::uint32_t>(value >> count_bits);
  }
  [[nodiscard]] constexpr std::uint64_t count() const {
    return value & ((std::uint64_t{1} << count_bits) - 1);
  }
  [[nodiscard]] constexpr Fence next() const { return Fence{value + 1}; }

  constexpr auto operator<=>(const Fence&) const = default;
};

}  // namespace turno
