// Bertier, Arantes and Sens, "Hierarchical token based mutual exclusion algorithms", 2004, in
// repaired form: Naimi and Trehel's queue that prefers neighbours (allocation/site_queue.h).
//
// Requests of the token's site go first, a bounded number of times; those of other sites wait in
// the token. With one site it is naimi-trehel on a star.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: as naimi-trehel, but most
// of them stay inside a site.
#pragma once

#include "core/protocol.h"
#include "protocols/parts/site_queue/site_queue.h"
#include "protocols/parts/site_queue/site_queue_invariant.h"

namespace turno::protocols {

struct Bertier {
  static constexpr Info info{.name = "bertier",
                             .title = "Naimi-Trehel that serves its own site first, within limits",
                             .source = "Bertier, Arantes, Sens 2004, repaired",
                             .sites = true,
                             .low = "O(log N)",
                             .high = "O(log N)"};

  static constexpr std::array departures = {
      Departure{"hop-limit", "a request of another site may chase the token for ever",
                "--sites 2,1 --forever"}};

  struct Message {
    enum class Kind : std::uint8_t { request, token } kind = Kind::request;
    SiteQueue::Ask ask{};
    SiteQueue::Baggage baggage{};
    Fence fence;  // of the last grant, in the token
    static constexpr std::array<std::string_view, 2> kinds = {"request", "token"};
    static constexpr std::array<std::string_view, 4> labels = {"kind", "of", "carrying", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, ask, baggage, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  SiteQueue queue;
  Fence fence;  // of the last grant, while the token is here

  static constexpr std::array<std::string_view, 2> labels = {"queue", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(queue, fence); }
  bool operator==(const Bertier&) const = default;

  static Bertier resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Bertier node;
    const auto rest = resting_place(setup, holdings);
    node.queue = SiteQueue::start(setup, self, rest);
    node.queue.limits_hops = setup.departure == 0;
    node.queue.busy = node.queue.has && !holdings.empty();
    if (node.queue.has) node.fence = Fence::at(setup.epoch);
    return node;
  }

  void request(Demand, Out& out) {
    perform(queue.acquire(), out);
    if (queue.has) enter(out);
  }
  void release(Out& out) { perform(queue.done(), out); }
  void receive(NodeId, const Message& message, Out& out) {
    if (message.kind == Kind::request) return perform(queue.asked(message.ask), out);
    queue.arrived(message.baggage);
    fence = message.fence;
    enter(out);
  }

  [[nodiscard]] bool has_token() const { return queue.has; }
  static bool carries_token(const Message& message) { return message.kind == Kind::token; }
  static const SiteQueue::Ask* asks(const Message& message) {
    return message.kind == Kind::request ? &message.ask : nullptr;
  }
  static Carries carries(const Message& message) {
    return message.kind == Kind::token ? Carries::control : Carries::request;
  }
  // Served before somebody of another site who asked earlier.
  static bool preempts(const Message& message) {
    return message.kind == Kind::token && message.baggage.preferred > 0;
  }
  static std::string_view broken_invariant(const Snapshot<Bertier>& world) {
    return broken_queue(world);
  }

 private:
  void enter(Out& out) {
    fence = fence.next();
    out.grant(fence);
  }
  void perform(const SiteQueue::Move& move, Out& out) {
    if (move.ask_to != nobody) out.send(move.ask_to, {.kind = Kind::request, .ask = move.ask});
    if (move.token_to == nobody) return;
    out.send(move.token_to, {.kind = Kind::token, .baggage = queue.take_baggage(), .fence = fence});
    fence = {};
  }
};

}  // namespace turno::protocols
