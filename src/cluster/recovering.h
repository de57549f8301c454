// A member with one desk, through views: what the checker explores and the simulator runs, so that
// the desk is known to be right before it meets a socket. A node has the same desks, by name
// (table/lock_table.h).
//
// Members are numbered for ever here; inside a view they are numbered from 0 in the same order. The
// home is the last member, so that both a crash and a join can move it.
//
// Assumes channels that keep order (as the links of a cluster do), and a registry that lets nobody
// be taken for dead who lives.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/desk_for.h"
#include "core/protocol.h"

namespace turno::cluster {

// How the desks of all members are driven.
struct RecoveringConfig {
  // The setup of a view with so many members and this one as its root. The answer lives as long as
  // the function or any copy of it.
  std::function<const Setup&(std::uint32_t epoch, std::size_t members, NodeId root)> arrange;
  NodeSet absent;  // who is not a member of the first view
  Rules rules{.in_a_row = 1, .eager = false, .tries = false, .seats = 1};
  std::vector<std::vector<NodeId>> (*quorums)(std::size_t voters) = nullptr;  // of rooms
  bool delay = false;      // clients outlive their node, and notice that it is dead
  bool forgetful = false;  // a desk that is idle is thrown away, and made anew when it is needed
  bool refusals = false;   // a member need not take whom another one sends
  // Of a semaphore: how many permits its users say that there are, at most as many as in the setup;
  // and what it is resized to.
  std::uint32_t permits = 0, resized = 0;
};

template <Protocol P>
struct Recovering {
  using Config = RecoveringConfig;
  using Desk = typename DeskFor<P>::Type;
  static constexpr bool counted = P::info.primitive == Primitive::semaphore;
  static constexpr bool grouped = P::info.primitive == Primitive::room;
  static constexpr bool stored = P::info.primitive == Primitive::reservation;
  static constexpr bool gathers = grouped || stored;  // each user by itself
  static constexpr bool many = counted || gathers;    // users of one member may be inside at once
  static constexpr Info info = [] {
    auto info = P::info;
    info.ordered = false;  // users of one member may learn of their grants in any order
    return info;
  }();
  using Without = Rules::Without;

  // What is said of a user that moves: by its member to the next one, by that one if it does not
  // take it, and by the user itself to that one.
  enum class Move : std::uint8_t { none, bequest, refused, left };

  using DeskMessage = typename Desk::Message;
  struct Message : DeskMessage {
    std::uint32_t epoch = 0;
    Move move = Move::none;
    Fence fence{};  // of the user that moves
    static constexpr std::array<std::string_view, 14> labels = {
        "kind",    "instance", "holdings", "count", "clear", "permits", "numbers",
        "resized", "terms",    "evidence", "inner", "epoch", "move",    "fence"};
    [[nodiscard]] auto fields() const {
      return std::tuple_cat(DeskMessage::fields(), std::tie(epoch, move, fence));
    }
    bool operator==(const Message&) const = default;
  };
  using Out = Effects<Message>;
  using Kind = Note::Kind;
  // expelled: it is no member any more, does not know it, and acts for its users. ended: its
  // authority was over then.
  enum class Life : std::uint8_t { absent, present, crashed, expelled, ended };

  // The lock delay, and then those of the algorithm.
  static constexpr auto timers = [] {
    if constexpr (HasTimers<P>) {
      std::array<std::string_view, 1 + P::timers.size()> all{"lock delay"};
      std::copy(P::timers.begin(), P::timers.end(), all.begin() + 1);
      return all;
    } else {
      return std::array<std::string_view, 1>{"lock delay"};
    }
  }();

  NodeId self;
  const Setup* setup = nullptr;  // of the first view
  const Config* config = nullptr;
  bool joins = false;  // is not a member of the first view

  Life life = Life::present;
  std::uint32_t epoch = 0;  // of the view that this node knows; 0: none yet
  NodeSet members;
  Desk desk;
  Ledger ledger;
  bool was_home = false;     // in the view before
  std::uint8_t retired = 0;  // how often it retired the lock
  std::uint8_t spoilt = 0;   // how often it was sent what cannot be
  NodeId heir;               // the member to which its user moves
  Fence moved;               // the fence of that user
  bool moved_left = false;   // that user has left
  NodeId testator;           // the member from which a user moved here; also in the dead
  NodeId supplicant;         // the member whose user is to move here, if that is not decided yet
  Fence offered;             // the fence of that user
  std::uint8_t refused = 0;  // how often others did not take its user
  bool gave_up = false;      // one of its users that tried did not wait for the answer
  // A semaphore, a room, a store: users that a step let in or refused beside the first, and that do
  // not know it yet.
  struct Verdict {
    std::uint32_t user = 0;
    boost::container::small_vector<Unit, 2> units;  // none: it is refused
    [[nodiscard]] auto fields() const { return std::tie(user, units); }
    bool operator==(const Verdict&) const = default;
  };
  std::vector<Verdict> verdicts;

  static constexpr std::array<std::string_view, 17> labels = {
      "life",       "epoch",   "members", "desk",    "ledger",     "was home",
      "retired",    "spoilt",  "heir",    "moved",   "moved left", "testator",
      "supplicant", "offered", "refused", "gave up", "verdicts"};
  [[nodiscard]] auto fields() const {
    return std::tie(life, epoch, members, desk, ledger, was_home, retired, spoilt, heir, moved,
                    moved_left, testator, supplicant, offered, refused, gave_up, verdicts);
  }
  bool operator==(const Recovering&) const = default;

  // REQUIRES: the setup outlives the node, and is configured.
  static Recovering resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Recovering node;
    node.self = self;
    node.setup = &setup;
    node.config = setup.find<Config>();
    TURNO_ASSERT(node.config != nullptr && node.config->arrange);
    node.joins = node.config->absent.contains(self);
    if (node.joins) {
      node.life = Life::absent;
      return node;
    }
    node.epoch = setup.epoch;
    for (std::size_t i = 0; i < setup.size(); ++i)
      if (!node.config->absent.contains(NodeId{i})) node.members.insert(NodeId{i});
    if (node.context().at_home()) node.desk.begin_home(node.ledger, false);
    return node;
  }

  // ---- its users, who are numbered from 0

  void request(Demand demand, Out& out) {
    if constexpr (many) {
      ask(0, demand, out);
    } else {
      ask(0, out);
    }
  }
  void release(Out& out) requires counted {
    for (const auto& holder : std::vector(desk.crowd.holders))
      if (holder.user != the_dead) step({.kind = EventKind::leave, .user = holder.user}, out);
  }
  void release(Out& out) requires grouped {
    for (const auto& guest : std::vector(desk.guests))
      if (guest.user != the_dead) step({.kind = EventKind::leave, .user = guest.user}, out);
  }
  void release(Out& out) requires stored {
    for (const auto& holder : std::vector(desk.holders))
      if (holder.user != the_dead) step({.kind = EventKind::leave, .user = holder.user}, out);
  }
  // One of several that are inside.
  void let_go(std::uint32_t user, Out& out) requires gathers {
    if (!acts()) return;  // cut off
    step({.kind = EventKind::leave, .user = UserId{user} + 1}, out);
  }
  // All say how many of the group may be inside, if they are not unlimited.
  void ask(std::uint32_t user, Demand demand, Out& out) requires grouped {
    const auto& capacity = setup->room.capacity;
    const auto name = group_name(demand.group);
    step({.kind = EventKind::ask,
          .user = UserId{user} + 1,
          .permits = demand.group < capacity.size() ? capacity[demand.group] : 0,
          .group = name},
         out);
  }
  static std::string group_name(std::uint32_t group) {
    return std::string(1, static_cast<char>('a' + group));
  }
  // All say how many instances there are of what they want.
  void ask(std::uint32_t user, Demand demand, Out& out) requires stored {
    const auto types = types_there();
    std::vector<Claim> claims;
    for (const auto& need : demand.needs)
      claims.push_back({types[need.type].name, need.count, types[need.type].capacity});
    step({.kind = EventKind::ask, .user = UserId{user} + 1, .claims = claims}, out);
  }
  [[nodiscard]] Groups types_there() const {
    Groups types;
    for (const auto type : setup->resources.type_of) {
      if (type >= types.size()) types.push_back({group_name(type)});
      ++types[type].capacity;
    }
    return types;
  }
  // Each user of what it has among these.
  void release(std::span<const std::uint32_t> units, Out& out) requires counted {
    if (!acts()) return;  // cut off
    for (const auto& holder : std::vector(desk.crowd.holders)) {
      boost::container::small_vector<std::uint32_t, 4> some;
      for (const auto unit : units)
        if (std::find(holder.units.begin(), holder.units.end(), unit) != holder.units.end())
          some.push_back(unit);
      if (!some.empty() && holder.user != the_dead)
        step({.kind = EventKind::leave,
              .user = holder.user,
              .units = std::span<const std::uint32_t>(some.data(), some.size())},
             out);
    }
  }
  // All say how many permits there are. Who wants none changes that, and the next one back.
  void ask(std::uint32_t user, Demand demand, Out& out) requires counted {
    if (demand.permits() == 0)
      return step({.kind = EventKind::resize,
                   .user = UserId{user} + 1,
                   .permits = desk.permits == config->resized ? config->permits : config->resized},
                  out);
    step({.kind = demand.only_try ? EventKind::attempt : EventKind::ask,
          .user = UserId{user} + 1,
          .count = demand.permits(),
          .permits = config->permits == 0 ? setup->permits : config->permits,
          .by_default = true},
         out);
  }
  void release(Out& out) requires(!many) {
    if (heir != nobody) {
      // It says so where it is now. Without the rule that makes it wait, also where it was.
      moved_left = true;
      out.send(heir, errand(Move::left));
      if (!departs(Without::bequests)) return;
    }
    if (acts()) step({.kind = EventKind::leave, .fence = desk.turn.fence}, out);  // else: cut off
  }
  void ask(std::uint32_t user, Out& out) {
    step({.kind = EventKind::ask, .user = UserId{user} + 1}, out);
  }
  void attempt(std::uint32_t user, Out& out) {
    step({.kind = EventKind::attempt, .user = UserId{user} + 1}, out);
  }
  void give_up(std::uint32_t user, Out& out) {
    // Whoever has not heard that it was let in leaves with what it has.
    const auto unheard = std::find_if(verdicts.begin(), verdicts.end(),
                                      [&](const Verdict& each) { return each.user == user; });
    if (unheard != verdicts.end()) {
      const bool has = !unheard->units.empty();
      verdicts.erase(unheard);
      if (has) step({.kind = EventKind::leave, .user = UserId{user} + 1}, out);
      return;
    }
    gave_up |= config->rules.tries && !many;
    step({.kind = EventKind::withdraw, .user = UserId{user} + 1}, out);
  }
  // Its grant was taken away before, because its time to live was over, and it does not know.
  void leave_late(Fence fence, Out& out) { step({.kind = EventKind::leave, .fence = fence}, out); }

  // ---- messages and timers

  [[nodiscard]] bool ready(const Message& message) const {
    return !acts() || message.epoch <= epoch || departs(Without::epochs);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    // A user's own words: it is connected to this member, whoever is in the view.
    if (message.move == Move::left && acts() && testator == from)
      return step({.kind = EventKind::leave, .fence = message.fence}, out);
    if (message.move == Move::left) return;
    const bool of_this_view = message.epoch == epoch || departs(Without::epochs);
    if (!acts() || !of_this_view || !members.contains(from)) return;
    if (message.move == Move::bequest) {
      if (testator == from) return;  // it was said in the view before, too
      supplicant = from;
      offered = message.fence;
      return config->refusals ? void() : decide(true, out);
    }
    if (message.move == Move::refused) return be_refused(from, out);
    if (message.kind == Kind::reported) ledger.unreported.erase(number_in_view(from));
    step({.kind = EventKind::receive, .from = number_in_view(from), .note = &message}, out);
  }

  void expire(std::uint8_t timer, Out& out) {
    if (timer > 0)
      return step({.kind = EventKind::expire, .timer = static_cast<std::uint8_t>(timer - 1)}, out);
    ledger.delayed = false;
    step({.kind = EventKind::delay_over}, out);
  }
  // The delay is long enough for clients of the dead to notice.
  static bool still_expected(const Snapshot<Recovering>& world, NodeId, std::uint8_t timer) {
    if (timer > 0) return false;
    for (std::size_t i = 0; i < world.nodes.size(); ++i)
      if (world.users[i].inside && server_of(world, NodeId{i}).is_waited_for()) return true;
    return std::any_of(world.nodes.begin(), world.nodes.end(), [](const Recovering& node) {
      return node.life == Life::expelled && !node.departs(Without::authority);
    });
  }

  // ---- users that move

  [[nodiscard]] bool movable() const requires many { return false; }
  void move(Out&) requires many {}
  [[nodiscard]] bool movable() const requires(!many) {
    const bool of_this_member = desk.turn.is_used() && desk.turn.holder != moving_user;
    return present() && of_this_member && heir == nobody && refused < 2 &&
           members.size() > 1U + refused;
  }
  // To the next member, or the one behind that if it was refused there. From then on this one does
  // nothing but leave, when that one has agreed.
  void move(Out& out) requires(!many) {
    const auto next = number_in_view(self).index() + 1 + refused;
    heir = number_for_ever(NodeId{next % members.size()});
    moved = desk.turn.fence;
    step({.kind = EventKind::bequeath, .fence = moved}, out);
    out.send(heir, errand(Move::bequest));
  }
  // Whether it takes whom it is asked to take.
  void decide(bool takes, Out& out) requires(!many) {
    const auto from = std::exchange(supplicant, nobody);
    const auto fence = std::exchange(offered, {});
    if (takes) testator = from;
    step({.kind = EventKind::inherit, .user = moving_user, .fence = fence}, out);
    if (takes) return;
    step({.kind = EventKind::inherit, .fence = fence}, out);
    out.send(from, {.epoch = epoch, .move = Move::refused, .fence = fence});
  }
  // Its user stays; unless it has left, because it took that member for dead.
  void be_refused(NodeId by, Out& out) requires(!many) {
    if (heir != by) return;
    heir = nobody;
    ++refused;
    const auto fence = std::exchange(moved, {});
    step({.kind = EventKind::reclaim, .fence = fence}, out);
    if (std::exchange(moved_left, false)) step({.kind = EventKind::leave, .fence = fence}, out);
  }
  void decide(bool, Out&) requires many {}
  void be_refused(NodeId, Out&) requires many {}
  [[nodiscard]] static bool has_moved(const Snapshot<Recovering>& world, NodeId user) {
    const auto heir = world.nodes[user.index()].heir;
    return heir != nobody && world.nodes[heir.index()].testator == user;
  }
  // The member through which the user of this one has what it has.
  [[nodiscard]] static const Recovering& server_of(const Snapshot<Recovering>& world, NodeId user) {
    const auto& node = world.nodes[user.index()];
    return has_moved(world, user) ? world.nodes[node.heir.index()] : node;
  }
  // Who moves says nothing until it knows from where.
  [[nodiscard]] static bool may_release(const Snapshot<Recovering>& world, NodeId user) {
    const auto& node = world.nodes[user.index()];
    return node.heir == nobody || node.crashed() || has_moved(world, user) ||
           world.nodes[node.heir.index()].crashed();
  }
  [[nodiscard]] static bool may_leave(const Snapshot<Recovering>& world, NodeId user) {
    const auto& node = world.nodes[user.index()];
    return node.present() && node.heir != nobody &&
           (has_moved(world, user) || world.nodes[node.heir.index()].crashed());
  }

  // What a node may do by itself, now or later: tell the home that its user stays, if somebody
  // tries.
  [[nodiscard]] std::uint32_t choices() const requires many { return verdicts.empty() ? 0 : 1; }
  void choose(std::uint32_t, Out& out) requires many {
    const auto verdict = verdicts.front();
    verdicts.erase(verdicts.begin());
    pronounce(verdict, out);
  }
  [[nodiscard]] static std::string choice_name(std::uint32_t) requires many {
    return "another user learns what came of its request";
  }
  [[nodiscard]] std::uint32_t choices() const requires(!many) {
    const auto& turn = desk.turn;
    const bool may = config->rules.tries && acts() && turn.is_used() && !desk.noted &&
                     desk.phase == Desk::Phase::open;
    return supplicant != nobody ? 2 : may ? 1 : 0;
  }
  void choose(std::uint32_t choice, Out& out) requires(!many) {
    supplicant != nobody ? decide(choice == 0, out) : step({.kind = EventKind::linger}, out);
  }
  [[nodiscard]] static std::string choice_name(std::uint32_t choice) requires(!many) {
    return choice == 0 ? "its user stays inside, or it takes whom another member sends"
                       : "it does not take whom another member sends";
  }

  // Of those who try at once, somebody gets in (in a single view, if nobody gives up); and in the
  // end the home takes nobody for somebody who is inside.
  static std::string_view unmet_goal(const Snapshot<Recovering>& world) {
    if (!world.nodes[0].config->rules.tries) return {};
    bool entered = false, changed = false;
    for (std::size_t i = 0; i < world.nodes.size(); ++i) {
      const auto& node = world.nodes[i];
      entered |= node.desk.last > 0 || node.ledger.floor > 0;
      changed |= node.changes() > 0 || node.gave_up;
      if (world.users[i].inside) return {};
    }
    for (const auto& node : world.nodes)
      if (node.present() && !node.desk.home.occupied.empty())
        return "the home takes it for held, and nobody is inside";
    return entered || changed ? "" : "every try has failed, although nobody was in the way";
  }

  // ---- views

  void expel() { life = Life::expelled; }
  // Its users were told before.
  void stand_down() {
    crash();
    life = Life::ended;
  }
  // Without that rule they are not.
  [[nodiscard]] static bool told_nothing(const Setup& setup) {
    return setup.departure == static_cast<std::uint8_t>(Without::warning);
  }
  void crash() {
    const auto dead = self;
    const auto heir_of_the_dead = heir, testator_of_the_dead = testator;
    const auto fence = moved;
    *this = Recovering{.self = dead, .setup = setup, .config = config, .joins = joins};
    life = Life::crashed;
    heir = heir_of_the_dead;
    testator = testator_of_the_dead;
    moved = fence;
  }
  void join() { life = Life::present; }

  void adopt(const ViewChange& view, Out& out) {
    NodeSet gone, all;
    std::size_t number = 0;
    members.for_each([&](NodeId member) {
      if (!view.members.contains(member)) gone.insert(NodeId{number});
      ++number;
    });
    // Who joins does not know when it was that somebody crashed.
    const bool crash = epoch == 0 ? view.epoch > setup->epoch + 1 : !gone.empty();
    const bool delayed = config->delay && (crash || ledger.delayed);
    was_home = config->forgetful && epoch > 0 && context().at_home();
    epoch = view.epoch;
    members = view.members;
    for (std::size_t i = 0; i < members.size(); ++i) all.insert(NodeId{i});
    const bool at_home = context().at_home();
    auto others = all;
    others.erase(context().self);
    ledger = ledger.next(others, delayed);
    supplicant = nobody;  // that one asks again
    offered = {};
    // Of no use where nothing is forgotten: worlds that differ in nothing else are equal.
    if (!config->forgetful) ledger = {.delayed = delayed};
    step({.kind = EventKind::adopt,
          .gone = &gone,
          .missing = at_home ? &all : nullptr,
          .inherits = testator != nobody && !members.contains(testator)},
         out);
    // What was said in the view before may not have been heard.
    if (heir != nobody && members.contains(heir)) out.send(heir, errand(Move::bequest));
    if (heir != nobody && moved_left) out.send(heir, errand(Move::left));
    if (at_home && !desk.home.clear) {
      out.arm(0, delay_ns);
    } else {
      out.disarm(0);
    }
    if (!at_home && context().rules.collective)
      out.send(number_for_ever(context().home), message({.kind = Kind::reported}));
  }
  static constexpr std::int64_t delay_ns = 1'000'000'000;

  [[nodiscard]] bool retirable() const { return acts() && desk.home.lives(); }
  void retire(Out& out) {
    ++retired;
    step({.kind = EventKind::retire}, out);
  }
  [[nodiscard]] bool spoilable() const { return acts() && desk.phase == Desk::Phase::open; }
  void spoil(Out& out) {
    ++spoilt;
    step({.kind = EventKind::spoil}, out);
  }

  [[nodiscard]] bool present() const { return life == Life::present; }
  [[nodiscard]] bool acts() const { return present() || life == Life::expelled; }
  [[nodiscard]] bool expelled() const { return life == Life::expelled || life == Life::ended; }
  [[nodiscard]] bool crashed() const { return life == Life::crashed || life == Life::ended; }
  // A join, a crash and an expulsion each change the view once.
  [[nodiscard]] std::uint32_t changes() const {
    return (joins && life != Life::absent ? 1U : 0U) + (crashed() || expelled() ? 1U : 0U);
  }
  // Clients that outlive it may not know yet.
  [[nodiscard]] bool is_waited_for() const {
    return crashed() && !(life == Life::ended && departs(Without::warning));
  }

 private:
  using EventKind = typename Desk::Event::Kind;

  [[nodiscard]] bool departs(Without rule) const {
    return setup->departure == static_cast<std::uint8_t>(rule);
  }

  [[nodiscard]] Context context() {
    const NodeId home{members.size() - 1};
    const auto fenced = departs(Without::fence_epoch) ? setup->epoch : epoch;
    auto rules = config->rules;
    rules.without = static_cast<Without>(setup->departure);
    return {.setup = &config->arrange(fenced, members.size(), home),
            .self = number_in_view(self),
            .home = home,
            .ledger = &ledger,
            .rules = rules,
            .kind = P::info.primitive,
            .quorums = config->quorums};
  }

  [[nodiscard]] NodeId number_in_view(NodeId node) const {
    std::size_t number = 0;
    members.for_each([&](NodeId member) { number += member < node ? 1U : 0U; });
    return NodeId{number};
  }
  [[nodiscard]] NodeId number_for_ever(NodeId in_view) const {
    NodeId found;
    std::size_t number = 0;
    members.for_each([&](NodeId member) {
      if (number++ == in_view.index()) found = member;
    });
    return found;
  }

  [[nodiscard]] Message message(const Note& note) const { return {{note}, epoch}; }
  [[nodiscard]] Message errand(Move move) const {
    return {.epoch = epoch, .move = move, .fence = moved};
  }
  static constexpr UserId moving_user = 100;  // beside those of this member

  void step(const typename Desk::Event& event, Out& out) {
    typename Desk::Out inner;
    desk.step(context(), event, inner);
    // Honest members send nothing that cannot be.
    TURNO_ASSERT(!inner.spoilt || event.kind == EventKind::spoil || setup->departure != 0);
    for (const auto& send : inner.sends()) {
      const Message sent{send.message, epoch};
      if (send.to != inner.everyone) {
        out.send(number_for_ever(send.to), sent);
        continue;
      }
      members.for_each([&](NodeId member) {
        if (member != self) out.send(member, sent);
      });
    }
    for (const auto& alarm : inner.alarms())
      out.arm(static_cast<std::uint8_t>(alarm.timer + 1), alarm.delay_ns);
    tell_users(inner, out);
    if (config->forgetful) forget();
  }

  void tell_users(const typename Desk::Out& inner, Out& out) requires(!many) {
    if (inner.granted()) out.grant(*inner.granted(), static_cast<std::uint32_t>(inner.user - 1));
    if (inner.refused != no_user) out.refuse(static_cast<std::uint32_t>(inner.refused - 1));
  }
  // One at once, and the others whenever they come to hear it.
  void tell_users(const typename Desk::Out& inner, Out& out) requires many {
    for (const auto& admission : inner.admitted) {
      if constexpr (counted)
        for (const auto& unit : admission.units) TURNO_ASSERT(unit.number < desk.permits);
      auto& verdict =
          verdicts.emplace_back(static_cast<std::uint32_t>(admission.user - 1), admission.units);
      for (const auto& resource : admission.resources)
        verdict.units.push_back({*number_through(types_there(), resource), resource.fence});
    }
    for (const auto& refusal : inner.refused)
      verdicts.push_back({static_cast<std::uint32_t>(refusal.user - 1), {}});
    if (verdicts.empty() || out.granted() || out.refused()) return;
    const auto verdict = verdicts.front();
    verdicts.erase(verdicts.begin());
    pronounce(verdict, out);
  }
  static void pronounce(const Verdict& verdict, Out& out) {
    if (verdict.units.empty()) return out.refuse(verdict.user);
    if constexpr (grouped) return out.grant(verdict.units.front().fence, verdict.user);
    out.grant(std::span<const Unit>(verdict.units.data(), verdict.units.size()), verdict.user);
  }

  // As a node does: what is idle is thrown away, and made anew when it is needed.
  void forget() {
    if (!desk.idle(ledger, context().rules)) return;
    desk = {};
    if (context().at_home()) desk.begin_home(ledger, was_home);
  }
};

}  // namespace turno::cluster
