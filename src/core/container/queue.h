// First in, first out, with the first few elements inline, so that a small node needs no heap.
// Two queues are equal when they hold the same elements in the same order.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "core/assert.h"

namespace turno {

template <class T, std::size_t Inline = 4>
class Queue {
 public:
  Queue() = default;
  Queue(std::initializer_list<T> elements) : elements_(elements) {}

  [[nodiscard]] bool empty() const { return head_ == elements_.size(); }
  [[nodiscard]] std::size_t size() const { return elements_.size() - head_; }
  [[nodiscard]] const T& front() const {
    TURNO_ASSERT(!empty());
    return elements_[head_];
  }
  [[nodiscard]] const T& back() const {
    TURNO_ASSERT(!empty());
    return elements_.back();
  }
  [[nodiscard]] T& back() {
    TURNO_ASSERT(!empty());
    return elements_.back();
  }
  [[nodiscard]] auto begin() const { return elements_.begin() + offset(); }
  [[nodiscard]] auto end() const { return elements_.end(); }
  [[nodiscard]] bool contains(const T& value) const {
    return std::find(begin(), end(), value) != end();
  }

  // By value, so that what is put together for it need not be in memory to be copied from there.
  void push(T value) { elements_.emplace_back() = std::move(value); }
  template <class Range>
  void append(const Range& range) {
    elements_.insert(elements_.end(), range.begin(), range.end());
  }
  T pop() {
    TURNO_ASSERT(!empty());
    T value = std::move(elements_[head_++]);
    if (head_ == elements_.size()) {
      clear();
    } else if (head_ >= 16 && head_ * 2 >= elements_.size()) {
      elements_.erase(elements_.begin(), elements_.begin() + offset());
      head_ = 0;
    }
    return value;
  }
  void clear() {
    elements_.clear();
    head_ = 0;
  }

  bool operator==(const Queue& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  [[nodiscard]] std::ptrdiff_t offset() const { return static_cast<std::ptrdiff_t>(head_); }

  boost::container::small_vector<T, Inline> elements_;
  std::size_t head_ = 0;
};

}  // namespace turno
