// A set of nodes as bits. Nodes 0 to 63 need no heap. Visits nodes in increasing order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/node_id.h"

namespace turno {

class NodeSet {
 public:
  NodeSet() = default;
  NodeSet(const NodeSet& other) : low_(other.low_), high_(copy(other.high_)) {}
  NodeSet(NodeSet&&) = default;
  NodeSet& operator=(const NodeSet& other) {
    low_ = other.low_;
    if (high_ || other.high_) high_ = copy(other.high_);
    return *this;
  }
  NodeSet& operator=(NodeSet&&) = default;
  ~NodeSet() = default;

  [[nodiscard]] bool contains(NodeId node) const {
    if (node.index() < 64) return (low_ & bit(node)) != 0;
    return high_ && word(node) < high_->size() && ((*high_)[word(node)] & bit(node)) != 0;
  }
  [[nodiscard]] bool empty() const { return low_ == 0 && !high_; }
  [[nodiscard]] std::size_t size() const {
    std::size_t count = 0;
    for_each_word([&](std::uint64_t w) { count += static_cast<std::size_t>(std::popcount(w)); });
    return count;
  }
  void insert(NodeId node) {
    if (node.index() < 64) {
      low_ |= bit(node);
      return;
    }
    if (!high_) high_ = std::make_unique<Words>();
    if (word(node) >= high_->size()) high_->resize(word(node) + 1, 0);
    (*high_)[word(node)] |= bit(node);
  }
  void erase(NodeId node) {
    if (!contains(node)) return;
    if (node.index() < 64) {
      low_ &= ~bit(node);
      return;
    }
    (*high_)[word(node)] &= ~bit(node);
    while (!high_->empty() && high_->back() == 0) high_->pop_back();  // equal sets, equal words
    if (high_->empty()) high_.reset();
  }
  void clear() {
    low_ = 0;
    high_.reset();
  }

  template <class Visit>
  void for_each(Visit visit) const {
    std::size_t first = 0;
    for_each_word([&](std::uint64_t bits) {
      for (; bits != 0; bits &= bits - 1)
        visit(NodeId{first + static_cast<std::size_t>(std::countr_zero(bits))});
      first += 64;
    });
  }
  // Calls visit(word) for each 64 nodes, up to the last node in the set.
  template <class Visit>
  void for_each_word(Visit visit) const {
    visit(low_);
    if (high_)
      for (auto w : *high_) visit(w);
  }
  [[nodiscard]] std::size_t words() const { return high_ ? 1 + high_->size() : 1; }

  bool operator==(const NodeSet& other) const {
    return low_ == other.low_ &&
           (high_ && other.high_ ? *high_ == *other.high_ : !high_ && !other.high_);
  }

 private:
  using Words = std::vector<std::uint64_t>;

  static std::unique_ptr<Words> copy(const std::unique_ptr<Words>& words) {
    return words ? std::make_unique<Words>(*words) : nullptr;
  }
  static std::size_t word(NodeId node) { return node.index() / 64 - 1; }
  static std::uint64_t bit(NodeId node) { return std::uint64_t{1} << (node.index() % 64); }

  std::uint64_t low_ = 0;        // nodes 0 to 63
  std::unique_ptr<Words> high_;  // the others, if there are any
};

}  // namespace turno
