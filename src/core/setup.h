// What all nodes of one lock know from the start: how many they are, in what shape, and the
// parameters of the algorithm.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/node_id.h"
#include "core/node_set.h"

namespace turno {

struct Setup {
  static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

  std::vector<NodeId> father;                // a rooted tree; the root is its own father
  std::vector<std::vector<NodeId>> quorums;  // of each node; empty unless the algorithm votes
  std::uint32_t carry = unlimited;           // nxr-b: claims that a token may carry
  std::uint32_t epoch = 1;                   // of the view: the high bits of every fence
  std::uint8_t departure = 0;  // 0: the algorithm; k: its k-th departure, to be refuted

  // For recovery: the setup of a view with so many members and this one as its root, and who is
  // not a member of the first view. The answer lives as long as this or any copy of it.
  std::function<const Setup&(std::uint32_t epoch, std::size_t members, NodeId root)> arrange;
  NodeSet absent;

  [[nodiscard]] std::size_t size() const { return father.size(); }
  [[nodiscard]] NodeId root() const {
    for (std::size_t i = 0; i < father.size(); ++i)
      if (father[i] == NodeId{i}) return NodeId{i};
    return nobody;
  }
};

// The node at which a quiescent lock rests: with its holder, or else with the root.
inline NodeId resting_place(const Setup& setup, std::span<const NodeId> holders) {
  return holders.empty() ? setup.root() : holders.front();
}

}  // namespace turno
