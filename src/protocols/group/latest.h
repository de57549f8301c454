// The largest number seen of each node: what is not larger is a copy, or late.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/clock/lamport_clock.h"

namespace turno::protocols {

class Latest {
 public:
  [[nodiscard]] std::uint64_t of(NodeId node) const {
    const auto found = find(node);
    return found == seen_.end() ? 0 : found->time;
  }
  void note(NodeId node, std::uint64_t number) {
    const auto found = find(node);
    if (found == seen_.end()) {
      const auto at = std::find_if(seen_.begin(), seen_.end(),
                                   [&](const auto& entry) { return node < entry.node; });
      seen_.insert(at, {number, node});
    } else if (found->time < number) {
      seen_[static_cast<std::size_t>(found - seen_.begin())].time = number;
    }
  }

  [[nodiscard]] auto fields() const { return std::tie(seen_); }
  bool operator==(const Latest&) const = default;

 private:
  using Entries = std::vector<Priority>;  // in the order of nodes; mostly empty
  [[nodiscard]] Entries::const_iterator find(NodeId node) const {
    return std::find_if(seen_.begin(), seen_.end(),
                        [&](const auto& entry) { return entry.node == node; });
  }
  Entries seen_;
};

}  // namespace turno::protocols
