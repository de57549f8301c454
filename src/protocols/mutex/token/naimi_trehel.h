// Naimi, Trehel and Arnold, "A log(N) distributed mutual exclusion algorithm based on path
// reversal", 1996.
//
// A request climbs the fathers to the last requester, and every node on its way takes the requester
// as its new father. The last requester remembers whom to give the token `next`.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: H(N-1) when nobody competes
// (H is the harmonic number), O(log N) on average.
#pragma once

#include "core/protocol.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct NaimiTrehel {
  static constexpr Info info{.name = "naimi-trehel",
                             .title = "path reversal to the last requester, token to the next",
                             .source = "Naimi, Trehel, Arnold 1996",
                             .shape = Shape::tree,
                             .low = "H(N-1)",
                             .high = "O(log N)"};

  struct Message {
    enum class Kind : std::uint8_t { request, token } kind = Kind::request;
    NodeId origin;  // who requests
    Fence fence;    // of the last grant, in the token
    static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "origin", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, origin, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  NodeId father;            // nobody: this is the last requester, as far as it knows
  NodeId next;              // who gets the token after this node
  bool requesting = false;  // or inside
  bool token = false;
  Fence fence;  // of the last grant, while the token is here

  static constexpr std::array<std::string_view, 5> labels = {"father", "next", "requesting",
                                                             "token", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(father, next, requesting, token, fence); }
  bool operator==(const NaimiTrehel&) const = default;

  static NaimiTrehel resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    NaimiTrehel node;
    node.self = self;
    const auto rest = resting_place(setup, holdings);
    node.token = self == rest;
    node.requesting = node.token && !holdings.empty();
    if (node.token) node.fence = Fence::at(setup.epoch);
    if (!node.token) node.father = holdings.empty() ? setup.father[self.index()] : rest;
    return node;
  }

  static double alone(const Setup& setup) { return harmonic(setup.size() - 1); }

  void request(Demand, Out& out) {
    requesting = true;
    if (father == nobody) return enter(out);
    out.send(father, {.kind = Kind::request, .origin = self});
    father = nobody;
  }

  void release(Out& out) {
    requesting = false;
    if (next == nobody) return;
    hand_over(next, out);
    next = nobody;
  }

  void receive(NodeId, const Message& message, Out& out) {
    if (message.kind == Kind::token) {
      TURNO_ASSERT(requesting && !token);
      token = true;
      fence = message.fence;
      return enter(out);
    }
    TURNO_ASSERT(message.origin != nobody && message.origin != self);
    if (father != nobody) {
      out.send(father, message);
    } else if (requesting) {
      TURNO_ASSERT(next == nobody);
      next = message.origin;
    } else {
      hand_over(message.origin, out);
    }
    father = message.origin;
  }

  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message& message) { return message.kind == Kind::token; }

 private:
  void enter(Out& out) {
    fence = fence.next();
    out.grant(fence);
  }

  void hand_over(NodeId to, Out& out) {
    TURNO_ASSERT(token);
    out.send(to, {.kind = Kind::token, .fence = fence});
    token = false;
    fence = {};
  }
};

}  // namespace turno::protocols
