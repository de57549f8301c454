// What a protocol or message lists once in `fields()` (and names in `labels`) is hashed, printed
// and sent from that list. This header holds the hashing; describe.h holds the printing.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <tuple>
#include <type_traits>

#include "core/clock/stamp.h"
#include "core/container/node_set.h"
#include "core/fence.h"
#include "core/node_id.h"

namespace turno {

template <class T>
concept HasFields = requires(const T& value) {
  value.fields();
};

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
    auto product =
        static_cast<unsigned __int128>(state_ ^ 0x8ebc6af09c88c6e3U) * 0x589965cc75374cc3U;
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

// Adds values to a digest, small ones several to a word.
template <class Lens>
class Packer {
 public:
  Packer(Digest& digest, const Lens& lens) : digest_(digest), lens_(lens) {}
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  ~Packer() { flush(); }

  template <class T>
  [[gnu::always_inline]] void add(const T& value) {
    if constexpr (std::same_as<T, Fence> || std::same_as<T, Stamp>) {
      add_bits(lens_(value), 64);
    } else if constexpr (std::same_as<T, NodeId>) {
      add_bits(value.value, 32);
    } else if constexpr (std::same_as<T, NodeSet>) {
      add_bits(value.words(), 32);
      value.for_each_word([&](std::uint64_t word) { add_bits(word, 64); });
    } else if constexpr (std::same_as<T, bool>) {
      add_bits(value ? 1 : 0, 1);
    } else if constexpr (std::is_enum_v<T> || std::integral<T>) {
      constexpr auto width = static_cast<int>(sizeof(T) * 8);
      add_bits(static_cast<std::uint64_t>(value) & (~std::uint64_t{0} >> (64 - width)), width);
    } else if constexpr (HasFields<T>) {
      std::apply([&](const auto&... field) { (add(field), ...); }, value.fields());
    } else {
      add_bits(value.size(), 32);  // with the elements that follow, this tells all lists apart
      for (const auto& element : value) add(element);
    }
  }

 private:
  [[gnu::always_inline]] void add_bits(std::uint64_t value, int width) {
    if (width == 64) {
      digest_.add(value);
      return;
    }
    if (bits_ + width > 64) flush();
    word_ |= value << bits_;
    bits_ += width;
  }
  [[gnu::always_inline]] void flush() {
    if (bits_ > 0) digest_.add(word_);
    word_ = 0;
    bits_ = 0;
  }

  Digest& digest_;
  const Lens& lens_;
  std::uint64_t word_ = 0;
  int bits_ = 0;
};

template <class T, class Lens = PlainLens>
void add_to(Digest& digest, const T& value, const Lens& lens = {}) {
  Packer<Lens>(digest, lens).add(value);
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
