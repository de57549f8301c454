// NxR-BH (ours): NxR-B with unlimited claims in the token and a directory hint.
//
// One node, the hub, is told of requests by those who know that they are out of date, and forwards
// them to the newest requester it knows of. It holds no queue and no right: a wrong hint costs
// messages, never safety.
//
// A claim that passes the hub gets a stamp, larger than all before. The token carries the largest
// stamp already served. A node may point to the hub (`off`) only if it handed on a claim newer than
// that: then it is not on the hub's path, and pointing at the hub closes no cycle.
//
// Three rules are necessary and each is an ablation here that the checker refutes: the stamp test,
// the limit on hops (else a request may chase the token for ever), carried claims before local
// ones.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: (N-1)(3N-2)/N^2 when
// nobody competes, 2 when everybody does; waits like Naimi-Trehel. The token carries up to N
// claims.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/container/queue.h"
#include "core/protocol.h"
#include "protocols/mutex/token/virtual_tree.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct NxrBh {
  static constexpr Info info{.name = "nxr-bh",
                             .title = "nxr-b with a hub that knows the newest requester",
                             .source = "ours, after nxr",
                             .shape = Shape::tree,
                             .overlap = Overlap::before_leaving,
                             .low = "(N-1)(3N-2)/N^2",
                             .high = "2"};
  enum class Without : std::uint8_t { nothing, stamp_test, hop_limit, carried_first };
  static constexpr std::array departures = {
      Departure{"stamp-test",
                "a node always points to the hub after a hand-over: a request can reach its own "
                "sender",
                "--nodes 4 --forever"},
      Departure{"hop-limit", "a request may chase the token for ever", "--nodes 4 --forever"},
      Departure{"carried-first", "claims absorbed while waiting go before carried ones: starvation",
                "--nodes 4 --forever"},
  };

  struct Claim {
    NodeId node;
    Stamp stamp;  // none: has not passed the hub
    [[nodiscard]] auto fields() const { return std::tie(node, stamp); }
    bool operator==(const Claim&) const = default;
  };
  using Claims = boost::container::small_vector<Claim, 3>;

  struct Message {
    enum class Kind : std::uint8_t { request, token } kind = Kind::request;
    Claim claim;             // request: who asks
    std::uint32_t hops = 0;  // request: how often it was forwarded, up to N
    Claims claims;           // token: to serve after the receiver
    Stamp served;            // token: the largest stamp already served
    Fence fence;             // token: of the last grant
    static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
    static constexpr std::array<std::string_view, 6> labels = {"kind",   "claim",  "hops",
                                                               "claims", "served", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, claim, hops, claims, served, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self, hub;
  std::uint32_t nodes = 0;
  Without without = Without::nothing;
  NodeId father;     // itself: a root, which waits or has the token
  bool off = false;  // ask the hub, not the father
  bool token = false;
  bool using_it = false;  // inside
  Queue<Claim, 3> queue;  // claims to serve, the own among them
  Stamp newest;           // at the hub: the last stamp given
  Stamp served;           // while the token is here, like the fence
  Fence fence;

  static constexpr std::array<std::string_view, 8> labels = {"father", "off",    "token",  "using",
                                                             "queue",  "newest", "served", "fence"};
  [[nodiscard]] auto fields() const {
    return std::tie(father, off, token, using_it, queue, newest, served, fence);
  }
  bool operator==(const NxrBh&) const = default;

  static NxrBh resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    NxrBh node;
    node.self = self;
    node.hub = setup.root();
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.without = static_cast<Without>(setup.departure);
    const auto rest = resting_place(setup, holdings);
    node.father = holdings.empty() ? setup.father[self.index()] : rest;
    if (self != rest) return node;
    node.token = true;
    node.fence = Fence::at(setup.epoch);
    if (holdings.empty()) return node;
    node.using_it = true;
    node.queue.push({self, {}});
    return node;
  }

  // As for a directory: measured, it agrees with the formula of `dir` for N = 3 to 31.
  static double alone(const Setup& setup) {
    const auto n = nodes_of(setup);
    return (n - 1) * (3 * n - 2) / (n * n);
  }

  // A user that wants in again does well to ask before it leaves: its claim then travels with the
  // token.
  void request(Demand, Out& out) {
    const bool first = queue.empty();
    queue.push({self, {}});
    if (!first) return;
    if (token) return enter(out);
    const Stamp stamp = self == hub ? stamp_next() : Stamp{};
    out.send(off ? hub : father, {.kind = Kind::request, .claim = {self, stamp}});
    father = self;
  }

  void release(Out& out) {
    queue.pop();
    using_it = false;
    serve(out);
  }

  void receive(NodeId, const Message& message, Out& out) {
    if (message.kind == Kind::token) return accept(message, out);
    TURNO_ASSERT(message.claim.node != nobody && message.claim.node != self);
    if (token && !using_it) {
      queue.push(message.claim);
      serve(out);
    } else if (!queue.empty()) {
      queue.push(message.claim);
    } else {
      forward(message, out);
    }
  }

  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message& message) { return message.kind == Kind::token; }
  template <class Visit>
  static void for_each_claim(const Message& message, Visit visit) {
    if (message.kind == Kind::request) visit(message.claim.node);
    for (const auto& claim : message.claims) visit(claim.node);
  }
  static std::string_view broken_invariant(const Snapshot<NxrBh>& world) {
    const auto hub = world.nodes.front().hub;
    auto at = hub;
    for (std::size_t i = 0; i <= world.nodes.size(); ++i) {
      const auto& node = world.nodes[at.index()];
      if (node.father == at) break;
      if (node.off) return "I9: a node that asks the hub is not on the hub's path";
      at = node.father;
    }
    return broken_virtual_tree(world);
  }

 private:
  Stamp stamp_next() {
    newest = newest.next();
    return newest;
  }

  void forward(const Message& message, Out& out) {
    auto onward = message;
    onward.hops = std::min(message.hops + 1, nodes);
    if (self == hub && !onward.claim.stamp.any()) onward.claim.stamp = stamp_next();
    out.send(father, onward);
    father = message.claim.node;
    if (self == hub) return;
    if (onward.claim.stamp.any()) {
      off = true;
    } else if (onward.hops >= nodes && without != Without::hop_limit) {
      off = false;
    }
  }

  void accept(const Message& message, Out& out) {
    TURNO_ASSERT(!token && !queue.empty());
    TURNO_ASSERT(std::none_of(message.claims.begin(), message.claims.end(),
                              [](const Claim& claim) { return claim.node == nobody; }));
    token = true;
    served = message.served;
    fence = message.fence;
    if (without == Without::carried_first) {
      queue.append(message.claims);
    } else {
      const auto own = queue.pop();
      const auto absorbed = queue;
      queue.clear();
      queue.push(own);
      queue.append(message.claims);
      queue.append(absorbed);
    }
    serve(out);
  }

  void serve(Out& out) {
    if (queue.empty()) return;
    if (queue.front().node == self) return enter(out);
    auto next = queue.pop();
    Claims claims(queue.begin(), queue.end());
    queue.clear();
    const bool own = std::any_of(claims.begin(), claims.end(),
                                 [&](const Claim& claim) { return claim.node == self; });
    auto& last = claims.empty() ? next : claims.back();
    if (self == hub && !own) last.stamp = stamp_next();
    Stamp largest = next.stamp;
    for (const auto& claim : claims) largest = std::max(largest, claim.stamp);
    if (own) {
      queue.push({self, {}});  // its claim travels in the token; it still waits
    } else {
      father = last.node;
      if (self != hub) off = largest > served || without == Without::stamp_test;
    }
    out.send(next.node, {.kind = Kind::token,
                         .claims = claims,
                         .served = std::max(served, next.stamp),
                         .fence = fence});
    token = false;
    served = {};
    fence = {};
  }

  void enter(Out& out) {
    using_it = true;
    fence = fence.next();
    out.grant(fence);
  }
};

}  // namespace turno::protocols
