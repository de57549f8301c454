// The vote of one arbiter: who asks for it, who has it, and whether it has been asked back.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <tuple>

#include "core/assert.h"
#include "core/clock/lamport_clock.h"

namespace turno::protocols {

class Votes {
 public:
  void add(const Priority& request) {
    queue_.insert(std::lower_bound(queue_.begin(), queue_.end(), request), request);
  }
  // Removes a request, and its vote with it: true if it had the vote.
  bool remove(const Priority& request) {
    const auto found = std::find(queue_.begin(), queue_.end(), request);
    if (found == queue_.end()) return false;
    queue_.erase(found);
    if (holder_ != request) return false;
    holder_ = {};
    recalled_ = false;
    return true;
  }
  // Gives the vote to the best request. It stays in the queue.
  Priority cast() {
    TURNO_ASSERT(waiting());
    holder_ = queue_.front();
    recalled_ = false;
    return holder_;
  }
  // Marks the vote as asked back and says from whom.
  Priority recall() {
    recalled_ = true;
    return holder_;
  }

  [[nodiscard]] bool waiting() const { return !queue_.empty(); }
  [[nodiscard]] bool asks(const Priority& request) const {
    return std::find(queue_.begin(), queue_.end(), request) != queue_.end();
  }
  [[nodiscard]] bool cast_any() const { return holder_.node != nobody; }
  [[nodiscard]] const Priority& holder() const { return holder_; }
  [[nodiscard]] const auto& queue() const { return queue_; }
  [[nodiscard]] bool recalled() const { return recalled_; }
  [[nodiscard]] bool should_recall() const {
    return cast_any() && queue_.front() < holder_ && !recalled_;
  }
  [[nodiscard]] bool consistent() const {
    if (!cast_any()) return queue_.empty();
    return std::find(queue_.begin(), queue_.end(), holder_) != queue_.end();
  }

  [[nodiscard]] auto fields() const { return std::tie(queue_, holder_, recalled_); }
  bool operator==(const Votes&) const = default;

 private:
  boost::container::small_vector<Priority, 4>
      queue_;  // oldest first, the holder's request included
  Priority holder_;
  bool recalled_ = false;
};

}  // namespace turno::protocols
