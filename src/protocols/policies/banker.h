// Avoidance: Dijkstra's banker, for several types of resources and declared claims (1965; for
// several types Habermann 1969).
//
// A state is safe if all can still finish in some order, even if each asks for its whole claim
// first. A request is granted if what remains is safe; so no deadlock comes about. It costs a
// claim declared beforehand, and a search of O(processes^2 * types) a request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/assert.h"

namespace turno::protocols {

class Banker {
 public:
  using Amounts = std::vector<std::uint32_t>;  // one for each type of resource

  // What becomes of a request. Too much: beyond its claim, or beyond what exists. Wait: not all of
  // it is there. Unsafe: it is there, but then somebody might never finish.
  enum class Answer : std::uint8_t { granted, wait, unsafe, too_much };

  explicit Banker(Amounts total) : total_(total), free_(std::move(total)) {}

  // In the middle of things: the processes have declared and hold this.
  static Banker resume(const Amounts& total, const std::vector<Amounts>& claims,
                       const std::vector<Amounts>& held) {
    Banker banker(total);
    for (std::size_t process = 0; process < claims.size(); ++process) {
      TURNO_ASSERT(banker.admit(claims[process]));
      TURNO_ASSERT(fits(held[process], claims[process]) && fits(held[process], banker.free_));
      move(held[process], banker.free_, banker.held_[process]);
    }
    return banker;
  }

  // A new process, which will never hold more than this at once. False: nobody could grant it.
  bool admit(const Amounts& claim) {
    if (!fits(claim, total_)) return false;
    claims_.push_back(claim);
    held_.emplace_back(total_.size(), 0);
    return true;
  }

  Answer request(std::size_t process, const Amounts& more) {
    if (!fits(more, remaining(process))) return Answer::too_much;
    if (!fits(more, free_)) return Answer::wait;
    move(more, free_, held_[process]);
    if (safe()) return Answer::granted;
    move(more, held_[process], free_);
    return Answer::unsafe;
  }

  // REQUIRES: the process holds as much.
  void release(std::size_t process, const Amounts& back) {
    TURNO_ASSERT(fits(back, held_[process]));
    move(back, held_[process], free_);
  }

  // Whether all can finish in some order. Whoever can finish now may go first: what it gives back
  // only helps the others, so no choice is ever wrong.
  [[nodiscard]] bool safe() const {
    auto free = free_;
    std::vector<bool> finished(held_.size(), false);
    for (std::size_t left = held_.size(); left > 0; --left) {
      const auto next = one_that_can_finish(finished, free);
      if (next == held_.size()) return false;
      finished[next] = true;
      add(held_[next], free);
    }
    return true;
  }

  // What it may still ask for.
  [[nodiscard]] Amounts remaining(std::size_t process) const {
    auto rest = claims_[process];
    for (std::size_t type = 0; type < rest.size(); ++type) rest[type] -= held_[process][type];
    return rest;
  }
  [[nodiscard]] std::size_t processes() const { return held_.size(); }
  [[nodiscard]] const Amounts& free() const { return free_; }
  [[nodiscard]] const Amounts& held(std::size_t process) const { return held_[process]; }

  [[nodiscard]] static bool fits(const Amounts& part, const Amounts& whole) {
    TURNO_ASSERT(part.size() == whole.size());
    return std::equal(part.begin(), part.end(), whole.begin(), std::less_equal<>());
  }

  bool operator==(const Banker&) const = default;

 private:
  [[nodiscard]] std::size_t one_that_can_finish(const std::vector<bool>& finished,
                                                const Amounts& free) const {
    std::size_t process = 0;
    while (process < held_.size() && (finished[process] || !fits(remaining(process), free)))
      ++process;
    return process;
  }

  static void add(const Amounts& more, Amounts& to) {
    for (std::size_t type = 0; type < more.size(); ++type) to[type] += more[type];
  }
  static void move(const Amounts& what, Amounts& from, Amounts& to) {
    for (std::size_t type = 0; type < what.size(); ++type) from[type] -= what[type];
    add(what, to);
  }

  Amounts total_, free_;
  std::vector<Amounts> claims_, held_;  // of each process
};

}  // namespace turno::protocols
