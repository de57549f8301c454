// How often each group was served while a request of another waited, as one arbiter sees it. It
// decides nothing: the checker reads it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/clock/lamport_clock.h"

namespace turno::protocols {

// For the checker: how often a group may have a session while another group's request is known to
// an arbiter of both.
struct OvertakingLimit {
  std::uint32_t most = 0;  // 0: not counted
};

class Overtakings {
 public:
  // The group `by` has been served; the requests still wait.
  template <class Requests>
  void count(NodeId by, const Requests& requests) {
    for (const auto& request : requests)
      if (request.node != by) ++of(request, by);
  }
  void forget(const Priority& request) {
    counts_.erase(std::remove_if(counts_.begin(), counts_.end(),
                                 [&](const Count& count) { return count.request == request; }),
                  counts_.end());
  }
  [[nodiscard]] std::uint32_t most() const {
    std::uint32_t most = 0;
    for (const auto& count : counts_) most = std::max(most, count.times);
    return most;
  }

  [[nodiscard]] auto fields() const { return std::tie(counts_); }
  bool operator==(const Overtakings&) const = default;

 private:
  struct Count {
    Priority request;
    NodeId by;
    std::uint32_t times = 0;
    [[nodiscard]] auto fields() const { return std::tie(request, by, times); }
    bool operator==(const Count&) const = default;
  };

  // In one order, so that equal counts are equal values.
  std::uint32_t& of(const Priority& request, NodeId by) {
    const auto at = std::find_if(counts_.begin(), counts_.end(), [&](const Count& count) {
      return std::tie(count.request, count.by) >= std::tie(request, by);
    });
    if (at != counts_.end() && at->request == request && at->by == by) return at->times;
    return counts_.insert(at, {request, by})->times;
  }

  std::vector<Count> counts_;  // mostly empty
};

}  // namespace turno::protocols
