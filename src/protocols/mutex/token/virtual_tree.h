// The invariants that NxR and its descendants share: Naimi's forest of fathers and Raymond's
// virtual tree of claims (Perez Rojas and Orellana 2005, Lemmas 1-6 and Theorems 2 and 3, as
// corrected).
//
// A claim says "this node must still get the token". It is either an entry of somebody else's queue
// or travels in a message. A node that has the token, or to which the token travels, is privileged.
#pragma once

#include <boost/container/small_vector.hpp>
#include <string_view>

#include "core/protocol.h"

namespace turno::protocols {

inline NodeId claimed_node(NodeId claim) { return claim; }
template <class Claim>
NodeId claimed_node(const Claim& claim) {
  return claim.node;
}

// Follows `next` from each node; true if some walk never ends. A walk ends at a fixed point.
template <class Next>
bool has_cycle(std::size_t n, Next next) {
  for (std::size_t i = 0; i < n; ++i) {
    NodeId at{i};
    std::size_t steps = 0;
    while (next(at) != at && steps <= n) at = next(at), ++steps;
    if (steps > n) return true;
  }
  return false;
}

template <class P>
std::string_view broken_virtual_tree(const Snapshot<P>& world) {
  const auto n = world.nodes.size();
  NodeId privileged;
  for (const auto& node : world.nodes)
    if (node.token) privileged = node.self;
  for (const auto& flight : world.flights)
    if (P::carries_token(flight.message)) {
      privileged = flight.to;
      if (world.nodes[flight.to.index()].queue.empty()) return "I6: the token goes to who waits";
    }

  boost::container::small_vector<NodeId, 16> claimant(n, nobody);  // who owes the token to node i
  std::string_view broken;
  auto claim = [&](NodeId node, NodeId owed_by) {
    if (world.nodes[node.index()].queue.empty()) broken = "I6: who is claimed for waits";
    if (claimant[node.index()] != nobody) broken = "I7: a waiting node has one claim";
    claimant[node.index()] = owed_by;
  };
  for (const auto& node : world.nodes) {
    std::size_t own = 0;
    for (const auto& entry : node.queue) {
      if (claimed_node(entry) == node.self) {
        ++own;
      } else {
        claim(claimed_node(entry), node.self);
      }
    }
    const auto& user = world.users[node.self.index()];
    if (node.token && !node.using_it && !node.queue.empty())
      return "I2: an idle holder owes nothing";
    if (own != std::size_t{user.waiting} + (user.inside ? 1U : 0U))
      return "I3: the own claims are what the user asked for";
    if ((node.father == node.self) != (!node.queue.empty() || node.token))
      return "I4: the roots are those who wait or have the token";
  }
  for (const auto& flight : world.flights) {
    // A token owes what it carries at the node to which it travels; a request is owed where it will
    // be taken into a queue: somewhere above, so it counts but links to nobody.
    const auto owed_by = P::carries_token(flight.message) ? flight.to : NodeId{n};
    P::for_each_claim(flight.message, [&](NodeId node) { claim(node, owed_by); });
  }
  if (!broken.empty()) return broken;
  if (has_cycle(n, [&](NodeId at) { return world.nodes[at.index()].father; }))
    return "I5: fathers form no cycle";
  for (const auto& node : world.nodes) {
    const bool claimed = claimant[node.self.index()] != nobody;
    if (node.self == privileged && claimed) return "I7: the privileged node has no claim";
    if (node.self != privileged && claimed != !node.queue.empty())
      return "I7: a waiting node has one claim";
  }
  const auto owed_by = [&](NodeId at) {
    const auto by = claimant[at.index()];
    return by == nobody || by.index() >= n ? at : by;
  };
  if (has_cycle(n, owed_by)) return "I7: claims lead to the privileged node";
  return {};
}

}  // namespace turno::protocols
