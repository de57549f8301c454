// Dir: a directory of one line (ours; the simplest that takes three messages).
//
// A hub remembers only the last requester. A request goes to the hub, the hub forwards it to the
// requester before, and that one sends the token straight to the new one.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: at most 3; the hub is also
// a client and its own calls are free.
#pragma once

#include "core/protocol.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct Dir {
  static constexpr Info info{.name = "dir",
                             .title = "a hub forwards each request to the requester before it",
                             .source = "ours",
                             .low = "(N-1)(3N-2)/N^2",
                             .high = "3(N-1)/N"};

  struct Message {
    enum class Kind : std::uint8_t { request, forward, token } kind = Kind::request;
    NodeId origin;  // who requests, in a forward
    Fence fence;    // of the last grant, in the token
    static constexpr std::array<std::string_view, 3> kinds = {"request", "forward", "token"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "origin", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, origin, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self, hub;
  NodeId last;              // at the hub: who requested last
  NodeId next;              // who gets the token after this node
  bool requesting = false;  // or inside
  bool token = false;
  Fence fence;  // of the last grant, while the token is here

  static constexpr std::array<std::string_view, 5> labels = {"last", "next", "requesting", "token",
                                                             "fence"};
  [[nodiscard]] auto fields() const { return std::tie(last, next, requesting, token, fence); }
  bool operator==(const Dir&) const = default;

  static Dir resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Dir node;
    node.self = self;
    node.hub = setup.root();
    const auto rest = resting_place(setup, holdings);
    if (self == node.hub) node.last = rest;
    node.token = self == rest;
    node.requesting = node.token && !holdings.empty();
    if (node.token) node.fence = Fence::at(setup.epoch);
    return node;
  }

  static double alone(const Setup& setup) {
    const auto n = nodes_of(setup);
    return (n - 1) * (3 * n - 2) / (n * n);
  }

  void request(Demand, Out& out) {
    requesting = true;
    if (token) {
      enter(out);
    } else if (self == hub) {
      direct(self, out);
    } else {
      out.send(hub, {.kind = Kind::request});
    }
  }

  void release(Out& out) {
    requesting = false;
    if (next == nobody) return;
    hand_over(next, out);
    next = nobody;
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        TURNO_ASSERT(self == hub && from != last);
        return direct(from, out);
      case Kind::forward:
        TURNO_ASSERT(from == hub && message.origin != nobody && message.origin != self);
        return follow(message.origin, out);
      case Kind::token:
        TURNO_ASSERT(requesting && !token);
        token = true;
        fence = message.fence;
        return enter(out);
    }
  }

  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message& message) { return message.kind == Kind::token; }

 private:
  void direct(NodeId origin, Out& out) {
    const auto before = last;
    last = origin;
    if (before == self) {
      follow(origin, out);
    } else {
      out.send(before, {.kind = Kind::forward, .origin = origin});
    }
  }

  void follow(NodeId origin, Out& out) {
    if (requesting) {
      TURNO_ASSERT(next == nobody);
      next = origin;
    } else {
      hand_over(origin, out);
    }
  }

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
