#include "core/topology.h"

#include <algorithm>

#include "core/assert.h"

namespace turno {

std::string_view name(Topology topology) {
  return topology_names[static_cast<std::size_t>(topology)];
}

std::optional<Topology> topology_named(std::string_view wanted) {
  const auto found = std::find(topology_names.begin(), topology_names.end(), wanted);
  if (found == topology_names.end()) return std::nullopt;
  return static_cast<Topology>(found - topology_names.begin());
}

bool is_tree(Topology topology) {
  return topology != Topology::ring && topology != Topology::complete;
}

namespace {

std::size_t father_of(Topology topology, std::size_t i, Random& random) {
  constexpr std::size_t arm = 5;
  switch (topology) {
    case Topology::line:
      return i - 1;
    case Topology::radiating_star:
      return (i - 1) % arm == 0 ? 0 : i - 1;
    case Topology::binary_tree:
      return (i - 1) / 2;
    case Topology::ternary_tree:
      return (i - 1) / 3;
    case Topology::random_tree:
      return random.below(i);
    case Topology::star:
    case Topology::ring:
    case Topology::complete:
      break;
  }
  return 0;
}

}  // namespace

std::vector<NodeId> fathers(Topology topology, std::size_t n, Random& random) {
  std::vector<NodeId> result;
  result.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    result.emplace_back(i == 0 ? 0 : father_of(topology, i, random));
  return result;
}

// Beyer and Hedetniemi's successor rule on level sequences, from the line down to the star.
std::vector<std::vector<NodeId>> all_rooted_trees(std::size_t n) {
  TURNO_ASSERT(n > 0);
  std::vector<std::size_t> level(n);
  for (std::size_t i = 0; i < n; ++i) level[i] = i + 1;
  std::vector<std::vector<NodeId>> trees;
  while (true) {
    std::vector<NodeId> tree;
    for (std::size_t i = 0; i < n; ++i) {
      auto father = i;
      while (father > 0 && level[father] >= level[i]) --father;
      tree.emplace_back(father);
    }
    trees.push_back(std::move(tree));
    auto p = n;
    while (p > 0 && level[p - 1] <= 2) --p;
    if (p == 0) return trees;
    --p;
    auto q = p;
    while (level[q] != level[p] - 1) --q;
    for (auto i = p; i < n; ++i) level[i] = level[i - (p - q)];
  }
}

}  // namespace turno
