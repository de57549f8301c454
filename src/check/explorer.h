// Explores every interleaving of a small system, breadth first, so that a counterexample is
// shortest.
//
// One transition: a user wants in, a user leaves, one message is delivered, a timer expires, a node
// learns of a crash, or does what it may do by itself; and faults, as far as there is a budget.
// Handlers are atomic. The checks, each with what must sometimes happen so that it does not hold
// emptily:
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
        replayed_(n_, 1) {
    Monitor<P::info.primitive> monitor;
    monitor.begin(options.setup);
    first_fence_ = monitor.last();
  }

  Result run() {
    const auto started = std::clock();
    explore();
    if (result_.verdict == Verdict::holds) judge_infinite_runs();
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
      users[i].left = requests_of(NodeId{i});
    }
    Outside<P> outside;
    outside.monitor.begin(options_.setup);
    for (auto holder : options_.holders) {
      users[holder.index()].inside = true;
      outside.monitor.hold(holder);
    }
    Block<P> block(n_, 1);
    block.push(nodes, users, outside);
    for (std::size_t i = 0; i < n_; ++i) {
      Successor<P> successor;
      successor.at = NodeId{i};
      successor.node = block.back().nodes[i];
      successor.user = block.back().users[i];
      successor.outside = *block.back().outside;
      step(successor.node, {.kind = InputKind::start}, successor.out);
      set_timers(successor);
      successor.node_hash = hash_node(successor.at, successor.node, successor.user);
      successor.sum = successor_sum(block.back(), successor);
      Block<P> after(n_, 1);
      after.push(block.back(), successor);
      block = std::move(after);
    }
    if constexpr (has_deaths<P>) bury(block);
    return block;
  }

  // Those who are dead from the start.
  void bury(Block<P>& block) const {
    options_.dead.for_each([&](NodeId dead) {
      Successor<P> successor;
      successor.action.kind = InputKind::crash;
      successor.at = dead;
      successor.node = block.back().nodes[dead.index()];
      successor.node.crash();
      successor.user = {.dead = true, .crashes = Suspecting<P> ? std::uint8_t{1} : std::uint8_t{0}};
      successor.outside = *block.back().outside;
      successor.node_hash = hash_node(dead, successor.node, successor.user);
      successor.sum = successor_sum(block.back(), successor);
      Block<P> after(n_, 1);
      after.push(block.back(), successor);
      block = std::move(after);
    });
  }

  void expand(const WorldView<P>& world, World number) {
    graph_.begin_world();
    const auto count = find_successors(world);
    const bool stuck = std::all_of(successors_.begin(), successors_.begin() + offset(count),
                                   [](const auto& s) { return s.action.fault; });
    if (stuck && !census(world).all_served) judge_end(world, number);
    for (std::size_t i = 0; i < count; ++i) {
      auto& successor = successors_[i];
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
    for_each_send(successor, n_, [&](NodeId, const Message&) { ++count; });
    return count;
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
      successor.outside = *world.outside;
      successor.complaint.property = {};
      successor.out.clear();
      act(world, successor, input);
      successor.sum = successor_sum(world, successor);
      successor.fingerprint = fingerprint_of(world, successor);
      table_.prefetch(successor.fingerprint);
    };
    for (std::size_t i = 0; i < n_; ++i) {
      const auto index = static_cast<std::uint16_t>(i);
      const auto& user = world.users[i];
      if (user.inside)
        add({.kind = InputKind::release, .index = index, .fault = options_.staying}, NodeId{i},
            {.kind = InputKind::release});
      if (may_want(user, NodeId{i}, is_there(world.nodes[i]))) {
        for (std::uint16_t wish = 0; wish < wishes(NodeId{i}); ++wish)
          add({InputKind::request, index, wish}, NodeId{i},
              {.kind = InputKind::request, .demand = next_demand(NodeId{i}, user, wish)});
      }
      if constexpr (Withdrawable<P>)
        if (user.waiting > 0 && world.outside->spent.withdrawals < options_.withdrawals)
          add({.kind = InputKind::withdraw, .index = index, .fault = true}, NodeId{i},
              {.kind = InputKind::withdraw});
      if constexpr (HasChoices<P>)
        if (!user.dead)
          for (std::uint32_t c = 0; c < world.nodes[i].choices(); ++c)
            add({InputKind::choose, index, static_cast<std::uint16_t>(c)}, NodeId{i},
                {.kind = InputKind::choose, .number = c});
      if constexpr (HasTimers<P>) add_timers(world, index, add);
    }
    for (std::size_t i = 0; i < world.flights.size(); ++i) {
      const auto& flight = world.flights[i];
      if (flight.to.index() >= n_ || !world.deliverable(i, options_.channels)) continue;
      if constexpr (Bouncing<P>) {
        if (world.users[flight.to.index()].dead) {
          add({InputKind::bounce, static_cast<std::uint16_t>(i)}, flight.from,
              {.kind = InputKind::bounce, .from = flight.to, .message = flight.message});
          continue;
        }
      }
      if constexpr (requires(const P& node) { node.ready(flight.message); })
        if (!world.nodes[flight.to.index()].ready(flight.message)) continue;
      add({InputKind::receive, static_cast<std::uint16_t>(i)}, flight.to,
          {.kind = InputKind::receive, .from = flight.from, .message = flight.message});
    }
    if constexpr (HasViews<P>) add_changes(world, add);
    if constexpr (has_deaths<P>) add_deaths(world, add);
    if (!HasViews<P>) add_faults_of_channels(world, add);
    return count;
  }

  // An armed timer may expire when what it waits for can no longer come, and earlier on a budget.
  template <class Add>
  void add_timers(const WorldView<P>& world, std::uint16_t index, const Add& add) {
    for (std::uint16_t timer = 0; timer < P::timers.size(); ++timer) {
      if (((world.users[index].timers >> timer) & 1U) == 0) continue;
      bool early = false;
      if constexpr (requires { P::still_expected(world.snapshot(), NodeId{}, std::uint8_t{}); })
        early =
            P::still_expected(world.snapshot(), NodeId{index}, static_cast<std::uint8_t>(timer));
      if (early && world.outside->spent.early_timeouts >= options_.faults.early_timeouts) continue;
      add({InputKind::expire, index, timer, early}, NodeId{index},
          {.kind = InputKind::expire, .number = timer});
    }
  }

  // Crashes, what the living learn of them, each for itself and at any later moment, and returns.
  template <class Add>
  void add_deaths(const WorldView<P>& world, const Add& add) {
    const auto& faults = options_.faults;
    const auto& spent = world.outside->spent;
    for (std::size_t i = 0; i < n_; ++i) {
      const auto index = static_cast<std::uint16_t>(i);
      const auto& user = world.users[i];
      if (!user.dead && spent.crashes < faults.crashes)
        add({.kind = InputKind::crash, .index = index, .fault = true}, NodeId{i},
            {.kind = InputKind::crash});
      if constexpr (Recoverable<P>)
        if (user.dead && spent.recoveries < faults.recoveries)
          add({.kind = InputKind::recover, .index = index, .fault = true}, NodeId{i},
              {.kind = InputKind::recover});
      if constexpr (Suspecting<P>) {
        for (std::size_t j = 0; j < n_ && !user.dead; ++j) {
          const bool wrong = !world.users[j].dead;
          if (i == j || knows(user, j, world.users[j])) continue;
          if (wrong && spent.false_suspicions >= faults.false_suspicions) continue;
          add({InputKind::suspect, index, static_cast<std::uint16_t>(j), wrong}, NodeId{i},
              {.kind = InputKind::suspect, .from = NodeId{j}});
        }
      }
    }
  }

  // Losses and copies. What a dead node was sending may be lost without being counted: from any
  // point on, if channels keep order.
  template <class Add>
  void add_faults_of_channels(const WorldView<P>& world, const Add& add) {
    const auto& faults = options_.faults;
    const auto& spent = world.outside->spent;
    for (std::size_t i = 0; i < world.flights.size(); ++i) {
      const auto index = static_cast<std::uint16_t>(i);
      const auto from = world.flights[i].from;
      const bool of_the_dead =
          world.users[from.index()].dead && faults.lost_with_sender &&
          (options_.channels == Channels::unordered || world.last_in_channel(i));
      if (of_the_dead || spent.losses < faults.losses)
        add({InputKind::lose, index, static_cast<std::uint16_t>(of_the_dead ? 1 : 0), true}, from,
            {.kind = InputKind::lose});
      if (spent.duplicates < faults.duplicates)
        add({.kind = InputKind::repeat, .index = index, .fault = true}, from,
            {.kind = InputKind::repeat});
    }
  }

  // A wrong suspicion is of the crash that has not happened yet.
  static bool knows(const User& user, std::size_t other, const User& its) {
    const auto crash = its.dead ? its.crashes : its.crashes + 1U;
    return ((user.told >> (2 * other)) & 3U) == (crash & 3U);
  }
  static void learn(User& user, std::size_t other, const User& its) {
    const auto crash = its.dead ? its.crashes : its.crashes + 1U;
    user.told = (user.told & ~(3U << (2 * other))) | ((crash & 3U) << (2 * other));
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
        add({InputKind::view, index}, NodeId{i}, {.kind = InputKind::view, .view = &view_});
      const auto add_fault = [&](InputKind kind) {
        add({.kind = kind, .index = index, .fault = true}, NodeId{i}, {.kind = kind});
      };
      if (node.present() && crashed < options_.faults.crashes) add_fault(InputKind::crash);
      if (!node.present() && !node.crashed() && joined < options_.faults.joins)
        add_fault(InputKind::join);
      if (node.retirable() && retired < options_.faults.retires) add_fault(InputKind::retire);
    }
  }

  void act(const WorldView<P>& world, Successor<P>& successor, const Input<Message>& input) {
    step(successor.node, input, successor.out);
    auto& user = successor.user;
    auto& monitor = successor.outside.monitor;
    if (input.kind == InputKind::request) {
      ++user.waiting;
      user.wish = successor.action.other;
      if (!options_.forever) --user.left;
    }
    if (input.kind == InputKind::release) {
      user.inside = false;
      monitor.leave(successor.at);
    }
    if (input.kind == InputKind::crash && HasViews<P>) {
      const bool lives_on = user.inside && options_.faults.false_suspicions > 0;
      if (user.inside && !lives_on) monitor.leave(successor.at);
      user = {.inside = lives_on};
    }
    if constexpr (!HasViews<P>) count_fault(world, successor, input);
    set_timers(successor);
    if (successor.out.granted()) {
      if (user.waiting > 0) --user.waiting;
      user.inside = true;
      successor.complaint =
          monitor.enter(options_.setup, {successor.at, last_demand(successor.at, user),
                                         *successor.out.granted(), successor.out.units()});
      user.wish = 0;
    }
    successor.node_hash = hash_node(successor.at, successor.node, user);
  }

  // What an event that is not a call of the user makes of the user, and of the budget.
  void count_fault(const WorldView<P>& world, Successor<P>& successor,
                   const Input<Message>& input) const {
    auto& user = successor.user;
    auto& spent = successor.outside.spent;
    switch (input.kind) {
      case InputKind::crash:
        if (user.inside) successor.outside.monitor.leave(successor.at);
        user = {.dead = true, .crashes = Suspecting<P> ? next_crash(user) : std::uint8_t{0}};
        ++spent.crashes;
        break;
      case InputKind::recover:
        user.dead = false;
        ++spent.recoveries;
        break;
      case InputKind::suspect:
        learn(user, input.from.index(), world.users[input.from.index()]);
        if (successor.action.fault) ++spent.false_suspicions;
        break;
      case InputKind::expire:
        user.timers &= static_cast<std::uint8_t>(~(1U << input.number));
        if (successor.action.fault) ++spent.early_timeouts;
        break;
      case InputKind::withdraw:
        --user.waiting;
        user.wish = 0;
        ++spent.withdrawals;
        break;
      case InputKind::lose:
        if (successor.action.other == 0) ++spent.losses;
        break;
      case InputKind::repeat:
        ++spent.duplicates;
        break;
      default:
        break;
    }
  }

  // Which crash it was matters only to those who are told of each.
  static std::uint8_t next_crash(const User& user) {
    return static_cast<std::uint8_t>(user.crashes + 1);
  }

  static void set_timers(Successor<P>& successor) {
    if constexpr (HasTimers<P>) {
      auto& armed = successor.user.timers;
      for (const auto& alarm : successor.out.alarms()) {
        const auto bit = static_cast<std::uint8_t>(1U << alarm.timer);
        armed = static_cast<std::uint8_t>(alarm.delay_ns < 0 ? armed & ~bit : armed | bit);
      }
    }
  }

  // What a node asks for: the script says.
  [[nodiscard]] std::uint16_t requests_of(NodeId node) const {
    if (!has_users(P::info.primitive) || options_.forever || !asks(node)) return 0;
    if (options_.scripts.empty()) return options_.requests;
    return node.index() < options_.scripts.size()
               ? static_cast<std::uint16_t>(options_.scripts[node.index()].size())
               : std::uint16_t{0};
  }
  [[nodiscard]] const std::vector<Wish>* menu_of(NodeId node) const {
    const auto& menus = options_.menus;
    return menus.empty() ? nullptr : &menus[node.index() < menus.size() ? node.index() : 0];
  }
  [[nodiscard]] std::size_t wishes(NodeId node) const {
    const auto* menu = menu_of(node);
    return menu == nullptr ? 1 : menu->size();
  }
  [[nodiscard]] Demand next_demand(NodeId node, const User& user, std::size_t wish) const {
    const auto* menu = menu_of(node);
    return menu == nullptr ? scripted(node, user.left) : (*menu)[wish].demand();
  }
  [[nodiscard]] Demand last_demand(NodeId node, const User& user) const {
    const auto* menu = menu_of(node);
    return menu == nullptr ? scripted(node, user.left + 1U) : (*menu)[user.wish].demand();
  }
  [[nodiscard]] Demand scripted(NodeId node, std::size_t left) const {
    if (node.index() >= options_.scripts.size()) return {};
    const auto& script = options_.scripts[node.index()];
    return left > script.size() ? Demand{} : script[script.size() - left].demand();
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
    if (user.dead) return false;
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
      const bool may_ask = user.left > 0 && is_there(world.nodes[i]);
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
      if (successor.complaint)
        found({std::string(successor.complaint.property), successor.complaint.text, number, edge});
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
    const auto& action = successor.action;
    trace.kind = action.kind;
    if (action.takes_message() || action.kind == InputKind::repeat) {
      const auto& flight = world.flights[action.index];
      trace.takes.push_back(trace_message(flight.from, flight.to, flight.message));
    }
    if (action.kind == InputKind::request) {
      const auto demand = next_demand(successor.at, world.users[action.index], action.other);
      trace.wish = {demand.group, {demand.needs.begin(), demand.needs.end()}};
    }
    if (action.kind == InputKind::suspect) trace.about = NodeId{action.other};
    if constexpr (HasTimers<P>)
      if (action.kind == InputKind::expire) trace.detail = std::string(P::timers[action.other]);
    if constexpr (HasChoices<P>)
      if (action.kind == InputKind::choose)
        trace.detail = choice_name(world.nodes[action.index], action.other);
    for_each_send(successor, n_, [&](NodeId to, const Message& message) {
      trace.sends.push_back(trace_message(successor.at, to, message));
    });
    trace.entered = successor.out.granted().has_value();
    if (trace.entered) trace.fence = *successor.out.granted();
    trace.units.assign(successor.out.units().begin(), successor.out.units().end());
    return trace;
  }

  static std::string choice_name(const P& node, std::uint32_t choice) {
    if constexpr (requires { node.choice_name(choice); }) {
      return node.choice_name(choice);
    } else {
      return std::to_string(choice);
    }
  }

  std::size_t n_;
  Frontier<P> frontier_;
  Block<P> scratch_, replayed_;
  std::vector<Successor<P>> successors_;
  Fence first_fence_;         // before any grant
  ViewChange view_;           // as the registry has it, in the world looked at
  std::uint64_t faults_ = 0;  // transitions
};

}  // namespace turno::check
