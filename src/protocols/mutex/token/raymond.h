// Raymond, "A tree-based algorithm for distributed mutual exclusion", 1989.
//
// The nodes form a fixed tree in which each knows the neighbour nearer to the token (`holder`). A
// node asks once for all that wait in its queue, itself and its neighbours; the token travels back
// along the tree edges.
//
// Piggyback: a request that would follow a privilege to the same neighbour travels inside it.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: 2E[distance] when nobody
// competes, about 2 (2.5 with piggyback) when everybody always does.
#pragma once

#include "core/container/queue.h"
#include "core/protocol.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

template <bool Piggyback>
struct RaymondTree {
  static constexpr Info info{
      .name = Piggyback ? "raymond-piggyback" : "raymond",
      .title = Piggyback ? "raymond, a request after a privilege travels inside it"
                         : "a fixed tree; each node asks its neighbour for all that wait in it",
      .source = "Raymond 1989",
      .shape = Shape::tree,
      .low = "2E[d]",
      .high = Piggyback ? "about 2.5" : "about 2"};

  struct Message {
    enum class Kind : std::uint8_t { request, privilege } kind = Kind::request;
    bool asking = false;  // the privilege carries a request
    Fence fence;          // of the last grant, in the privilege
    static constexpr std::array<std::string_view, 2> kinds = {"request", "privilege"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "asking", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, asking, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = typename Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  NodeId holder;          // the neighbour nearer to the token, or this node
  bool using_it = false;  // inside
  bool asked = false;     // the holder has been asked
  Queue<NodeId> queue;    // who waits here: neighbours and this node
  Fence fence;            // of the last grant, while the token is here

  static constexpr std::array<std::string_view, 5> labels = {"holder", "using", "asked", "queue",
                                                             "fence"};
  [[nodiscard]] auto fields() const { return std::tie(holder, using_it, asked, queue, fence); }
  bool operator==(const RaymondTree&) const = default;

  static RaymondTree resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    RaymondTree node;
    node.self = self;
    node.holder = setup.father[self.index()];
    // On the path from the holder to the root the arrows are turned towards the holder.
    const auto rest = resting_place(setup, holdings);
    auto below = rest;
    for (auto at = rest;; below = at, at = setup.father[at.index()]) {
      if (at == self) node.holder = below;
      if (setup.father[at.index()] == at) break;
    }
    if (self == rest) {
      node.using_it = !holdings.empty();
      node.fence = Fence::at(setup.epoch);
    }
    return node;
  }

  static double alone(const Setup& setup) { return 2 * mean_distance(setup); }

  void request(Demand, Out& out) {
    queue.push(self);
    serve(out);
  }

  void release(Out& out) {
    using_it = false;
    serve(out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind == Kind::privilege) {
      TURNO_ASSERT(from == holder && asked && !queue.empty());
      holder = self;
      fence = message.fence;
      if (message.asking) queue.push(from);
    } else {
      queue.push(from);
    }
    serve(out);
  }

  [[nodiscard]] bool has_token() const { return holder == self; }
  static bool carries_token(const Message& message) { return message.kind == Kind::privilege; }

 private:
  void serve(Out& out) {
    if (holder == self && !using_it && !queue.empty()) {
      holder = queue.pop();
      asked = false;
      if (holder == self) {
        using_it = true;
        fence = fence.next();
        out.grant(fence);
      } else {
        asked = Piggyback && !queue.empty();
        out.send(holder, {.kind = Kind::privilege, .asking = asked, .fence = fence});
        fence = {};
      }
    }
    if (holder != self && !queue.empty() && !asked) {
      out.send(holder, {.kind = Kind::request});
      asked = true;
    }
  }
};

using Raymond = RaymondTree<false>;
using RaymondPiggyback = RaymondTree<true>;

}  // namespace turno::protocols
