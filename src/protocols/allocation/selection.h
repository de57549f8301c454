// Which instances a request gets, once the control token says where all are: of each type first
// what the requester has itself, then what is free, then what others hold or wait for. Any such
// choice is safe; the checker tries them all, and an algorithm has its own.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "core/assert.h"
#include "core/setup.h"
#include "protocols/allocation/tokens.h"

namespace turno::protocols {

// What a choice is made of.
struct Choosing {
  const Setup& setup;
  NodeId self;
  const Needs& needs;
  const Table& table;
};

// The instances of one type that may be chosen. All of `sure` are; of `possible`, `more` are.
struct Candidates {
  Instances sure, possible;
  std::size_t more = 0;
};

inline Candidates candidates(const Choosing& of, std::size_t type) {
  Instances own, free, others;
  for (std::uint32_t i = 0; i < of.table.size(); ++i) {
    if (of.setup.resources.type_of[i] != type) continue;
    const auto holder = of.table[i].holder;
    (holder == of.self ? own : holder == nobody ? free : others).push_back(i);
  }
  Candidates result;
  result.more = of.needs.of(type);
  for (auto* source : {&own, &free, &others}) {
    result.possible = *source;
    if (source->size() > result.more) break;
    result.more -= source->size();
    result.sure.insert(result.sure.end(), source->begin(), source->end());
    result.possible.clear();
  }
  TURNO_ASSERT(result.more <= result.possible.size());  // nobody asks for more than there are
  return result;
}

// C(n, k), for small numbers.
constexpr std::uint64_t ways(std::uint64_t n, std::uint64_t k) {
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

// The index-th of all sets of `k` of these, in lexicographic order. REQUIRES: index < ways(n, k)
inline Instances subset(const Instances& from, std::size_t k, std::uint64_t index) {
  Instances result;
  for (std::size_t i = 0; result.size() < k; ++i) {
    const auto with_this = ways(from.size() - i - 1, k - result.size() - 1);
    if (index < with_this) {
      result.push_back(from[i]);
    } else {
      index -= with_this;
    }
  }
  return result;
}

inline std::uint32_t count_selections(const Choosing& of) {
  std::uint64_t count = 1;
  for (std::size_t type = 0; type < of.needs.types(); ++type) {
    if (of.needs.of(type) == 0) continue;
    const auto all = candidates(of, type);
    count *= ways(all.possible.size(), all.more);
  }
  return static_cast<std::uint32_t>(count);
}

inline Instances nth_selection(const Choosing& of, std::uint64_t index) {
  Instances chosen;
  for (std::size_t type = 0; type < of.needs.types(); ++type) {
    if (of.needs.of(type) == 0) continue;
    const auto all = candidates(of, type);
    const auto here = ways(all.possible.size(), all.more);
    const auto some = subset(all.possible, all.more, index % here);
    chosen.insert(chosen.end(), all.sure.begin(), all.sure.end());
    chosen.insert(chosen.end(), some.begin(), some.end());
    index /= here;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace turno::protocols
