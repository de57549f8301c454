// Suzuki and Kasami, "A distributed mutual exclusion algorithm", 1985.
//
// A request is broadcast with its number. The token carries, for each node, the number of its last
// request that was served, and a queue of those whose newer request is known to wait.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: N, or 0 for the holder.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/container/queue.h"
#include "core/protocol.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct SuzukiKasami {
  static constexpr Info info{.name = "suzuki-kasami",
                             .title = "requests are broadcast; the token knows whose is unserved",
                             .source = "Suzuki, Kasami 1985",
                             .growing = true,
                             .low = "N(N-1)/N",
                             .high = "N"};

  using Numbers = boost::container::small_vector<std::uint64_t, 4>;

  struct Message {
    enum class Kind : std::uint8_t { request, token } kind = Kind::request;
    std::uint64_t number = 0;  // of the request
    Numbers served;            // in the token, like the rest
    Queue<NodeId> queue;
    Fence fence;
    static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
    static constexpr std::array<std::string_view, 5> labels = {"kind", "number", "served", "queue",
                                                               "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, number, served, queue, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  NodeId self;
  Numbers requested;        // RN: the largest request number known of each node
  bool requesting = false;  // or inside
  bool token = false;
  Numbers served;       // LN, while the token is here, like the rest
  Queue<NodeId> queue;  // Q
  Fence fence;

  static constexpr std::array<std::string_view, 6> labels = {"requested", "requesting", "token",
                                                             "served",    "queue",      "fence"};
  [[nodiscard]] auto fields() const {
    return std::tie(requested, requesting, token, served, queue, fence);
  }
  bool operator==(const SuzukiKasami&) const = default;

  static SuzukiKasami resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    SuzukiKasami node;
    node.self = self;
    node.requested.assign(setup.size(), 0);
    node.token = self == resting_place(setup, holdings);
    if (!node.token) return node;
    node.served.assign(setup.size(), 0);
    node.fence = Fence::at(setup.epoch);
    node.requesting = !holdings.empty();
    return node;
  }

  static double alone(const Setup& setup) { return nodes_of(setup) - 1; }

  void request(Demand, Out& out) {
    requesting = true;
    if (token) return enter(out);
    const auto number = ++requested[self.index()];
    out.broadcast({.kind = Kind::request, .number = number});
  }

  void release(Out& out) {
    requesting = false;
    served[self.index()] = requested[self.index()];
    const auto n = requested.size();
    for (std::size_t step = 1; step < n; ++step) {
      const NodeId other{(self.index() + step) % n};
      if (unserved(other) && !queue.contains(other)) queue.push(other);
    }
    if (!queue.empty()) hand_over(queue.pop(), out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind == Kind::token) {
      TURNO_ASSERT(requesting && !token && is_whole(message));
      token = true;
      served = message.served;
      queue = message.queue;
      fence = message.fence;
      return enter(out);
    }
    TURNO_ASSERT(from.index() < requested.size());
    auto& known = requested[from.index()];
    known = std::max(known, message.number);
    if (token && !requesting && unserved(from)) hand_over(from, out);
  }

  [[nodiscard]] bool has_token() const { return token; }
  static bool carries_token(const Message& message) { return message.kind == Kind::token; }

 private:
  // A token for this node, with places for all.
  [[nodiscard]] bool is_whole(const Message& message) const {
    return message.served.size() == requested.size() &&
           message.served[self.index()] + 1 == requested[self.index()] &&
           std::all_of(message.queue.begin(), message.queue.end(), [&](NodeId node) {
             return node.index() < requested.size() && node != self;
           });
  }
  [[nodiscard]] bool unserved(NodeId node) const {
    return requested[node.index()] == served[node.index()] + 1;
  }

  void enter(Out& out) {
    fence = fence.next();
    out.grant(fence);
  }

  void hand_over(NodeId to, Out& out) {
    out.send(to, {.kind = Kind::token, .served = served, .queue = queue, .fence = fence});
    token = false;
    served.clear();
    queue.clear();
    fence = {};
  }
};

}  // namespace turno::protocols
