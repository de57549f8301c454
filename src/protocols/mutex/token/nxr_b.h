// NxR-B (ours): NxR whose token carries up to B further claims, so that it goes from one to the
// next instead of back and forth. B = 0 is NxR.
//
// The father of a node that hands everything over becomes the last of those claims: with the first
// one instead, two nodes can keep absorbing each other's requests in front of a third for ever.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: H(N-1) when nobody
// competes, about 2 when everybody does; waits like Naimi-Trehel.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <limits>

#include "core/container/queue.h"
#include "core/protocol.h"
#include "protocols/mutex/token/virtual_tree.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct NxrB {
  static constexpr Info info{.name = "nxr-b",
                             .title = "nxr whose token carries claims along",
                             .source = "ours, after nxr",
                             .shape = Shape::tree,
                             .overlap = Overlap::before_leaving,
                             .low = "H(N-1)",
                             .high = "2"};
  static constexpr std::array departures = {
      Departure{"last-father",
                "the father becomes the first claim handed over, not the last: two "
                "nodes can starve a third",
                "--nodes 3 --forever"},
  };

  struct Config {
    std::uint32_t carry = std::numeric_limits<std::uint32_t>::max();  // B
  };

  using Claims = boost::container::small_vector<NodeId, 4>;

  struct Message {
    enum class Kind : std::uint8_t { request, token } kind = Kind::request;
    NodeId node;    // request: who asks; token: whom to give it back to, or nobody
    Claims claims;  // to serve after the receiver, in the token
    Fence fence;    // of the last grant, in the token
    static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
    static constexpr std::array<std::string_view, 4> labels = {"kind", "node", "claims", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, node, claims, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  std::uint32_t carry = 0;  // claims that the token may carry
  bool without_last_father = false;
  NodeId father;  // itself: a root, which waits or has the token
  bool token = false;
  bool using_it = false;  // inside
  Queue<NodeId> queue;    // claims to serve, the own among them
  Fence fence;            // of the last grant, while the token is here

  static constexpr std::array<std::string_view, 5> labels = {"father", "token", "using", "queue",
                                                             "fence"};
  [[nodiscard]] auto fields() const { return std::tie(father, token, using_it, queue, fence); }
  bool operator==(const NxrB&) const = default;

  static NxrB resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    NxrB node;
    node.self = self;
    node.carry = setup.config<Config>().carry;
    node.without_last_father = setup.departure == 1;
    const auto rest = resting_place(setup, holdings);
    node.father = holdings.empty() ? setup.father[self.index()] : rest;
    if (self != rest) return node;
    node.token = true;
    node.fence = Fence::at(setup.epoch);
    if (holdings.empty()) return node;
    node.using_it = true;
    node.queue.push(self);
    return node;
  }

  static double alone(const Setup& setup) { return harmonic(setup.size() - 1); }

  // A user that wants in again does well to ask before it leaves: its claim then travels with the
  // token.
  void request(Demand, Out& out) {
    const bool first = queue.empty();
    queue.push(self);
    if (!first) return;
    if (token) return enter(out);
    out.send(father, {.kind = Kind::request, .node = self});
    father = self;
  }

  void release(Out& out) {
    queue.pop();
    using_it = false;
    serve(out);
  }

  void receive(NodeId, const Message& message, Out& out) {
    if (message.kind == Kind::token) {
      TURNO_ASSERT(!token && !queue.empty());
      token = true;
      fence = message.fence;
      TURNO_ASSERT(std::find(message.claims.begin(), message.claims.end(), nobody) ==
                   message.claims.end());
      queue.append(message.claims);
      if (message.node != nobody) queue.push(message.node);
      return serve(out);
    }
    TURNO_ASSERT(message.node != nobody && message.node != self);
    if (token && !using_it) {
      queue.push(message.node);
      serve(out);
    } else if (!queue.empty()) {
      queue.push(message.node);
    } else {
      out.send(father, message);
      father = message.node;
    }
  }

  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message& message) { return message.kind == Kind::token; }
  template <class Visit>
  static void for_each_claim(const Message& message, Visit visit) {
    for (auto node : message.claims) visit(node);
    if (message.node != nobody) visit(message.node);
  }
  static std::string_view broken_invariant(const Snapshot<NxrB>& world) {
    return broken_virtual_tree(world);
  }

 private:
  void serve(Out& out) {
    if (queue.empty()) return;
    if (queue.front() == self) return enter(out);
    const auto next = queue.pop();
    Claims claims;
    bool own = false;
    while (!queue.empty() && claims.size() < carry) {
      claims.push_back(queue.pop());
      own = own || claims.back() == self;
    }
    const bool root = own || !queue.empty();
    out.send(next, {.kind = Kind::token,
                    .node = root && !own ? self : nobody,
                    .claims = claims,
                    .fence = fence});
    token = false;
    fence = {};
    if (own) {
      // Its claim travels in the token; it still waits, so its own entry stays at the head.
      Queue<NodeId> rest{self};
      rest.append(queue);
      queue = rest;
    }
    if (!root) father = claims.empty() || without_last_father ? next : claims.back();
  }

  void enter(Out& out) {
    using_it = true;
    fence = fence.next();
    out.grant(fence);
  }
};

}  // namespace turno::protocols
