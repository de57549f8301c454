// NxR: Perez Rojas and Orellana, "Un nuevo algoritmo distribuido de exclusion mutua que minimiza el
// intercambio de mensajes", 2005, corrected.
//
// Requests climb the fathers as in Naimi-Trehel, but only to the first node that itself waits; that
// node takes them into its queue as in Raymond and asks the token back until its queue is empty.
//
// The printed figure has four mistakes (see as_published/nxr.h); `serve` here replaces its lines
// (c)3-12 and (d)3-11. The variable tokenDemanded is not needed: it says that the queue is not
// empty.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: H(N-1) when nobody
// competes, about 2.5 when everybody always does.
#pragma once

#include "core/container/queue.h"
#include "core/protocol.h"
#include "protocols/mutex/token/virtual_tree.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct Nxr {
  static constexpr Info info{.name = "nxr",
                             .title = "Naimi's forest routes requests, Raymond's queues serve them",
                             .source = "Perez Rojas, Orellana 2005, corrected",
                             .shape = Shape::tree,
                             .overlap = Overlap::any,
                             .low = "H(N-1)",
                             .high = "about 2.5"};

  struct Message {
    enum class Kind : std::uint8_t { request, token } kind = Kind::request;
    NodeId node;  // request: who asks; token: whom to give it back to, or nobody
    Fence fence;  // of the last grant, in the token
    static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "node", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, node, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  NodeId father;          // itself: a root, which waits or has the token
  bool token = false;     // haveToken
  bool using_it = false;  // usingToken: inside
  Queue<NodeId> queue;    // claims to serve, the own among them
  Fence fence;            // of the last grant, while the token is here

  static constexpr std::array<std::string_view, 5> labels = {"father", "token", "using", "queue",
                                                             "fence"};
  [[nodiscard]] auto fields() const { return std::tie(father, token, using_it, queue, fence); }
  bool operator==(const Nxr&) const = default;

  static Nxr resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Nxr node;
    node.self = self;
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
      if (message.node != nobody) queue.push(message.node);  // erratum F1: never enqueue nobody
      return serve(out);
    }
    TURNO_ASSERT(message.node != nobody && message.node != self);
    if (token && !using_it) {
      hand_over(message.node, nobody, out);
      father = message.node;
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
    if (message.node != nobody) visit(message.node);
  }
  static std::string_view broken_invariant(const Snapshot<Nxr>& world) {
    return broken_virtual_tree(world);
  }

 private:
  void serve(Out& out) {
    if (queue.empty()) return;                     // an idle holder stays root
    if (queue.front() == self) return enter(out);  // erratum F5: also after its own exit
    const auto next = queue.pop();
    const bool done = queue.empty();
    hand_over(next, done ? nobody : self, out);  // errata F2, F3: the token leaves in both cases
    if (done) father = next;                     // erratum F4: only then
  }

  void enter(Out& out) {
    using_it = true;
    fence = fence.next();
    out.grant(fence);
  }

  void hand_over(NodeId to, NodeId give_back_to, Out& out) {
    out.send(to, {.kind = Kind::token, .node = give_back_to, .fence = fence});
    token = false;
    fence = {};
  }
};

}  // namespace turno::protocols
