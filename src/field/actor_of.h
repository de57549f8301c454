// An algorithm as an actor. Instantiated in the sources that CMake makes from algorithm.cc.in, one
// for each algorithm.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.h"
#include "field/actor.h"
#include "field/values.h"
#include "sim/settling.h"

namespace turno::field {

template <Protocol P>
class ActorOf final : public Actor {
  using Message = typename P::Message;

 public:
  ActorOf(const Setup& setup, NodeId self)
      : self_(self), nodes_(setup.size()), node_(P::resume(setup, self, {})) {}

  void step(const Stimulus& stimulus, Response& response) override {
    Input<Message> input{.kind = stimulus.kind,
                         .from = stimulus.from,
                         .demand = stimulus.demand,
                         .number = stimulus.number};
    if (!stimulus.bytes.empty()) TURNO_ASSERT(from_bytes(stimulus.bytes, input.message));
    out_.clear();
    if constexpr (requires { node_.told_time(stimulus.now); }) node_.told_time(stimulus.now);
    turno::step(node_, input, out_);
    response.alarms.assign(out_.alarms().begin(), out_.alarms().end());
    response.sends.clear();
    out_.for_each_send(self_, nodes_,
                       [&](NodeId to, const Message& message) { post(to, message, response); });
    response.fence = out_.granted();
    response.units.assign(out_.units().begin(), out_.units().end());
  }

  [[nodiscard]] std::uint32_t choices() const override {
    if constexpr (HasChoices<P>) return node_.choices();
    return 0;
  }
  [[nodiscard]] std::string choice_name(std::uint32_t choice) const override {
    if constexpr (requires { node_.choice_name(choice); }) return node_.choice_name(choice);
    return std::to_string(choice);
  }
  [[nodiscard]] std::string state() const override {
    if constexpr (!has_users(P::info.primitive)) return bytes_of(node_);
    return {};
  }
  [[nodiscard]] std::string stable() const override {
    if constexpr (Recoverable<P>) {
      auto crashed = node_;
      crashed.crash();
      return bytes_of(crashed);
    }
    return {};
  }
  void revive([[maybe_unused]] std::string_view stable) override {
    if constexpr (Recoverable<P>) {
      node_.crash();
      if (!stable.empty()) restore(stable, node_);
    }
  }
  [[nodiscard]] const NodeSet* suspects() const override {
    if constexpr (requires {
                    { node_.suspects() } -> std::convertible_to<const NodeSet&>;
                  })
      return &node_.suspects();
    return nullptr;
  }
  [[nodiscard]] bool detects_crashes() const override {
    if constexpr (requires { node_.detects_crashes(); }) return node_.detects_crashes();
    return false;
  }

  // A state is what its fields say; the rest is as it was in the beginning.
  static std::string bytes_of(const P& node) {
    std::string bytes;
    wire::Writer out(bytes);
    std::apply([&](const auto&... field) { (wire::encode(out, field), ...); }, node.fields());
    return bytes;
  }
  static void restore(std::string_view bytes, P& node) {
    wire::Reader in(bytes);
    std::apply(
        [&](const auto&... field) {
          (read(in, const_cast<std::remove_cvref_t<decltype(field)>&>(field)), ...);
        },
        node.fields());
    TURNO_ASSERT(in.ok());
  }

 private:
  void post(NodeId to, const Message& message, Response& response) {
    auto& send = response.sends.emplace_back();
    send.to = to;
    send.kind = static_cast<std::uint8_t>(message.kind);
    send.bytes = to_bytes(message);
    if constexpr (requires { P::carries(message); }) send.carries = P::carries(message);
    if constexpr (requires { P::preempts(message); }) send.preempts = P::preempts(message);
    if constexpr (requires { P::declares(message); }) send.declares = P::declares(message);
  }

  NodeId self_;
  std::size_t nodes_;
  P node_;
  Effects<Message> out_;
};

template <Protocol P>
class AssemblyOf final : public Assembly {
 public:
  explicit AssemblyOf(const Setup& setup) : settling_(setup.size()) {
    for (std::size_t i = 0; i < setup.size(); ++i)
      nodes_.push_back(P::resume(setup, NodeId{i}, {}));
  }
  void set(NodeId node, std::string_view state, Time now) override {
    ActorOf<P>::restore(state, nodes_[node.index()]);
    settling_.look(nodes_, now);
  }
  void crash(NodeId node, Time now) override {
    if constexpr (Mortal<P>) nodes_[node.index()].crash();
    settling_.crash(node, now);
    settling_.look(nodes_, now);
  }
  void recover(NodeId node, Time now) override { settling_.recover(node, now); }
  [[nodiscard]] std::string wrong() const override { return settling_.wrong(nodes_); }
  [[nodiscard]] const sim::Histogram& settlings() const override { return settling_.times(); }
  [[nodiscard]] std::uint64_t deadlocked() const override {
    std::uint64_t count = 0;
    if constexpr (requires(const P& node) { node.deadlocked; })
      for (const auto& node : nodes_) count += node.deadlocked ? 1 : 0;
    return count;
  }

 private:
  std::vector<P> nodes_;
  sim::Settling<P> settling_;
};

template <Protocol P>
std::span<const std::string_view> timer_names() {
  if constexpr (HasTimers<P>) return P::timers;
  return {};
}

template <Protocol P>
Cast cast_of() {
  Cast cast{.info = P::info,
            .kinds = P::Message::kinds,
            .timers = timer_names<P>(),
            .mortal = Mortal<P>,
            .suspecting = Suspecting<P>,
            .bouncing = Bouncing<P>,
            .recoverable = Recoverable<P>,
            .costed = requires(const typename P::Message& message){P::carries(message);
}
};  // namespace turno::field
cast.make = [](const Setup& setup, NodeId self) -> std::unique_ptr<Actor> {
  return std::make_unique<ActorOf<P>>(setup, self);
};
if constexpr (!has_users(P::info.primitive))
  cast.assemble = [](const Setup& setup) -> std::unique_ptr<Assembly> {
    return std::make_unique<AssemblyOf<P>>(setup);
  };
cast.trace = [](NodeId from, NodeId to, std::string_view bytes) {
  typename P::Message message{};
  TURNO_ASSERT(from_bytes(bytes, message));
  return trace_message(from, to, message);
};
return cast;
}

}  // namespace turno::field
