// The name of a node: a small number from 0 to N-1, and `nobody`.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace turno {

struct NodeId {
  std::uint32_t value = std::numeric_limits<std::uint32_t>::max();

  constexpr NodeId() = default;
  constexpr explicit NodeId(std::size_t number) : value(static_cast<std::uint32_t>(number)) {}

  [[nodiscard]] constexpr std::size_t index() const { return value; }
  constexpr auto operator<=>(const NodeId&) const = default;
};

inline constexpr NodeId nobody{};

}  // namespace turno
