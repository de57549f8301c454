// Bytes back to values, from the same `fields()` lists from which wire::encode wrote them. Only for
// what processes of one run send and write to each other: nothing is refused but what is cut off.
// (wire::decode is for peers that may be anybody, and knows no states.)
#pragma once

#include <bit>
#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "wire/codec.h"

namespace turno::field {

template <class T>
std::string to_bytes(const T& value) {
  std::string bytes;
  wire::Writer out(bytes);
  wire::encode(out, value);
  return bytes;
}

template <class T>
void read(wire::Reader& in, T& value) {
  if constexpr (std::same_as<T, Fence>) {
    const auto epoch = in.varint();
    value = Fence{(epoch << Fence::count_bits) + in.varint()};
  } else if constexpr (std::same_as<T, Stamp>) {
    value.value = in.varint();
  } else if constexpr (std::same_as<T, NodeId>) {
    const auto number = in.varint();
    value = number == 0 ? nobody : NodeId{number - 1};
  } else if constexpr (std::same_as<T, NodeSet>) {
    value.clear();
    const auto words = in.varint();
    for (std::uint64_t first = 0; in.ok() && first < words * 64; first += 64)
      for (auto bits = in.varint(); bits != 0; bits &= bits - 1)
        value.insert(NodeId{first + static_cast<std::uint64_t>(std::countr_zero(bits))});
  } else if constexpr (std::same_as<T, bool>) {
    value = in.u8() != 0;
  } else if constexpr (std::is_enum_v<T> || std::integral<T>) {
    value = static_cast<T>(in.varint());
  } else if constexpr (HasFields<T>) {
    std::apply(
        [&](const auto&... field) {
          (read(in, const_cast<std::remove_cvref_t<decltype(field)>&>(field)), ...);
        },
        value.fields());
    if constexpr (requires { value.derive(); }) value.derive();
  } else {
    value.clear();
    for (auto left = in.varint(); in.ok() && left > 0; --left) {
      std::remove_cvref_t<decltype(*value.begin())> element{};
      read(in, element);
      if constexpr (requires { value.push(element); }) {
        value.push(element);
      } else {
        value.push_back(std::move(element));
      }
    }
  }
}

// False: there are too few bytes.
template <class T>
[[nodiscard]] bool from_bytes(std::string_view bytes, T& value) {
  wire::Reader in(bytes);
  read(in, value);
  return in.ok();
}

}  // namespace turno::field
