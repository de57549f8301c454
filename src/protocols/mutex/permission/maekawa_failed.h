// Maekawa's algorithm with FAILED messages, corrected after Sanders, "The information structure of
// distributed mutual exclusion algorithms", 1987. For comparison: maekawa.h needs no FAILED.
//
// A requester gives a vote back only when it knows that it cannot win now. An arbiter tells that
// (FAILED) to a new request that loses to the holder or to one that waits, and, which Maekawa
// forgot, to the one that waited first and is displaced by a better one.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: 3(k-1), at most 7(k-1)
// amortised. The departures are the readings of as_published/maekawa.h.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/clock/lamport_clock.h"
#include "core/protocol.h"
#include "protocols/mutex/permission/maekawa.h"
#include "protocols/parts/quorum/votes.h"

namespace turno::protocols {

struct MaekawaFailed {
  static constexpr Info info{.name = "maekawa-failed",
                             .title = "the votes of a quorum; who cannot win yields its votes",
                             .source = "Maekawa 1985, Sanders 1987",
                             .voting = true,
                             .growing = true,
                             .low = "3(k-1)",
                             .high = "3(k-1) to 7(k-1)"};
  enum class Reading : std::uint8_t { sanders, original, textbook, never_recalled };

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
  Reading reading = Reading::sanders;
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
  bool operator==(const MaekawaFailed&) const = default;

  static MaekawaFailed resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    MaekawaFailed node;
    node.self = self;
    node.epoch = setup.epoch;
    node.reading = static_cast<Reading>(setup.departure);
    const auto& mine = setup.quorums[self.index()];
    node.quorum.assign(mine.begin(), mine.end());
    if (holdings.empty()) return node;
    // As if the holder had asked before everybody else.
    const auto holder = holdings.front().seat;
    const auto& theirs = setup.quorums[holder.index()];
    if (std::find(theirs.begin(), theirs.end(), self) != theirs.end()) {
      node.votes.add({0, holder});
      node.votes.cast();
    }
    if (self != holder) return node;
    node.phase = Phase::inside;
    for (auto arbiter : node.quorum) node.have.insert(arbiter);
    return node;
  }

  static double alone(const Setup& setup) { return Maekawa::alone(setup); }

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
    const auto holder = votes.holder();
    const auto first = best_waiting();
    const bool waits = first.node != nobody;
    votes.add(theirs);
    if (!votes.cast_any()) return cast_vote(out);
    if (reading == Reading::never_recalled) return;
    const bool loses_to_waiting = reading != Reading::textbook && waits && first < theirs;
    if (holder < theirs || loses_to_waiting) return fail(theirs, out);
    // Displaced from the head of those who wait: the rule that was missing.
    if (reading == Reading::sanders && waits && first < holder) fail(first, out);
    if (votes.recalled()) return;
    votes.recall();
    send(holder.node, {.kind = Kind::recall, .time = holder.time}, out);
  }

  [[nodiscard]] Priority best_waiting() const {
    for (const auto& request : votes.queue())
      if (request != votes.holder()) return request;
    return {};
  }

  void fail(const Priority& request, Out& out) {
    send(request.node, {.kind = Kind::failed, .time = request.time}, out);
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

}  // namespace turno::protocols
