// Sets of nodes of which any two share a node: for algorithms that enter with the votes of one set.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/node_id.h"

namespace turno {

using Quorums = std::vector<std::vector<NodeId>>;  // of each node; it is a member of its own

enum class QuorumConstruction : std::uint8_t {
  cyclic,    // translates of one set whose differences are all residues; about sqrt(2N), equal load
  grid,      // row and column; about 2 sqrt(N)
  majority,  // more than half
};
inline constexpr std::array<std::string_view, 3> quorum_construction_names = {"cyclic", "grid",
                                                                              "majority"};

Quorums quorums(QuorumConstruction construction, std::size_t n);

// Two nodes whose quorums share nobody, if there are such.
std::optional<std::pair<NodeId, NodeId>> disjoint(const Quorums& quorums);

}  // namespace turno
