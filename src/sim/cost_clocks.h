// Clocks that count what messages cost, not events: how much latency lies between a request and its
// grant, whatever the time inside and the time to think. docs/algorithms/grid.md compares them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/node_id.h"
#include "sim/event_queue.h"

namespace turno::sim {

// The latency on the longest chain of messages that leads to now. Lamport's clock with latencies
// for ticks: a message carries the sender's time and its own latency.
class CriticalPath {
 public:
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] Time after(Time latency) const { return now_ + latency; }
  void observe(Time arrived) { now_ = std::max(now_, arrived); }

 private:
  Time now_ = 0;
};

// How far a token has travelled since it was last at a node. It is the printed clock (below) put
// right: the times live in the token and nowhere else.
class Odometer {
 public:
  explicit Odometer(std::size_t nodes) : last_visit_(nodes) {}
  void travel(Time latency) { travelled_ += latency; }
  // The distance since the last visit there.
  Time visit(NodeId node) {
    return travelled_ - std::exchange(last_visit_[node.index()], travelled_);
  }

 private:
  Time travelled_ = 0;
  std::vector<Time> last_visit_;
};

// The latency on the chain of users through which resource tokens came, since the request. What is
// handed over after use has waited for its giver's chain too.
class ChainDistance {
 public:
  void begin_request() { distance_ = 0; }
  [[nodiscard]] Time answer(Time latency) const { return latency; }
  [[nodiscard]] Time payment(Time latency) const { return latency + distance_; }
  void observe(Time carried) { distance_ = std::max(distance_, carried); }
  [[nodiscard]] Time distance() const { return distance_; }

 private:
  Time distance_ = 0;
};

// The clock that Vieira Neto's thesis on grids prints (algorithm 15). It counts too much, and ever
// more: a receiver keeps the larger of two entries, so one that was reset comes back from others'
// copies; and a send raises the sender's own entries, so messages sent together are counted in a
// row.
class PrintedClock {
 public:
  using Times = std::vector<Time>;
  explicit PrintedClock(std::size_t nodes) : times_(nodes) {}
  // A message over a link of this latency carries what is returned.
  Times send(Time latency) {
    for (auto& time : times_) time += latency;
    return times_;
  }
  // Returns what the printed rule takes for the time that `self` has waited.
  Time receive(NodeId self, const Times& carried) {
    for (std::size_t i = 0; i < times_.size(); ++i) times_[i] = std::max(times_[i], carried[i]);
    times_[self.index()] = 0;
    return carried[self.index()];
  }

 private:
  Times times_;
};

}  // namespace turno::sim
