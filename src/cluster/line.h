// Who of a member's own users waits for one thing, first come, first served. A user that gives up
// leaves the line from wherever it stands, at once, also if a hundred thousand wait.
//
// Each may say what it wants there; of a lock there is nothing to say. Two lines are equal when the
// same users stand in them in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "core/assert.h"

namespace turno::cluster {

// A user of a member: whatever number its driver knows it by.
using UserId = std::uint64_t;
inline constexpr UserId no_user = 0;

// Wants nothing but its turn.
struct NoWants {};

template <class Wants>
class LineOf {
 public:
  using Spot = std::uint32_t;  // where a user stands; another's may be the same later
  static constexpr Spot nowhere = std::numeric_limits<Spot>::max();

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = UserId;
    using difference_type = std::ptrdiff_t;
    using pointer = const UserId*;
    using reference = const UserId&;

    Iterator() = default;
    Iterator(const LineOf& line, Spot spot) : line_(&line), spot_(spot) {}
    const UserId& operator*() const { return line_->places_[spot_].user; }
    Iterator& operator++() {
      spot_ = line_->places_[spot_].next;
      return *this;
    }
    Iterator operator++(int) {
      const auto before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return spot_ == other.spot_; }

   private:
    const LineOf* line_ = nullptr;
    Spot spot_ = nowhere;
  };

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Iterator begin() const { return {*this, first_}; }
  [[nodiscard]] Iterator end() const { return {*this, nowhere}; }

  Spot push(UserId user, const Wants& wants = {}) {
    const auto spot = room();
    places_[spot] = {wants, user, last_, nowhere};
    (last_ == nowhere ? first_ : places_[last_].next) = spot;
    last_ = spot;
    ++size_;
    return spot;
  }
  // REQUIRES: somebody stands here.
  [[nodiscard]] UserId first() const { return places_[first_].user; }
  [[nodiscard]] const Wants& first_wants() const { return places_[first_]; }
  UserId pop() {
    TURNO_ASSERT(!empty());
    const auto user = places_[first_].user;
    take(first_);
    return user;
  }
  // The user that stands there; if another one does or nobody, it is looked for. False: it does not
  // wait.
  bool erase(UserId user, Spot spot) {
    if (spot >= places_.size() || places_[spot].user != user) {
      spot = first_;
      while (spot != nowhere && places_[spot].user != user) spot = places_[spot].next;
    }
    if (spot == nowhere) return false;
    take(spot);
    return true;
  }

  bool operator==(const LineOf& other) const {
    if (size_ != other.size_) return false;
    for (auto a = begin(), b = other.begin(); a != end(); ++a, ++b)
      if (*a != *b) return false;
    return true;
  }

 private:
  struct Place : Wants {
    UserId user = no_user;  // no_user: the place is free
    Spot before = nowhere;
    Spot next = nowhere;  // of a free place: another one
  };

  Spot room() {
    if (free_ != nowhere) {
      const auto spot = free_;
      free_ = places_[spot].next;
      return spot;
    }
    places_.emplace_back();
    return static_cast<Spot>(places_.size() - 1);
  }
  void take(Spot spot) {
    const auto place = places_[spot];
    (place.before == nowhere ? first_ : places_[place.before].next) = place.next;
    (place.next == nowhere ? last_ : places_[place.next].before) = place.before;
    places_[spot] = {{}, no_user, nowhere, free_};
    free_ = spot;
    if (--size_ > 0) return;
    // What a crowd needed is given back.
    if (places_.size() > 64) {
      places_ = {};
    } else {
      places_.clear();
    }
    free_ = nowhere;
  }

  std::vector<Place> places_;
  Spot first_ = nowhere, last_ = nowhere, free_ = nowhere;
  std::uint32_t size_ = 0;
};

using Line = LineOf<NoWants>;

}  // namespace turno::cluster
