// The initial shapes of a system. Trees are given as fathers: node 0 is the root and its own
// father.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/node_id.h"
#include "core/random.h"

namespace turno {

enum class Topology : std::uint8_t {
  line,
  star,
  radiating_star,  // arms of five nodes around the root
  binary_tree,
  ternary_tree,
  random_tree,  // each node hangs below a uniformly chosen earlier one
  ring,
  complete,
};

inline constexpr std::array topology_names = {
    std::string_view{"line"},           std::string_view{"star"},
    std::string_view{"radiating-star"}, std::string_view{"binary-tree"},
    std::string_view{"ternary-tree"},   std::string_view{"random-tree"},
    std::string_view{"ring"},           std::string_view{"complete"},
};

std::string_view name(Topology topology);
std::optional<Topology> topology_named(std::string_view name);
bool is_tree(Topology topology);

// The fathers of n nodes. Rings and complete graphs have no tree; they get a star, so that every
// algorithm finds a root.
std::vector<NodeId> fathers(Topology topology, std::size_t n, Random& random);

// Every rooted tree of n nodes, up to renaming: 1, 1, 2, 4, 9, 20, 48 of them for n = 1, 2, ...
std::vector<std::vector<NodeId>> all_rooted_trees(std::size_t n);

}  // namespace turno
