// Messages per entry when nobody competes and every node is equally likely to ask, from the
// published analyses. An algorithm's `alone` uses these.
#pragma once

#include <vector>

#include "core/setup.h"

namespace turno::protocols {

// H(n) = 1 + 1/2 + ... + 1/n.
inline double harmonic(std::size_t n) {
  double sum = 0;
  for (auto i = n; i > 0; --i) sum += 1.0 / static_cast<double>(i);
  return sum;
}

// The mean distance of two nodes of the tree, both drawn at random: an edge that cuts off s nodes
// lies between 2s(N-s) of the N^2 pairs.
inline double mean_distance(const Setup& setup) {
  const auto n = setup.size();
  std::vector<std::size_t> degree(n, 0), below(n, 1);
  for (std::size_t i = 0; i < n; ++i)
    if (setup.father[i].index() != i) ++degree[setup.father[i].index()];
  std::vector<std::size_t> leaves;
  for (std::size_t i = 0; i < n; ++i)
    if (degree[i] == 0) leaves.push_back(i);
  double sum = 0;
  while (!leaves.empty()) {
    const auto leaf = leaves.back();
    leaves.pop_back();
    const auto father = setup.father[leaf].index();
    if (father == leaf) continue;
    sum += 2.0 * static_cast<double>(below[leaf]) * static_cast<double>(n - below[leaf]);
    below[father] += below[leaf];
    if (--degree[father] == 0) leaves.push_back(father);
  }
  return sum / (static_cast<double>(n) * static_cast<double>(n));
}

inline double nodes_of(const Setup& setup) { return static_cast<double>(setup.size()); }

}  // namespace turno::protocols
