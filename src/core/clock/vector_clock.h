// A vector clock (Fidge, Mattern 1988): tells of any two events whether one happened before the
// other. One number a node; a Lamport clock cannot tell as much, and costs less.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/node_id.h"

namespace turno {

class VectorClock {
 public:
  VectorClock() = default;
  explicit VectorClock(std::size_t nodes) : times_(nodes) {}

  [[nodiscard]] std::uint64_t of(NodeId node) const { return times_[node.index()]; }
  void tick(NodeId self) { ++times_[self.index()]; }
  // On a message that carries a clock; the receipt is an event of its own: tick too.
  void observe(const VectorClock& other) {
    for (std::size_t i = 0; i < times_.size(); ++i)
      times_[i] = std::max(times_[i], other.times_[i]);
  }
  // Did what this clock stamps happen before what the other stamps?
  [[nodiscard]] bool before(const VectorClock& other) const {
    return times_ != other.times_ && at_most(other);
  }
  [[nodiscard]] bool concurrent(const VectorClock& other) const {
    return !at_most(other) && !other.at_most(*this);
  }

  bool operator==(const VectorClock&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(times_); }

 private:
  [[nodiscard]] bool at_most(const VectorClock& other) const {
    for (std::size_t i = 0; i < times_.size(); ++i)
      if (times_[i] > other.times_[i]) return false;
    return true;
  }

  std::vector<std::uint64_t> times_;
};

}  // namespace turno
