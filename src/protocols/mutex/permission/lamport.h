// Lamport, "Time, clocks, and the ordering of events in a distributed system", 1978.
//
// Every node keeps all requests in the order of (time, node). It enters when its own is first and
// it has heard something later than its request from every other node.
//
// An acknowledgement names the request it answers, which shows that it is later; so clocks tick
// only for requests and equal futures stay equal values.
//
// Assumes reliable FIFO channels (without order it breaks, see the document); no crashes. Messages
// per entry: 3(N-1) exactly. Entries happen in the order of (time, node), which is therefore the
// fence.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct Lamport {
  static constexpr Info info{.name = "lamport",
                             .title = "everybody keeps the queue; the first in it enters",
                             .source = "Lamport 1978",
                             .fifo = true,
                             .growing = true,
                             .low = "3(N-1)",
                             .high = "3(N-1)"};

  struct Message {
    enum class Kind : std::uint8_t { request, acknowledge, release } kind = Kind::request;
    std::uint64_t time = 0;  // of the request, or of the request acknowledged
    static constexpr std::array<std::string_view, 3> kinds = {"request", "acknowledge", "release"};
    static constexpr std::array<std::string_view, 2> labels = {"kind", "time"};
    [[nodiscard]] auto fields() const { return std::tie(kind, time); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, inside };

  NodeId self;
  std::uint32_t nodes = 0, epoch = 0;
  LamportClock clock;
  Phase phase = Phase::idle;
  Priority mine;                                      // the own request
  boost::container::small_vector<Priority, 4> queue;  // the requests of others, oldest first
  NodeSet heard;  // who has sent something later than the own request

  static constexpr std::array<std::string_view, 5> labels = {"clock", "phase", "mine", "queue",
                                                             "heard"};
  [[nodiscard]] auto fields() const { return std::tie(clock, phase, mine, queue, heard); }
  bool operator==(const Lamport&) const = default;

  static Lamport resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Lamport node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.epoch = setup.epoch;
    if (holdings.empty()) return node;
    if (holdings.front().seat == self) {
      node.phase = Phase::inside;
      node.mine = {0, self};
    } else {
      node.queue.push_back({0, holdings.front().seat});
    }
    return node;
  }

  static double alone(const Setup& setup) { return 3 * (nodes_of(setup) - 1); }

  void request(Demand, Out& out) {
    phase = Phase::waiting;
    mine = {clock.tick(), self};
    if (nodes > 1) out.broadcast({.kind = Kind::request, .time = mine.time});
    enter_if_first(out);
  }

  void release(Out& out) {
    phase = Phase::idle;
    mine = {};
    if (nodes > 1) out.broadcast({.kind = Kind::release});
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request: {
        clock.observe(message.time);
        const Priority theirs{message.time, from};
        queue.insert(std::lower_bound(queue.begin(), queue.end(), theirs), theirs);
        if (phase == Phase::waiting && theirs > mine) heard.insert(from);
        out.send(from, {.kind = Kind::acknowledge, .time = message.time});
        break;
      }
      case Kind::acknowledge:
        if (phase == Phase::waiting && message.time == mine.time) heard.insert(from);
        break;
      case Kind::release: {
        const auto theirs = std::find_if(queue.begin(), queue.end(),
                                         [&](const Priority& p) { return p.node == from; });
        if (theirs != queue.end()) queue.erase(theirs);  // absent only without FIFO
        break;
      }
    }
    enter_if_first(out);
  }

 private:
  void enter_if_first(Out& out) {
    if (phase != Phase::waiting || heard.size() != nodes - 1) return;
    if (!queue.empty() && queue.front() < mine) return;
    phase = Phase::inside;
    heard.clear();
    out.grant(Fence::at(epoch, mine.time * nodes + self.value));
  }
};

}  // namespace turno::protocols
