// A simulation of nodes that act by themselves, with no users who ask: elections and detectors of
// deadlock. What happens comes from crashes, recoveries, timers, and from what the nodes choose to
// do. The run ends when nothing is left to happen, or at `until`; then the protocol's goal must be
// met.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/text/describe.h"
#include "sim/engine.h"
#include "sim/settling.h"

namespace turno::sim {

template <Protocol P>
struct AutonomousEvent {
  using Message = typename P::Message;
  using InputKind = typename Input<Message>::Kind;
  InputKind what = InputKind::receive;
  NodeId node;
  NodeId from;               // of a message, or to whom it was sent
  std::uint32_t number = 0;  // of a timer
  std::uint32_t setting = 0;
  Message message;
};

template <Protocol P>
class Autonomous : private Engine<P, AutonomousEvent<P>> {
  using Event = AutonomousEvent<P>;
  using Base = Engine<P, Event>;
  using typename Base::InputKind;
  using typename Base::Message;

 public:
  explicit Autonomous(const Options& options)
      : Base(options), lives_(options.setup.size()), settling_(options.setup.size()) {}

  Result run() {
    return this->measured([this] {
      for (std::size_t i = 0; i < nodes_.size(); ++i) feed(NodeId{i}, {.kind = InputKind::start});
      for (const auto& [time, node] : options_.faults.crashes)
        schedule(time, {.what = InputKind::crash, .node = node});
      for (const auto& [time, node] : options_.faults.recoveries)
        schedule(time, {.what = InputKind::recover, .node = node});
      while (advance()) {
      }
      return summary();
    });
  }

 private:
  using Base::network_;
  using Base::nodes_;
  using Base::now_;
  using Base::options_;
  using Base::out_;
  using Base::queue_;
  using Base::random_;
  using Base::schedule;

  struct Life {
    bool dead = false, choosing = false;
  };

  bool advance() {
    constexpr std::uint64_t too_many = 100'000'000;
    if (queue_.empty() || this->events_ == too_many) return false;
    return Base::advance([this](Event& event) {
      happen(event);
      settling_.look(nodes_, now_);
    });
  }

  void happen(Event& event) {
    auto& life = lives_[event.node.index()];
    if (event.what == InputKind::recover) {
      if constexpr (Recoverable<P>) recover(event.node);
      return;
    }
    if (life.dead) return come_back(event);
    switch (event.what) {
      case InputKind::crash:
        return crash(event.node);
      case InputKind::expire:
        if (!this->is_last_setting(event.node, event.number, event.setting)) return;
        break;
      case InputKind::choose:
        life.choosing = false;
        if constexpr (HasChoices<P>) choose(event.node);
        return;
      default:
        break;
    }
    feed(event.node, {.kind = event.what,
                      .from = event.from,
                      .message = std::move(event.message),
                      .number = event.number});
  }

  // What is sent to a dead node is lost, or comes back as late as it went.
  void come_back(Event& event) {
    if constexpr (Bouncing<P>) {
      if (event.what != InputKind::receive) return;
      event.what = InputKind::bounce;
      std::swap(event.node, event.from);
      schedule(options_.delay.draw(random_), std::move(event));
    }
  }

  void crash(NodeId node) {
    if constexpr (Mortal<P>) {
      feed(node, {.kind = InputKind::crash});
      auto& life = lives_[node.index()];
      life.dead = true;
      life.choosing = false;
      this->stop_timers(node);
      settling_.crash(node, now_);
    }
  }
  void recover(NodeId node) {
    if (!lives_[node.index()].dead) return;
    lives_[node.index()].dead = false;
    feed(node, {.kind = InputKind::recover});
    settling_.recover(node, now_);
  }
  // The first choice, which ends something, is as likely as all together: or they would only begin.
  void choose(NodeId node) {
    const auto choices = nodes_[node.index()].choices();
    if (choices == 0) return;
    const auto choice = random_.below(2) == 0 ? 0 : random_.below(choices);
    feed(node, {.kind = InputKind::choose, .number = static_cast<std::uint32_t>(choice)});
  }

  void feed(NodeId node, const Input<Message>& input) {
    std::string choice;
    if (options_.trace && input.kind == InputKind::choose) choice = name_of(node, input.number);
    this->run_step(node, input);
    this->trace(node, input, [&](TraceStep& step) {
      if (!choice.empty()) step.detail = choice;
    });
    this->set_timers(node, [&](std::uint8_t timer, std::uint32_t setting) {
      return Event{.what = InputKind::expire, .node = node, .number = timer, .setting = setting};
    });
    this->for_each_sent(node, [&](NodeId to, const Message& message) { send(node, to, message); });
    if constexpr (HasChoices<P>) think(node);
  }

  void send(NodeId from, NodeId to, const Message& message) {
    if constexpr (requires { P::declares(message); }) declared_ += P::declares(message) ? 1 : 0;
    const auto at = network_.arrival(from, to, now_ + network_.delay(from, to, false, random_));
    queue_.push(at, {.node = to, .from = from, .message = message});
  }
  // Who may choose does so after a while.
  void think(NodeId node) {
    auto& life = lives_[node.index()];
    if (life.dead || life.choosing || nodes_[node.index()].choices() == 0) return;
    life.choosing = true;
    schedule(options_.arrivals.draw(random_), {.what = InputKind::choose, .node = node});
  }

  [[nodiscard]] std::string name_of(NodeId node, std::uint32_t choice) const {
    if constexpr (requires(const P& state) { state.choice_name(choice); })
      return nodes_[node.index()].choice_name(choice);
    return std::to_string(choice);
  }
  [[nodiscard]] Result summary() const {
    constexpr double ms = 1e6;
    Result result;
    result.settlings = settling_.times().count();
    result.settling_mean_ms = settling_.times().mean() / ms;
    result.settling_max_ms = static_cast<double>(settling_.times().max()) / ms;
    result.deadlocked = declared_;
    if constexpr (requires(const P& node) { node.deadlocked; })
      for (const auto& node : nodes_) result.deadlocked += node.deadlocked ? 1 : 0;
    result.violation = settling_.wrong(nodes_);
    return result;
  }

  std::vector<Life> lives_;
  Settling<P> settling_;
  std::uint64_t declared_ = 0;
};

}  // namespace turno::sim
