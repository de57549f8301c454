// Sets of nodes of which any two share a node: for algorithms that enter with the votes of one set.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/node_id.h"

namespace turno::protocols {

using Quorums = std::vector<std::vector<NodeId>>;  // of each node; it is a member of its own

enum class QuorumConstruction : std::uint8_t {
  cyclic,       // translates of the smallest known difference cover; equal size and load
  projective,   // lines of a projective plane; the smallest possible, for N = q^2 + q + 1
  closed_form,  // translates of a difference cover of about sqrt(2N) that needs no table
  grid,         // row and column; about 2 sqrt(N)
  majority,     // more than half
};
inline constexpr std::array<std::string_view, 5> quorum_construction_names = {
    "cyclic", "projective", "closed-form", "grid", "majority"};

std::optional<QuorumConstruction> quorum_construction_named(std::string_view name);

// Whether there are such quorums for n nodes, and if not, the nearest n on both sides for which
// there are.
bool possible(QuorumConstruction construction, std::size_t n);
std::vector<std::size_t> possible_near(QuorumConstruction construction, std::size_t n);

// REQUIRES: possible(construction, n).
Quorums quorums(QuorumConstruction construction, std::size_t n);

// No quorums of equal size k and equal load can do for n nodes unless n <= k(k-1) + 1: a node is in
// k quorums, each with k-1 other members, and must meet all.
std::size_t smallest_possible_size(std::size_t n);

// The smallest and the largest quorum, and in how many quorums a node is, at least and at most.
struct QuorumShape {
  std::size_t smallest = 0, largest = 0, least_load = 0, most_load = 0;
  bool operator==(const QuorumShape&) const = default;
};
QuorumShape shape_of(const Quorums& quorums);

// Two nodes whose quorums share nobody, if there are such.
std::optional<std::pair<NodeId, NodeId>> disjoint(const Quorums& quorums);

}  // namespace turno::protocols
