// A number of which only the order matters: a protocol compares stamps and makes new ones that are
// larger than all before. The checker may therefore renumber the stamps of a world (it keeps their
// order), which makes an endless run finite. Zero means "none" and is never renumbered.
#pragma once

#include <compare>
#include <cstdint>

namespace turno {

struct Stamp {
  std::uint64_t value = 0;

  [[nodiscard]] constexpr bool any() const { return value != 0; }
  [[nodiscard]] constexpr Stamp next() const { return Stamp{value + 1}; }

  constexpr auto operator<=>(const Stamp&) const = default;
};

}  // namespace turno
