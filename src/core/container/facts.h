// What is known of units: which grant each has or had.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

namespace turno {

// A unit is, or was, held with this grant.
struct Fact {
  std::uint32_t unit = 0;
  std::uint64_t grant = 0;  // numbers of grants grow
  bool freed = false;       // that grant has ended
  [[nodiscard]] auto fields() const { return std::tie(unit, grant, freed); }
  bool operator==(const Fact&) const = default;
};

// One fact a unit, in the order of units.
class Facts {
 public:
  void set(const Fact& fact) {
    const auto place = at(fact.unit);
    if (place != facts_.end() && place->unit == fact.unit) {
      *place = fact;
    } else {
      facts_.insert(place, fact);
    }
  }
  // Unless something newer is known: a later grant, or that this one has ended.
  void merge(const Fact& fact) {
    const auto* known = find(fact.unit);
    if (known == nullptr ||
        std::pair(known->grant, known->freed) < std::pair(fact.grant, fact.freed))
      set(fact);
  }
  void erase(std::uint32_t unit) {
    const auto place = at(unit);
    if (place != facts_.end() && place->unit == unit) facts_.erase(place);
  }
  [[nodiscard]] const Fact* find(std::uint32_t unit) const {
    const auto place = std::lower_bound(facts_.begin(), facts_.end(), unit, before);
    return place != facts_.end() && place->unit == unit ? &*place : nullptr;
  }
  [[nodiscard]] bool has(const Fact& fact) const {
    const auto* known = find(fact.unit);
    return known != nullptr && *known == fact;
  }

  void clear() { facts_.clear(); }
  [[nodiscard]] bool empty() const { return facts_.empty(); }
  [[nodiscard]] std::size_t size() const { return facts_.size(); }
  [[nodiscard]] auto begin() const { return facts_.begin(); }
  [[nodiscard]] auto end() const { return facts_.end(); }

  [[nodiscard]] auto fields() const { return std::tie(facts_); }
  bool operator==(const Facts&) const = default;
  // What was read may be in any order, and say two things of one unit.
  void derive() {
    const auto read = std::exchange(facts_, {});
    for (const auto& fact : read) set(fact);
  }

 private:
  using List = boost::container::small_vector<Fact, 2>;
  static bool before(const Fact& fact, std::uint32_t unit) { return fact.unit < unit; }
  List::iterator at(std::uint32_t unit) {
    return std::lower_bound(facts_.begin(), facts_.end(), unit, before);
  }

  List facts_;
};

}  // namespace turno
