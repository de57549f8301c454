// What must always be true of a SiteQueue and its token, seen from outside.
#pragma once

#include <algorithm>
#include <string_view>

#include "core/protocol.h"
#include "protocols/parts/site_queue/site_queue.h"

namespace turno::protocols {

// Calls visit(node) for each place where somebody is remembered who waits for the token.
// REQUIRES: nodes have a `queue`, messages a `baggage`, and P::asks(message) is its request or
// null.
template <class P, class Visit>
void for_each_who_is_remembered(const Snapshot<P>& world, Visit visit) {
  for (const auto& node : world.nodes) {
    if (node.queue.next != nobody) visit(node.queue.next);
    for (auto waiting : node.queue.deferred) visit(waiting);
    for (auto waiting : node.queue.baggage.deferred) visit(waiting);
  }
  for (const auto& flight : world.flights) {
    if (const auto* ask = P::asks(flight.message)) visit(ask->origin);
    if (!P::carries_token(flight.message)) continue;
    visit(flight.to);
    for (auto waiting : flight.message.baggage.deferred) visit(waiting);
  }
}

// Whoever waits is remembered exactly once; nobody else is.
template <class P>
std::string_view broken_queue(const Snapshot<P>& world) {
  boost::container::small_vector<std::uint32_t, 16> remembered(world.nodes.size());
  bool nobody_waits = false;
  for_each_who_is_remembered(world, [&](NodeId node) {
    if (node.index() < remembered.size()) {
      ++remembered[node.index()];
    } else {
      nobody_waits = true;
    }
  });
  if (nobody_waits) return "somebody who does not exist is queued for the token";
  for (std::size_t i = 0; i < world.nodes.size(); ++i) {
    const auto& queue = world.nodes[i].queue;
    if (queue.wanting && remembered[i] == 0) return "a request for the token is lost";
    if (remembered[i] > (queue.wanting ? 1U : 0U)) return "a request for the token is queued twice";
    if (queue.next != nobody && queue.father == nobody && queue.near(queue.next))
      return "the last requester has a neighbour as its successor";
  }
  return {};
}

}  // namespace turno::protocols
