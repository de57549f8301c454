// Token ring (lecture slides, PUCRS, 191).
//
// A token travels round a ring for ever. A node that wants in keeps it for one visit.
//
// It may make a pause (`Config`): a token that nobody has used in the last lap rests for a
// while at the root, or until the root's own user wants in. An idle ring then costs a lap a pause,
// and a busy one goes as fast as without.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: unbounded when nobody wants
// in, 1 when everybody does.
#pragma once

#include <utility>

#include "core/protocol.h"

namespace turno::protocols {

struct TokenRing {
  static constexpr Info info{.name = "token-ring",
                             .title = "a token circulates; who wants in keeps it for one visit",
                             .source = "lecture slides, PUCRS",
                             .shape = Shape::ring,
                             .circulates = true,
                             .low = "unbounded",
                             .high = "1"};

  struct Config {
    std::int64_t pause_ns = 0;  // 0: none
  };

  struct Message {
    enum class Kind : std::uint8_t { token } kind = Kind::token;
    Fence fence;
    static constexpr std::array<std::string_view, 1> kinds = {"token"};
    static constexpr std::array<std::string_view, 2> labels = {"kind", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, fence); }
    bool operator==(const Message&) const = default;
  };
  using Out = Effects<Message>;
  static constexpr std::array<std::string_view, 1> timers = {"pause"};

  NodeId self, predecessor, successor;
  std::int64_t pause_ns = 0;  // at the root, if there are pauses
  bool wanting = false;       // or inside
  bool token = false;
  Fence fence;  // of the last grant, while the token is here
  Fence seen;   // at the root, if there are pauses: of the token when it came last

  static constexpr std::array<std::string_view, 4> labels = {"wanting", "token", "fence", "seen"};
  [[nodiscard]] auto fields() const { return std::tie(wanting, token, fence, seen); }
  bool operator==(const TokenRing&) const = default;

  static TokenRing resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    TokenRing node;
    node.self = self;
    node.predecessor = NodeId{(self.index() + setup.size() - 1) % setup.size()};
    node.successor = NodeId{(self.index() + 1) % setup.size()};
    node.token = self == resting_place(setup, holdings);
    node.wanting = node.token && !holdings.empty();
    if (node.token) node.fence = Fence::at(setup.epoch);
    if (self != setup.root() || setup.size() == 1) return node;
    node.pause_ns = setup.config<Config>().pause_ns;
    if (node.pause_ns > 0) node.seen = Fence::at(setup.epoch);
    return node;
  }

  void start(Out& out) {
    if (token && !wanting) rest_or_pass(out);
  }

  void request(Demand, Out& out) {
    wanting = true;
    if (!token) return;
    if (pause_ns > 0) out.disarm(0);  // otherwise it is a ring of one
    enter(out);
  }

  void release(Out& out) {
    wanting = false;
    pass(out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    TURNO_ASSERT(from == predecessor && !token);
    token = true;
    fence = message.fence;
    if (wanting) {
      if (pause_ns > 0) seen = fence;
      enter(out);
    } else {
      rest_or_pass(out);
    }
  }

  void expire(std::uint8_t /*pause*/, Out& out) {
    if (token && !wanting) pass(out);
  }

  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message&) { return true; }

 private:
  void enter(Out& out) {
    fence = fence.next();
    out.grant(fence);
  }

  void rest_or_pass(Out& out) {
    const bool idle = pause_ns > 0 && std::exchange(seen, fence) == fence;
    idle ? out.arm(0, pause_ns) : pass(out);
  }

  void pass(Out& out) {
    if (successor == self) return;
    out.send(successor, {.fence = fence});
    token = false;
    fence = {};
  }
};

}  // namespace turno::protocols
