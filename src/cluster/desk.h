// The desk of one thing at one member, through views: the same for every algorithm.
//
// An algorithm assumes that nobody crashes, so each of its runs, an *instance*, lives inside one
// view. The thing's home (home.h) gives birth to instances:
//
//   - A member that wants in asks the home to `open` the thing; the home answers `opened` with the
//     instance and who had what at its birth. From then on the algorithm is on its own.
//   - When the view changes, all members drop what they have and report to the (new) home what
//     their users have. When everybody has reported, the home gives birth to an instance in which
//     they have it still: a holder that lives keeps what it holds. Who waits opens it again.
//   - To forget an idle thing the home *retires* its instance: the same for this thing alone. Who
//     took part drops it and reports; if nobody has anything and nobody asks, nothing is left.
//   - What somebody that died may have had, the home keeps for it (escrow): the instance is born
//     with the home inside, and when the delay is over the home leaves as anybody would.
//   - A message that cannot be (a peer that errs) costs the instance: it is retired and born again.
//
// Fences: the epoch is in the high bits. Within a view an instance counts from the largest count
// that any instance of this home has reached (Ledger::floor), so forgetting never lets them go
// back.
//
// Not here: names, sockets and time. A driver delivers messages in order and exactly once within a
// view, and drops those of older views. It feeds a desk by step() alone.
//
// Invariants: (1) a member takes part in an instance only after the home told it so; (2) at most
// one of its users is inside, and only while the member is.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/desk_event.h"
#include "cluster/home.h"
#include "cluster/note.h"
#include "cluster/rules.h"
#include "cluster/turn.h"
#include "core/assert.h"
#include "core/protocol.h"

namespace turno::cluster {

template <Protocol P>
struct Desk {
  using Message = DeskMessage<typename P::Message>;
  using Kind = Note::Kind;
  using Event = DeskEvent;
  using Out = Outcome<Message>;
  using Without = Rules::Without;
  // Of this member's part in the algorithm. `broken`: it waits until the home ends the instance.
  enum class Phase : std::uint8_t { closed, asked, open, broken };

  // A message of an instance that this member does not know, yet or any more.
  struct Orphan {
    NodeId from;
    Instance instance = 0;
    typename P::Message inner{};
    [[nodiscard]] auto fields() const { return std::tie(from, instance, inner); }
    bool operator==(const Orphan&) const = default;
  };

  Turn turn;
  Heir heir;
  Phase phase = Phase::closed;
  bool left = false;   // the user inside left while there was no instance
  bool noted = false;  // the home has it that this member may be inside
  Instance instance = 0;
  std::uint64_t base = 0;  // of the instance's fences
  std::uint64_t last = 0;  // the count of the last fence granted here in this view
  P node;
  Home home;
  std::vector<Orphan> orphans;

  static constexpr std::array<std::string_view, 11> labels = {"turn",  "heir",     "phase",  "left",
                                                              "noted", "instance", "base",   "last",
                                                              "node",  "home",     "orphans"};
  [[nodiscard]] auto fields() const {
    return std::tie(turn, heir, phase, left, noted, instance, base, last, node, home, orphans);
  }
  bool operator==(const Desk&) const = default;

  // The one door.
  void step(const Context& context, const Event& event, Out& out) {
    Step step{context, out, {}};
    switch (event.kind) {
      case Event::Kind::ask:
        ask(step, event.user);
        break;
      case Event::Kind::attempt:
        attempt(step, event.user);
        break;
      case Event::Kind::leave:
        leave(step, event.fence, event.tired);
        break;
      case Event::Kind::withdraw:
        out.done = withdraw(event.user, event.spot);
        break;
      case Event::Kind::linger:
        linger(step);
        break;
      case Event::Kind::bequeath:
        bequeath(step, event.fence);
        break;
      case Event::Kind::reclaim:
        if (event.fence == turn.fence) turn.bequeathed = false;
        break;
      case Event::Kind::inherit:
        inherit(step, event.user, event.fence);
        break;
      case Event::Kind::receive:
        receive(step, event.from, *event.note);
        deliver_orphans(step);
        break;
      case Event::Kind::adopt:
        adopt(step, event);
        break;
      case Event::Kind::retire:
        if (home.lives()) retire(step);
        break;
      case Event::Kind::delay_over:
        home.clear = home.here;
        if (turn.holder == the_dead) leave(step, turn.fence, false);
        break;
      case Event::Kind::expire:
        expire(step, event.timer);
        break;
      case Event::Kind::spoil:
        spoil(step);
        break;
    }
    use(step);
  }

  // A new desk of a thing whose home is here.
  void begin_home(const Ledger& ledger, bool was_its_home) {
    home.begin(ledger.unreported, 0, ledger.clears_unknown(was_its_home));
  }
  // A new desk that kept messages of an instance before it was known of what that is.
  void take_orphans(Desk& other) { orphans.swap(other.orphans); }

  [[nodiscard]] bool takes_part_in(Instance other) const {
    return (phase == Phase::open || phase == Phase::broken) && instance == other;
  }
  // The instance in which this member takes part; 0: none.
  [[nodiscard]] Instance part() const {
    return phase == Phase::open || phase == Phase::broken ? instance : 0;
  }
  // Nothing would be lost if this value were thrown away, and a new one made when it is needed.
  [[nodiscard]] bool idle(const Ledger& ledger, const Rules& rules = {}) const {
    if (phase != Phase::closed || !turn.is_idle() || left || !home.is_idle()) return false;
    if (heir.user != no_user) return false;
    // Whether the dead may have had it is remembered while that matters.
    const bool matters = home.here && ledger.delayed && rules.without != Without::memory;
    return orphans.empty() && !matters;
  }

 private:
  struct Step {
    const Context& context;
    Out& out;
    std::optional<Fence> granted;  // the member's turn began
  };

  // ---- users

  void ask(Step& step, UserId user) {
    if (turn.holder == no_user && !turn.asked) {
      turn.asked = true;
      request(step);
      if (step.granted) {
        turn.begin(*std::exchange(step.granted, std::nullopt));
        if (turn.eagerness > 0) turn.eagerness = 0;
        return enter(step, user);
      }
    }
    if (minds_eagerness(step) && turn.eagerness < Turn::eager) ++turn.eagerness;
    step.out.spot = turn.line.push(user);
  }

  void attempt(Step& step, UserId user) {
    if (turn.holder != no_user || !turn.line.empty() || turn.trying != no_user) {
      step.out.refused = user;
      return;
    }
    turn.trying = user;
    if (rests_here() && !turn.asked) return ask(step, user);
    turn.probing = true;
    tell_home(step, {.kind = Kind::probe});
  }

  void enter(Step& step, UserId user) {
    turn.enter(user);
    last = std::max(last, turn.fence.count());
    step.out.user = user;
    step.out.grant(turn.fence);
  }

  void leave(Step& step, Fence fence, bool tired) {
    if (heir.user != no_user && fence == heir.fence) {
      heir.user = the_dead;
      return;
    }
    const bool named = fence == turn.fence || step.context.without(Without::fences_of_users);
    const bool moved = turn.bequeathed && !step.context.without(Without::bequests);
    step.out.done = turn.holder != no_user && named && !moved;
    if (!step.out.done) return;
    turn.leave();
    if (turn.line.empty()) {
      // If the user asks only after it has left, that is a message of its own; now the claim
      // travels with the token.
      const bool again = minds_eagerness(step) && turn.eagerness >= Turn::eager;
      return again ? pass_on(step) : release(step);
    }
    if (turn.served + 1 >= step.context.rules.in_a_row || tired) return pass_on(step);
    ++turn.served;
    enter(step, turn.line.pop());
  }

  // Others in the cluster get their turn before this member's next user.
  void pass_on(Step& step) {
    turn.asked = true;
    // Asking before leaving saves a message.
    constexpr bool overlaps = P::info.overlap != Overlap::never;
    if (overlaps) request(step);
    release(step);
    if (!overlaps) request(step);
  }

  // The turn that was asked for stays asked for: when it comes and nobody waits, it is given back.
  bool withdraw(UserId user, Line::Spot spot) {
    const bool probed = user == turn.trying && turn.probing;
    if (user == turn.trying) {
      turn.trying = no_user;
      turn.probing = false;
    }
    return probed || turn.line.erase(user, spot);
  }

  // The home may refuse those who try from now on, without asking anybody.
  void linger(Step& step) {
    if (!turn.is_used() || noted || phase != Phase::open || !step.context.rules.tries) return;
    noted = true;
    tell_home(step, {.kind = Kind::held, .instance = instance});
  }

  // Its user leaves from another member now. Until this one is gone, nothing else changes: so
  // whoever dies meanwhile, one of the two has it.
  void bequeath(Step& step, Fence fence) {
    step.out.done = turn.is_used() && fence == turn.fence;
    if (step.out.done) turn.bequeathed = true;
  }
  // `no_user`: it stays where it is after all.
  void inherit(Step& step, UserId user, Fence fence) {
    step.out.done = !turn.is_used() && (heir.user == no_user || heir.fence == fence);
    if (step.out.done) heir = user == no_user ? Heir{} : Heir{user, fence};
  }
  // The member that the heir comes from is gone: it is inside here. Its turn is not gone on with
  // when it leaves: fences that follow its own may have been given out where it comes from.
  void come_into(Step& step) {
    const auto user = std::exchange(heir.user, no_user);
    const auto fence = std::exchange(heir.fence, {});
    if (user == the_dead) {
      left = true;
      return;
    }
    if (turn.is_used()) return;  // a peer bequeathed what it did not have
    turn.begin(fence);
    turn.enter(user);
    turn.served = step.context.rules.in_a_row;
    step.out.inherited = user;
  }

  // A turn that began is used or given back.
  void use(Step& step) {
    const auto granted = std::exchange(step.granted, std::nullopt);
    if (!granted) return;
    if (turn.holder != no_user) return spoil(step);  // nobody asked for it
    turn.begin(*granted);
    if (!turn.line.empty()) return enter(step, turn.line.pop());
    // Its user withdrew, or did not come back.
    if (minds_eagerness(step)) turn.eagerness = Turn::distrusted;
    if (!step.context.without(Without::giving_back)) release(step);
  }

  [[nodiscard]] static bool minds_eagerness(const Step& step) {
    return P::info.overlap != Overlap::never && step.context.rules.eager;
  }

  // ---- the part in the algorithm

  void request(Step& step) {
    if (phase == Phase::open) {
      typename P::Out inner;
      node.request(Demand{}, inner);
      return perform(step, inner);
    }
    if (phase != Phase::closed) return;
    phase = Phase::asked;
    tell_home(step, {.kind = Kind::open});
  }

  void release(Step& step) {
    turn.end();
    if (phase != Phase::open) {
      left = true;
      return;
    }
    typename P::Out inner;
    node.release(inner);
    perform(step, inner);
    tell_freed(step);
  }

  void expire(Step& step, [[maybe_unused]] std::uint8_t timer) {
    if (phase != Phase::open) return;
    typename P::Out inner;
    if constexpr (HasTimers<P>) node.expire(timer, inner);
    perform(step, inner);
  }

  // What the algorithm wants done.
  void perform(Step& step, const typename P::Out& inner) {
    for (const auto& send : inner.sends()) {
      const Message message{{.kind = Kind::protocol, .instance = instance}, send.message};
      if (send.to == inner.everyone) {
        step.out.broadcast(message);
      } else {
        step.out.send(send.to, message);
      }
    }
    if constexpr (HasTimers<P>)
      for (const auto& alarm : inner.alarms()) step.out.arm(alarm.timer, alarm.delay_ns);
    if (!inner.granted()) return;
    const auto count = base + inner.granted()->count() * fences_per_turn;
    // No fence is left: the users wait, as if others were inside, until the next view.
    if (count >= spent_count) return;
    last = count;
    step.granted = fence_of(step, last);
  }

  [[nodiscard]] static Fence fence_of(const Step& step, std::uint64_t count) {
    return Fence::at(step.context.fences_from + step.context.setup->epoch, count);
  }

  // Whether what this member has proves that nobody is inside.
  [[nodiscard]] bool rests_here() const {
    if constexpr (HasToken<P>)
      return phase == Phase::open && turn.holder == no_user && node.has_token();
    return false;
  }

  // Drops the part, reports, and asks for another one if a user needs it.
  void start_again(Step& step, Instance inquiry, bool clear) {
    const bool proof = clear || left || rests_here();
    if (turn.holder == the_dead) turn.leave();
    if (!turn.is_used()) turn.end();
    Note report{.kind = Kind::report, .instance = inquiry, .count = last};
    report.clear = proof && step.context.ledger->delayed;
    if (turn.is_used()) report.holdings.push_back({.seat = step.context.self});
    // A turn that nobody waits for any more is not needed.
    const bool asks = !turn.line.empty() && !turn.is_used();
    turn.asked = asks;
    phase = turn.is_used() || asks ? Phase::asked : Phase::closed;
    left = noted = false;
    instance = 0;
    base = 0;
    node = P{};
    const bool silent = inquiry == 0 && step.context.rules.collective && report.holdings.empty() &&
                        !report.clear && !step.context.at_home();
    if (!silent) tell_home(step, report);
    if (asks) tell_home(step, {.kind = Kind::open});
    if (inquiry == 0 && turn.probing) tell_home(step, {.kind = Kind::probe});
  }

  void opened(Step& step, const Note& note) {
    if (phase == Phase::open || phase == Phase::broken) return;  // asked twice, told twice
    const auto& context = step.context;
    const bool mine = holding_of(context.self, note.holdings) != nullptr;
    phase = Phase::open;
    instance = note.instance;
    base = note.count;
    if (turn.is_used() && !mine) return spoil(step);  // nobody else can have what is held here
    noted = mine && context.rules.tries;
    typename P::Out inner;
    try {
      const PeerInput guard;
      node = P::resume(*context.setup, context.self, note.holdings);
      turno::step(node, Input<typename P::Message>{}, inner);
    } catch (const Impossible&) {
      return spoil(step);
    }
    perform(step, inner);
    left = false;
    if (mine && !turn.is_used()) take_over(step);
    if (turn.asked && turn.holder == no_user) request(step);
  }

  // This member is inside, but none of its users is: the home gave it what the dead may have had,
  // or what a user of it tries to get; or the user that was inside has left meanwhile, or the one
  // that tried has given up. Fences begin below those of the first turn.
  void take_over(Step& step) {
    const auto first = fence_of(step, base);
    if (home.keeps_for_the_dead()) {
      turn.begin(first);
      turn.enter(the_dead);
    } else if (turn.probing) {
      turn.begin(first);
      turn.served = 1;
      enter(step, turn.trying);
    } else if (!step.context.without(Without::leaving_between)) {
      release(step);
    }
  }

  // A message came that cannot be: the home is to end the instance.
  void spoil(Step& step) {
    if (phase != Phase::open) return;
    step.out.spoilt = true;
    phase = Phase::broken;
    node = P{};
    tell_home(step, {.kind = Kind::spoilt, .instance = instance});
  }

  // ---- messages

  void receive(Step& step, NodeId from, const Note& note) {
    if (note.kind != Kind::protocol) return receive_note(step, from, note);
    receive_protocol(step, from, static_cast<const Message&>(note));
  }

  void receive_note(Step& step, NodeId from, const Note& note) {
    switch (note.kind) {
      case Kind::opened:
        return opened(step, note);
      case Kind::retire:
        if (takes_part_in(note.instance)) start_again(step, note.instance, false);
        return;
      case Kind::gone:
        return drop_orphans(note.instance);
      case Kind::busy:
        return be_refused(step);
      case Kind::go:
        return go(step, note);
      case Kind::spoilt:
        if (home.lives() && note.instance == home.instance) retire(step);
        return;
      default:
        return tell_own_home(step, from, note);
    }
  }

  void receive_protocol(Step& step, NodeId from, const Message& message) {
    if (!takes_part_in(message.instance)) return keep(step, from, message);
    if (phase == Phase::broken) return;
    typename P::Out inner;
    try {
      const PeerInput guard;
      node.receive(from, message.inner, inner);
    } catch (const Impossible&) {
      return spoil(step);
    }
    perform(step, inner);
  }

  // Of an instance that this member does not know it asks the home. The home knows all that live.
  void keep(Step& step, NodeId from, const Message& message) {
    if (step.context.at_home() || step.context.without(Without::orphans)) return;
    const bool asked = std::any_of(orphans.begin(), orphans.end(), [&](const Orphan& other) {
      return other.instance == message.instance;
    });
    // More than any algorithm sends before it is answered.
    if (orphans.size() >= 64 + 16 * step.context.setup->size())
      return tell_home(step, {.kind = Kind::spoilt, .instance = message.instance});
    orphans.push_back({from, message.instance, message.inner});
    if (!asked) tell_home(step, {.kind = Kind::query, .instance = message.instance});
  }
  void drop_orphans(Instance of) {
    std::erase_if(orphans, [&](const Orphan& other) { return other.instance == of; });
  }
  void deliver_orphans(Step& step) {
    if (orphans.empty() || phase != Phase::open) return;
    const auto waiting = orphans;
    const auto now = instance;
    drop_orphans(now);
    for (const auto& orphan : waiting) {
      if (orphan.instance != now) continue;
      use(step);
      receive_protocol(step, orphan.from, {{.instance = now}, orphan.inner});
    }
  }

  void be_refused(Step& step) {
    if (turn.trying == no_user) return;
    step.out.refused = turn.trying;
    withdraw(turn.trying, Line::nowhere);
  }

  // Nobody is known to be inside: the user that tries asks as any other would. If another user of
  // this member has come before it meanwhile, it is refused.
  void go(Step& step, const Note& note) {
    if (!takes_part_in(note.instance)) return;
    noted = true;
    const bool others = turn.holder != no_user || !turn.line.empty();
    if (turn.probing && others && !step.context.without(Without::own_users)) {
      be_refused(step);
    } else if (turn.probing) {
      turn.probing = false;
      turn.line.push(turn.trying);
      if (!std::exchange(turn.asked, true)) request(step);
    } else if (turn.is_idle()) {  // it has given up
      tell_freed(step);
    }
  }
  void tell_freed(Step& step) {
    if (std::exchange(noted, false)) tell_home(step, {.kind = Kind::freed, .instance = instance});
  }

  // ---- the home

  void tell_home(Step& step, const Note& note) {
    if (!step.context.at_home()) return step.out.send(step.context.home, {note});
    receive_note(step, step.context.self, note);
  }
  void tell_own_home(Step& step, NodeId from, const Note& note) {
    Letters letters;
    const bool used_here = from != step.context.self && !turn.is_idle();
    home.receive(step.context, from, note, used_here, letters);
    deliver(step, letters);
  }
  void deliver(Step& step, const Letters& letters) {
    for (const auto& letter : letters) {
      if (letter.to == step.context.self) {
        receive_note(step, letter.to, letter.note);
      } else {
        step.out.send(letter.to, {letter.note});
      }
    }
  }

  // Forget the thing if nobody uses it, or else begin again.
  void retire(Step& step) {
    const auto retired = home.instance;
    Letters letters;
    home.retire(step.context, letters);
    deliver(step, letters);
    start_again(step, retired, false);
  }

  void adopt(Step& step, const Event& event) {
    const bool clear = home.clears(*event.gone);
    last = 0;
    orphans.clear();
    home = {};
    if (event.missing != nullptr)
      home.begin(*event.missing, 0, clear || !step.context.ledger->delayed);
    if (heir.user != no_user && event.inherits && !step.context.without(Without::heirs))
      come_into(step);
    start_again(step, 0, clear);
  }
};

}  // namespace turno::cluster
