// A set of nodes as bits. Nodes 0 to 63 need no heap. Visits nodes in increasing order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/node_id.h"

namespace turno {

class NodeSet {
 public:
  [[nodiscard]] bool contains(NodeId node) const {
    if (node.index() < 64) return (low_ & bit(node)) != 0;
    return word(node) < high_.size() && (high_[word(node)] & bit(node)) != 0;
  }
  [[nodiscard]] bool empty() const { return low_ == 0 && high_.empty(); }
  [[nodiscard]] std::size_t size() const {
    auto count = static_cast<std::size_t>(std::popcount(low_));
    for (auto w : high_) count += static_cast<std::size_t>(std::popcount(w));
    return count;
  }
  void insert(NodeId node) {
    if (node.index() < 64) {
      low_ |= bit(node);
      return;
    }
    if (word(node) >= high_.size()) high_.resize(word(node) + 1, 0);
    high_[word(node)] |= bit(node);
  }
  void erase(NodeId node) {
    if (node.index() < 64) {
      low_ &= ~bit(node);
      return;
    }
    if (word(node) < high_.size()) high_[word(node)] &= ~bit(node);
    while (!high_.empty() && high_.back() == 0) high_.pop_back();  // equal sets, equal words
  }
  void clear() {
    low_ = 0;
    high_.clear();
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for_each_bit(low_, 0, visit);
    for (std::size_t i = 0; i < high_.size(); ++i) for_each_bit(high_[i], (i + 1) * 64, visit);
  }
  // Calls visit(word) for each 64 nodes, up to the last node in the set.
  template <class Visit>
  void for_each_word(Visit visit) const {
    visit(low_);
    for (auto w : high_) visit(w);
  }

  bool operator==(const NodeSet&) const = default;

 private:
  template <class Visit>
  static void for_each_bit(std::uint64_t bits, std::size_t first, Visit& visit) {
    for (; bits != 0; bits &= bits - 1)
      visit(NodeId{first + static_cast<std::size_t>(std::countr_zero(bits))});
  }
  static std::size_t word(NodeId node) { return node.index() / 64 - 1; }
  static std::uint64_t bit(NodeId node) { return std::uint64_t{1} << (node.index() % 64); }

  std::uint64_t low_ = 0;
  std::vector<std::uint64_t> high_;
};

}  // namespace turno
