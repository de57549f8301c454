// What elections want to know: who notices that the coordinator is gone, and how long nodes wait.
#pragma once

#include <cstdint>

#include "core/container/node_set.h"
#include "core/node_id.h"

namespace turno::protocols {

struct Patience {
  std::int64_t answer_within_ns = 500'000'000;    // to one question
  std::int64_t finish_within_ns = 5'000'000'000;  // from there to the result
  // So often a node asks its coordinator whether it is there. 0: it is told, as the checker does.
  std::int64_t ask_every_ns = 0;
  bool operator==(const Patience&) const = default;
};

struct ElectionConfig {
  Patience patience;
  NodeSet watchers;  // who notices; empty: everybody

  [[nodiscard]] bool has_watcher(NodeId node) const {
    return watchers.empty() || watchers.contains(node);
  }
};

}  // namespace turno::protocols
