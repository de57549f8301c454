// Central coordinator (lecture slides, PUCRS, 186).
//
// One node, the coordinator, keeps the holder and a queue of those who wait. It is also a client;
// its own calls cost no message.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: 3(N-1)/N.
#pragma once

#include "core/container/queue.h"
#include "core/protocol.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct Central {
  static constexpr Info info{.name = "central",
                             .title = "a coordinator grants in the order of arrival",
                             .source = "lecture slides, PUCRS",
                             .low = "3(N-1)/N",
                             .high = "3(N-1)/N"};

  struct Message {
    enum class Kind : std::uint8_t { request, grant, release } kind = Kind::request;
    Fence fence;
    static constexpr std::array<std::string_view, 3> kinds = {"request", "grant", "release"};
    static constexpr std::array<std::string_view, 2> labels = {"kind", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self, coordinator;
  NodeId holder;        // at the coordinator only, like the rest
  Queue<NodeId> queue;  // who waits
  Fence fence;          // of the last grant

  static constexpr std::array<std::string_view, 3> labels = {"holder", "queue", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(holder, queue, fence); }
  bool operator==(const Central&) const = default;

  static Central resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Central node;
    node.self = self;
    node.coordinator = setup.root();
    if (self != node.coordinator) return node;
    node.fence = Fence::at(setup.epoch);
    if (!holdings.empty()) node.holder = holdings.front().seat;
    return node;
  }

  static double alone(const Setup& setup) { return 3 * (1 - 1 / nodes_of(setup)); }

  void request(Demand, Out& out) {
    if (self == coordinator) {
      admit(self, out);
    } else {
      out.send(coordinator, {.kind = Kind::request});
    }
  }

  void release(Out& out) {
    if (self == coordinator) {
      next(out);
    } else {
      out.send(coordinator, {.kind = Kind::release});
    }
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        TURNO_ASSERT(self == coordinator);
        return admit(from, out);
      case Kind::grant:
        TURNO_ASSERT(self != coordinator && from == coordinator);
        return out.grant(message.fence);
      case Kind::release:
        TURNO_ASSERT(self == coordinator && from == holder);
        return next(out);
    }
  }

 private:
  void admit(NodeId node, Out& out) {
    if (holder == nobody) {
      serve(node, out);
    } else {
      queue.push(node);
    }
  }

  void next(Out& out) {
    holder = nobody;
    if (!queue.empty()) serve(queue.pop(), out);
  }

  void serve(NodeId node, Out& out) {
    holder = node;
    fence = fence.next();
    if (node == self) {
      out.grant(fence);
    } else {
      out.send(node, {.kind = Kind::grant, .fence = fence});
    }
  }
};

}  // namespace turno::protocols
