// What must be true of every election that has epochs, for the checker.
#pragma once

#include <string_view>

#include "core/protocol.h"

namespace turno::protocols {

// Two may act at once for a while: a node that recovers does not know better. The epochs tell them
// apart, together with the numbers of the nodes.
template <class P>
std::string_view broken_agreement(const Snapshot<P>& world) {
  for (const auto& node : world.nodes) {
    if (node.coordinator < node.self) return "a node has a coordinator below itself";
    if (node.since > node.epoch) return "a node has a coordinator of an epoch that it has not seen";
  }
  return {};
}

// In the end.
template <class P>
std::string_view unmet_agreement(const Snapshot<P>& world) {
  NodeId highest;
  for (std::size_t i = 0; i < world.nodes.size(); ++i)
    if (!world.users[i].dead) highest = NodeId{i};
  for (std::size_t i = 0; i < world.nodes.size(); ++i)
    if (!world.users[i].dead && world.nodes[i].coordinator != highest)
      return "a live node does not know the highest live node as coordinator";
  return {};
}

}  // namespace turno::protocols
