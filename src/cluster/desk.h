// The desk of a lock at one member, through views (part.h): which of the member's own users has it,
// or waits.
//
// Invariant: at most one of its users is inside, and only while the member is.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/part.h"
#include "cluster/turn.h"

namespace turno::cluster {

template <Protocol P>
struct Desk : Part<P, Desk<P>, Outcome> {
  using Base = Part<P, Desk<P>, Outcome>;
  using typename Base::Event;
  using typename Base::Kind;
  using typename Base::Message;
  using typename Base::Out;
  using typename Base::Phase;
  using typename Base::Without;
  using Granted = std::optional<Fence>;  // the member's turn began
  using Base::base, Base::home, Base::instance, Base::last, Base::node, Base::orphans, Base::phase;

  Turn turn;
  Heir heir;
  bool left = false;   // the user inside left while there was no instance
  bool noted = false;  // the home has it that this member may be inside

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
        out.done = withdraw(step, event.user, event.spot);
        break;
      case Event::Kind::linger:
        linger(step);
        break;
      case Event::Kind::bequeath:
        bequeath(step, event.fence);
        break;
      case Event::Kind::reclaim:
        if (event.fence == turn.fence && !context.without(Without::reclaims))
          turn.bequeathed = false;
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
      case Event::Kind::resize:
        break;  // of semaphores only
    }
    use(step);
  }

  // Nothing would be lost if this value were thrown away, and a new one made when it is needed.
  [[nodiscard]] bool idle(const Ledger& ledger, const Rules& rules = {}) const {
    return this->is_idle_part(ledger, rules) && turn.is_idle() && !left && heir.user == no_user;
  }

 private:
  friend Base;
  using Base::perform, Base::spoil, Base::tell_home, Base::takes_part_in, Base::fence_of,
      Base::deliver_orphans, Base::receive, Base::retire, Base::expire;
  using typename Base::Step;

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

  // The turn that the algorithm was asked for stays asked for: when it comes and nobody waits, it
  // is given back. If no instance is known, only the home was asked.
  bool withdraw(Step& step, UserId user, Line::Spot spot) {
    const bool probed = turn.probing;
    const bool done = give_up(user, spot);
    const bool used = turn.holder != no_user || !turn.line.empty() || turn.trying != no_user;
    if (used || this->part() != 0) return done;
    turn.asked = false;
    // Who left while there was no instance waits for one to leave it.
    if (!left) this->stop_asking(step, probed || phase == Phase::asked);
    return done;
  }
  bool give_up(UserId user, Line::Spot spot) {
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

  void take_note(Step& step, const typename P::Out& inner) {
    if (!inner.granted()) return;
    const auto count = base + inner.granted()->count() * fences_per_turn;
    // No fence is left: the users wait, as if others were inside, until the next view.
    if (count >= spent_count) return;
    last = count;
    step.granted = fence_of(step, last);
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
    this->drop_part();
    this->tell_report(step, report);
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
    if (!this->resume(step, *context.setup, note.holdings)) return;
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

  void be_refused(Step& step) {
    if (turn.trying == no_user) return;
    step.out.refused = turn.trying;
    give_up(turn.trying, Line::nowhere);
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
    if (std::exchange(noted, false) && !step.context.without(Without::freeing))
      tell_home(step, {.kind = Kind::freed, .instance = instance});
  }

  void be_unknown(Step&, const Note&) {}  // of others only
  [[nodiscard]] bool is_used_here() const { return !turn.is_idle(); }

  void adopt(Step& step, const Event& event) {
    const bool clear = this->begin_view(step, event);
    if (heir.user != no_user && event.inherits && !step.context.without(Without::heirs))
      come_into(step);
    start_again(step, 0, clear);
  }
};

}  // namespace turno::cluster
