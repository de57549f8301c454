// The allocation of a grid: Bouabdallah and Laforest's (token_allocator.h) with a control token
// that prefers neighbours (site_queue.h) and a choice of instances that does. From Vieira Neto's
// thesis on resource allocation in grids, repaired: docs/algorithms/grid.md.
//
// Instances are asked of neighbours first; among neighbours, and then among the others, rather not
// of who has asked for that type several times in a row (the list in the control token). Among
// equals who can give most goes first: fewest messages.
#pragma once

#include "protocols/allocation/token_allocator.h"

namespace turno::protocols {

struct NearestChoice {
  static constexpr Info info{
      .name = "grid",
      .title = "a control token that prefers its site, instances near by",
      .source = "Vieira Neto's thesis on grids, after Bouabdallah, Laforest and Bertier; repaired",
      .primitive = Primitive::reservation,
      .sites = true,
      .low = "0 to O(log N) + 2k",
      .high = "O(log N) + 3k"};
  static constexpr bool knows_sites = true;

  template <class Node>
  static void count_request(Node& node) {
    if (node.config.frequent_after == 0) return;
    node.in_a_row.resize(node.setup->resources.types());
    for (std::size_t type = 0; type < node.in_a_row.size(); ++type)
      node.in_a_row[type] = node.needs.of(type) > 0 ? node.in_a_row[type] + 1 : 0;
  }

  // One entry a type: who asked for it most often in a row.
  template <class Node>
  static void note_frequent_use(Node& node) {
    const auto enough = node.config.frequent_after;
    if (enough == 0) return;
    node.frequent.resize(node.in_a_row.size());
    for (std::size_t type = 0; type < node.in_a_row.size(); ++type) {
      auto& entry = node.frequent[type];
      const auto times = node.in_a_row[type];
      if (entry.who == node.self) {
        entry = times < enough ? Frequent{} : Frequent{node.self, times};
      } else if (times >= enough && (entry.who == nobody || times > entry.times)) {
        entry = {node.self, times};
      }
    }
  }

  template <class Node>
  static Instances select(const Node& node) {
    return Nearest(node.choosing(), node.frequent).select();
  }
};

using Grid = TokenAllocator<NearestChoice>;

}  // namespace turno::protocols
