// Of each node that has deferred a request: that it waits itself, or which slot it has.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <tuple>

#include "core/container/node_set.h"

namespace turno::protocols {

class Whereabouts {
 public:
  void waits(NodeId node) {
    if (!find(node)) waiting_.insert(node);
  }
  void inside(NodeId node, std::uint32_t slot) {
    waiting_.erase(node);
    if (find(node)) return;
    const auto place =
        std::lower_bound(told_.begin(), told_.end(), node,
                         [](const Told& told, NodeId wanted) { return told.node < wanted; });
    told_.insert(place, {node, slot});
  }
  void forget(NodeId node) {
    waiting_.erase(node);
    told_.erase(std::remove_if(told_.begin(), told_.end(),
                               [&](const Told& told) { return told.node == node; }),
                told_.end());
  }
  void clear() {
    waiting_.clear();
    told_.clear();
  }
  // Calls ask(node) for each that waits and has not been asked where it is.
  template <class Ask>
  void ask_waiting(Ask ask) {
    waiting_.for_each(ask);
    waiting_.clear();  // will tell
  }

  [[nodiscard]] std::size_t told() const { return told_.size(); }
  [[nodiscard]] std::size_t heard() const { return told_.size() + waiting_.size(); }
  [[nodiscard]] std::uint32_t smallest_free() const {
    std::uint32_t slot = 0;
    while (std::any_of(told_.begin(), told_.end(), [&](const Told& t) { return t.slot == slot; }))
      ++slot;
    return slot;
  }

  [[nodiscard]] auto fields() const { return std::tie(waiting_, told_); }
  bool operator==(const Whereabouts&) const = default;

 private:
  struct Told {
    NodeId node;
    std::uint32_t slot = 0;
    [[nodiscard]] auto fields() const { return std::tie(node, slot); }
    bool operator==(const Told&) const = default;
  };
  [[nodiscard]] bool find(NodeId node) const {
    return std::any_of(told_.begin(), told_.end(), [&](const Told& t) { return t.node == node; });
  }

  NodeSet waiting_;                               // said so, and not asked since
  boost::container::small_vector<Told, 2> told_;  // by node
};

}  // namespace turno::protocols
