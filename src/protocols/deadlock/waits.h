// What a central detector of deadlocks knows: waits, each with the numbers that tell it from
// another wait between the same two processes.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <tuple>

#include "core/node_id.h"
#include "protocols/deadlock/wait_for_graph.h"

namespace turno::protocols {

// A resource that a process has, by its site and the number of the grant there.
struct TakenResource {
  NodeId site;
  std::uint32_t grant = 0;
  [[nodiscard]] auto fields() const { return std::tie(site, grant); }
  auto operator<=>(const TakenResource&) const = default;
};

// A process waits for the holder of a site's resource.
struct Wait {
  NodeId waiter, holder;
  std::uint32_t request = 0;  // of the waiter, counted by it
  TakenResource held;         // by the holder, counted by the site
  [[nodiscard]] auto fields() const { return std::tie(waiter, holder, request, held); }
  auto operator<=>(const Wait&) const = default;
  [[nodiscard]] bool same_names(const Wait& other) const {
    return waiter == other.waiter && holder == other.holder && held.site == other.held.site;
  }
};

// The union of what the sites report.
class KnownWaits {
 public:
  using Cycle = boost::container::small_vector<Wait, 3>;

  void begin(const Wait& wait) {
    waits_.insert(std::lower_bound(waits_.begin(), waits_.end(), wait), wait);
  }
  void end(const Wait& wait) {
    const auto at = std::lower_bound(waits_.begin(), waits_.end(), wait);
    if (at != waits_.end() && *at == wait) waits_.erase(at);
  }

  // Each waits for the holder who is the next one's waiter. Empty if there is none.
  [[nodiscard]] Cycle cycle() const {
    WaitForGraph graph;
    for (const auto& wait : waits_) graph.add(wait.waiter, wait.holder);
    Cycle found;
    for (const auto& wait : waits_) {
      const auto nodes = graph.cycle_through(wait.waiter);
      for (std::size_t i = 0; i < nodes.size(); ++i)
        found.push_back(between(nodes[i], nodes[(i + 1) % nodes.size()]));
      if (!found.empty()) break;
    }
    return found;
  }

  // Whether there is still a wait between the same two at the same site.
  [[nodiscard]] bool has_such(const Wait& wait) const {
    return std::any_of(waits_.begin(), waits_.end(),
                       [&](const Wait& other) { return other.same_names(wait); });
  }

  [[nodiscard]] auto fields() const { return std::tie(waits_); }
  bool operator==(const KnownWaits&) const = default;

 private:
  [[nodiscard]] const Wait& between(NodeId waiter, NodeId holder) const {
    return *std::find_if(waits_.begin(), waits_.end(), [&](const Wait& wait) {
      return wait.waiter == waiter && wait.holder == holder;
    });
  }

  boost::container::small_vector<Wait, 3> waits_;  // sorted
};

}  // namespace turno::protocols
