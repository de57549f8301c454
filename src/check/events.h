// What can happen next in a world.
//
// One transition: a user wants in, a user leaves, one message is delivered, a timer expires, a node
// learns of a crash, or does what it may do by itself; and faults, as far as there is a budget.
// Handlers are atomic.
#pragma once

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <span>
#include <vector>

#include "check/options.h"
#include "check/wishes.h"
#include "check/world.h"
#include "core/assert.h"
#include "core/protocol.h"

namespace turno::check {

template <Protocol P>
class Events {
 public:
  explicit Events(const Options& options)
      : options_(options), wishes_(options), n_(options.setup.size()) {}

  [[nodiscard]] std::size_t first_worlds() const {
    return std::max<std::size_t>(1, options_.starts.size());
  }
  // The start of a node is not a transition: a first world is the one after all starts.
  Block<P> first_world(std::size_t number = 0) const {
    const auto& holdings = options_.starts.empty() ? options_.holdings : options_.starts[number];
    std::vector<P> nodes;
    std::vector<User> users(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      nodes.push_back(P::resume(options_.setup, NodeId{i}, holdings));
      if (has_users(P::info.primitive)) users[i].left = wishes_.requests_of(NodeId{i});
    }
    Outside<P> outside;
    outside.monitor.begin(options_.setup);
    if constexpr (P::info.ordered) outside.monitor.expect_order();
    for (const auto& holding : holdings) {
      users[holding.seat.index()].inside = true;
      outside.monitor.hold(holding);
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

  // What can happen next. Each is handed to `finish` at once, to get its fingerprint.
  template <class Finish>
  std::span<Successor<P>> find(const WorldView<P>& world, const Finish& finish) {
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
      finish(successor);
    };
    for (std::size_t i = 0; i < n_; ++i) {
      const auto index = static_cast<std::uint16_t>(i);
      const auto& user = world.users[i];
      bool may_release = user.inside;
      if constexpr (HasViews<P>) may_release &= P::may_release(world.snapshot(), NodeId{i});
      if constexpr (Divisible<P>) {
        add_releases(world, index, add);
      } else if constexpr (Gathering<P>) {
        for (std::uint16_t who = 0; who < 8; ++who)
          if (((user.who_is_inside >> who) & 1U) != 0)
            add({InputKind::release, index, who, options_.staying}, NodeId{i},
                {.kind = InputKind::release, .number = who});
      } else if (may_release)
        add({.kind = InputKind::release, .index = index, .fault = options_.staying}, NodeId{i},
            {.kind = InputKind::release});
      if constexpr (HasViews<P>) {
        add_users(world, index, add);
      } else if (may_want(user, NodeId{i})) {
        for (std::uint16_t wish = 0; wish < wishes_.choices(NodeId{i}); ++wish)
          add({InputKind::request, index, wish}, NodeId{i},
              {.kind = InputKind::request, .demand = wishes_.demand(NodeId{i}, user.left, wish)});
      }
      if constexpr (Withdrawable<P> && !HasViews<P>)
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
    return {successors_.data(), count};
  }

  // What the node asks for in the request that is its next action.
  [[nodiscard]] Demand demand(const WorldView<P>& world, const Action& request) const {
    return wishes_.demand(NodeId{request.index}, world.users[request.index].left, request.other);
  }

  [[nodiscard]] static bool is_there(const P& node) {
    if constexpr (HasViews<P>) return node.acts() && node.epoch > 0;
    return true;
  }

 private:
  using Message = typename P::Message;
  using InputKind = typename Input<Message>::Kind;

  // Of any part of what the node holds.
  template <class Add>
  void add_releases(const WorldView<P>& world, std::uint16_t index, const Add& add) {
    boost::container::static_vector<std::uint32_t, 16> held, some;
    world.outside->monitor.for_each_of(NodeId{index},
                                       [&](std::uint32_t unit) { held.push_back(unit); });
    for (std::uint32_t part = 1; part < (1U << held.size()); ++part) {
      some.clear();
      std::uint16_t units = 0;
      for (std::size_t i = 0; i < held.size(); ++i) {
        if (((part >> i) & 1U) == 0) continue;
        some.push_back(held[i]);
        units = static_cast<std::uint16_t>(units | (1U << held[i]));
      }
      add({InputKind::release, index, units, options_.staying}, NodeId{index},
          {.kind = InputKind::release, .units = {some.data(), some.size()}});
    }
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

  // The users of one member. They are alike, so that the first of those who do nothing asks.
  template <class Add>
  void add_users(const WorldView<P>& world, std::uint16_t index, const Add& add) {
    const auto& users = options_.users;
    const auto& user = world.users[index];
    const NodeId at{index};
    if constexpr (Divisible<P> || Gathering<P>) return add_users_of_permits(world, index, add);
    std::uint32_t idle = 0;
    while (((user.who_waits >> idle) & 1U) != 0 || user.who_is_inside == idle + 1U) ++idle;
    const bool wishes = options_.forever ? wishes_.asks(at) : user.left > 0;
    if (wishes && idle < users.count && is_there(world.nodes[index])) {
      add({InputKind::request, index}, at,
          {.kind = InputKind::request, .number = idle, .only_try = users.try_only});
      if (users.try_only && users.wait_too)
        add({InputKind::request, index, 1}, at, {.kind = InputKind::request, .number = idle});
    }
    if (!world.nodes[index].acts()) return;
    const auto& spent = world.outside->spent;
    for (std::uint16_t i = 0; i < users.count; ++i)
      if (((user.who_waits >> i) & 1U) != 0 && spent.withdrawals < options_.withdrawals)
        add({InputKind::withdraw, index, i, true}, at, {.kind = InputKind::withdraw, .number = i});
    if (user.inside && spent.lapses < options_.faults.lapses)
      add({.kind = InputKind::lapse, .index = index, .fault = true}, at,
          {.kind = InputKind::lapse});
    if (user.lapsed != Fence{})
      add({.kind = InputKind::leave_late, .index = index, .fault = true}, at,
          {.kind = InputKind::leave_late, .fence = user.lapsed});
  }

  // The same where several users of a member may be inside: each of its requests is another's.
  template <class Add>
  void add_users_of_permits(const WorldView<P>& world, std::uint16_t index, const Add& add) {
    const auto& user = world.users[index];
    const NodeId at{index};
    const auto number = next_user(at, user);
    if (user.left > 0 && user.waiting < options_.users.count && is_there(world.nodes[index]))
      add({InputKind::request, index}, at,
          {.kind = InputKind::request,
           .demand = wishes_.demand(at, user.left, 0),
           .number = number});
    if (!world.nodes[index].acts()) return;
    for (std::uint16_t i = 0; i < number; ++i)
      if (((user.who_waits >> i) & 1U) != 0 &&
          world.outside->spent.withdrawals < options_.withdrawals)
        add({InputKind::withdraw, index, i, true}, at, {.kind = InputKind::withdraw, .number = i});
  }
  [[nodiscard]] std::uint32_t next_user(NodeId at, const User& user) const {
    return std::uint32_t{wishes_.requests_of(at)} - user.left;
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
    std::uint32_t changes = 0, crashed = 0, joined = 0, retired = 0, spoilt = 0, moves = 0;
    std::uint32_t expelled = 0;
    view_.members.clear();
    for (std::size_t i = 0; i < n_; ++i) {
      const auto& node = world.nodes[i];
      changes += node.changes();
      retired += node.retired;
      spoilt += node.spoilt;
      moves += node.heir != nobody ? 1 : 0;
      joined += node.joins && node.changes() > 0 ? 1 : 0;
      crashed += node.crashed() && !node.expelled() ? 1 : 0;
      expelled += node.expelled() ? 1 : 0;
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
      if (node.present() && expelled < options_.faults.expulsions) add_fault(InputKind::expel);
      // Its authority ends some time.
      if (node.acts() && node.expelled())
        add({.kind = InputKind::stand_down, .index = index}, NodeId{i},
            {.kind = InputKind::stand_down});
      if (!node.acts() && !node.crashed() && joined < options_.faults.joins)
        add_fault(InputKind::join);
      if (node.retirable() && retired < options_.faults.retires) add_fault(InputKind::retire);
      if (node.spoilable() && spoilt < options_.faults.spoils) add_fault(InputKind::spoil);
      if (moves < options_.faults.moves && node.movable()) add_fault(InputKind::move);
      // It goes when its user has moved, whatever else happens.
      if (moves > 0 && P::may_leave(world.snapshot(), NodeId{i}))
        add({.kind = InputKind::crash, .index = index}, NodeId{i}, {.kind = InputKind::crash});
    }
  }

  void act(const WorldView<P>& world, Successor<P>& successor, const Input<Message>& input) {
    step_or_complain(world, successor, input);
    auto& user = successor.user;
    auto& monitor = successor.outside.monitor;
    if (input.kind == InputKind::request) {
      ++user.waiting;
      if constexpr (!HasViews<P>) user.wish = successor.action.other;
      if (!options_.forever) --user.left;
    }
    if (input.kind == InputKind::release) give_back(successor, input);
    if constexpr (HasViews<P>) {
      through_views(successor, input);
    } else {
      count_fault(world, successor, input);
      if (successor.out.refused()) --user.waiting;  // it only tried
    }
    set_timers(successor);
    if (successor.out.granted()) {
      if (user.waiting > 0) --user.waiting;
      user.inside = true;
      std::size_t left = user.left + 1U;  // when it asked
      if constexpr (HasViews<P> && (Divisible<P> || Gathering<P>))
        left = wishes_.requests_of(successor.at) - successor.out.user();
      successor.complaint =
          monitor.enter(options_.setup, {holder(successor.at, successor.out.user()),
                                         wishes_.demand(successor.at, left, user.wish),
                                         *successor.out.granted(), successor.out.units()});
      user.wish = 0;
      if constexpr (HasViews<P>) let_in(successor);
    }
    successor.node_hash = hash_node(successor.at, successor.node, user);
  }

  // To the monitor: each of several users of a node that may be inside is somebody.
  static NodeId holder(NodeId node, [[maybe_unused]] std::uint32_t user) {
    if constexpr (HasViews<P> && Gathering<P>) return NodeId{node.index() * 8 + user};
    return node;
  }

  static void give_back(Successor<P>& successor, const Input<Message>& input) {
    auto& user = successor.user;
    auto& monitor = successor.outside.monitor;
    if constexpr (Gathering<P>) {
      user.who_is_inside &= static_cast<std::uint8_t>(~(1U << input.number));
      user.inside = user.who_is_inside != 0;
      return monitor.leave(holder(successor.at, input.number));
    }
    user.inside = false;
    user.who_is_inside = 0;
    if constexpr (Divisible<P>) {
      for (auto unit : input.units) monitor.give_back(unit);
      monitor.for_each_of(successor.at, [&](std::uint32_t) { user.inside = true; });
    } else {
      monitor.leave(successor.at);
    }
  }

  // The same where nodes live through views, and may have several users.
  void through_views(Successor<P>& successor, const Input<Message>& input) const {
    auto& user = successor.user;
    auto& [monitor, spent] = successor.outside;
    switch (input.kind) {
      case InputKind::request:
        user.who_waits |= static_cast<std::uint8_t>(1U << input.number);
        break;
      case InputKind::withdraw:
        --user.waiting;
        user.who_waits &= static_cast<std::uint8_t>(~(1U << input.number));
        ++spent.withdrawals;
        break;
      case InputKind::lapse:
        user.lapsed = monitor.last();
        user.inside = false;
        user.who_is_inside = 0;
        monitor.leave(successor.at);
        ++spent.lapses;
        break;
      case InputKind::leave_late:
        user.lapsed = {};
        break;
      case InputKind::expire:
        user.timers &= static_cast<std::uint8_t>(~(1U << input.number));
        if (successor.action.fault) ++spent.early_timeouts;
        break;
      case InputKind::crash:
      case InputKind::stand_down: {
        const bool outlives =
            input.kind == InputKind::crash
                ? options_.users.outlive_nodes || options_.faults.false_suspicions > 0
                : P::told_nothing(options_.setup);
        const bool lives_on = user.inside && outlives;
        if constexpr (Gathering<P>) {
          for (std::uint32_t who = 0; who < 8 && !lives_on; ++who)
            if (((user.who_is_inside >> who) & 1U) != 0) monitor.leave(holder(successor.at, who));
          user = {.inside = lives_on,
                  .who_is_inside = lives_on ? user.who_is_inside : std::uint8_t{0}};
          break;
        }
        if (user.inside && !lives_on) monitor.leave(successor.at);
        user = {.inside = lives_on};
        break;
      }
      default:
        break;
    }
    if (const auto& refused = successor.out.refused()) {
      --user.waiting;
      user.who_waits &= static_cast<std::uint8_t>(~(1U << *refused));
    }
  }

  static void let_in(Successor<P>& successor) {
    auto& user = successor.user;
    const auto bit = static_cast<std::uint8_t>(1U << successor.out.user());
    if ((user.who_waits & bit) == 0 && !successor.complaint)
      successor.complaint = {"addressee", "a user enters that did not ask"};
    user.who_waits &= static_cast<std::uint8_t>(~bit);
    if constexpr (Gathering<P>) {
      user.who_is_inside |= bit;
      return;
    }
    user.who_is_inside = static_cast<std::uint8_t>(successor.out.user() + 1);
  }

  // What a node asserts and is not so is a finding. If nobody looks for it, nothing has happened.
  static void step_or_complain(const WorldView<P>& world, Successor<P>& successor,
                               const Input<Message>& input) {
    const PeerInput input_of_others;
    try {
      step(successor.node, input, successor.out);
    } catch (const Impossible& impossible) {
      successor.node = world.nodes[successor.at.index()];
      successor.out.clear();
      successor.complaint = {"assertion", impossible.what()};
    }
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

  [[nodiscard]] bool may_want(const User& user, NodeId node) const {
    if (user.dead) return false;
    const bool ahead = user.inside || user.waiting > 0;
    if (ahead && !options_.overlapping) return false;
    if (user.waiting > 0 && P::info.overlap != Overlap::any) return false;
    return options_.forever ? wishes_.asks(node) : user.left > 0;
  }

  const Options& options_;
  Wishes wishes_;
  std::size_t n_;
  std::vector<Successor<P>> successors_;
  ViewChange view_;  // as the registry has it, in the world looked at
};

}  // namespace turno::check
