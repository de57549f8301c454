// Token ring (lecture slides, PUCRS, 191).
//
// A token travels round a ring for ever. A node that wants in keeps it for one visit.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: unbounded when nobody wants
// in, 1 when everybody does.
#pragma once

#include "core/protocol.h"

namespace turno {

struct TokenRing {
  static constexpr Info info{.name = "token-ring",
                             .title = "a token circulates; who wants in keeps it for one visit",
                             .source = "lecture slides, PUCRS",
                             .shape = Shape::ring,
                             .low = "unbounded",
                             .high = "1"};

  struct Message {
    enum class Kind : std::uint8_t { token } kind = Kind::token;
    Fence fence;
    static constexpr std::array<std::string_view, 1> kinds = {"token"};
    static constexpr std::array<std::string_view, 2> labels = {"kind", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, fence); }
    bool operator==(const Message&) const = default;
  };
  using Out = Effects<Message>;

  NodeId self, successor;
  bool wanting = false;  // or inside
  bool token = false;
  Fence fence;  // of the last grant, while the token is here

  static constexpr std::array<std::string_view, 3> labels = {"wanting", "token", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(wanting, token, fence); }
  bool operator==(const TokenRing&) const = default;

  static TokenRing resume(const Setup& setup, NodeId self, std::span<const NodeId> holders) {
    TokenRing node;
    node.self = self;
    node.successor = NodeId{(self.index() + 1) % setup.size()};
    node.token = self == resting_place(setup, holders);
    node.wanting = node.token && !holders.empty();
    if (node.token) node.fence = Fence::at(setup.epoch);
    return node;
  }

  void start(Out& out) {
    if (token && !wanting) pass(out);
  }

  void request(Demand, Out& out) {
    wanting = true;
    if (token) enter(out);  // only in a ring of one
  }

  void release(Out& out) {
    wanting = false;
    pass(out);
  }

  void receive(NodeId, const Message& message, Out& out) {
    token = true;
    fence = message.fence;
    if (wanting) {
      enter(out);
    } else {
      pass(out);
    }
  }

  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message&) { return true; }

 private:
  void enter(Out& out) {
    fence = fence.next();
    out.grant(fence);
  }

  void pass(Out& out) {
    if (successor == self) return;
    out.send(successor, {.fence = fence});
    token = false;
    fence = {};
  }
};

}  // namespace turno
