// What one step of a protocol wants done. Effects are recorded, never performed: the simulator, the
// checker and the network each perform them in their own way, and a unit test compares them.
// Order of performance: the sends in the order recorded, then the grant.
#pragma once

#include <boost/container/small_vector.hpp>
#include <optional>

#include "core/assert.h"
#include "core/fence.h"
#include "core/node_id.h"

namespace turno {

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
  // The local user is inside from now on. At most once in a step.
  void grant(Fence fence) {
    TURNO_ASSERT(!grant_);
    grant_ = fence;
  }

  void clear() {
    sends_.clear();
    grant_.reset();
  }
  [[nodiscard]] const auto& sends() const { return sends_; }
  [[nodiscard]] const std::optional<Fence>& granted() const { return grant_; }
  bool operator==(const Effects&) const = default;

 private:
  boost::container::small_vector<Send, 4> sends_;
  std::optional<Fence> grant_;
};

}  // namespace turno
