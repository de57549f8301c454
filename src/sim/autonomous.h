// A simulation of nodes that act by themselves, with no users who ask: elections and detectors of
// deadlock. What happens comes from crashes, recoveries, timers, and from what the nodes choose to
// do. The run ends when nothing is left to happen, or at `until`; then the protocol's goal must be
// met.
#pragma once

#include <array>
#include <ctime>
#include <utility>
#include <vector>

#include "core/protocol.h"
#include "core/random.h"
#include "core/text/describe.h"
#include "sim/event_queue.h"
#include "sim/network.h"
#include "sim/options.h"
#include "sim/settling.h"
#include "sim/tally.h"
#include "sim/trace_step.h"

namespace turno::sim {

template <Protocol P>
class Autonomous {
 public:
  explicit Autonomous(const Options& options)
      : options_(options),
        random_(options.seed),
        network_(options),
        queue_(2 * options.setup.size()),
        lives_(options.setup.size()),
        settling_(options.setup.size()) {
    nodes_.reserve(options.setup.size());
    for (std::size_t i = 0; i < options.setup.size(); ++i)
      nodes_.push_back(P::resume(options.setup, NodeId{i}, {}));
  }

  Result run() {
    const auto started = std::clock();
    for (std::size_t i = 0; i < nodes_.size(); ++i) feed(NodeId{i}, {.kind = InputKind::start});
    for (const auto& [time, node] : options_.faults.crashes)
      schedule(time, {.what = InputKind::crash, .node = node});
    for (const auto& [time, node] : options_.faults.recoveries)
      schedule(time, {.what = InputKind::recover, .node = node});
    while (advance()) {
    }
    auto result = summary();
    result.cpu_seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
    return result;
  }

 private:
  using Message = typename P::Message;
  using InputKind = typename Input<Message>::Kind;
  static constexpr std::size_t timer_count() {
    if constexpr (HasTimers<P>) return P::timers.size();
    return 0;
  }

  struct Event {
    InputKind what = InputKind::receive;
    NodeId node;
    NodeId from;               // of a message, or to whom it was sent
    std::uint32_t number = 0;  // of a timer
    std::uint32_t setting = 0;
    Message message;
  };
  struct Life {
    bool dead = false, choosing = false;
    std::array<std::uint32_t, timer_count()> settings{};  // of each timer, so far
  };

  bool advance() {
    constexpr std::uint64_t too_many = 100'000'000;
    if (queue_.empty() || events_ == too_many) return false;
    auto [time, event] = queue_.pop();
    if (options_.until > 0 && time > options_.until) return false;
    now_ = time;
    ++events_;
    digest_.add(static_cast<std::uint64_t>(now_) ^ (std::uint64_t{event.node.value} << 40) ^
                static_cast<std::uint64_t>(event.what));
    happen(event);
    settling_.look(nodes_, now_);
    return true;
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
        if (life.settings[event.number] != event.setting) return;
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
      for (auto& setting : life.settings) ++setting;
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
    out_.clear();
    step(nodes_[node.index()], input, out_);
    if (options_.trace) trace(node, input, choice);
    for (const auto& alarm : out_.alarms()) set(node, alarm);
    out_.for_each_send(node, nodes_.size(),
                       [&](NodeId to, const Message& message) { send(node, to, message); });
    if constexpr (HasChoices<P>) think(node);
  }

  // Each setting of a timer has a number; only the last one counts.
  void set(NodeId node, const Alarm& alarm) {
    const auto setting = ++lives_[node.index()].settings[alarm.timer];
    if (alarm.delay_ns >= 0)
      schedule(
          alarm.delay_ns,
          {.what = InputKind::expire, .node = node, .number = alarm.timer, .setting = setting});
  }
  void send(NodeId from, NodeId to, const Message& message) {
    if constexpr (requires { P::declares(message); }) declared_ += P::declares(message) ? 1 : 0;
    ++by_kind_[static_cast<std::size_t>(message.kind)];
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
  void schedule(Time delay, Event&& event) { queue_.push(now_ + delay, std::move(event)); }

  [[nodiscard]] std::string name_of(NodeId node, std::uint32_t choice) const {
    if constexpr (requires(const P& state) { state.choice_name(choice); })
      return nodes_[node.index()].choice_name(choice);
    return std::to_string(choice);
  }
  void trace(NodeId node, const Input<Message>& input, const std::string& choice) const {
    if (input.kind == InputKind::start && out_.sends().empty()) return;
    auto step = trace_step<P>(now_, node, input, out_, nodes_.size());
    if (!choice.empty()) step.detail = choice;
    options_.trace(step);
  }

  [[nodiscard]] Result summary() const {
    constexpr double ms = 1e6;
    Result result;
    write_messages(result, by_kind_, Message::kinds);
    result.settlings = settling_.times().count();
    result.settling_mean_ms = settling_.times().mean() / ms;
    result.settling_max_ms = static_cast<double>(settling_.times().max()) / ms;
    result.deadlocked = declared_;
    if constexpr (requires(const P& node) { node.deadlocked; })
      for (const auto& node : nodes_) result.deadlocked += node.deadlocked ? 1 : 0;
    result.simulated_seconds = static_cast<double>(now_) / 1e9;
    result.events = events_;
    result.digest = digest_.value();
    result.violation = settling_.wrong(nodes_);
    return result;
  }

  const Options& options_;
  Random random_;
  Network network_;
  EventQueue<Event> queue_;
  std::vector<P> nodes_;
  std::vector<Life> lives_;
  Settling<P> settling_;
  Effects<Message> out_;
  std::array<std::uint64_t, Message::kinds.size()> by_kind_{};
  Time now_ = 0;
  std::uint64_t events_ = 0, declared_ = 0;
  Digest digest_;
};

}  // namespace turno::sim
