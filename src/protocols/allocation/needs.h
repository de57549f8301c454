// How many instances of each type somebody needs.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <tuple>

#include "core/demand.h"

namespace turno::protocols {

class Needs {
 public:
  Needs() = default;
  explicit Needs(const Demand& demand) {
    for (const auto& need : demand.needs) add(need.type, need.count);
  }

  [[nodiscard]] bool empty() const { return counts_.empty(); }
  [[nodiscard]] std::size_t types() const { return counts_.size(); }
  [[nodiscard]] std::uint16_t of(std::size_t type) const {
    return type < counts_.size() ? counts_[type] : std::uint16_t{0};
  }
  void add(std::size_t type, std::uint16_t count) {
    if (count == 0) return;
    if (type >= counts_.size()) counts_.resize(type + 1);
    counts_[type] = static_cast<std::uint16_t>(counts_[type] + count);
  }
  // REQUIRES: of(type) > 0
  void take_one(std::size_t type) {
    --counts_[type];
    derive();
  }
  void clear() { counts_.clear(); }
  // Equal needs are equal values: also after they were read from a message.
  void derive() {
    while (!counts_.empty() && counts_.back() == 0) counts_.pop_back();
  }
  // For messages and hashing: the last count is not zero.
  [[nodiscard]] auto fields() const { return std::tie(counts_); }
  bool operator==(const Needs&) const = default;

 private:
  boost::container::small_vector<std::uint16_t, 4> counts_;
};

}  // namespace turno::protocols
