// What one step of a protocol wants done. Effects are recorded, never performed: the simulator, the
// checker and the network each perform them in their own way, and a unit test compares them.
// Order of performance: timers, then the sends in the order recorded, then the grant.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <span>

#include "core/assert.h"
#include "core/demand.h"
#include "core/fence.h"
#include "core/node_id.h"

namespace turno {

// An alarm set (again), or no longer wanted.
struct Alarm {
  static constexpr std::int64_t never = -1;
  std::uint8_t timer = 0;  // which of the protocol's timers
  std::int64_t delay_ns = never;
  bool operator==(const Alarm&) const = default;
};

template <class Message>
class Effects {
 public:
  struct Send {
    NodeId to;  // `everyone` for a broadcast
    Message message;
    bool operator==(const Send&) const = default;
  };
  static constexpr NodeId everyone{0xfffffffe};

  void send(NodeId to, const Message& message) { sends_.push_back({to, message}); }
  // To every node but the sender.
  void broadcast(const Message& message) { sends_.push_back({everyone, message}); }
  // The local user is inside from now on. At most once in a step. If the node has several users of
  // its own, it says which.
  void grant(Fence fence, std::uint32_t user = 0) {
    TURNO_ASSERT(!grant_);
    grant_ = fence;
    user_ = user;
  }
  // A local user that only tried does not get in.
  void refuse(std::uint32_t user) { refused_ = user; }

  // The same for what has several units, of which this grant gives some.
  void grant(std::span<const Unit> units, std::uint32_t user = 0) {
    TURNO_ASSERT(!grant_ && !units.empty());
    user_ = user;
    units_.assign(units.begin(), units.end());
    grant_ = units.front().fence;
    for (const auto& unit : units) grant_ = std::max(*grant_, unit.fence);
  }
  void grant(const Unit& unit) { grant(std::span(&unit, 1)); }

  // The timer expires once, so much later. One that is armed already is set anew.
  void arm(std::uint8_t timer, std::int64_t delay_ns) { alarms_.push_back({timer, delay_ns}); }
  void disarm(std::uint8_t timer) { alarms_.push_back({timer}); }

  void clear() {
    sends_.clear();
    grant_.reset();
    user_ = 0;
    refused_.reset();
    units_.clear();
    alarms_.clear();
  }
  [[nodiscard]] const auto& sends() const { return sends_; }
  // Each message with its addressee; a broadcast is one to each of so many nodes but the sender.
  template <class Visit>
  void for_each_send(NodeId from, std::size_t nodes, Visit visit) const {
    for (const auto& send : sends_) {
      if (send.to != everyone) {
        visit(send.to, send.message);
        continue;
      }
      for (std::size_t i = 0; i < nodes; ++i)
        if (NodeId{i} != from) visit(NodeId{i}, send.message);
    }
  }
  // The fence of the grant; of several units, the largest.
  [[nodiscard]] const std::optional<Fence>& granted() const { return grant_; }
  [[nodiscard]] const auto& units() const { return units_; }  // of a lock or a room: empty
  [[nodiscard]] std::uint32_t user() const { return user_; }  // to whom it is granted
  [[nodiscard]] const std::optional<std::uint32_t>& refused() const { return refused_; }
  [[nodiscard]] const auto& alarms() const { return alarms_; }
  bool operator==(const Effects&) const = default;

 private:
  boost::container::small_vector<Send, 4> sends_;
  std::optional<Fence> grant_;
  std::uint32_t user_ = 0;
  std::optional<std::uint32_t> refused_;
  boost::container::small_vector<Unit, 1> units_;
  boost::container::small_vector<Alarm, 2> alarms_;
};

}  // namespace turno
