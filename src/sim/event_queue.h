// The events of a simulation, in the order of time; equal times in the order of insertion. Time
// only moves forward: nothing is pushed before the last popped time.
//
// Two queues behind the same three calls. A 4-ary heap is the faster one with few pending events, a
// radix heap with many (bench/event_queue measures both); EventQueue takes the right one.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/assert.h"

namespace turno::sim {

using Time = std::int64_t;  // nanoseconds

struct Ticket {
  Time time;
  std::uint32_t slot;
};

// Children of i are 4i+1 .. 4i+4. A sequence number makes equal times keep their order.
class FourAryHeap {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  void push(Time time, std::uint32_t slot) {
    const Entry entry{static_cast<std::uint64_t>(time), (next_++ << 32) | slot};
    auto at = entries_.size();
    entries_.push_back(entry);
    while (at > 0) {
      const auto parent = (at - 1) / 4;
      if (!entry.before(entries_[parent])) break;
      entries_[at] = entries_[parent];
      at = parent;
    }
    entries_[at] = entry;
  }

  Ticket pop() {
    const auto top = entries_.front();
    const auto last = entries_.back();
    entries_.pop_back();
    const auto size = entries_.size();
    if (size > 0) {
      std::size_t at = 0;
      while (true) {
        const auto first = at * 4 + 1;
        if (first >= size) break;
        auto best = first;
        const auto end = first + 4 < size ? first + 4 : size;
        for (auto child = first + 1; child < end; ++child)
          if (entries_[child].before(entries_[best])) best = child;
        if (!entries_[best].before(last)) break;
        entries_[at] = entries_[best];
        at = best;
      }
      entries_[at] = last;
    }
    return {static_cast<Time>(top.time), static_cast<std::uint32_t>(top.order)};
  }

 private:
  struct Entry {
    std::uint64_t time;
    std::uint64_t order;  // sequence number and slot
    [[nodiscard]] bool before(const Entry& other) const {
      const auto key = [](const Entry& e) {
        return (static_cast<unsigned __int128>(e.time) << 64) | e.order;
      };
      return key(*this) < key(other);
    }
  };

  std::vector<Entry> entries_;
  std::uint64_t next_ = 0;
};

// Bucket b holds the times whose highest bit that differs from the last popped time is bit b-1;
// bucket 0 holds the last popped time itself. Entries of equal time are always in one bucket, and
// spreading a bucket keeps their order.
class RadixHeap {
 public:
  [[nodiscard]] bool empty() const { return occupied_ == 0 && head_ == buckets_[0].size(); }

  void push(Time time, std::uint32_t slot) { put({time, slot}); }

  Ticket pop() {
    if (head_ == buckets_[0].size()) spread();
    const auto top = buckets_[0][head_++];
    if (head_ == buckets_[0].size()) {
      buckets_[0].clear();
      head_ = 0;
    }
    return top;
  }

 private:
  void put(const Ticket& ticket) {
    const auto difference = static_cast<std::uint64_t>(ticket.time) ^ last_;
    const auto bucket = static_cast<std::size_t>(64 - std::countl_zero(difference));
    buckets_[bucket].push_back(ticket);
    if (bucket > 0) occupied_ |= std::uint64_t{1} << (bucket - 1);
  }

  void spread() {
    TURNO_ASSERT(occupied_ != 0);
    const auto lowest = static_cast<std::size_t>(std::countr_zero(occupied_)) + 1;
    occupied_ &= occupied_ - 1;
    auto& bucket = buckets_[lowest];
    auto least = bucket.front().time;
    for (const auto& ticket : bucket)
      if (ticket.time < least) least = ticket.time;
    last_ = static_cast<std::uint64_t>(least);
    for (const auto& ticket : bucket) put(ticket);  // each goes to a lower bucket
    bucket.clear();
  }

  std::array<std::vector<Ticket>, 65> buckets_;
  std::size_t head_ = 0;  // in bucket 0
  std::uint64_t occupied_ = 0;
  std::uint64_t last_ = 0;
};

// Events by value: tickets are sorted, events stay in their slot.
template <class Event>
class EventQueue {
 public:
  // `pending` is about how many events will be pending at a time.
  explicit EventQueue(std::size_t pending) : many_(pending > 512) { events_.reserve(pending); }

  [[nodiscard]] bool empty() const { return many_ ? radix_.empty() : heap_.empty(); }

  void push(Time time, Event&& event) {
    std::uint32_t slot = 0;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(events_.size());
      events_.push_back(std::move(event));
    } else {
      slot = free_.back();
      free_.pop_back();
      events_[slot] = std::move(event);
    }
    if (many_) {
      radix_.push(time, slot);
    } else {
      heap_.push(time, slot);
    }
  }

  std::pair<Time, Event> pop() {
    const auto ticket = many_ ? radix_.pop() : heap_.pop();
    free_.push_back(ticket.slot);
    return {ticket.time, std::move(events_[ticket.slot])};
  }

 private:
  bool many_;
  FourAryHeap heap_;
  RadixHeap radix_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> free_;
};

}  // namespace turno::sim
