// Maekawa's algorithm with FAILED messages, as published in 1985 and as textbooks retell it. Both
// deadlock: a request that is displaced from the head of a queue by a better one is not told, keeps
// its other votes, and waits. To be refuted by the checker; never to be run.
//
// 1985            FAILED goes to a new request that loses to the holder or to any that waits
// textbook        FAILED goes to a new request that loses to the holder
// never-recalled  votes are not asked back at all
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/quorum/votes.h"

namespace turno::as_published {

struct Maekawa {
  static constexpr Info info{.name = "maekawa",
                             .title = "maekawa with FAILED messages",
                             .source = "Maekawa 1985",
                             .voting = true};
  enum class Reading : std::uint8_t { original = 1, textbook, never_recalled };
  static constexpr std::array departures = {
      Departure{"1985", "a request displaced from the head of a queue is not told",
                "--nodes 5 --quorums 034,134,234,34,34 --requesters 0-2"},
      Departure{"textbook", "the same, and FAILED only for who loses to the holder",
                "--nodes 5 --quorums 034,134,234,34,34 --requesters 0-2"},
      Departure{"never-recalled", "votes are never asked back", "--nodes 2"},
  };

  struct Message {
    enum class Kind : std::uint8_t { request, grant, recall, yield, release, failed };
    Kind kind = Kind::request;
    std::uint64_t time = 0;
    std::uint64_t clock = 0;
    static constexpr std::array<std::string_view, 6> kinds = {"request", "grant",   "recall",
                                                              "yield",   "release", "failed"};
    static constexpr std::array<std::string_view, 3> labels = {"kind", "time", "clock"};
    [[nodiscard]] auto fields() const { return std::tie(kind, time, clock); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, competing, inside };

  NodeId self;
  std::uint32_t epoch = 0;
  Reading reading = Reading::original;
  boost::container::small_vector<NodeId, 4> quorum;
  LamportClock clock;
  Phase phase = Phase::idle;
  std::uint64_t time = 0, fence = 0;
  NodeSet have, deferred, failed;
  Votes votes;

  static constexpr std::array<std::string_view, 8> labels = {
      "clock", "phase", "time", "fence", "have", "deferred", "failed", "votes"};
  [[nodiscard]] auto fields() const {
    return std::tie(clock, phase, time, fence, have, deferred, failed, votes);
  }
  bool operator==(const Maekawa&) const = default;

  static Maekawa resume(const Setup& setup, NodeId self, std::span<const NodeId>) {
    Maekawa node;
    node.self = self;
    node.epoch = setup.epoch;
    node.reading = static_cast<Reading>(std::max<std::uint8_t>(setup.departure, 1));
    const auto& mine = setup.quorums[self.index()];
    node.quorum.assign(mine.begin(), mine.end());
    return node;
  }

  void request(Demand, Out& out) {
    time = clock.tick();
    phase = Phase::competing;
    for (auto arbiter : quorum) send(arbiter, {.kind = Kind::request, .time = time}, out);
  }

  void release(Out& out) {
    const Message farewell{.kind = Kind::release, .time = time, .clock = fence};
    phase = Phase::idle;
    time = fence = 0;
    have.clear();
    for (auto arbiter : quorum) send(arbiter, farewell, out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    const bool mine = phase == Phase::competing && message.time == time;
    switch (message.kind) {
      case Kind::request:
        return on_request({message.time, from}, out);
      case Kind::grant:
        clock.observe(message.clock);
        return mine ? on_grant(from, out) : void();
      case Kind::recall:
        if (mine) deferred.insert(from);
        return mine ? yield_all(out) : void();
      case Kind::failed:
        if (mine && !have.contains(from)) failed.insert(from);
        return mine ? yield_all(out) : void();
      case Kind::yield:
        if (votes.holder() == Priority{message.time, from}) cast_vote(out);
        return;
      case Kind::release:
        clock.observe(message.clock);
        if (votes.remove({message.time, from}) && votes.waiting()) cast_vote(out);
        return;
    }
  }

 private:
  void send(NodeId to, const Message& message, Out& out) {
    if (to == self) {
      receive(self, message, out);
    } else {
      out.send(to, message);
    }
  }

  void on_request(const Priority& theirs, Out& out) {
    clock.observe(theirs.time);
    const bool loses_to_holder = votes.cast_any() && votes.holder() < theirs;
    bool loses_to_waiting = false;
    for (const auto& other : votes.queue())
      loses_to_waiting = loses_to_waiting || (other != votes.holder() && other < theirs);
    votes.add(theirs);
    if (!votes.cast_any()) return cast_vote(out);
    if (reading == Reading::never_recalled) return;
    const bool loses = loses_to_holder || (reading == Reading::original && loses_to_waiting);
    if (loses) {
      send(theirs.node, {.kind = Kind::failed, .time = theirs.time}, out);
    } else if (!votes.recalled()) {
      const auto holder = votes.recall();
      send(holder.node, {.kind = Kind::recall, .time = holder.time}, out);
    }
  }

  void cast_vote(Out& out) {
    const auto chosen = votes.cast();
    send(chosen.node, {.kind = Kind::grant, .time = chosen.time, .clock = clock.now()}, out);
  }

  void on_grant(NodeId from, Out& out) {
    have.insert(from);
    failed.erase(from);
    if (have.size() != quorum.size()) return yield_all(out);
    phase = Phase::inside;
    deferred.clear();
    failed.clear();
    fence = clock.tick();
    out.grant(Fence::at(epoch, fence));
  }

  // Gives back what was asked back, but only once it knows that it cannot win now.
  void yield_all(Out& out) {
    if (failed.empty()) return;
    NodeSet back;
    deferred.for_each([&](NodeId arbiter) {
      if (have.contains(arbiter)) back.insert(arbiter);
    });
    back.for_each([&](NodeId arbiter) {
      deferred.erase(arbiter);
      have.erase(arbiter);
      failed.insert(arbiter);
    });
    back.for_each([&](NodeId a) { send(a, {.kind = Kind::yield, .time = time}, out); });
  }
};

}  // namespace turno::as_published
