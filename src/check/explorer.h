// Explores every interleaving of a small system, breadth first, so that a counterexample is shortest.
//
// One transition: a user wants in, a user leaves, or one message is delivered. Handlers are atomic.
// The checks, each with what must sometimes happen so that it does not hold emptily:
//
//   exclusion    never two inside                              (somebody gets in)
//   token        one token, with a node or on its way          (it travels)
//   fence        a grant's fence is larger than all before     (two grants happen)
//   invariant    what the algorithm itself states
//   addressee    messages go to nodes; nobody enters unasked
//   deadlock     when nothing can happen any more, all are served
//   trap         all can still be served, from every world
//   starvation   (forever) no fair cycle on which one node always waits
#pragma once

#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "check/fingerprint_table.h"
#include "check/graph.h"
#include "check/options.h"
#include "check/renumbering.h"
#include "check/world.h"
#include "core/protocol.h"
#include "core/trace.h"

namespace turno::check {

template <Protocol P>
class Explorer {
 public:
  explicit Explorer(const Options& options)
      : options_(options), n_(options.setup.size()), frontier_(n_), scratch_(n_), replayed_(n_) {}

  Result run() {
    const auto started = std::clock();
    explore();
    if (result_.verdict == Verdict::holds) judge_infinite_runs();
    if (result_.verdict == Verdict::holds) judge_witnesses();
    if (result_.verdict == Verdict::violated) write_trace();
    result_.states = table_.size();
    result_.transitions = graph_.edges();
    result_.bytes = bytes();
    result_.cpu_seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
    return std::move(result_);
  }

 private:
  using Message = typename P::Message;
  using InputKind = typename Input<Message>::Kind;
  static constexpr std::uint32_t no_world = 0xffffffff;

  struct Origin {
    std::uint32_t world;  // from which it was first reached
    std::uint16_t edge;   // by which of its actions
  };
  struct Finding {
    std::string property, explanation;
    std::uint32_t world = no_world;  // the world where it shows, or
    std::uint16_t edge = 0xffff;     // the action of that world that shows it
  };

  // ---- exploration

  void explore() {
    frontier_.push(initial_world());
    table_.insert(options_.forever ? renumbered_fingerprint(frontier_.back(), options_.channels)
                                   : fingerprint(frontier_.back(), options_.channels));
    origins_.push_back({no_world, 0});
    judge_world(frontier_.back(), 0);
    std::uint32_t expanded = 0;
    next_level_ = 1;
    while (!frontier_.empty()) {
      if (expanded == next_level_) {
        if (!finding_.property.empty()) break;
        next_level_ = static_cast<std::uint32_t>(table_.size());
        ++result_.depth;
      }
      expand(frontier_.front(), expanded++);
      frontier_.pop();
      if (expanded % 65536 == 0 && !within_limits(expanded)) return;
    }
    if (!finding_.property.empty()) report();
  }

  // The start of a node is not a transition: the first world is the one after all starts.
  Block<P> initial_world() const {
    std::vector<P> nodes;
    std::vector<User> users(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      nodes.push_back(P::resume(options_.setup, NodeId{i}, options_.holders));
      const bool asks = options_.requesters.empty() || options_.requesters.contains(NodeId{i});
      users[i].left = asks && !options_.forever ? options_.requests : 0;
    }
    for (auto holder : options_.holders) users[holder.index()].inside = true;
    Block<P> block(n_);
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
      Block<P> after(n_);
      after.push(block.back(), successor);
      block = std::move(after);
    }
    return block;
  }

  void expand(const WorldView<P>& world, std::uint32_t number) {
    graph_.begin_world();
    const auto count = find_successors(world);
    if (count == 0 && !all_served(world))
      found({"deadlock", "nothing can happen any more, and somebody still waits", number});
    for (std::size_t i = 0; i < count; ++i) {
      auto& successor = successors_[i];
      const auto [target, fresh] = table_.insert(successor.fingerprint);
      graph_.add_edge(target);
      graded_ = graded_ && target >= next_level_;
      if (options_.forever) graph_.add_label(label(world, successor.action));
      if (fresh) {
        origins_.push_back({number, static_cast<std::uint16_t>(i)});
        frontier_.push(world, successor);
        judge_world(frontier_.back(), target);
      }
      judge_step(world, successor, number, static_cast<std::uint16_t>(i));
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
      const auto& user = world.users[i];
      const NodeId node{i};
      if (user.inside)
        add({Action::Kind::leave, static_cast<std::uint16_t>(i)}, node, {.kind = InputKind::release});
      if (may_want(user, node))
        add({Action::Kind::want, static_cast<std::uint16_t>(i)}, node, {.kind = InputKind::request});
    }
    for (std::size_t i = 0; i < world.flights.size(); ++i) {
      const auto& flight = world.flights[i];
      if (flight.to.index() >= n_ || !world.deliverable(i, options_.channels)) continue;
      if constexpr (requires(const P& node) { node.ready(flight.message); })
        if (!world.nodes[flight.to.index()].ready(flight.message)) continue;
      add({Action::Kind::deliver, static_cast<std::uint16_t>(i)}, flight.to,
          {.kind = InputKind::receive, .from = flight.from, .message = flight.message});
    }
    return count;
  }

  void act(Successor<P>& successor, const Input<Message>& input) {
    step(successor.node, input, successor.out);
    auto& user = successor.user;
    if (input.kind == InputKind::request) {
      ++user.waiting;
      if (!options_.forever) --user.left;
    }
    if (input.kind == InputKind::release) user.inside = false;
    if (successor.out.granted()) {
      if (user.waiting > 0) --user.waiting;
      user.inside = true;
      successor.last = std::max(successor.last, *successor.out.granted());
    }
    successor.node_hash = hash_node(successor.at, successor.node, user);
  }

  std::uint64_t fingerprint_of(const WorldView<P>& world, const Successor<P>& successor) {
    if (!options_.forever)
      return options_.channels == Channels::unordered
                 ? successor.sum
                 : successor.sum + order_of_messages(world, successor);
    scratch_.clear();
    scratch_.push(world, successor);
    return renumbered_fingerprint(scratch_.back(), options_.channels);
  }

  [[nodiscard]] bool may_want(const User& user, NodeId node) const {
    if (!options_.overlapping && (user.inside || user.waiting > 0)) return false;
    if (!options_.forever) return user.left > 0;
    if (user.waiting > 0 || user.inside) return false;
    return options_.requesters.empty() || options_.requesters.contains(node);
  }

  [[nodiscard]] static bool all_served(const WorldView<P>& world) {
    for (const auto& user : world.users)
      if (user.waiting > 0 || user.left > 0) return false;
    return true;
  }

  // Fair actions: whoever is inside leaves, and whatever travels arrives. A message is recognised by
  // what does not get renumbered.
  [[nodiscard]] static Graph::Label label(const WorldView<P>& world, const Action& action) {
    if (action.kind == Action::Kind::want) return 0;
    if (action.kind == Action::Kind::leave) return action.index + 1U;
    const auto& flight = world.flights[action.index];
    const auto hash = hash_flight(flight.from, flight.to, flight.message, MaskingLens{});
    return static_cast<Graph::Label>(hash >> 32) | 0x80000000U;
  }

  // ---- judgement

  void found(Finding finding) {
    if (!options_.property.empty() && finding.property != options_.property) return;
    // The first one found is a shortest one, except that a deadlock shows one step later than it is
    // there: the rest of the level may still have one.
    const bool earlier = finding.edge == 0xffff && finding_.edge != 0xffff;
    if (finding_.property.empty() || (finding.property == "deadlock" && earlier))
      finding_ = std::move(finding);
  }

  void judge_step(const WorldView<P>& world, const Successor<P>& successor, std::uint32_t number,
                  std::uint16_t edge) {
    const auto& granted = successor.out.granted();
    if (granted) {
      witnessed_.grants = std::max(witnessed_.grants, world.last == Fence::at(options_.setup.epoch)
                                                          ? 1U
                                                          : 2U);
      const auto& before = world.users[successor.at.index()];
      if (before.waiting == 0 && successor.action.kind != Action::Kind::want)
        found({"addressee", "a node enters although its user did not ask", number, edge});
      if (*granted <= world.last)
        found({"fence",
               "fence " + describe(*granted) + " is granted after fence " + describe(world.last),
               number, edge});
    }
    for_each_send(successor, n_, [&](NodeId to, const Message& message) {
      if (to.index() >= n_)
        found({"addressee", "a " + std::string(kind_name(message)) + " is sent to nobody", number,
               edge});
    });
  }

  void judge_world(const WorldView<P>& world, std::uint32_t number) {
    std::size_t inside = 0, waiting = 0;
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      inside += world.users[i].inside ? 1U : 0U;
      waiting += world.users[i].waiting > 0 ? 1U : 0U;
      if (world.users[i].waiting > 0) mask |= 1U << i;
    }
    if (options_.forever) waiting_.push_back(mask);
    served_.push_back(all_served(world) ? 1 : 0);
    witnessed_.inside |= inside > 0;
    witnessed_.two_waiting |= waiting > 1;
    const auto state = [&](std::string property, std::string_view text) {
      found({std::move(property), std::string(text), origins_[number].world,
             origins_[number].edge});
    };
    if (inside > 1) state("exclusion", "two nodes are inside at once");
    if constexpr (HasToken<P>) judge_tokens(world, state);
    if constexpr (HasInvariants<P>) {
      const std::string_view broken = P::broken_invariant(world.snapshot());
      if (!broken.empty()) state("invariant", broken);
    }
  }

  template <class State>
  void judge_tokens(const WorldView<P>& world, State state) {
    std::size_t tokens = 0;
    for (const auto& node : world.nodes) tokens += node.has_token() ? 1U : 0U;
    for (const auto& flight : world.flights) {
      if (!P::carries_token(flight.message)) continue;
      ++tokens;
      witnessed_.token_travels = true;
    }
    if (tokens == 0) state("token", "the token is lost");
    if (tokens > 1) state("token", "there are two tokens");
  }

  void judge_infinite_runs() {
    if (options_.forever) return judge_starvation();
    result_.acyclic = graded_ || graph_.acyclic();
    if (result_.acyclic || !considered("trap")) return;
    if (const auto trap = graph_.trap(served_))
      fail({"trap", "from here on, not everybody can be served", *trap});
  }

  void judge_starvation() {
    if (!considered("starvation")) return;
    for (std::size_t i = 0; i < n_; ++i) {
      std::vector<std::uint8_t> waits(waiting_.size());
      for (std::size_t w = 0; w < waits.size(); ++w) waits[w] = (waiting_[w] >> i) & 1U;
      auto cycle = graph_.fair_cycle(waits);
      if (!cycle) continue;
      result_.cycle_states = cycle->component;
      cycle_ = std::move(*cycle);
      fail({"starvation", "node " + std::to_string(i) + " waits while the last steps repeat for ever",
            cycle_.worlds.front()});
      return;
    }
  }

  void judge_witnesses() {
    std::string missing;
    if (!witnessed_.inside) missing = "nobody ever gets in";
    const auto askers = options_.requesters.empty() ? n_ : options_.requesters.size();
    if (askers > 1 && !witnessed_.two_waiting) missing = "two never wait at once";
    if (askers > 1 && witnessed_.grants < 2) missing = "no second grant ever happens";
    if constexpr (HasToken<P>)
      if (askers > 1 && !witnessed_.token_travels) missing = "the token never travels";
    if (!missing.empty() && considered("sometimes")) fail({"sometimes", missing, 0});
  }

  [[nodiscard]] bool considered(std::string_view property) const {
    return options_.property.empty() || options_.property == property;
  }

  void fail(Finding finding) {
    finding_ = std::move(finding);
    report();
  }

  void report() {
    result_.verdict = Verdict::violated;
    result_.property = finding_.property;
    result_.explanation = finding_.explanation;
  }

  // ---- limits

  [[nodiscard]] std::uint64_t bytes() const {
    return table_.bytes() + graph_.bytes() + origins_.capacity() * sizeof(Origin) +
           waiting_.capacity() * 4 + served_.capacity() + frontier_.bytes();
  }

  bool within_limits(std::size_t expanded) {
    if (options_.progress)
      options_.progress({table_.size(), table_.size() - expanded, result_.depth});
    const bool many = table_.size() > options_.max_states;
    const bool large = bytes() > options_.max_bytes;
    if (!many && !large) return true;
    result_.verdict = Verdict::limit;
    result_.property = many ? "max-states" : "memory";
    result_.explanation = many ? "stopped after " + std::to_string(table_.size()) + " states"
                               : "stopped after " + std::to_string(bytes() >> 20) + " MiB";
    return false;
  }

  // ---- the way to a violation

  void write_trace() {
    std::vector<std::uint16_t> edges;
    if (finding_.edge != 0xffff) edges.push_back(finding_.edge);
    auto world = finding_.world == no_world ? 0 : finding_.world;
    for (; origins_[world].world != no_world; world = origins_[world].world)
      edges.push_back(origins_[world].edge);
    std::reverse(edges.begin(), edges.end());
    if (finding_.world == no_world) edges.clear();  // broken from the start
    result_.cycle_from = edges.size();
    Explorer replay(options_);
    replay.replayed_ = initial_world();
    for (auto edge : edges) result_.trace.push_back(replay.replay_step(edge));
    for (std::size_t i = 0; i < cycle_.worlds.size(); ++i) {
      // The worlds of a cycle were renumbered on the way: find the action by the world it leads to.
      const auto target = cycle_.worlds[(i + 1) % cycle_.worlds.size()];
      result_.trace.push_back(replay.replay_step_to(table_, target));
    }
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

  TraceStep replay_step_to(FingerprintTable& known, std::uint32_t target) {
    const auto count = find_successors(replayed_.back());
    for (std::size_t i = 0; i < count; ++i)
      if (known.insert(successors_[i].fingerprint).first == target) return replay_step(i);
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
    }
    for_each_send(successor, n_, [&](NodeId to, const Message& message) {
      trace.sends.push_back(trace_message(successor.at, to, message));
    });
    trace.entered = successor.out.granted().has_value();
    if (trace.entered) trace.fence = *successor.out.granted();
    return trace;
  }

  struct Witnessed {
    bool inside = false, two_waiting = false, token_travels = false;
    unsigned grants = 0;
  };

  Options options_;
  std::size_t n_;
  Frontier<P> frontier_;
  Block<P> scratch_, replayed_;
  FingerprintTable table_;
  Graph graph_;
  std::uint32_t next_level_ = 0;  // the first world of the next level
  bool graded_ = true;            // every transition leads to the next level
  std::vector<Origin> origins_;
  std::vector<std::uint32_t> waiting_;  // forever: who waits in each world, as bits
  std::vector<std::uint8_t> served_;    // whether everybody is served in each world
  std::vector<Successor<P>> successors_;
  Graph::FairCycle cycle_;
  Witnessed witnessed_;
  Finding finding_;
  Result result_;
};

}  // namespace turno::check
