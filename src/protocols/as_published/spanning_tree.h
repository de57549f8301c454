// The dissemination of requests along a spanning tree (STA) as printed, line by line. To be refuted
// by the checker; never to be run.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <tuple>

#include "core/container/node_set.h"
#include "core/container/queue.h"
#include "protocols/parts/detector/hypercube.h"

namespace turno::protocols::as_published {

class SpanningTree {
 public:
  // A request as others know it.
  struct Known {
    NodeId root;
    std::uint64_t time = 0;
    [[nodiscard]] auto fields() const { return std::tie(root, time); }
    bool operator==(const Known&) const = default;
  };

  SpanningTree() = default;
  SpanningTree(std::size_t nodes, NodeId self)
      : self_(self), cube_(nodes), last_(nodes), delivered_(nodes) {}

  // Lines 3 and 4: a new request queues behind one that is not acknowledged by all. True if it is
  // its turn.
  bool add(std::uint64_t time) {
    queue_.push(time);
    return queue_.size() == 1;
  }
  // Lines 6 to 8. (The wait of line 9 is for all clusters together.)
  template <class Send>
  void disseminate(const NodeSet& suspects, Send send) const {
    for (unsigned s = 1; s <= cube_.clusters(); ++s) hand_on(s, suspects, send);
  }
  // Lines 16 to 19.
  template <class Send>
  void forward(std::uint8_t hops, const NodeSet& suspects, Send send) const {
    while (hops > 1) hand_on(--hops, suspects, send);
  }
  // Lines 12 and 13, with the index that a reading wants.
  bool is_new(NodeId index, const Known& request) {
    if (last_[index.index()] == request) return false;
    last_[index.index()] = request;
    return true;
  }
  bool is_later(NodeId index, const Known& request) {
    if (last_[index.index()].time >= request.time) return false;
    last_[index.index()] = request;
    return true;
  }
  // Not printed: notes which requests are handed to the algorithm above, and whether one is handed
  // twice, or not at all.
  void note_delivery(NodeId root, std::uint64_t number) {
    auto& latest = delivered_[root.index()];
    twice_ = twice_ || number <= latest;
    latest = std::max(latest, number);
  }
  void note_refusal(NodeId root, std::uint64_t number) {
    refused_ = refused_ || number > delivered_[root.index()];
  }
  void acknowledge(NodeId from, std::uint64_t time) {
    if (running() && time == queue_.front()) acknowledged_.insert(from);
  }
  // Line 10. True if the next request may go.
  bool finish_if_complete(const NodeSet& suspects) {
    if (!running()) return false;
    for (std::uint32_t i = 0; i < cube_.nodes(); ++i) {
      const NodeId node{i};
      if (node != self_ && !suspects.contains(node) && !acknowledged_.contains(node)) return false;
    }
    queue_.pop();
    acknowledged_.clear();
    return true;
  }
  [[nodiscard]] bool running() const { return !queue_.empty(); }
  [[nodiscard]] std::uint64_t current() const { return queue_.empty() ? 0 : queue_.front(); }
  [[nodiscard]] bool delivered_twice() const { return twice_; }
  [[nodiscard]] bool refused_new() const { return refused_; }

  [[nodiscard]] auto fields() const {
    return std::tie(queue_, acknowledged_, last_, delivered_, twice_, refused_);
  }
  bool operator==(const SpanningTree&) const = default;

 private:
  template <class Send>
  void hand_on(unsigned cluster, const NodeSet& suspects, Send& send) const {
    const auto next =
        cube_.first(self_, cluster, [&](NodeId node) { return !suspects.contains(node); });
    if (next != nobody) send(next, static_cast<std::uint8_t>(cluster));
  }

  NodeId self_;
  Hypercube cube_;
  Queue<std::uint64_t> queue_;  // times of own requests, the first being disseminated
  NodeSet acknowledged_;
  boost::container::small_vector<Known, 4> last_;  // last_msg
  boost::container::small_vector<std::uint64_t, 4> delivered_;
  bool twice_ = false, refused_ = false;
};

}  // namespace turno::protocols::as_published
