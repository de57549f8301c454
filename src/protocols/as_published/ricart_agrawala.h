// Ricart and Agrawala's algorithm as the slides and the assignment (PUCRS) leave it: five readings
// of what they say and do not say. To be refuted by the checker; never to be run.
//
// tie-reply       slide 188 does not cover equal times; read as "reply"
// tie-silence     the same, read as "do not reply"
// no-clock-rule   the clock does not follow what it receives
// same-tick       clocks are synchronised, as the assignment supposes, but their tick is not finer
// than
//                 the latency: all that happens here happens in one tick
// blocking-rpc    an answer is deferred by blocking the only thread of the server, as a plain RPC
//                 server does: while it blocks, no further request is read
#pragma once

#include <algorithm>

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/parts/request_or_reply.h"

namespace turno::protocols::as_published {

struct RicartAgrawala {
  static constexpr Info info{.name = "ricart-agrawala",
                             .title = "ricart-agrawala as on the slides",
                             .source = "lecture slides, PUCRS"};
  enum class Reading : std::uint8_t {
    tie_reply = 1,
    tie_silence,
    no_clock_rule,
    same_tick,
    blocking_rpc
  };
  static constexpr std::array departures = {
      Departure{"tie-reply", "S1: equal times are answered at once", "--nodes 2"},
      Departure{"tie-silence", "S1: equal times are not answered", "--nodes 2"},
      Departure{"no-clock-rule", "S2: the clock does not follow what it receives", "--nodes 3"},
      Departure{"same-tick", "S3: synchronised clocks whose tick is not finer than the latency",
                "--nodes 3"},
      Departure{"blocking-rpc", "S4: a deferred answer blocks the server", "--nodes 3"},
  };

  using Message = RequestOrReply;
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, inside };

  NodeId self;
  std::uint32_t nodes = 0;
  Reading reading = Reading::tie_reply;
  LamportClock clock;
  Phase phase = Phase::idle;
  std::uint64_t time = 0;
  std::uint32_t awaiting = 0;
  NodeSet deferred;
  Fence fence;  // a count of its own entries: the slides promise nothing better

  static constexpr std::array<std::string_view, 6> labels = {"clock",    "phase",    "time",
                                                             "awaiting", "deferred", "fence"};
  [[nodiscard]] auto fields() const {
    return std::tie(clock, phase, time, awaiting, deferred, fence);
  }
  bool operator==(const RicartAgrawala&) const = default;

  static RicartAgrawala resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    RicartAgrawala node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.fence = Fence::at(setup.epoch);
    node.reading = static_cast<Reading>(std::max<std::uint8_t>(setup.departure, 1));
    return node;
  }

  // A server that blocks reads no further request. Replies are return values and need no server.
  [[nodiscard]] bool ready(const Message& message) const {
    return reading != Reading::blocking_rpc || message.kind == Kind::reply || deferred.empty();
  }

  void request(Demand, Out& out) {
    phase = Phase::waiting;
    time = reading == Reading::same_tick ? 1 : clock.tick();
    awaiting = nodes - 1;
    if (awaiting == 0) return enter(out);
    out.broadcast({.kind = Kind::request, .time = time});
  }

  void release(Out& out) {
    phase = Phase::idle;
    time = 0;
    deferred.for_each([&](NodeId node) { out.send(node, {.kind = Kind::reply}); });
    deferred.clear();
  }

  void receive(NodeId from, const Message& message, Out& out) {
    if (message.kind == Kind::reply) {
      if (--awaiting == 0) enter(out);
      return;
    }
    if (reading != Reading::no_clock_rule && reading != Reading::same_tick)
      clock.observe(message.time);
    if (phase == Phase::inside || (phase == Phase::waiting && mine_first(from, message.time))) {
      deferred.insert(from);
    } else {
      out.send(from, {.kind = Kind::reply});
    }
  }

 private:
  [[nodiscard]] bool mine_first(NodeId from, std::uint64_t theirs) const {
    if (reading == Reading::tie_reply) return time < theirs;
    if (reading == Reading::tie_silence) return time <= theirs;
    return Priority{time, self} < Priority{theirs, from};
  }

  void enter(Out& out) {
    phase = Phase::inside;
    fence = fence.next();
    out.grant(fence);
  }
};

}  // namespace turno::protocols::as_published
