// For typed tests over a list of algorithms.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "protocols/type_list.h"

namespace turno::testing {

template <class... P>
::testing::Types<P...> types_of(protocols::List<P...>);
template <class Algorithms>
using TypesOf = decltype(types_of(Algorithms{}));

// What is as published has the name of what is right, so that all are numbered.
struct AlgorithmName {
  template <class P>
  static std::string GetName(int number) {
    std::string name(P::info.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name + "_" + std::to_string(number);
  }
};

}  // namespace turno::testing
