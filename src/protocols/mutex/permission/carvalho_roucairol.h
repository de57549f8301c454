// Carvalho and Roucairol, "On mutual exclusion in computer networks", 1983.
//
// Ricart and Agrawala's algorithm in which an answer is a permission that stays until its giver
// asks for it back: a node asks only those whose permission it lacks. A node that waits and must
// give a permission away to an older request asks for it again at once.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: 0 to 2(N-1). Times do not
// order the entries here (a node that re-enters asks nobody), so the permissions carry the fence.
#pragma once

#include <algorithm>

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct CarvalhoRoucairol {
  static constexpr Info info{.name = "carvalho-roucairol",
                             .title = "ricart-agrawala with permissions that stay until asked back",
                             .source = "Carvalho, Roucairol 1983",
                             .growing = true,
                             .low = "N-1",
                             .high = "2(N-1)"};

  struct Message {
    enum class Kind : std::uint8_t { request, permission } kind = Kind::request;
    std::uint64_t time = 0;  // of the request
    Fence fence;             // the largest the giver knows of
    static constexpr std::array<std::string_view, 2> kinds = {"request", "permission"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "time", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, time, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, inside };

  NodeId self;
  std::uint32_t nodes = 0;
  LamportClock clock;
  Phase phase = Phase::idle;
  std::uint64_t time = 0;  // of the own request
  NodeSet permitted;       // whose permission this node has
  NodeSet deferred;        // who gets this node's permission after the exit
  Fence fence;             // the largest known

  static constexpr std::array<std::string_view, 6> labels = {"clock",     "phase",    "time",
                                                             "permitted", "deferred", "fence"};
  [[nodiscard]] auto fields() const {
    return std::tie(clock, phase, time, permitted, deferred, fence);
  }
  bool operator==(const CarvalhoRoucairol&) const = default;

  static CarvalhoRoucairol resume(const Setup& setup, NodeId self,
                                  std::span<const Holding> holdings) {
    CarvalhoRoucairol node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.fence = Fence::at(setup.epoch);
    if (holdings.empty() || holdings.front().seat != self) return node;
    node.phase = Phase::inside;
    node.for_each_other([&](NodeId other) { node.permitted.insert(other); });
    return node;
  }

  static double alone(const Setup& setup) { return nodes_of(setup) - 1; }

  void request(Demand, Out& out) {
    phase = Phase::waiting;
    time = clock.tick();
    for_each_other([&](NodeId other) {
      if (!permitted.contains(other)) out.send(other, {.kind = Kind::request, .time = time});
    });
    enter_if_permitted(out);
  }

  void release(Out& out) {
    phase = Phase::idle;
    time = 0;
    deferred.for_each([&](NodeId other) { permit(other, out); });
    deferred.clear();
  }

  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind == Kind::permission) {
      TURNO_ASSERT(phase == Phase::waiting && !permitted.contains(from));
      permitted.insert(from);
      fence = std::max(fence, message.fence);
      return enter_if_permitted(out);
    }
    TURNO_ASSERT(!deferred.contains(from));  // it waits for the answer to its last
    clock.observe(message.time);
    const bool mine_first = Priority{time, self} < Priority{message.time, from};
    if (phase == Phase::inside || (phase == Phase::waiting && mine_first)) {
      deferred.insert(from);
      return;
    }
    const bool give_up = phase == Phase::waiting && permitted.contains(from);
    permit(from, out);
    if (give_up) out.send(from, {.kind = Kind::request, .time = time});
  }

 private:
  template <class Visit>
  void for_each_other(Visit visit) const {
    for (std::size_t i = 0; i < nodes; ++i)
      if (NodeId{i} != self) visit(NodeId{i});
  }

  void permit(NodeId other, Out& out) {
    permitted.erase(other);
    out.send(other, {.kind = Kind::permission, .fence = fence});
  }

  void enter_if_permitted(Out& out) {
    if (permitted.size() != nodes - 1) return;
    phase = Phase::inside;
    fence = fence.next();
    out.grant(fence);
  }
};

}  // namespace turno::protocols
