// What a request asks for, and what a grant gives.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/fence.h"

namespace turno {

// What kind of shared thing an algorithm gives turns at.
enum class Primitive : std::uint8_t { lock, semaphore, room, reservation, election, detection };

constexpr std::string_view name(Primitive primitive) {
  constexpr std::string_view names[] = {"lock",        "semaphore", "room",
                                        "reservation", "election",  "detection"};
  return names[static_cast<std::size_t>(primitive)];
}

// An election and a detector act by themselves: nobody asks and nobody gets in.
constexpr bool has_users(Primitive primitive) {
  return primitive != Primitive::election && primitive != Primitive::detection;
}

// So many instances of one type of resource.
struct Need {
  std::uint16_t type = 0, count = 1;
  bool operator==(const Need&) const = default;
};

// A lock asks for nothing but its turn, a semaphore for one permit or (as one need) for several, a
// room for a group, a reservation for several resources at once. It is a view: what `needs` shows
// lives as long as the call.
struct Demand {
  std::uint32_t group = 0;
  std::span<const Need> needs{};
  bool only_try = false;  // of a semaphore: now or not at all

  // Of a semaphore: how many permits.
  [[nodiscard]] std::uint32_t permits() const { return needs.empty() ? 1 : needs.front().count; }
};

// The same, kept.
struct Wish {
  std::uint32_t group = 0;
  std::vector<Need> needs{};
  bool only_try = false;

  [[nodiscard]] Demand demand() const { return {group, needs, only_try}; }
  bool operator==(const Wish&) const = default;
};

// One thing that a grant gives: a lock and a room have number 0 only, a semaphore has as many as
// permits, a reservation one for each instance. The fences of one unit only grow.
struct Unit {
  std::uint32_t number = 0;
  Fence fence;
  [[nodiscard]] auto fields() const { return std::tie(number, fence); }
  bool operator==(const Unit&) const = default;
};

}  // namespace turno
