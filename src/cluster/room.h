// The desk of a room at one member, through views (part.h): which of the member's own users are
// inside, all of one group, or wait to get in.
//
// A user takes a seat of its member's (seated.h), and its seat asks the manager of the group. Users
// of one group share a seat, unless the group has a capacity: who comes while the seat waits, or
// while the first user that came in with it is still inside. Who comes later takes another seat, so
// that other groups are not kept waiting for ever.
//
// Groups are names; an instance knows the groups that were wanted at its birth, and has as many
// seats. Who needs another group or more seats tells the home, which ends the instance. How many of
// a group may be inside says whoever wants in first, and it stays so while somebody is inside or
// waits. Who says another number is refused.
//
// All who are inside together have the same fence, also if instances end meanwhile; of a group of
// capacity 1 each has a larger one than those before.
//
// Invariants: (1) all guests are of one group; (2) whoever stands in line
// without a seat waits for an instance.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/many_seats.h"

namespace turno::cluster {

template <Protocol P>
requires Withdrawable<P>
struct Room : ManySeats<P, Room<P>> {
  using Base = ManySeats<P, Room<P>>;
  using Base::base, Base::home, Base::instance, Base::last, Base::node, Base::orphans, Base::phase,
      Base::terms, Base::outgrown, Base::no_seat;
  using typename Base::Event;
  using typename Base::Granted;
  using typename Base::Kind;
  using typename Base::Message;
  using typename Base::Out;
  using typename Base::Phase;
  using typename Base::Without;

  // Who waits for what, and with which seat.
  struct Wish {
    UserId user = no_user;
    Group group;
    std::uint32_t seat = no_seat;
    [[nodiscard]] auto fields() const { return std::tie(user, group, seat); }
    bool operator==(const Wish&) const = default;
  };
  struct Guest {
    UserId user = no_user;
    std::uint32_t seat = no_seat;
    [[nodiscard]] auto fields() const { return std::tie(user, seat); }
    bool operator==(const Guest&) const = default;
  };

  std::vector<Wish> line;  // first come first
  std::vector<Guest> guests;
  Group group;                // of the guests
  Fence fence;                // with which the last came in
  std::vector<UserId> first;  // of each seat: who came in first, while it is inside

  static constexpr std::array<std::string_view, 14> labels = {
      "line",  "guests",   "group", "fence", "terms", "first", "outgrown",
      "phase", "instance", "base",  "last",  "node",  "home",  "orphans"};
  [[nodiscard]] auto fields() const {
    return std::tie(line, guests, group, fence, terms, first, outgrown, phase, instance, base, last,
                    node, home, orphans);
  }
  bool operator==(const Room&) const = default;

  // Nothing would be lost if this value were thrown away, and a new one made when it is needed.
  [[nodiscard]] bool idle(const Ledger& ledger, const Rules& rules = {}) const {
    return this->is_idle_part(ledger, rules) && line.empty() && guests.empty();
  }

 private:
  friend Base;
  friend typename Base::Base;
  friend typename Base::Base::Base;
  using typename Base::Step;
  using Reason = Refusal::Reason;

  // ---- users

  void ask(Step& step, const Event& event) {
    line.push_back({event.user, {std::string(event.group), event.permits}});
    go_on(step);
  }

  // Finds seats for those in line who have none.
  void go_on(Step& step) {
    if (phase == Phase::closed && !line.empty()) {
      phase = Phase::asked;
      return this->tell_wishes(step, seats_wanted());
    }
    if (phase != Phase::open) return;
    bool unknown = false, crowded = false;
    for (std::size_t i = 0; i < line.size() && phase == Phase::open;) {
      auto& wish = line[i];
      if (wish.seat != no_seat) {
        ++i;
        continue;
      }
      const auto number = this->number_of(wish.group.name);
      if (!number) {
        unknown = true;
        ++i;
        continue;
      }
      const auto capacity = terms.groups[*number].capacity;
      if (wish.group.capacity != 0 && wish.group.capacity != capacity) {
        refuse(step, i, Reason::contradicts);
        continue;
      }
      wish.group.capacity = capacity;
      if (wish.group.shared() && joins_guests(wish)) {
        let_in(step, i);
        continue;
      }
      const bool shares = wish.group.shared() && share_seat(wish);
      if (!shares && !take_seat(step, i, *number)) crowded = true;
      serve(step);
      i = 0;  // who was let in stands in line no more
      if (crowded) break;
    }
    if ((unknown || crowded) && !outgrown && phase == Phase::open) this->outgrow(step, crowded);
  }

  // What those want who have no place in the instance.
  [[nodiscard]] bool lacks_group() const {
    return std::any_of(line.begin(), line.end(), [&](const Wish& wish) {
      return wish.seat == no_seat && !this->number_of(wish.group.name);
    });
  }
  template <class Visit>
  void for_each_wanted(const Visit& visit) const {
    for (const auto& wish : line) visit(wish.group);
  }

  // As far as this member knows: its guests keep theirs, and those of a group share one.
  [[nodiscard]] std::uint32_t seats_wanted() const {
    std::size_t count = guests_seats();
    for (std::size_t i = 0; i < line.size() && count < most_seats; ++i) {
      const auto& wish = line[i].group;
      const bool alone = wish.capacity != 0 && !wish.shared();
      const bool another =
          std::none_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(i),
                       [&](const Wish& other) { return other.group.name == wish.name; });
      if (alone || another) ++count;
    }
    return static_cast<std::uint32_t>(std::min<std::size_t>(count, most_seats));
  }
  [[nodiscard]] std::size_t guests_seats() const {
    return group.shared() ? std::min<std::size_t>(1, guests.size()) : guests.size();
  }

  // The first that came in with some seat is still inside.
  bool joins_guests(Wish& wish) const {
    if (guests.empty() || group.name != wish.group.name) return false;
    for (std::uint32_t seat = 0; seat < first.size(); ++seat) {
      if (first[seat] == no_user) continue;
      wish.seat = seat;
      return true;
    }
    return false;
  }
  // Another user of its group waits with a seat already.
  bool share_seat(Wish& wish) const {
    for (const auto& other : line) {
      if (other.seat == no_seat || other.group.name != wish.group.name) continue;
      wish.seat = other.seat;
      return true;
    }
    return false;
  }
  // False: none is free.
  bool take_seat(Step& step, std::size_t place, std::uint32_t number) {
    const auto seat = this->free_seat(line, guests);
    if (!seat) return false;
    line[place].seat = *seat;
    this->act(step, [&](auto& inner) { node.request(*seat, {.group = number}, inner); });
    return true;
  }

  void refuse(Step& step, std::size_t place, Reason reason) {
    step.out.refused.push_back({.user = line[place].user, .reason = reason});
    line.erase(line.begin() + static_cast<std::ptrdiff_t>(place));
  }
  void let_in(Step& step, std::size_t place) {
    const auto wish = line[place];
    line.erase(line.begin() + static_cast<std::ptrdiff_t>(place));
    guests.push_back({wish.user, wish.seat});
    Admission admission{wish.user, {}};
    admission.units.push_back({0, fence});
    step.out.admitted.push_back(admission);
  }

  // The seats that the algorithm lets in.
  void serve(Step& step) {
    const auto granted = std::exchange(step.granted, {});
    for (const auto& given : granted) {
      const auto has_it = [&](const Wish& wish) { return wish.seat == given.seat; };
      const auto leader = std::find_if(line.begin(), line.end(), has_it);
      // Nobody asked for it, or others are inside.
      const bool wrong =
          leader == line.end() || (!guests.empty() && group.name != leader->group.name);
      if (wrong) return this->spoil(step);
      group = leader->group;
      fence = given.fence;
      first[given.seat] = leader->user;
      for (std::size_t i = 0; i < line.size();) has_it(line[i]) ? let_in(step, i) : void(++i);
    }
  }
  void use(Step& step) {
    serve(step);
    go_on(step);
  }

  // If there is no instance, the next one is told by the home how many were inside when this member
  // reported, and the seat is left then.
  bool leave(Step& step, const Event& event) {
    const auto user = event.user;
    const auto found = std::find_if(guests.begin(), guests.end(),
                                    [&](const Guest& guest) { return guest.user == user; });
    if (found == guests.end()) return false;
    const auto seat = found->seat;
    guests.erase(found);
    if (guests.empty()) {
      group = {};
      fence = {};
    }
    if (phase != Phase::open) return true;
    if (first[seat] == user) first[seat] = no_user;
    if (std::none_of(guests.begin(), guests.end(),
                     [&](const Guest& guest) { return guest.seat == seat; }))
      this->act(step, [&](auto& inner) { node.release(seat, inner); });
    return true;
  }

  bool withdraw(Step& step, const Event& event) {
    const auto found = std::find_if(line.begin(), line.end(),
                                    [&](const Wish& wish) { return wish.user == event.user; });
    if (found == line.end()) return false;
    const auto seat = found->seat;
    line.erase(found);
    const bool used =
        std::any_of(line.begin(), line.end(), [&](const Wish& wish) { return wish.seat == seat; });
    if (phase == Phase::open && seat != no_seat && !used &&
        !step.context.without(Without::giving_back))
      this->act(step, [&](auto& inner) { node.withdraw(seat, inner); });
    return true;
  }

  // ---- the part in the algorithm

  // If no fence is left, the users wait, as if others were inside, until the next view.
  void take_note(Step& step, const typename Seated<P>::Out& inner) {
    for (auto given : inner.given) {
      if (given.fence.count() == P::first_fence && terms.fence != Fence{}) {
        given.fence = terms.fence;
      } else {
        const auto count = base + given.fence.count();
        if (count >= spent_count) continue;
        last = std::max(last, count);
        given.fence = this->fence_of(step, count);
      }
      step.granted.push_back(given);
    }
  }

  // Drops the part, reports, and asks for another one if a user needs it.
  void start_again(Step& step, Instance inquiry, bool clear) {
    drop_guest(the_dead);
    for (auto& wish : line) wish.seat = no_seat;
    for (auto& guest : guests) guest.seat = no_seat;
    terms = {};
    first.clear();
    outgrown = false;
    Note report{.kind = Kind::report, .instance = inquiry, .count = last};
    report.clear = clear && step.context.ledger->delayed;
    report.holdings.resize(guests_seats(), {.seat = step.context.self});
    if (!guests.empty()) report.terms.groups.push_back(group);
    report.terms.seats = seats_wanted();
    report.terms.fence = fence;
    phase = guests.empty() && line.empty() ? Phase::closed : Phase::asked;
    this->drop_part();
    // Before the report, which may be the last that the home waits for: what is wished for after
    // the birth of an instance ends it again, and with three members that could go on for ever.
    if (!line.empty()) this->tell_wishes(step, seats_wanted());
    this->tell_report(step, report);
  }
  void drop_guest(UserId user) {
    std::erase_if(guests, [&](const Guest& guest) { return guest.user == user; });
    if (!guests.empty()) return;
    group = {};
    fence = {};
  }

  void opened(Step& step, const Note& note) {
    if (phase == Phase::open || phase == Phase::broken) return;  // asked twice, told twice
    if (step.context.at_home() && note.instance != home.instance) return;  // ended meanwhile
    phase = Phase::open;
    instance = note.instance;
    base = note.count;
    terms = note.terms;
    first.assign(terms.seats, no_user);
    std::vector<Holding> holdings;
    const auto seating = this->seating_of(step, terms.groups.size());
    const auto mine = this->seat_holdings(seating, note, step.context.self, holdings);
    const bool keeps = home.keeps_for_the_dead();
    // Nobody else can be where this member's users are.
    const auto needed = guests_seats() + (keeps ? 1 : 0);
    const bool other_group = terms.groups.empty() ||  // there is nothing to take part in
                             (!guests.empty() && terms.groups.front() != group);
    if (!mine || *mine < needed || other_group) return this->spoil(step);
    if (!this->resume(step, setup_of(step, seating, holdings.size()), holdings)) return;
    sit_down(step, *mine, keeps);
    go_on(step);
  }
  [[nodiscard]] Setup setup_of(const Step& step, const Seating& seating, std::size_t inside) const {
    auto setup = this->setup_of_seats(step, seating);
    setup.quorums = step.context.quorums(seating.roles);
    setup.room.groups = seating.roles;
    setup.room.capacity.clear();
    for (const auto& each : terms.groups) setup.room.capacity.push_back(each.capacity);
    // Of what the dead may have, nobody else gets anything.
    if (terms.kept && !terms.groups.front().shared())
      setup.room.capacity.front() = static_cast<std::uint32_t>(inside);
    return setup;
  }
  // Users that are inside take seats; those that have left meanwhile leave theirs.
  void sit_down(Step& step, std::size_t mine, bool keeps) {
    const auto needed = static_cast<std::uint32_t>(guests_seats());
    for (std::uint32_t i = 0; i < guests.size(); ++i) guests[i].seat = group.shared() ? 0 : i;
    auto others = static_cast<std::uint32_t>(mine);
    if (keeps) {
      guests.push_back({the_dead, --others});
      group = terms.groups.front();
    }
    if (step.context.without(Without::leaving_between)) return;
    for (auto seat = needed; seat < others; ++seat)
      this->act(step, [&](auto& inner) { node.release(seat, inner); });
  }

  // At the home: nobody uses what the dead may have had any more.
  void end_delay(Step& step) {
    const bool kept = std::any_of(guests.begin(), guests.end(),
                                  [](const Guest& guest) { return guest.user == the_dead; });
    if (kept && home.lives()) this->retire(step);
  }

  // There are too many groups for another.
  void be_unknown(Step& step, const Note& note) {
    for (std::size_t i = 0; i < line.size();) {
      const bool meant =
          line[i].seat == no_seat &&
          std::any_of(note.terms.groups.begin(), note.terms.groups.end(),
                      [&](const Group& each) { return each.name == line[i].group.name; });
      meant ? refuse(step, i, Reason::too_many) : void(++i);
    }
  }

  void be_refused(Step&) {}  // these two of locks only
  void go(Step&, const Note&) {}
  [[nodiscard]] bool is_used_here() const { return !line.empty() || !guests.empty(); }
};

}  // namespace turno::cluster
