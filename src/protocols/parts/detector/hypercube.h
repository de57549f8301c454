// Nodes as corners of a hypercube (Duarte Jr. and Nanya 1998). Seen from node i the others form
// clusters of 1, 2, 4, ... nodes, each an ordered list:
//
//   C(i, s) = h, C(h, s-1), ..., C(h, 1)   where h = i with bit s-1 flipped
//
// so C(0, 3) = 4 6 7 5. If there is no power of two of nodes, the numbers that do not exist are
// left out.
#pragma once

#include <bit>
#include <cstdint>

#include "core/node_id.h"

namespace turno::protocols {

class Hypercube {
 public:
  Hypercube() = default;
  explicit Hypercube(std::size_t nodes) : nodes_(static_cast<std::uint32_t>(nodes)) {}

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  // Clusters are numbered from 1 to this.
  [[nodiscard]] std::uint8_t clusters() const {
    return static_cast<std::uint8_t>(nodes_ < 2 ? 0 : std::bit_width(nodes_ - 1));
  }
  // Places in a cluster, of which the last ones may be taken by nobody.
  [[nodiscard]] static constexpr std::uint32_t places(unsigned cluster) {
    return std::uint32_t{1} << (cluster - 1);
  }
  // Who has a place in a cluster of a node; nobody, if that number does not exist.
  [[nodiscard]] NodeId at(NodeId node, unsigned cluster, std::uint32_t place) const {
    auto found = node.value ^ places(cluster);
    while (place > 0) {
      --place;  // it is in one of the clusters of `found`, the largest first
      for (--cluster; place >= places(cluster); --cluster) place -= places(cluster);
      found ^= places(cluster);
    }
    return found < nodes_ ? NodeId{found} : nobody;
  }
  // The first in a cluster for whom this is true, or nobody.
  template <class Test>
  [[nodiscard]] NodeId first(NodeId node, unsigned cluster, Test test) const {
    for (std::uint32_t place = 0; place < places(cluster); ++place)
      if (const auto found = at(node, cluster, place); found != nobody && test(found)) return found;
    return nobody;
  }
  // The cluster of one node that another is in.
  [[nodiscard]] static unsigned cluster_of(NodeId node, NodeId other) {
    return static_cast<unsigned>(std::bit_width(node.value ^ other.value));
  }

  bool operator==(const Hypercube&) const = default;

 private:
  std::uint32_t nodes_ = 0;
};

}  // namespace turno::protocols
