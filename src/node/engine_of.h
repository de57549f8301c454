// The engine of one algorithm.
#pragma once

#include <array>
#include <atomic>

#include "node/engine.h"
#include "wire/codec.h"

namespace turno::node {

template <Protocol P>
class EngineOf final : public Engine {
 public:
  using Lock = cluster::Lock<P>;
  using Message = typename Lock::Message;
  using Out = typename Lock::Out;
  struct EntryOf final : Entry {
    Lock lock;
  };

  [[nodiscard]] const Info& info() const override { return P::info; }
  [[nodiscard]] std::unique_ptr<Entry> make_entry() const override {
    return std::make_unique<EntryOf>();
  }

  Granted request(Entry& entry, Stage& stage) override {
    Out out;
    of(entry).request(stage.place(entry), out);
    return perform(entry, stage, out);
  }
  Granted release(Entry& entry, Stage& stage) override {
    Out out;
    of(entry).release(stage.place(entry), out);
    return perform(entry, stage, out);
  }
  bool receive(Entry& entry, Stage& stage, NodeId from, const Note& note,
               Granted& granted) override {
    Message message;
    message.kind = static_cast<typename Message::Kind>(
        static_cast<std::uint8_t>(note.kind) - static_cast<std::uint8_t>(FrameKind::protocol));
    message.instance = note.instance;
    message.holder = note.holder;
    message.count = note.count;
    message.holds = note.holds;
    message.free = note.free;
    if (note.kind == FrameKind::protocol) {
      wire::Reader in(note.inner);
      const wire::Limits limits{static_cast<std::uint32_t>(stage.size()), stage.epoch};
      if (!wire::decode(in, message.inner, limits) || in.remaining() != 0) return false;
      if (!of(entry).knows(message)) return true;
    }
    Out out;
    of(entry).receive(stage.place(entry), from, message, out);
    granted = perform(entry, stage, out);
    return true;
  }
  Granted adopt(Entry& entry, Stage& stage) override {
    Out out;
    of(entry).adopt(stage.place(entry), out);
    adopting_ = true;
    const auto granted = perform(entry, stage, out);
    adopting_ = false;
    return granted;
  }
  Granted retire(Entry& entry, Stage& stage) override {
    Out out;
    of(entry).retire(stage.place(entry), out);
    return perform(entry, stage, out);
  }
  Granted conclude(Entry& entry, Stage& stage) override {
    Out out;
    of(entry).conclude(stage.place(entry), out);
    return perform(entry, stage, out);
  }
  void begin_home(Entry& entry, const NodeSet& missing) override { of(entry).begin_home(missing); }
  void end_home(Entry& entry) override { of(entry).home = {}; }
  void raise(Entry& entry, Fence fence) override { of(entry).last = fence.count(); }

  [[nodiscard]] cluster::Instance instance(const Entry& entry) const override {
    const auto& lock = of(entry);
    return lock.phase == Lock::Phase::open ? lock.instance : 0;
  }
  [[nodiscard]] bool at_home(const Entry& entry) const override { return of(entry).home.here; }
  [[nodiscard]] bool retirable(const Entry& entry) const override { return of(entry).retirable(); }
  [[nodiscard]] bool idle(const Entry& entry) const override { return of(entry).idle(); }

  [[nodiscard]] std::vector<Count> messages() const override {
    return counts(P::Message::kinds, by_kind_, 0);
  }
  [[nodiscard]] std::vector<Count> control() const override {
    return counts(Message::kinds, control_, 1);  // all but "protocol"
  }

 private:
  using Kind = typename Message::Kind;
  template <std::size_t n>
  using Counters = std::array<std::atomic<std::uint64_t>, n>;

  template <std::size_t n>
  static std::vector<Count> counts(const std::array<std::string_view, n>& kinds,
                                   const Counters<n>& counters, std::size_t first) {
    std::vector<Count> result;
    for (std::size_t i = first; i < n; ++i)
      result.push_back({kinds[i], counters[i].load(std::memory_order_relaxed)});
    return result;
  }

  static Lock& of(Entry& entry) { return static_cast<EntryOf&>(entry).lock; }
  static const Lock& of(const Entry& entry) { return static_cast<const EntryOf&>(entry).lock; }

  Granted perform(Entry& entry, Stage& stage, const Out& out) {
    out.for_each_send(stage.self, stage.size(),
                      [&](NodeId to, const Message& message) { post(entry, stage, to, message); });
    return out.granted();
  }

  void post(const Entry& entry, Stage& stage, NodeId to, const Message& message) {
    if (to.index() >= stage.links.size() || to == stage.self) return;  // a peer made this up
    // After a view change, "reported" says for all locks at once that there is nothing to say.
    if (adopting_ && message.kind == Kind::report && !message.holds && !message.free) return;
    const auto kind = static_cast<std::uint8_t>(static_cast<std::uint8_t>(FrameKind::protocol) +
                                                static_cast<std::uint8_t>(message.kind));
    const auto number = message.instance == 0 ? 0 : global_instance(entry.home, message.instance);
    auto& counter = message.kind == Kind::protocol
                        ? by_kind_[static_cast<std::size_t>(message.inner.kind)]
                        : control_[static_cast<std::size_t>(message.kind)];
    counter.fetch_add(1, std::memory_order_relaxed);
    stage.links[to.index()]->send(stage.epoch, number, kind, [&](wire::Writer& body) {
      if (message.kind == Kind::protocol) return wire::encode(body, message.inner);
      if (message.kind != Kind::report && message.kind != Kind::open &&
          message.kind != Kind::opened)
        return;
      body.bytes(entry.name);
      if (message.kind == Kind::open) return;
      wire::encode(body, message.holder);
      body.varint(message.count);
      body.u8(static_cast<std::uint8_t>((message.holds ? 1 : 0) | (message.free ? 2 : 0)));
    });
  }

  bool adopting_ = false;
  Counters<P::Message::kinds.size()> by_kind_{};
  Counters<Message::kinds.size()> control_{};
};

}  // namespace turno::node
