// Raymond, "A distributed algorithm for multiple entries to a critical section", 1989: the baseline
// without failure handling.
//
// A node asks all others and enters when all but k-1 have answered. One that is inside, or waits
// with an older request, keeps its answer until it has left. Permits have no names: a grant counts.
//
// The original counts answers; here an answer names the request that it answers, so that an old one
// needs no bookkeeping.
//
// Assumes reliable channels, any order. A crashed node never answers, so each crash costs one
// permit and the k-th stops everything. Messages per entry: 2(N-1) at most.
#pragma once

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/kmutex/deferred.h"
#include "protocols/parts/cost.h"
#include "protocols/parts/request_or_reply.h"

namespace turno::protocols {

struct RaymondK {
  static constexpr Info info{.name = "raymond-k",
                             .title = "ask everybody; all but k-1 must answer",
                             .source = "Raymond 1989",
                             .primitive = Primitive::semaphore,
                             .growing = true,
                             .low = "2(N-1)",
                             .high = "2(N-1) or less"};

  using Message = RequestOrReply;
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, inside };

  NodeId self;
  std::uint32_t nodes = 0, epoch = 0, permits = 1;
  LamportClock clock;
  Phase phase = Phase::idle;
  std::uint64_t time = 0;  // of the own request
  NodeSet granted;         // who has answered it
  Deferred deferred;       // who gets an answer after the exit

  static constexpr std::array<std::string_view, 5> labels = {"clock", "phase", "time", "granted",
                                                             "deferred"};
  [[nodiscard]] auto fields() const { return std::tie(clock, phase, time, granted, deferred); }
  bool operator==(const RaymondK&) const = default;

  static RaymondK resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    RaymondK node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.epoch = setup.epoch;
    node.permits = setup.permits;
    if (holding_of(self, holdings) != nullptr) node.phase = Phase::inside;
    return node;
  }

  static double alone(const Setup& setup) { return 2 * (nodes_of(setup) - 1); }

  void request(Demand, Out& out) {
    phase = Phase::waiting;
    time = clock.tick();
    out.broadcast({.kind = Kind::request, .time = time});
    enter_if_allowed(out);
  }

  void release(Out& out) {
    phase = Phase::idle;
    time = 0;
    for (const auto& [node, asked, curious] : deferred)
      out.send(node, {.kind = Kind::reply, .time = asked});
    deferred.clear();
  }

  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind == Kind::reply) {
      if (ignores(from, message)) return;
      granted.insert(from);
      return enter_if_allowed(out);
    }
    clock.observe(message.time);
    const bool mine_first = Priority{time, self} < Priority{message.time, from};
    if (phase == Phase::inside || (phase == Phase::waiting && mine_first)) {
      deferred.add(from, message.time);
    } else {
      out.send(from, {.kind = Kind::reply, .time = message.time});
    }
  }

  // Times only grow: an answer to an earlier request will never be one to the present.
  [[nodiscard]] bool ignores(NodeId /*from*/, const Message& message) const {
    return message.kind == Kind::reply && (phase != Phase::waiting || message.time != time);
  }

  void crash() {
    *this = RaymondK{.self = self, .nodes = nodes, .epoch = epoch, .permits = permits};
  }

 private:
  void enter_if_allowed(Out& out) {
    if (granted.size() + permits < nodes) return;
    phase = Phase::inside;
    granted.clear();
    out.grant(Fence::at(epoch, time * nodes + self.value));
  }
};

}  // namespace turno::protocols
