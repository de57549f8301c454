// The allocation of a grid: Bouabdallah and Laforest's (token_allocator.h) with a control token
// that prefers neighbours (site_queue.h) and a choice of instances that does. From a thesis on
// resource allocation in grids, repaired: docs/algorithms/grid.md.
//
// Instances are asked of neighbours first; among neighbours, and then among the others, rather not
// of who has asked for that type several times in a row (the list in the control token). Among
// equals who can give most goes first: fewest messages.
#pragma once

#include "protocols/allocation/token_allocator.h"

namespace turno {

struct NearestChoice {
  static constexpr Info info{
      .name = "grid",
      .title = "a control token that prefers its site, instances near by",
      .source = "a thesis on grids, after Bouabdallah, Laforest and Bertier; repaired",
      .primitive = Primitive::reservation,
      .sites = true,
      .low = "0 to O(log N) + 2k",
      .high = "O(log N) + 3k"};
  static constexpr bool knows_sites = true;

  template <class Node>
  static void count_request(Node& node) {
    if (node.setup->resources.frequent_after == 0) return;
    node.in_a_row.resize(node.setup->resources.types());
    for (std::size_t type = 0; type < node.in_a_row.size(); ++type)
      node.in_a_row[type] = node.needs.of(type) > 0 ? node.in_a_row[type] + 1 : 0;
  }

  // One entry a type: who asked for it most often in a row.
  template <class Node>
  static void note_frequent_use(Node& node) {
    const auto enough = node.setup->resources.frequent_after;
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

  // Its own and free ones; then others', in this order of preference: of neighbours, of neighbours
  // who use the type often, of others, of others who use it often.
  template <class Node>
  static Instances select(const Node& node) {
    Instances chosen, open;
    auto more = node.needs;
    for (const auto source : {node.self, nobody}) {
      for (std::uint32_t i = 0; i < node.table.size(); ++i) {
        const auto type = node.setup->resources.type_of[i];
        if (node.table[i].holder != source || more.of(type) == 0) continue;
        more.take_one(type);
        chosen.push_back(i);
      }
    }
    for (std::uint32_t i = 0; i < node.table.size(); ++i) {
      const auto holder = node.table[i].holder;
      if (holder != node.self && holder != nobody) open.push_back(i);
    }
    for (int order = 0; order < 4 && !more.empty(); ++order)
      while (take_from_the_richest(node, order, open, more, chosen)) {
      }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  template <class Node>
  static int order_of(const Node& node, std::uint32_t instance) {
    const auto holder = node.table[instance].holder;
    const auto type = node.setup->resources.type_of[instance];
    const bool frequent = type < node.frequent.size() && node.frequent[type].who == holder;
    return (node.queue.near(holder) ? 0 : 2) + (frequent ? 1 : 0);
  }

  // From the holder who has most of what is still needed, in this order of preference.
  template <class Node>
  static bool take_from_the_richest(const Node& node, int order, Instances& open, Needs& more,
                                    Instances& chosen) {
    Instances best;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto holder = node.table[open[i]].holder;
      const auto same = [&](auto other) { return node.table[other].holder == holder; };
      if (std::find_if(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(i), same) !=
          open.begin() + static_cast<std::ptrdiff_t>(i))
        continue;  // seen
      auto useful = useful_of(node, holder, order, open, more);
      if (useful.size() > best.size()) best = std::move(useful);
    }
    for (auto instance : best) {
      chosen.push_back(instance);
      more.take_one(node.setup->resources.type_of[instance]);
      open.erase(std::find(open.begin(), open.end(), instance));
    }
    return !best.empty();
  }

  template <class Node>
  static Instances useful_of(const Node& node, NodeId holder, int order, const Instances& open,
                             Needs more) {
    Instances useful;
    for (auto instance : open) {
      const auto type = node.setup->resources.type_of[instance];
      if (node.table[instance].holder != holder || more.of(type) == 0 ||
          order_of(node, instance) != order)
        continue;
      more.take_one(type);
      useful.push_back(instance);
    }
    return useful;
  }
};

using Grid = TokenAllocator<NearestChoice>;

}  // namespace turno
