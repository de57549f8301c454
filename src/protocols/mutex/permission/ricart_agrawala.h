// Ricart and Agrawala, "An optimal algorithm for mutual exclusion in computer networks", 1981
// (lecture slides, PUCRS, 187-189).
//
// A node asks all others and enters when all have answered. One that is inside, or waits with an
// older request, keeps its answer until it has left.
//
// Three musts that the slides leave out: the clock follows what it receives; requests are ordered
// by (time, node), so no two are equal; the first must holds for synchronised clocks too.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: 2(N-1) exactly. Entries
// happen in the order of (time, node), which is therefore the fence.
#pragma once

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/parts/cost.h"
#include "protocols/parts/request_or_reply.h"

namespace turno::protocols {

struct RicartAgrawala {
  static constexpr Info info{.name = "ricart-agrawala",
                             .title = "ask everybody; the older request goes first",
                             .source = "Ricart, Agrawala 1981; lecture slides, PUCRS",
                             .growing = true,
                             .low = "2(N-1)",
                             .high = "2(N-1)"};

  using Message = RequestOrReply;
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, inside };

  NodeId self;
  std::uint32_t nodes = 0, epoch = 0;
  LamportClock clock;
  Phase phase = Phase::idle;
  std::uint64_t time = 0;      // of the own request
  std::uint32_t awaiting = 0;  // answers still to come
  NodeSet deferred;            // who gets an answer after the exit

  static constexpr std::array<std::string_view, 5> labels = {"clock", "phase", "time", "awaiting",
                                                             "deferred"};
  [[nodiscard]] auto fields() const { return std::tie(clock, phase, time, awaiting, deferred); }
  bool operator==(const RicartAgrawala&) const = default;

  static RicartAgrawala resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    RicartAgrawala node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.epoch = setup.epoch;
    if (!holdings.empty() && holdings.front().seat == self) node.phase = Phase::inside;
    return node;
  }

  static double alone(const Setup& setup) { return 2 * (nodes_of(setup) - 1); }

  void request(Demand, Out& out) {
    phase = Phase::waiting;
    time = clock.tick();
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
      TURNO_ASSERT(phase == Phase::waiting && awaiting > 0);
      if (--awaiting == 0) enter(out);
      return;
    }
    TURNO_ASSERT(!deferred.contains(from));  // it waits for the answer to its last
    clock.observe(message.time);
    const bool mine_first = Priority{time, self} < Priority{message.time, from};
    if (phase == Phase::inside || (phase == Phase::waiting && mine_first)) {
      deferred.insert(from);
    } else {
      out.send(from, {.kind = Kind::reply});
    }
  }

 private:
  void enter(Out& out) {
    phase = Phase::inside;
    out.grant(Fence::at(epoch, time * nodes + self.value));
  }
};

}  // namespace turno::protocols
