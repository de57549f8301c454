// What every simulation is made of: nodes, a network, a queue of what will happen, one clock and
// one seed. Who asks and what goes wrong is up to the class above.
#pragma once

#include <array>
#include <ctime>
#include <utility>
#include <vector>

#include "core/protocol.h"
#include "core/random.h"
#include "sim/event_queue.h"
#include "sim/network.h"
#include "sim/options.h"
#include "sim/tally.h"
#include "sim/trace_step.h"

namespace turno::sim {

// An event has `what` happens and at which `node`.
template <Protocol P, class Event>
class Engine {
 protected:
  using Message = typename P::Message;
  using InputKind = typename Input<Message>::Kind;

  explicit Engine(const Options& options)
      : options_(options),
        random_(options.seed),
        network_(options),
        queue_(2 * options.setup.size()),
        sent_(Message::kinds.size(), options.interval) {
    nodes_.reserve(options.setup.size());
    for (std::size_t i = 0; i < options.setup.size(); ++i) add_node();
  }

  NodeId add_node() {
    const NodeId fresh{nodes_.size()};
    nodes_.push_back(P::resume(options_.setup, fresh, {}));
    if constexpr (HasTimers<P>) settings_.emplace_back();
    return fresh;
  }

  void schedule(Time delay, Event&& event) { queue_.push(now_ + delay, std::move(event)); }

  // Lets the first event of the queue happen. False: it would happen too late.
  template <class Happen>
  bool advance(Happen happen) {
    auto [time, event] = queue_.pop();
    if (options_.until > 0 && time > options_.until) return false;
    now_ = time;
    ++events_;
    digest_.add(static_cast<std::uint64_t>(now_) ^ (std::uint64_t{event.node.value} << 40) ^
                static_cast<std::uint64_t>(event.what));
    happen(event);
    return true;
  }

  // One step of a node; what comes of it is in out_.
  void run_step(NodeId node, const Input<Message>& input) {
    out_.clear();
    auto& state = nodes_[node.index()];
    if constexpr (requires { state.told_time(now_); }) state.told_time(now_);
    step(state, input, out_);
  }
  // What the step of this node has sent.
  template <class Send>
  void for_each_sent(NodeId node, Send send) {
    out_.for_each_send(node, nodes_.size(), [&](NodeId to, const Message& message) {
      sent_.add(static_cast<std::size_t>(message.kind), now_);
      send(to, message);
    });
  }

  // Each setting of a timer has a number; only the last one counts.
  template <class EventOf>
  void set_timers(NodeId node, EventOf event_of) {
    for (const auto& alarm : out_.alarms()) {
      const auto setting = ++settings_[node.index()][alarm.timer];
      if (alarm.delay_ns >= 0) schedule(alarm.delay_ns, event_of(alarm.timer, setting));
    }
  }
  [[nodiscard]] bool is_last_setting(NodeId node, std::uint32_t timer,
                                     std::uint32_t setting) const {
    return settings_[node.index()][timer] == setting;
  }
  void stop_timers(NodeId node) {
    if constexpr (HasTimers<P>)
      for (auto& setting : settings_[node.index()]) ++setting;
  }

  // `amend` adds to the step what it knows of it.
  template <class Amend>
  void trace(NodeId node, const Input<Message>& input, Amend amend) const {
    if (!options_.trace || (input.kind == InputKind::start && out_.sends().empty())) return;
    auto step = trace_step<P>(now_, node, input, out_, nodes_.size());
    if (options_.trace_states) step.state = json_state(nodes_[node.index()]);
    amend(step);
    options_.trace(step);
  }

  // Runs `all`, which returns its result, and adds what every run has.
  template <class All>
  Result measured(All all) {
    const auto started = std::clock();
    Result result = all();
    sent_.write(result, Message::kinds);
    result.simulated_seconds = static_cast<double>(now_) / 1e9;
    result.events = events_;
    result.digest = digest_.value();
    result.cpu_seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
    return result;
  }

  const Options& options_;
  Random random_;
  Network network_;
  EventQueue<Event> queue_;
  std::vector<P> nodes_;
  Effects<Message> out_;
  Time now_ = 0;
  std::uint64_t events_ = 0;

 private:
  static constexpr std::size_t timer_count() {
    if constexpr (HasTimers<P>) return P::timers.size();
    return 0;
  }

  std::vector<std::array<std::uint32_t, timer_count()>> settings_;  // of each node, so far
  Digest digest_;
  MessageCount sent_;
};

}  // namespace turno::sim
