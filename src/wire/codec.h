// Messages as bytes and back, from the same `fields()` lists that are hashed and printed.
//
// What a peer sends is input: decode() refuses whatever a correct peer of the same view would never
// send and a protocol might trip over, and allocates nothing that was not paid for in bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/clock/stamp.h"
#include "core/container/node_set.h"
#include "core/fence.h"
#include "core/fields.h"
#include "core/node_id.h"
#include "wire/buffer.h"

namespace turno::wire {

struct Limits {
  std::uint32_t nodes = 0;  // in the view
  std::uint32_t epoch = 0;  // of the view: no fence can be from a later one
  std::uint32_t units = 0;  // of a semaphore: so many permits may be named

  // Twice the nodes, as some lists hold a node's request and its next; and a few. Or all permits.
  [[nodiscard]] std::uint64_t elements() const {
    return std::max(std::uint64_t{2} * nodes + 16, std::uint64_t{units});
  }
  // Times and numbers. Permission algorithms make a fence of time * nodes + node: that has to fit
  // into half of a fence's count.
  [[nodiscard]] std::uint64_t number() const { return half / std::max(nodes, 1U) - 1; }
  static constexpr std::uint64_t stamp = std::uint64_t{1} << 40;
  static constexpr std::uint64_t half = std::uint64_t{1} << (Fence::count_bits - 1);
  static constexpr std::uint64_t count = half / 8;  // sixteen fences are given out in a turn
};

template <class T>
void encode(Writer& out, const T& value) {
  if constexpr (std::same_as<T, Fence>) {
    out.varint(value.epoch());
    out.varint(value.count());
  } else if constexpr (std::same_as<T, Stamp>) {
    out.varint(value.value);
  } else if constexpr (std::same_as<T, NodeId>) {
    out.varint(value == nobody ? 0 : std::uint64_t{value.value} + 1);
  } else if constexpr (std::same_as<T, NodeSet>) {
    out.varint(value.words());
    value.for_each_word([&](std::uint64_t word) { out.varint(word); });
  } else if constexpr (std::same_as<T, bool>) {
    out.u8(value ? 1 : 0);
  } else if constexpr (std::is_enum_v<T>) {
    out.varint(static_cast<std::uint64_t>(value));
  } else if constexpr (std::integral<T>) {
    static_assert(std::unsigned_integral<T>, "no message has negative numbers");
    out.varint(value);
  } else if constexpr (HasFields<T>) {
    std::apply([&](const auto&... field) { (encode(out, field), ...); }, value.fields());
  } else {
    out.varint(value.size());
    for (const auto& element : value) encode(out, element);
  }
}

namespace detail {

// The values below `limit`, or at it: reads one, or fails.
inline std::uint64_t up_to(std::uint64_t limit, Reader& in) {
  const auto value = in.varint();
  return value <= limit ? value : in.fail();
}

inline void decode_set(Reader& in, NodeSet& set, const Limits& limits) {
  const auto words = up_to(std::uint64_t{limits.nodes} / 64 + 1, in);
  if (words > in.remaining()) in.fail();
  for (std::uint64_t first = 0; in.ok() && first < words * 64; first += 64) {
    for (auto bits = in.varint(); bits != 0; bits &= bits - 1) {
      const auto node = first + static_cast<std::uint64_t>(std::countr_zero(bits));
      if (node >= limits.nodes) return void(in.fail());
      set.insert(NodeId{node});
    }
  }
}

// `Owner` is the message whose field this is: it knows how many kinds it has.
template <class Owner, class T>
void decode_field(Reader& in, T& value, const Limits& limits) {
  if constexpr (std::same_as<T, Fence>) {
    const auto epoch = up_to(limits.epoch, in);
    const auto count = up_to(Limits::count - 1, in);
    if (in.ok()) value = Fence::at(epoch, count);
  } else if constexpr (std::same_as<T, Stamp>) {
    value.value = up_to(Limits::stamp, in);
  } else if constexpr (std::same_as<T, NodeId>) {
    const auto number = up_to(limits.nodes, in);
    value = number == 0 ? nobody : NodeId{number - 1};
  } else if constexpr (std::same_as<T, NodeSet>) {
    value.clear();
    decode_set(in, value, limits);
  } else if constexpr (std::same_as<T, bool>) {
    value = up_to(1, in) == 1;
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(std::same_as<T, typename Owner::Kind>, "of other enums the last is not known");
    value = static_cast<T>(up_to(Owner::kinds.size() - 1, in));
  } else if constexpr (std::integral<T>) {
    static_assert(std::unsigned_integral<T>, "no message has negative numbers");
    value = static_cast<T>(
        up_to(std::min<std::uint64_t>(std::numeric_limits<T>::max(),
                                      sizeof(T) == 8 ? limits.number() : ~std::uint64_t{0}),
              in));
  } else if constexpr (HasFields<T>) {
    // fields() is const as all else needs no more; the object itself is not.
    std::apply(
        [&](const auto&... field) {
          (decode_field<T>(in, const_cast<std::remove_cvref_t<decltype(field)>&>(field), limits),
           ...);
        },
        value.fields());
    // What is kept beside the fields and follows from them.
    if constexpr (requires { value.derive(); }) value.derive();
  } else {
    value.clear();
    const auto size = up_to(limits.elements(), in);
    if (size > in.remaining()) in.fail();  // every element has a byte at least
    for (std::uint64_t i = 0; in.ok() && i < size; ++i) {
      std::remove_cvref_t<decltype(*value.begin())> element{};
      decode_field<void>(in, element, limits);
      if (!in.ok()) return;
      if constexpr (requires { value.push(element); }) {
        value.push(element);
      } else {
        value.push_back(std::move(element));
      }
    }
  }
}

}  // namespace detail

// False: not such a value within the limits; the value is then anything. What follows the value is
// left in the reader.
template <class T>
[[nodiscard]] bool decode(Reader& in, T& value, const Limits& limits) {
  detail::decode_field<void>(in, value, limits);
  return in.ok();
}

}  // namespace turno::wire
