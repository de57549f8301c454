// Bouabdallah and Laforest's allocation of several resources at once: see token_allocator.h. The
// control token is passed as in naimi-trehel, blind to sites, and which of several equal instances
// is asked for is left open by the authors: here it is scattered.
//
// Messages per entry: 0 if all is at hand, else up to N for the control token and three for each
// instance that somebody holds.
#pragma once

#include "protocols/allocation/token_allocator.h"

namespace turno::protocols {

struct ScatteredChoice {
  static constexpr Info info{.name = "bouabdallah-laforest",
                             .title = "a control token orders requests, resource tokens follow",
                             .source = "Bouabdallah, Laforest 2000",
                             .primitive = Primitive::reservation,
                             .low = "0 to O(log N) + 2k",
                             .high = "O(log N) + 3k"};
  static constexpr bool knows_sites = false;

  template <class Node>
  static void count_request(Node& node) {
    if (!node.config.driver_chooses) ++node.round;
  }
  template <class Node>
  static void note_frequent_use(Node& /*node*/) {}

  template <class Node>
  static Instances select(const Node& node) {
    return Scattered(node.choosing(), node.round).select();
  }
};

using BouabdallahLaforest = TokenAllocator<ScatteredChoice>;

}  // namespace turno::protocols
