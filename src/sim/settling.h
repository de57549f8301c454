// How long a system takes, after something went wrong, until it does again what it promises. For
// protocols that state a goal and have no users: elections and detectors.
#pragma once

#include <string>
#include <vector>

#include "core/protocol.h"
#include "sim/histogram.h"

namespace turno::sim {

template <class P>
class Settling {
 public:
  explicit Settling(std::size_t nodes) : users_(nodes) {}

  void crash(NodeId node, Time now) { disturb(node, true, now); }
  void recover(NodeId node, Time now) { disturb(node, false, now); }

  // After every event, while it is not settled.
  void look(const std::vector<P>& nodes, Time now) {
    if (settled_ || !unmet(nodes).empty()) return;
    settled_ = true;
    times_.add(now - since_);
  }

  // What is wrong when nothing travels any more, or nothing.
  [[nodiscard]] std::string wrong(const std::vector<P>& nodes) const {
    if constexpr (HasInvariants<P>) {
      const std::string_view broken = P::broken_invariant(Snapshot<P>{nodes, users_, {}});
      if (!broken.empty()) return std::string(broken);
    }
    return std::string(unmet(nodes));
  }

  [[nodiscard]] const Histogram& times() const { return times_; }

 private:
  void disturb(NodeId node, bool dead, Time now) {
    users_[node.index()].dead = dead;
    if (settled_) since_ = now;
    settled_ = false;
  }
  [[nodiscard]] std::string_view unmet(const std::vector<P>& nodes) const {
    if constexpr (HasGoal<P>) return P::unmet_goal(Snapshot<P>{nodes, users_, {}});
    return {};
  }

  std::vector<User> users_;
  bool settled_ = true;
  Time since_ = 0;  // of the first disturbance that is not settled
  Histogram times_;
};

}  // namespace turno::sim
