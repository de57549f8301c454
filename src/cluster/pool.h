// The desk of a semaphore at one member, through views (part.h): which of the member's own users
// have which permits, or wait for some. They are served in the order in which they came, each by a
// request of its own.
//
// How many permits there are, the first says who asks for one, and the home keeps it as long as
// anybody has or wants a permit. Who says another number is refused. Whoever resizes the semaphore
// has the home end the instance, and the next one is born with the new number: more can be had at
// once, fewer as those are released whose numbers are beyond it, which nobody gets again.
//
// After a death the home keeps what the dead may have, until the delay is over: what no living
// member has reported, and less if the algorithm remembers (Remembering), as the members then say
// what they know of who is gone.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <optional>
#include <span>
#include <utility>

#include "cluster/crowd.h"
#include "cluster/many.h"
#include "cluster/turn.h"

namespace turno::cluster {

template <Protocol P>
requires Divisible<P> && Withdrawable<P>
struct Pool : Many<P, Pool<P>> {
  using Base = Many<P, Pool<P>>;
  using typename Base::Event;
  using typename Base::Kind;
  using typename Base::Message;
  using typename Base::Out;
  using typename Base::Phase;
  using typename Base::Without;
  using Units = Crowd::Units;
  using Base::base, Base::home, Base::instance, Base::last, Base::node, Base::orphans, Base::phase;

  // What the algorithm gave to the first in line, or that it did not.
  struct Granted {
    boost::container::small_vector<Unit, 2> units;
    bool refused = false;
  };

  Crowd crowd;
  std::uint32_t permits = 0;  // how many there are; 0: this member has not been told
  std::uint32_t numbers = 0;  // up to which number somebody has one
  bool resized = false;       // somebody has said that there are so many from now on
  // The one who wants it to be so many, until the home has said that it is.
  struct Resizer {
    UserId user = no_user;
    std::uint32_t permits = 0;
    [[nodiscard]] auto fields() const { return std::tie(user, permits); }
    bool operator==(const Resizer&) const = default;
  };
  Resizer resizer;

  static constexpr std::array<std::string_view, 12> labels = {
      "crowd",    "permits", "numbers", "resized", "resizer", "phase",
      "instance", "base",    "last",    "node",    "home",    "orphans"};
  [[nodiscard]] auto fields() const {
    return std::tie(crowd, permits, numbers, resized, resizer, phase, instance, base, last, node,
                    home, orphans);
  }
  bool operator==(const Pool&) const = default;

  // Nothing would be lost if this value were thrown away, and a new one made when it is needed.
  [[nodiscard]] bool idle(const Ledger& ledger, const Rules& rules = {}) const {
    return this->is_idle_part(ledger, rules) && !is_used_here();
  }

 private:
  friend Base;
  friend typename Base::Base;
  using typename Base::Step;
  using Reason = Refusal::Reason;

  // ---- users

  void ask(Step& step, const Event& event) {
    const PermitWants wants{event.count, event.permits, event.kind == Event::Kind::attempt,
                            event.by_default};
    if (permits != 0)
      if (const auto reason = objection(wants)) return refuse(step, event.user, *reason);
    step.out.spot = crowd.line.push(event.user, wants);
    go_on(step);
  }

  // REQUIRES: it is known how many permits there are.
  [[nodiscard]] std::optional<Reason> objection(const PermitWants& wants) const {
    if (wants.permits != 0 && wants.permits != permits && !(resized && wants.by_default))
      return Reason::contradicts;
    if (wants.count > permits) return Reason::too_many;
    return {};
  }
  void refuse(Step& step, UserId user, Reason reason) {
    step.out.refused.push_back({.user = user, .reason = reason});
  }

  // Asks for the first in line, unless that was done.
  void go_on(Step& step) {
    while (!crowd.asked && !crowd.line.empty()) {
      if (phase == Phase::closed) {
        phase = Phase::asked;
        return this->tell_home(step, {.kind = Kind::open, .permits = said()});
      }
      if (phase != Phase::open) return;
      const auto& wants = crowd.line.first_wants();
      if (const auto reason = objection(wants)) {
        refuse(step, crowd.line.pop(), *reason);
        continue;
      }
      crowd.asked = true;
      const Need need{0, static_cast<std::uint16_t>(wants.count)};
      typename P::Out inner;
      node.request({.needs = {&need, 1}, .only_try = wants.only_try}, inner);
      this->perform(step, inner);
      serve(step);
    }
  }
  // How many there are, as far as anybody here knows.
  [[nodiscard]] std::uint32_t said() const {
    return permits != 0 || crowd.line.empty() ? permits : crowd.line.first_wants().permits;
  }

  // What the algorithm said to the request of the first in line.
  void serve(Step& step) {
    const auto granted = std::exchange(step.granted, {});
    if (granted.units.empty() && !granted.refused) return;
    if (!crowd.asked) return this->spoil(step);  // nobody asked for it
    crowd.asked = false;
    const auto user = crowd.line.pop();
    if (granted.refused) return refuse(step, user, Reason::busy);
    for (const auto& unit : granted.units) crowd.give(user, unit.number);
    step.out.admitted.push_back({user, granted.units});
  }
  void use(Step& step) {
    serve(step);
    go_on(step);
  }

  bool leave(Step& step, const Event& event) {
    const auto units = crowd.take(event.user, event.units);
    if (!units.empty()) release(step, units);
    return !units.empty();
  }
  void end_delay(Step& step) {
    if (crowd.find(the_dead) != nullptr) leave(step, {.user = the_dead});
  }
  // If there is no instance, the next one is told by the home what was held when this member
  // reported, and it is released then.
  // Those beyond the number of permits are kept from everybody until then.
  void release(Step& step, Units units) {
    if (phase != Phase::open) return;
    if (!step.context.without(Without::surplus))
      units.erase(std::remove_if(units.begin(), units.end(),
                                 [&](std::uint32_t unit) { return unit >= permits; }),
                  units.end());
    if (units.empty()) return;
    typename P::Out inner;
    node.release(std::span<const std::uint32_t>(units.data(), units.size()), inner);
    this->perform(step, inner);
  }

  void resize(Step& step, const Event& event) {
    if (resizer.user != no_user) return refuse(step, event.user, Reason::busy);
    resizer = {event.user, event.permits};
    if (phase == Phase::open && permits == event.permits) return end_resizing(step);
    if (phase == Phase::closed) phase = Phase::asked;
    this->tell_home(step, {.kind = Kind::resize, .permits = event.permits});
  }
  // It is so, or somebody else has said otherwise since.
  void end_resizing(Step& step) {
    const auto [user, wanted] = std::exchange(resizer, {});
    if (user == no_user) return;
    if (permits != wanted) return refuse(step, user, Reason::contradicts);
    step.out.admitted.push_back({.user = user});
  }

  bool withdraw(Step& step, const Event& event) {
    const auto user = event.user;
    if (user == resizer.user) {
      resizer = {};
      return true;
    }
    const bool first = crowd.asked && crowd.line.first() == user;
    if (!crowd.line.erase(user, event.spot)) return false;
    if (!first) return true;
    crowd.asked = false;
    if (step.context.without(Without::giving_back)) return true;
    typename P::Out inner;
    node.withdraw(inner);
    this->perform(step, inner);
    return true;
  }

  // ---- the part in the algorithm

  void take_note(Step& step, const typename P::Out& inner) {
    if (inner.refused()) step.granted.refused = true;
    if (!inner.granted()) return;
    const auto count = base + inner.granted()->count();
    // No fence is left: the users wait, as if others had all, until the next view.
    if (count >= spent_count) return;
    last = std::max(last, count);
    for (const auto& unit : inner.units())
      step.granted.units.push_back({unit.number, this->fence_of(step, base + unit.fence.count())});
  }

  void adopt(Step& step, const Event& event) {
    auto evidence = evidence_of(step, event);
    start_again(step, 0, this->begin_view(step, event), std::move(evidence));
  }
  // What this member knows of those who are gone.
  [[nodiscard]] std::vector<Evidence> evidence_of(const Step& step, const Event& event) const {
    if constexpr (Remembering<P>) {
      if (phase != Phase::open || !step.context.ledger->delayed) return {};
      Evidence evidence{.instance = instance, .gone = node.last_seen(*event.gone)};
      if (evidence.gone.size() != event.gone->size()) return {};
      evidence.witnesses = home.lives()
                               ? home.count_members_but(*event.gone)
                               : static_cast<std::uint32_t>(node.nodes - event.gone->size());
      if (const auto* dead = crowd.find(the_dead))
        evidence.kept.assign(dead->units.begin(), dead->units.end());
      return {std::move(evidence)};
    }
    return {};
  }

  // Drops the part, reports, and asks for another one if a user needs it.
  void start_again(Step& step, Instance inquiry, bool clear, std::vector<Evidence> evidence = {}) {
    crowd.take(the_dead, {});
    crowd.asked = false;
    const auto units = crowd.units();
    Note report{.kind = Kind::report,
                .instance = inquiry,
                .count = last,
                .permits = permits,
                .numbers = numbers,
                .resized = resized};
    report.clear = clear && step.context.ledger->delayed;
    report.evidence = std::move(evidence);
    if (!units.empty()) report.holdings.push_back({.seat = step.context.self, .units = units});
    const bool asks = !crowd.line.empty();
    const bool resizes = resizer.user != no_user;
    phase = !units.empty() || asks || resizes ? Phase::asked : Phase::closed;
    this->drop_part();
    this->tell_report(step, report);
    if (resizes) this->tell_home(step, {.kind = Kind::resize, .permits = resizer.permits});
    if (asks) this->tell_home(step, {.kind = Kind::open, .permits = said()});
    if (!crowd.is_idle()) return;
    permits = numbers = 0;
    resized = false;
  }

  void opened(Step& step, const Note& note) {
    if (phase == Phase::open || phase == Phase::broken) return;  // asked twice, told twice
    phase = Phase::open;
    instance = note.instance;
    base = note.count;
    permits = note.permits;
    numbers = std::max(permits, note.numbers);
    resized = note.resized;
    const auto* mine = holding_of(step.context.self, note.holdings);
    const auto held = crowd.units();
    Units others;  // given to this member, and none of its users has them
    if (mine != nullptr) {
      for (const auto unit : mine->units)
        if (!std::binary_search(held.begin(), held.end(), unit)) others.push_back(unit);
    }
    // Nobody else can have what is held here.
    if (permits == 0 || others.size() + held.size() != (mine == nullptr ? 0 : mine->units.size()))
      return this->spoil(step);
    Setup setup = *step.context.setup;
    setup.permits = numbers;
    if (!this->resume(step, setup, note.holdings)) return;
    end_resizing(step);
    if (others.empty()) return go_on(step);
    if (home.keeps_for_the_dead()) {
      for (const auto unit : others)
        if (unit < permits || home.keeps(unit)) crowd.give(the_dead, unit);
    } else if (!step.context.without(Without::leaving_between)) {
      release(step, others);
    }
    go_on(step);
  }

  // Nobody has said how many permits there are. Somebody who came later may.
  void be_unknown(Step& step, const Note&) {
    if (phase != Phase::asked) return;
    phase = Phase::closed;
    while (!crowd.line.empty() && crowd.line.first_wants().permits == 0)
      refuse(step, crowd.line.pop(), Reason::unknown);
    if (const auto [user, wanted] = std::exchange(resizer, {}); user != no_user)
      refuse(step, user, Reason::unknown);
  }

  void be_refused(Step&) {}  // these two of locks only
  void go(Step&, const Note&) {}
  [[nodiscard]] bool is_used_here() const { return !crowd.is_idle() || resizer.user != no_user; }
};

}  // namespace turno::cluster
