// The engine of one algorithm: what it has in common for all kinds of things, and of locks.
#pragma once

#include <array>
#include <atomic>

#include "table/engine.h"

namespace turno::table {

template <Protocol P, class DeskOfKind, class EntryOfKind, class EngineOfKind>
class CommonEngine : public EngineOfKind {
 public:
  using Desk = DeskOfKind;
  using Message = typename Desk::Message;
  using Out = typename Desk::Out;
  using Result = Engine::Result;
  using Count = Engine::Count;
  struct EntryOf final : EntryOfKind {
    Desk desk;
  };

  [[nodiscard]] const Info& info() const override { return P::info; }
  [[nodiscard]] std::span<const Departure> departures() const override {
    if constexpr (requires { P::departures; }) return P::departures;
    return {};
  }
  [[nodiscard]] std::unique_ptr<Entry> make_entry() const override {
    return std::make_unique<EntryOf>();
  }

  Result look(const Entry& entry, const Stage& stage) const override {
    const auto& desk = of(entry);
    return {.instance = desk.part(),
            .lives = desk.home.lives(),
            .idle = desk.idle(stage.ledger, stage.rules)};
  }

  std::optional<Result> receive(Entry& entry, Stage& stage, NodeId from, NoteKind kind,
                                cluster::Instance instance, wire::Reader& body) override {
    Message message{{.kind = kind, .instance = instance}};
    const wire::Limits limits{
        .nodes = static_cast<std::uint32_t>(stage.size()),
        .epoch = stage.epoch,
        .units = P::info.primitive == Primitive::semaphore ? cluster::most_permits : 0};
    if (!decode(body, message, limits)) return {};
    return this->step(entry, stage,
                      {.kind = cluster::DeskEvent::Kind::receive, .from = from, .note = &message});
  }

  void begin_home(Entry& entry, const Stage& stage, bool was_its_home) override {
    of(entry).begin_home(stage.ledger, was_its_home);
  }
  void take_orphans(Entry& entry, Entry& foundling) override {
    of(entry).take_orphans(of(foundling));
  }

  [[nodiscard]] const cluster::Home& home(const Entry& entry) const override {
    return of(entry).home;
  }
  [[nodiscard]] std::size_t orphans(const Entry& entry) const override {
    return of(entry).orphans.size();
  }

  [[nodiscard]] std::vector<Count> messages() const override {
    return counts(P::Message::kinds, by_kind_, 0);
  }
  [[nodiscard]] std::vector<Count> control() const override {
    return counts(cluster::Note::kinds, control_, 1);  // all but "protocol"
  }

 protected:
  static Desk& of(Entry& entry) { return static_cast<EntryOf&>(entry).desk; }
  static const Desk& of(const Entry& entry) { return static_cast<const EntryOf&>(entry).desk; }

  // What a step wants sent and rung.
  void carry(Entry& entry, Stage& stage, const Out& out) {
    if (!out.sends().empty())
      out.for_each_send(stage.self, stage.size(), [&](NodeId to, const Message& message) {
        post(entry, stage, to, message);
      });
    if constexpr (HasTimers<P>) stage.alarms.assign(out.alarms().begin(), out.alarms().end());
  }

 private:
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

  void post(const Entry& entry, Stage& stage, NodeId to, const Message& message) {
    if (to.index() >= stage.links.size() || to == stage.self) return;  // a peer made this up
    auto& counter = message.kind == NoteKind::protocol
                        ? by_kind_[static_cast<std::size_t>(message.inner.kind)]
                        : control_[static_cast<std::size_t>(message.kind)];
    counter.fetch_add(1, std::memory_order_relaxed);
    const auto& link = stage.links[to.index()];
    if (link->append(stage.epoch, global_instance(entry.home, message.instance),
                     frame_kind(stage.thing, message.kind),
                     [&](wire::Writer& body) { encode(body, entry.name, message); }))
      stage.waiting_links.push_back(link);
  }

  Counters<P::Message::kinds.size()> by_kind_{};
  Counters<cluster::Note::kinds.size()> control_{};
};

template <Protocol P>
class EngineOf final : public CommonEngine<P, cluster::Desk<P>, Entry, LockEngine> {
  using Common = CommonEngine<P, cluster::Desk<P>, Entry, LockEngine>;

 public:
  Engine::Result step(Entry& entry, Stage& stage, const cluster::DeskEvent& event) override {
    typename Common::Out out;
    auto& desk = Common::of(entry);
    desk.step(stage.context(entry), event, out);
    this->carry(entry, stage, out);
    return {.user = out.user,
            .granted = out.granted().value_or(Fence{}),
            .spot = out.spot,
            .done = out.done,
            .spoilt = out.spoilt,
            .refused = out.refused,
            .inherited = out.inherited != cluster::no_user,
            .began = desk.turn.began,
            .instance = desk.part(),
            .lives = desk.home.lives(),
            .idle = desk.idle(stage.ledger, stage.rules)};
  }
  [[nodiscard]] const cluster::Turn& turn(const Entry& entry) const override {
    return Common::of(entry).turn;
  }
};

}  // namespace turno::table
