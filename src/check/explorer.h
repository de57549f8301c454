// Explores every interleaving of a small system, breadth first, so that a counterexample is
// shortest.
//
// The checks, each with what must sometimes happen so that it does not hold emptily:
//
//   exclusion    never more inside than allowed                (somebody gets in, and together)
//   token        one token, with a node or on its way          (it travels)
//   fence        a grant's fence is larger than all before     (a second grant happens)
//   invariant    what the algorithm itself states
//   addressee    messages go to nodes; nobody enters unasked
//   deadlock     when nothing can happen any more, all are served
//   goal         ... and what the algorithm promises is true
//   trap         all that can still come, from every world     (two wait at once)
//   starvation   (forever) no fair cycle on which one node always waits
#pragma once

#include <algorithm>
#include <ctime>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check/events.h"
#include "check/options.h"
#include "check/renumbering.h"
#include "check/search.h"
#include "check/world.h"
#include "core/protocol.h"
#include "core/text/trace.h"

namespace turno::check {

template <Protocol P>
class Explorer : private Search {
 public:
  explicit Explorer(const Options& options)
      : Search(options),
        events_(options_),
        n_(options.setup.size()),
        frontier_(n_),
        scratch_(n_, 1),
        replayed_(n_, 1) {
    Monitor<P::info.primitive> monitor;
    monitor.begin(options.setup);
    first_fence_ = monitor.last();
  }

  Result run() {
    const auto started = std::clock();
    explore();
    if (result_.verdict == Verdict::holds) judge_infinite_runs(has_users(P::info.primitive));
    if (result_.verdict == Verdict::holds) judge_witnesses(P::info.primitive, HasToken<P>);
    if (result_.verdict == Verdict::violated) write_trace();
    result_.states = table_.size();
    result_.transitions = graph_.edges() + faults_;
    result_.bytes = bytes() + frontier_.bytes();
    result_.cpu_seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
    return std::move(result_);
  }

 private:
  using Message = typename P::Message;
  using InputKind = typename Input<Message>::Kind;

  // ---- exploration

  void explore() {
    for (std::size_t i = 0; i < events_.first_worlds(); ++i) begin_at(i);
    World expanded = 0;
    next_level_ = static_cast<World>(table_.size());
    while (!frontier_.empty()) {
      if (expanded == next_level_) {
        if (!finding_.property.empty()) break;
        next_level_ = static_cast<World>(table_.size());
        ++result_.depth;
      }
      expand(frontier_.front(), expanded++);
      frontier_.pop();
      const bool look = expanded % 4096 == 0 || table_.size() > options_.max_states;
      if (look && !within_limits(expanded, frontier_.bytes())) break;
    }
    if (!finding_.property.empty()) report();
  }

  void begin_at(std::size_t start) {
    frontier_.push(events_.first_world(start));
    const auto [world, fresh] =
        table_.insert(options_.forever ? renumbered_fingerprint(frontier_.back(), options_.channels)
                                       : fingerprint(frontier_.back(), options_.channels));
    TURNO_ASSERT(fresh);
    add_world(no_world, static_cast<Edge>(start), census(frontier_.back()));
    judge_world(frontier_.back(), world);
  }

  void expand(const WorldView<P>& world, World number) {
    graph_.begin_world();
    const auto successors = successors_of(world);
    const bool stuck = std::all_of(successors.begin(), successors.end(),
                                   [](const auto& s) { return s.action.fault; });
    if (stuck && !census(world).all_served) judge_end(world, number);
    for (std::size_t i = 0; i < successors.size(); ++i) {
      const auto& successor = successors[i];
      const auto edge = static_cast<Edge>(i);
      const auto [target, fresh] = table_.insert(successor.fingerprint);
      // A fault is no way out of a trap, and no part of a cycle: it is not in the graph.
      if (successor.action.fault) {
        ++faults_;
      } else {
        graph_.add_edge(target);
        if (options_.count_messages) graph_.add_cost(messages_of(successor));
        graded_ = graded_ && target >= next_level_;
      }
      if (options_.forever) graph_.add_label(label(world, successor.action));
      if (fresh) {
        frontier_.push(world, successor);
        add_world(number, edge, census(frontier_.back()));
        judge_world(frontier_.back(), target);
      }
      judge_step(world, successor, number, edge);
    }
  }

  [[nodiscard]] std::uint8_t messages_of(const Successor<P>& successor) const {
    std::uint8_t count = 0;
    successor.out.for_each_send(successor.at, n_, [&](NodeId, const Message&) { ++count; });
    return count;
  }

  std::span<const Successor<P>> successors_of(const WorldView<P>& world) {
    return events_.find(world, [&](Successor<P>& successor) {
      successor.fingerprint = fingerprint_of(world, successor);
      table_.prefetch(successor.fingerprint);
    });
  }

  std::uint64_t fingerprint_of(const WorldView<P>& world, const Successor<P>& successor) {
    if (options_.forever) {
      scratch_.clear();
      scratch_.push(world, successor);
      return renumbered_fingerprint(scratch_.back(), options_.channels);
    }
    if (options_.channels == Channels::unordered) return successor.sum;
    return successor.sum + order_of_messages(world, successor);
  }

  // Fair actions: whoever is inside leaves, and whatever travels arrives. A message is recognised
  // by what does not get renumbered.
  [[nodiscard]] static Graph::Label label(const WorldView<P>& world, const Action& action) {
    if (action.kind == InputKind::request) return 0;  // nobody must ask
    if (action.kind == InputKind::release) return action.index + 1U;
    if (!action.takes_message()) return 0x40000000U + action.index * 256U + action.other;
    const auto& flight = world.flights[action.index];
    const auto hash = hash_flight(flight.from, flight.to, flight.message, MaskingLens{});
    return static_cast<Graph::Label>(hash >> 32) | 0x80000000U;
  }

  // ---- judgement

  [[nodiscard]] static Census census(const WorldView<P>& world) {
    Census census;
    for (std::size_t i = 0; i < world.users.size(); ++i) {
      const auto& user = world.users[i];
      if (user.inside) ++census.inside;
      if (user.waiting > 0) {
        ++census.waiting;
        census.who_waits |= 1U << i;
      }
      const bool may_ask = user.left > 0 && Events<P>::is_there(world.nodes[i]);
      if (user.waiting > 0 || may_ask) census.all_served = false;
    }
    if constexpr (HasGoal<P>)
      if (census.all_served) census.all_served = P::unmet_goal(world.snapshot()).empty();
    return census;
  }

  void judge_end(const WorldView<P>& world, World number) {
    if constexpr (HasGoal<P>) {
      const std::string_view unmet = P::unmet_goal(world.snapshot());
      if (!unmet.empty()) return found({"goal", std::string(unmet), number});
    }
    found({"deadlock", "nothing can happen any more, and somebody still waits", number});
  }

  void judge_step(const WorldView<P>& world, const Successor<P>& successor, World number,
                  Edge edge) {
    if (successor.out.granted()) {
      // In an endless run the worlds after a grant may equal those before: any two grants will do.
      const bool later =
          options_.forever ? witnessed_.first_grant : world.outside->monitor.last() != first_fence_;
      witnessed_.second_grant |= later;
      witnessed_.first_grant = true;
      const auto& before = world.users[successor.at.index()];
      if (before.waiting == 0 && successor.action.kind != InputKind::request)
        found({"addressee", "a node enters although its user did not ask", number, edge});
    }
    if (successor.complaint)
      found({std::string(successor.complaint.property), successor.complaint.text, number, edge});
    for (const auto& send : successor.out.sends())
      if (send.to.index() >= n_ && send.to != successor.out.everyone)
        found({"addressee", "a " + std::string(kind_name(send.message)) + " is sent to nobody",
               number, edge});
  }

  void judge_world(const WorldView<P>& world, World number) {
    if constexpr (HasToken<P>) {
      std::size_t tokens = 0;
      for (const auto& node : world.nodes) tokens += node.has_token() ? 1U : 0U;
      for (const auto& flight : world.flights) {
        if (!P::carries_token(flight.message)) continue;
        ++tokens;
        witnessed_.token_travels = true;
      }
      if (tokens == 0) found_in(number, "token", "the token is lost");
      if (tokens > 1) found_in(number, "token", "there are two tokens");
    }
    if constexpr (HasInvariants<P>) {
      const std::string_view broken = P::broken_invariant(world.snapshot());
      if (!broken.empty()) found_in(number, "invariant", broken);
    }
  }

  // ---- the way to a violation

  void write_trace() {
    const auto path = path_to_finding();
    result_.cycle_from = path.size();
    replayed_ = events_.first_world(start_of_finding());
    for (auto edge : path) result_.trace.push_back(replay_step(edge));
    for (std::size_t i = 0; i < cycle_.worlds.size(); ++i)
      result_.trace.push_back(replay_step_to(cycle_.worlds[(i + 1) % cycle_.worlds.size()]));
    for (std::size_t i = 0; i < result_.trace.size(); ++i)
      result_.trace[i].time_ns = static_cast<std::int64_t>(i + 1);
  }

  TraceStep replay_step(std::size_t edge) {
    const auto before = replayed_;
    const auto successors = successors_of(before.back());
    TURNO_ASSERT(edge < successors.size());
    replayed_.clear();
    replayed_.push(before.back(), successors[edge]);
    auto step = trace_step(before.back(), successors[edge]);
    if (options_.trace_states) step.state = json_state(replayed_.back().nodes[step.node.index()]);
    return step;
  }

  // On a cycle the numbers differ from those of the first time round: find the action by the world
  // that it leads to.
  TraceStep replay_step_to(World target) {
    const auto successors = successors_of(replayed_.back());
    for (std::size_t i = 0; i < successors.size(); ++i)
      if (table_.insert(successors[i].fingerprint).first == target) return replay_step(i);
    TURNO_ASSERT(false && "a world has the successors that it had before");
    return {};
  }

  [[nodiscard]] TraceStep trace_step(const WorldView<P>& world,
                                     const Successor<P>& successor) const {
    TraceStep trace;
    trace.node = successor.at;
    const auto& action = successor.action;
    trace.kind = action.kind;
    if (action.takes_message() || action.kind == InputKind::repeat) {
      const auto& flight = world.flights[action.index];
      trace.takes.push_back(trace_message(flight.from, flight.to, flight.message));
    }
    if (action.kind == InputKind::request) {
      const auto demand = events_.demand(world, action);
      trace.wish = {demand.group, {demand.needs.begin(), demand.needs.end()}};
    }
    if constexpr (Divisible<P>)
      if (action.kind == InputKind::release) trace.detail = numbers_of(action.other);
    if (action.kind == InputKind::suspect) trace.about = NodeId{action.other};
    if constexpr (HasTimers<P>)
      if (action.kind == InputKind::expire) trace.detail = std::string(P::timers[action.other]);
    if constexpr (HasChoices<P>)
      if (action.kind == InputKind::choose)
        trace.detail = choice_name(world.nodes[action.index], action.other);
    successor.out.for_each_send(successor.at, n_, [&](NodeId to, const Message& message) {
      trace.sends.push_back(trace_message(successor.at, to, message));
    });
    trace.entered = successor.out.granted().has_value();
    if (trace.entered) trace.fence = *successor.out.granted();
    trace.units.assign(successor.out.units().begin(), successor.out.units().end());
    return trace;
  }

  static std::string numbers_of(std::uint32_t bits) {
    std::string text;
    for (std::uint32_t i = 0; bits >> i != 0; ++i)
      if (((bits >> i) & 1U) != 0) text += (text.empty() ? "" : ", ") + std::to_string(i);
    return text;
  }
  static std::string choice_name(const P& node, std::uint32_t choice) {
    if constexpr (requires { node.choice_name(choice); }) {
      return node.choice_name(choice);
    } else {
      return std::to_string(choice);
    }
  }

  Events<P> events_;
  std::size_t n_;
  Frontier<P> frontier_;
  Block<P> scratch_, replayed_;
  Fence first_fence_;         // before any grant
  std::uint64_t faults_ = 0;  // transitions
};

}  // namespace turno::check
