// Broadcast along a spanning tree of the hypercube (Rodrigues, Duarte Jr. and Arantes,
// corrected), as a value that protocols contain. It sends nothing itself.
//
// The root hands its message to the first trusted node of each of its clusters; who gets it for a
// cluster hands it on within. Everybody acknowledges to the root, also a message that it has seen;
// the root asks those again, directly, who have not and are not suspected.
//
// What is printed tells by the *forwarder* whether a message is new, and takes any other time than
// the last for new; both break exclusion. Here it is the root, and a later time.
//
// Only the newest message of a root matters: while the root lives, every live node gets it once.
// Nothing is promised of a root that crashes. Messages: N-1, and N-1 acknowledgements.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <tuple>

#include "core/container/node_set.h"
#include "protocols/parts/detector/hypercube.h"

namespace turno::protocols {

class TreeBroadcast {
 public:
  TreeBroadcast() = default;
  TreeBroadcast(std::size_t nodes, NodeId self) : self_(self), cube_(nodes) {}

  // Calls send(node, hops) for each cluster of the root.
  template <class Send>
  void start(std::uint64_t time, const NodeSet& suspects, Send send) {
    current_ = time;
    acknowledged_.clear();
    for (unsigned cluster = 1; cluster <= cube_.clusters(); ++cluster)
      hand_on(cluster, suspects, send);
  }
  // The same for who got it with so many hops: within, the largest cluster first.
  template <class Send>
  void forward(std::uint8_t hops, const NodeSet& suspects, Send send) const {
    for (unsigned cluster = hops; cluster-- > 1;) hand_on(cluster, suspects, send);
  }
  // Whether this is a message of that root that has not been seen. From now on it has.
  bool take(NodeId root, std::uint64_t time) {
    if (root.index() < seen_.size() && time <= seen_[root.index()]) return false;
    if (root.index() >= seen_.size()) seen_.resize(root.index() + 1, 0);
    seen_[root.index()] = time;
    return true;
  }
  void acknowledge(NodeId from, std::uint64_t time) {
    if (current_ != 0 && time == current_) acknowledged_.insert(from);
  }
  // Nothing is being sent any more if all who live have it.
  void finish_if_complete(const NodeSet& suspects) {
    for (std::uint32_t i = 0; i < cube_.nodes(); ++i)
      if (missing(NodeId{i}, suspects)) return;
    stop();
  }
  void stop() {
    current_ = 0;
    acknowledged_.clear();
  }
  // Who may not have it.
  template <class Visit>
  void for_each_missing(const NodeSet& suspects, Visit visit) const {
    for (std::uint32_t i = 0; i < cube_.nodes(); ++i)
      if (missing(NodeId{i}, suspects)) visit(NodeId{i});
  }
  [[nodiscard]] bool running() const { return current_ != 0; }
  [[nodiscard]] std::uint64_t current() const { return current_; }

  [[nodiscard]] auto fields() const { return std::tie(current_, acknowledged_, seen_); }
  bool operator==(const TreeBroadcast& other) const { return fields() == other.fields(); }

 private:
  [[nodiscard]] bool missing(NodeId node, const NodeSet& suspects) const {
    return node != self_ && !suspects.contains(node) && !acknowledged_.contains(node);
  }
  template <class Send>
  void hand_on(unsigned cluster, const NodeSet& suspects, Send& send) const {
    const auto next =
        cube_.first(self_, cluster, [&](NodeId node) { return !suspects.contains(node); });
    if (next != nobody) send(next, static_cast<std::uint8_t>(cluster));
  }

  NodeId self_;
  Hypercube cube_;
  std::uint64_t current_ = 0;  // what this node, as a root, is sending; 0: nothing
  NodeSet acknowledged_;
  boost::container::small_vector<std::uint64_t, 4> seen_;  // the latest of each root
};

}  // namespace turno::protocols
