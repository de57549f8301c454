// One node of an algorithm whose type is forgotten: bytes in, bytes out. All that moves actors
// (host.h) and judges them (judge.h) is compiled once, whatever the algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol.h"
#include "core/text/trace.h"
#include "sim/histogram.h"

namespace turno::field {

using sim::Time;

// What happens to a node.
struct Stimulus {
  EventKind kind = EventKind::start;
  NodeId from;             // of a message, or to whom it could not be delivered; who is suspected
  std::string_view bytes;  // of a message
  Demand demand{};
  std::uint32_t number = 0;  // which timer, which choice
  Time now = 0;
};

// What it wants done.
struct Response {
  struct Send {
    NodeId to;
    std::uint8_t kind = 0;  // of the message
    Carries carries = Carries::other;
    bool preempts = false, declares = false;
    std::string bytes;
  };
  std::vector<Alarm> alarms;
  std::vector<Send> sends;
  std::optional<Fence> fence;  // it is granted
  std::vector<Unit> units;
};

class Actor {
 public:
  virtual ~Actor() = default;
  virtual void step(const Stimulus& stimulus, Response& response) = 0;

  [[nodiscard]] virtual std::uint32_t choices() const = 0;
  [[nodiscard]] virtual std::string choice_name(std::uint32_t choice) const = 0;
  // All that may change, if the algorithm is judged by what its nodes know; else nothing.
  [[nodiscard]] virtual std::string state() const = 0;
  // What a crash leaves, if the node may come back.
  [[nodiscard]] virtual std::string stable() const = 0;
  // Becomes what crashed and left that.
  virtual void revive(std::string_view stable) = 0;
  // Whom it suspects; null if it does not say.
  [[nodiscard]] virtual const NodeSet* suspects() const = 0;
  [[nodiscard]] virtual bool detects_crashes() const = 0;
};

// All nodes as a judge sees them afterwards, for algorithms that have a goal and no users.
class Assembly {
 public:
  virtual ~Assembly() = default;
  virtual void set(NodeId node, std::string_view state, Time now) = 0;
  virtual void crash(NodeId node, Time now) = 0;
  virtual void recover(NodeId node, Time now) = 0;
  [[nodiscard]] virtual std::string wrong() const = 0;
  [[nodiscard]] virtual const sim::Histogram& settlings() const = 0;
  // How many found out, or were told, that they are deadlocked.
  [[nodiscard]] virtual std::uint64_t deadlocked() const = 0;
};

struct Cast {
  Info info;
  std::span<const std::string_view> kinds, timers;  // names
  bool mortal = false, suspecting = false, bouncing = false, recoverable = false, costed = false;
  std::unique_ptr<Actor> (*make)(const Setup&, NodeId) = nullptr;
  std::unique_ptr<Assembly> (*assemble)(const Setup&) = nullptr;  // null: it has users
  TraceMessage (*trace)(NodeId from, NodeId to, std::string_view bytes) = nullptr;
};

// Null if there is none of that name. `published`: what is printed, where it can be run.
const Cast* find_cast(std::string_view name, bool published = false);

}  // namespace turno::field
