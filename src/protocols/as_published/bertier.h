// Bertier, Arantes and Sens's lock as Vieira Neto's thesis (2008) prints it: see
// as_published/site_queue.h. It loses requests, or lets one circulate for ever. To be refuted by
// the checker; never to be run.
//
// printed       the printed rules
// patched       the same with a preemption that is not lost on its way, and counted once
#pragma once

#include "core/protocol.h"
#include "protocols/as_published/site_queue.h"

namespace turno::protocols::as_published {

struct Bertier {
  static constexpr Info info{.name = "bertier",
                             .title = "bertier with preemption messages",
                             .source = "Vieira Neto 2008, after Bertier, Arantes, Sens 2004",
                             .sites = true};
  static constexpr std::array departures = {
      Departure{"printed", "a preempted request is lost", "--sites 2,1,1 --channels fifo"},
      Departure{"patched", "a request may be sent on for ever",
                "--sites 2,2,1 --channels fifo --forever"},
  };

  struct Message {
    enum class Kind : std::uint8_t { request, token, preemption } kind = Kind::request;
    NodeId about;                 // who requests; who was preempted
    std::uint32_t preempted = 0;  // the count
    Fence fence;                  // of the last grant, in the token
    static constexpr std::array<std::string_view, 3> kinds = {"request", "token", "preemption"};
    static constexpr std::array<std::string_view, 4> labels = {"kind", "of", "preempted", "fence"};
    [[nodiscard]] auto fields() const { return std::tie(kind, about, preempted, fence); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  SiteQueue queue;
  Fence fence;

  static constexpr std::array<std::string_view, 2> labels = {"queue", "fence"};
  [[nodiscard]] auto fields() const { return std::tie(queue, fence); }
  bool operator==(const Bertier&) const = default;

  static Bertier resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Bertier node;
    const bool patched = setup.departure == 2;
    node.queue = SiteQueue::like(protocols::SiteQueue::start(setup, self, setup.root()));
    node.queue.repairs = {patched, patched, patched};
    if (node.queue.has) node.fence = Fence::at(setup.epoch);
    return node;
  }

  void request(Demand, Out& out) {
    perform(queue.acquire(), out);
    if (queue.has) enter(out);
  }
  void release(Out& out) { perform(queue.done(), out); }
  void receive(NodeId, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return perform(queue.asked(message.about), out);
      case Kind::preemption:
        return perform(queue.told_of_preemption(message.about, message.preempted), out);
      case Kind::token:
        queue.arrived(message.preempted);
        fence = message.fence;
        return enter(out);
    }
  }

  [[nodiscard]] bool has_token() const { return queue.has; }
  static bool carries_token(const Message& message) { return message.kind == Kind::token; }

 private:
  void enter(Out& out) {
    fence = fence.next();
    out.grant(fence);
  }
  void perform(const SiteQueue::Moves& moves, Out& out) {
    for (const auto& move : moves) {
      Message message{.about = move.about, .preempted = move.preempted};
      if (move.what == SiteQueue::Move::What::preemption) message.kind = Kind::preemption;
      if (move.what == SiteQueue::Move::What::token) {
        message.kind = Kind::token;
        message.fence = std::exchange(fence, {});
      }
      out.send(move.to, message);
    }
  }
};

}  // namespace turno::protocols::as_published
