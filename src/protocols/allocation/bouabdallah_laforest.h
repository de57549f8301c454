// Bouabdallah and Laforest's allocation of several resources at once: see token_allocator.h. The
// control token is passed as in naimi-trehel, blind to sites, and which of several equal instances
// is asked for is left open by the authors: here it is scattered.
//
// Messages per entry: 0 if all is at hand, else up to N for the control token and three for each
// instance that somebody holds.
#pragma once

#include "protocols/allocation/token_allocator.h"

namespace turno {

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
    if (!node.setup->resources.open_choices) ++node.round;
  }
  template <class Node>
  static void note_frequent_use(Node& /*node*/) {}

  // Without preference: by a number made of the instance, the node and the number of its request.
  template <class Node>
  static Instances select(const Node& node) {
    Instances chosen;
    for (std::size_t type = 0; type < node.needs.types(); ++type) {
      if (node.needs.of(type) == 0) continue;
      auto all = candidates(node.choosing(), type);
      const auto scattered = [&](std::uint32_t instance) {
        Digest digest(instance + 1);
        digest.add((std::uint64_t{node.round} << 32) | node.self.value);
        return digest.value();
      };
      std::sort(all.open.begin(), all.open.end(),
                [&](auto a, auto b) { return scattered(a) < scattered(b); });
      chosen.insert(chosen.end(), all.sure.begin(), all.sure.end());
      chosen.insert(chosen.end(), all.open.begin(),
                    all.open.begin() + static_cast<std::ptrdiff_t>(all.more));
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }
};

using BouabdallahLaforest = TokenAllocator<ScatteredChoice>;

}  // namespace turno
