// What a protocol or message lists once in `fields()` (and names in `labels`) is hashed, printed and
// sent from that list. This header holds the hashing; describe.h holds the printing.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <tuple>
#include <type_traits>

#include "core/fence.h"
#include "core/node_id.h"
#include "core/node_set.h"
#include "core/stamp.h"

namespace turno {

template <class T>
concept HasFields = requires(const T& value) { value.fields(); };

// A 64-bit hash with a fixed key: the same on every run, compiler and machine.
class Digest {
 public:
  constexpr explicit Digest(std::uint64_t seed = 0x9e3779b97f4a7c15U) : state_(seed) {}

  constexpr void add(std::uint64_t value) {
    const auto product =
        static_cast<unsigned __int128>(state_ ^ value ^ 0xa0761d6478bd642fU) * 0xe7037ed1a0b428dbU;
    state_ = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    state_ = std::rotl(state_, 23) + value;
  }
  [[nodiscard]] constexpr std::uint64_t value() const {
    auto product = static_cast<unsigned __int128>(state_ ^ 0x8ebc6af09c88c6e3U) * 0x589965cc75374cc3U;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

 private:
  std::uint64_t state_;
};

// How fences and stamps are seen while hashing: as they are. The checker has another lens that
// renumbers them.
struct PlainLens {
  [[nodiscard]] std::uint64_t operator()(Fence fence) const { return fence.value; }
  [[nodiscard]] std::uint64_t operator()(Stamp stamp) const { return stamp.value; }
};

template <class T, class Lens = PlainLens>
void add_to(Digest& digest, const T& value, const Lens& lens = {}) {
  if constexpr (std::same_as<T, Fence> || std::same_as<T, Stamp>) {
    digest.add(lens(value));
  } else if constexpr (std::same_as<T, NodeId>) {
    digest.add(value.value);
  } else if constexpr (std::same_as<T, NodeSet>) {
    value.for_each_word([&](std::uint64_t word) { digest.add(word); });
  } else if constexpr (std::is_enum_v<T> || std::integral<T>) {
    digest.add(static_cast<std::uint64_t>(value));
  } else if constexpr (HasFields<T>) {
    std::apply([&](const auto&... field) { (add_to(digest, field, lens), ...); }, value.fields());
  } else {
    digest.add(value.size());
    for (const auto& element : value) add_to(digest, element, lens);
  }
}

// Calls visit(stamp) for every stamp inside the value.
template <class T, class Visit>
void for_each_stamp(const T& value, Visit& visit) {
  if constexpr (std::same_as<T, Stamp>) {
    visit(value);
  } else if constexpr (std::same_as<T, NodeSet>) {
  } else if constexpr (HasFields<T>) {
    std::apply([&](const auto&... field) { (for_each_stamp(field, visit), ...); }, value.fields());
  } else if constexpr (std::ranges::range<const T>) {
    for (const auto& element : value) for_each_stamp(element, visit);
  }
}

}  // namespace turno
