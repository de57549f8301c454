// Explores every interleaving of a small system, breadth first, so that a counterexample is
// shortest.
//
// One transition: a user wants in, a user leaves, or one message is delivered. Handlers are atomic.
// The checks, each with what must sometimes happen so that it does not hold emptily:
//
//   exclusion    never two inside                              (somebody gets in)
//   token        one token, with a node or on its way          (it travels)
//   fence        a grant's fence is larger than all before     (a second grant happens)
//   invariant    what the algorithm itself states
//   addressee    messages go to nodes; nobody enters unasked
//   deadlock     when nothing can happen any more, all are served
//   trap         all can still be served, from every world     (two wait at once)
//   starvation   (forever) no fair cycle on which one node always waits
#pragma once

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "check/options.h"
#include "check/renumbering.h"
#include "check/search.h"
#include "check/world.h"
#include "core/protocol.h"
#include "core/trace.h"

namespace turno::check {

template <Protocol P>
class Explorer : private Search {
 public:
  explicit Explorer(const Options& options)
      : Search(options),
        n_(options.setup.size()),
        frontier_(n_),
        scratch_(n_, 1),
        replayed_(n_, 1) {}

  Result run() {
    const auto started = std::clock();
    explore();
    if (result_.verdict == Verdict::holds) judge_infinite_runs();
    if (result_.verdict == Verdict::holds) judge_witnesses(HasToken<P>);
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
    frontier_.push(initial_world());
    table_.insert(options_.forever ? renumbered_fingerprint(frontier_.back(), options_.channels)
                                   : fingerprint(frontier_.back(), options_.channels));
    add_world(no_world, 0, census(frontier_.back()));
    judge_world(frontier_.back(), 0);
    World expanded = 0;
    next_level_ = 1;
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

  // The start of a node is not a transition: the first world is the one after all starts.
  Block<P> initial_world() const {
    std::vector<P> nodes;
    std::vector<User> users(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      nodes.push_back(P::resume(options_.setup, NodeId{i}, options_.holders));
      users[i].left = asks(NodeId{i}) && !options_.forever ? options_.requests : 0;
    }
    for (auto holder : options_.holders) users[holder.index()].inside = true;
    Block<P> block(n_, 1);
    block.push(nodes, users, Fence::at(options_.setup.epoch));
    for (std::size_t i = 0; i < n_; ++i) {
      Successor<P> successor;
      successor.at = NodeId{i};
      successor.node = block.back().nodes[i];
      successor.user = block.back().users[i];
      successor.last = block.back().last;
      step(successor.node, {.kind = InputKind::start}, successor.out);
      successor.node_hash = hash_node(successor.at, successor.node, successor.user);
      successor.sum = successor_sum(block.back(), successor);
      Block<P> after(n_, 1);
      after.push(block.back(), successor);
      block = std::move(after);
    }
    return block;
  }

  void expand(const WorldView<P>& world, World number) {
    graph_.begin_world();
    const auto count = find_successors(world);
    const bool stuck = std::all_of(successors_.begin(), successors_.begin() + offset(count),
                                   [](const auto& s) { return s.action.fault(); });
    if (stuck && !census(world).all_served)
      found({"deadlock", "nothing can happen any more, and somebody still waits", number});
    for (std::size_t i = 0; i < count; ++i) {
      auto& successor = successors_[i];
      const auto edge = static_cast<Edge>(i);
      const auto [target, fresh] = table_.insert(successor.fingerprint);
      // A fault is no way out of a trap, and no part of a cycle: it is not in the graph.
      if (successor.action.fault()) {
        ++faults_;
      } else {
        graph_.add_edge(target);
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

  // Fills successors_ with what can happen next; says how many.
  std::size_t find_successors(const WorldView<P>& world) {
    std::size_t count = 0;
    const auto add = [&](Action action, NodeId at, const Input<Message>& input) {
      if (count == successors_.size()) successors_.emplace_back();
      auto& successor = successors_[count++];
      successor.action = action;
      successor.at = at;
      successor.node = world.nodes[at.index()];
      successor.user = world.users[at.index()];
      successor.last = world.last;
      successor.out.clear();
      act(successor, input);
      successor.sum = successor_sum(world, successor);
      successor.fingerprint = fingerprint_of(world, successor);
      table_.prefetch(successor.fingerprint);
    };
    for (std::size_t i = 0; i < n_; ++i) {
      const auto index = static_cast<std::uint16_t>(i);
      if (world.users[i].inside)
        add({Action::Kind::leave, index}, NodeId{i}, {.kind = InputKind::release});
      if (may_want(world.users[i], NodeId{i}, is_there(world.nodes[i])))
        add({Action::Kind::want, index}, NodeId{i}, {.kind = InputKind::request});
    }
    for (std::size_t i = 0; i < world.flights.size(); ++i) {
      const auto& flight = world.flights[i];
      if (flight.to.index() >= n_ || !world.deliverable(i, options_.channels)) continue;
      if constexpr (requires(const P& node) { node.ready(flight.message); })
        if (!world.nodes[flight.to.index()].ready(flight.message)) continue;
      add({Action::Kind::deliver, static_cast<std::uint16_t>(i)}, flight.to,
          {.kind = InputKind::receive, .from = flight.from, .message = flight.message});
    }
    if constexpr (HasViews<P>) add_changes(world, add);
    return count;
  }

  // Crashes, joins, what they make of the view, and idle locks. The view follows from who is there:
  // every crash and every join is one epoch.
  template <class Add>
  void add_changes(const WorldView<P>& world, const Add& add) {
    std::uint32_t changes = 0, crashed = 0, joined = 0, retired = 0;
    view_.members.clear();
    for (std::size_t i = 0; i < n_; ++i) {
      const auto& node = world.nodes[i];
      const bool absent = options_.setup.absent.contains(NodeId{i});
      changes += node.changes();
      retired += node.retired;
      joined += absent && node.changes() > 0 ? 1 : 0;
      crashed += node.crashed() ? 1 : 0;
      if (node.present()) view_.members.insert(NodeId{i});
    }
    view_.epoch = options_.setup.epoch + changes;
    for (std::size_t i = 0; i < n_; ++i) {
      const auto index = static_cast<std::uint16_t>(i);
      const auto& node = world.nodes[i];
      if (node.present() && node.epoch < view_.epoch)
        add({Action::Kind::adopt, index}, NodeId{i}, {.kind = InputKind::view, .view = &view_});
      if (node.present() && crashed < options_.crashes)
        add({Action::Kind::crash, index}, NodeId{i}, {.kind = InputKind::crash});
      if (!node.present() && !node.crashed() && joined < options_.joins)
        add({Action::Kind::join, index}, NodeId{i}, {.kind = InputKind::join});
      if (node.retirable() && retired < options_.retires)
        add({Action::Kind::retire, index}, NodeId{i}, {.kind = InputKind::retire});
    }
  }

  void act(Successor<P>& successor, const Input<Message>& input) {
    step(successor.node, input, successor.out);
    auto& user = successor.user;
    if (input.kind == InputKind::request) {
      ++user.waiting;
      if (!options_.forever) --user.left;
    }
    if (input.kind == InputKind::release) user.inside = false;
    if (input.kind == InputKind::crash) user = {.inside = user.inside && options_.false_suspicions};
    if (successor.out.granted()) {
      if (user.waiting > 0) --user.waiting;
      user.inside = true;
      successor.last = std::max(successor.last, *successor.out.granted());
    }
    successor.node_hash = hash_node(successor.at, successor.node, user);
  }

  static std::ptrdiff_t offset(std::size_t count) { return static_cast<std::ptrdiff_t>(count); }

  std::uint64_t fingerprint_of(const WorldView<P>& world, const Successor<P>& successor) {
    if (options_.forever) {
      scratch_.clear();
      scratch_.push(world, successor);
      return renumbered_fingerprint(scratch_.back(), options_.channels);
    }
    if (options_.channels == Channels::unordered) return successor.sum;
    return successor.sum + order_of_messages(world, successor);
  }

  [[nodiscard]] bool asks(NodeId node) const {
    return options_.requesters.empty() || options_.requesters.contains(node);
  }

  [[nodiscard]] bool may_want(const User& user, NodeId node, bool there) const {
    if constexpr (HasViews<P>)
      if (!there) return false;
    const bool ahead = user.inside || user.waiting > 0;
    if (ahead && !options_.overlapping) return false;
    if (user.waiting > 0 && P::info.overlap != Overlap::any) return false;
    return options_.forever ? asks(node) : user.left > 0;
  }

  [[nodiscard]] static bool is_there(const P& node) {
    if constexpr (HasViews<P>) return node.present() && node.epoch > 0;
    return true;
  }

  // Fair actions: whoever is inside leaves, and whatever travels arrives. A message is recognised
  // by what does not get renumbered.
  [[nodiscard]] static Graph::Label label(const WorldView<P>& world, const Action& action) {
    if (action.kind == Action::Kind::want) return 0;
    if (action.kind == Action::Kind::leave) return action.index + 1U;
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
      const bool may_ask = user.left > 0 && is_there(world.nodes[i]);
      if (user.waiting > 0 || may_ask) census.all_served = false;
    }
    return census;
  }

  void judge_step(const WorldView<P>& world, const Successor<P>& successor, World number,
                  Edge edge) {
    if (const auto& granted = successor.out.granted()) {
      // In an endless run the worlds after a grant may equal those before: any two grants will do.
      const bool later =
          options_.forever ? witnessed_.first_grant : world.last != Fence::at(options_.setup.epoch);
      witnessed_.second_grant |= later;
      witnessed_.first_grant = true;
      const auto& before = world.users[successor.at.index()];
      if (before.waiting == 0 && successor.action.kind != Action::Kind::want)
        found({"addressee", "a node enters although its user did not ask", number, edge});
      if (*granted <= world.last)
        found({"fence",
               "fence " + describe(*granted) + " is granted after fence " + describe(world.last),
               number, edge});
    }
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
    replayed_ = initial_world();
    for (auto edge : path) result_.trace.push_back(replay_step(edge));
    for (std::size_t i = 0; i < cycle_.worlds.size(); ++i)
      result_.trace.push_back(replay_step_to(cycle_.worlds[(i + 1) % cycle_.worlds.size()]));
    for (std::size_t i = 0; i < result_.trace.size(); ++i)
      result_.trace[i].time_ns = static_cast<std::int64_t>(i + 1);
  }

  TraceStep replay_step(std::size_t edge) {
    const auto before = replayed_;
    const auto count = find_successors(before.back());
    TURNO_ASSERT(edge < count);
    replayed_.clear();
    replayed_.push(before.back(), successors_[edge]);
    return trace_step(before.back(), successors_[edge]);
  }

  // On a cycle the numbers differ from those of the first time round: find the action by the world
  // that it leads to.
  TraceStep replay_step_to(World target) {
    const auto count = find_successors(replayed_.back());
    for (std::size_t i = 0; i < count; ++i)
      if (table_.insert(successors_[i].fingerprint).first == target) return replay_step(i);
    TURNO_ASSERT(false && "a world has the successors that it had before");
    return {};
  }

  [[nodiscard]] TraceStep trace_step(const WorldView<P>& world,
                                     const Successor<P>& successor) const {
    TraceStep trace;
    trace.node = successor.at;
    switch (successor.action.kind) {
      case Action::Kind::want:
        trace.kind = TraceStep::Kind::request;
        break;
      case Action::Kind::leave:
        trace.kind = TraceStep::Kind::release;
        break;
      case Action::Kind::deliver: {
        const auto& flight = world.flights[successor.action.index];
        trace.kind = TraceStep::Kind::receive;
        trace.takes.push_back(trace_message(flight.from, flight.to, flight.message));
        break;
      }
      case Action::Kind::crash:
        trace.kind = TraceStep::Kind::crash;
        break;
      case Action::Kind::join:
        trace.kind = TraceStep::Kind::join;
        break;
      case Action::Kind::adopt:
        trace.kind = TraceStep::Kind::view;
        break;
      case Action::Kind::retire:
        trace.kind = TraceStep::Kind::retire;
        break;
    }
    for_each_send(successor, n_, [&](NodeId to, const Message& message) {
      trace.sends.push_back(trace_message(successor.at, to, message));
    });
    trace.entered = successor.out.granted().has_value();
    if (trace.entered) trace.fence = *successor.out.granted();
    return trace;
  }

  std::size_t n_;
  Frontier<P> frontier_;
  Block<P> scratch_, replayed_;
  std::vector<Successor<P>> successors_;
  ViewChange view_;           // as the registry has it, in the world looked at
  std::uint64_t faults_ = 0;  // transitions
};

}  // namespace turno::check
