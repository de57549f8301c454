// Who waits for whom, where a process that waits for several needs them all (the AND model). There
// is a deadlock if and only if there is a cycle: those on it wait for ever, and so do all who wait
// for one of them, directly or not.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <tuple>
#include <vector>

#include "core/container/node_set.h"
#include "core/node_id.h"

namespace turno::protocols {

class WaitForGraph {
 public:
  struct Edge {
    NodeId waiter, holder;
    [[nodiscard]] auto fields() const { return std::tie(waiter, holder); }
    auto operator<=>(const Edge&) const = default;
  };

  void add(NodeId waiter, NodeId holder) {
    const Edge edge{waiter, holder};
    const auto at = std::lower_bound(edges_.begin(), edges_.end(), edge);
    if (at == edges_.end() || *at != edge) edges_.insert(at, edge);
  }
  void remove(NodeId waiter, NodeId holder) {
    const auto at = std::lower_bound(edges_.begin(), edges_.end(), Edge{waiter, holder});
    if (at != edges_.end() && *at == Edge{waiter, holder}) edges_.erase(at);
  }

  // A shortest cycle through this process, from it on; empty if it is on none.
  [[nodiscard]] std::vector<NodeId> cycle_through(NodeId start) const {
    std::vector<Edge> reached;  // breadth first: whom we came to, and from whom
    NodeSet seen;
    const auto visit = [&](NodeId node) {
      for (const auto& [waiter, holder] : edges_) {
        if (waiter != node || seen.contains(holder)) continue;
        seen.insert(holder);
        reached.push_back({node, holder});
      }
    };
    visit(start);
    for (std::size_t i = 0; i < reached.size() && !seen.contains(start); ++i)
      visit(reached[i].holder);
    return seen.contains(start) ? way_back(start, reached) : std::vector<NodeId>{};
  }
  [[nodiscard]] bool on_cycle(NodeId node) const { return !cycle_through(node).empty(); }

  // All that can never go on. Whoever waits for nobody can; take it away, and those who waited only
  // for such, until nothing changes.
  [[nodiscard]] NodeSet deadlocked() const {
    NodeSet stuck;
    for (const auto& edge : edges_) stuck.insert(edge.waiter);
    for (bool more = true; more;) {
      more = false;
      auto before = stuck;
      before.for_each([&](NodeId node) {
        const bool waits_in_vain = std::any_of(edges_.begin(), edges_.end(), [&](const Edge& edge) {
          return edge.waiter == node && stuck.contains(edge.holder);
        });
        if (waits_in_vain) return;
        stuck.erase(node);
        more = true;
      });
    }
    return stuck;
  }

  [[nodiscard]] const auto& edges() const { return edges_; }
  [[nodiscard]] auto fields() const { return std::tie(edges_); }
  bool operator==(const WaitForGraph&) const = default;

 private:
  static std::vector<NodeId> way_back(NodeId start, const std::vector<Edge>& reached) {
    std::vector<NodeId> cycle;
    auto node = start;
    do {
      const auto step = std::find_if(reached.begin(), reached.end(),
                                     [&](const Edge& edge) { return edge.holder == node; });
      node = step->waiter;
      cycle.push_back(node);
    } while (node != start);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
  }

  boost::container::small_vector<Edge, 4> edges_;  // sorted
};

}  // namespace turno::protocols
