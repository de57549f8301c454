// A list of types.
#pragma once

#include <cstddef>

namespace turno::protocols {

template <class... P>
struct List {
  static constexpr std::size_t size = sizeof...(P);
};

template <class... P, class... Q>
constexpr List<P..., Q...> operator+(List<P...>, List<Q...>) {
  return {};
}

}  // namespace turno::protocols
