// What a node knows of the others' fates: how often each has changed between alive and crashed. An
// even number: it lives. Numbers only grow, so old news never undoes new.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <tuple>

#include "core/container/node_set.h"

namespace turno::protocols {

class EventCounters {
 public:
  [[nodiscard]] std::uint16_t of(NodeId node) const {
    return node.index() < counts_.size() ? counts_[node.index()] : std::uint16_t{0};
  }
  [[nodiscard]] bool suspects(NodeId node) const { return of(node) % 2 == 1; }
  [[nodiscard]] const NodeSet& suspects() const { return suspects_; }
  // Nodes above this one have never changed.
  [[nodiscard]] std::size_t known() const { return counts_.size(); }

  // Learns a number, if it is news. True if the node has crashed, and that is new.
  bool learn(NodeId node, std::uint16_t count) {
    if (count <= of(node)) return false;
    if (node.index() >= counts_.size()) counts_.resize(node.index() + 1, 0);
    const bool suspected = suspects(node);
    counts_[node.index()] = count;
    if (suspects(node) == suspected) return false;
    suspected ? suspects_.erase(node) : suspects_.insert(node);
    return !suspected;
  }
  // Learns of a crash at first hand. True if that is new.
  bool suspect(NodeId node) {
    return !suspects(node) && learn(node, static_cast<std::uint16_t>(of(node) + 1));
  }

  // After the counts were read from a message.
  void derive() {
    while (!counts_.empty() && counts_.back() == 0) counts_.pop_back();
    suspects_.clear();
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (suspects(NodeId{i})) suspects_.insert(NodeId{i});
  }

  [[nodiscard]] auto fields() const { return std::tie(counts_); }
  bool operator==(const EventCounters& other) const { return counts_ == other.counts_; }

 private:
  boost::container::small_vector<std::uint16_t, 4> counts_;  // up to the last that is not zero
  NodeSet suspects_;                                         // follows from the counts
};

}  // namespace turno::protocols
