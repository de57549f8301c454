// The desk of a store at one member, through views (part.h): which of the member's own users have
// which resources, or wait for some. A user wants so many instances of some types, and gets all of
// them at once or waits.
//
// Each user takes a seat of its own of its member's (seated.h), so that all compete as equals. One
// seat more is a role at the home: where the resources rest that nobody has used yet, the
// coordinator or broker of the algorithms.
//
// Types are names; an instance of the algorithm knows those that were wanted at its birth, and has
// as many seats. Who needs another type or more seats tells the home, which ends the instance. How
// many instances of a type there are says whoever wants some first, and the store keeps it while it
// is used. Who says another number is refused, and so is who wants more than there are.
//
// Some algorithms do not let a participant give up waiting. There the seat waits on for nobody:
// another user that wants the same takes it over, or what it is granted is given back at once.
//
// After a death the home keeps what no living member has reported, until the delay is over.
//
// Invariants: (1) a seat is one user's, or nobody's; (2) whoever stands in line without a seat
// waits for an instance, or for a seat.
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
struct Store : ManySeats<P, Store<P>> {
  using Base = ManySeats<P, Store<P>>;
  using Base::base, Base::home, Base::instance, Base::last, Base::node, Base::orphans, Base::phase,
      Base::terms, Base::outgrown, Base::no_seat;
  using typename Base::Event;
  using typename Base::Granted;
  using typename Base::Kind;
  using typename Base::Message;
  using typename Base::Out;
  using typename Base::Phase;
  using typename Base::Without;

  // Who waits for what, and with which seat. Nobody: its user has given up, and the seat waits on.
  struct Wish {
    UserId user = no_user;
    std::vector<Claim> claims;
    std::uint32_t seat = no_seat;
    [[nodiscard]] auto fields() const { return std::tie(user, claims, seat); }
    bool operator==(const Wish&) const = default;
  };
  struct Holder {
    UserId user = no_user;
    std::uint32_t seat = no_seat;
    std::vector<Resource> resources;  // without fences
    [[nodiscard]] auto fields() const { return std::tie(user, seat, resources); }
    bool operator==(const Holder&) const = default;
  };

  std::vector<Wish> line;  // first come first
  std::vector<Holder> holders;

  static constexpr std::array<std::string_view, 11> labels = {
      "line", "holders", "terms", "outgrown", "phase",  "instance",
      "base", "last",    "node",  "home",     "orphans"};
  [[nodiscard]] auto fields() const {
    return std::tie(line, holders, terms, outgrown, phase, instance, base, last, node, home,
                    orphans);
  }
  bool operator==(const Store&) const = default;

  // Nothing would be lost if this value were thrown away, and a new one made when it is needed.
  [[nodiscard]] bool idle(const Ledger& ledger, const Rules& rules = {}) const {
    return this->is_idle_part(ledger, rules) && line.empty() && holders.empty();
  }

 private:
  friend Base;
  friend typename Base::Base;
  friend typename Base::Base::Base;
  using typename Base::Step;
  using Reason = Refusal::Reason;

  // ---- users

  void ask(Step& step, const Event& event) {
    line.push_back({event.user, {event.claims.begin(), event.claims.end()}});
    for (const auto& claim : event.claims)
      if (claim.instances != 0 && claim.count > claim.instances)
        return refuse(step, line.size() - 1, Reason::too_many, {claim.type, claim.instances});
    go_on(step);
  }

  // Finds seats for those in line who have none.
  void go_on(Step& step) {
    if (phase == Phase::closed && !line.empty()) {
      phase = Phase::asked;
      return this->tell_wishes(step, seats_wanted());
    }
    bool unknown = false, crowded = false;
    for (std::size_t i = 0; i < line.size() && phase == Phase::open && !crowded;) {
      if (line[i].seat != no_seat) {
        ++i;
      } else if (object(step, i)) {
        continue;  // it stands in line no more
      } else if (!knows_types(line[i])) {
        unknown = true;
        ++i;
      } else if (take_seat(step, i)) {
        serve(step);
        i = 0;
      } else {
        crowded = true;
      }
    }
    if ((unknown || crowded) && !outgrown && phase == Phase::open) this->outgrow(step, crowded);
  }

  // True: it cannot be had, as far as that is known, and the wish is refused.
  bool object(Step& step, std::size_t place) {
    for (const auto& claim : line[place].claims) {
      const auto* type = find(terms.groups, claim.type);
      if (type == nullptr) continue;
      const bool contradicts = claim.instances != 0 && claim.instances != type->capacity;
      if (!contradicts && claim.count <= type->capacity) continue;
      refuse(step, place, contradicts ? Reason::contradicts : Reason::too_many, *type);
      return true;
    }
    return false;
  }
  void refuse(Step& step, std::size_t place, Reason reason, const Group& type) {
    step.out.refused.push_back({line[place].user, reason, type.name, type.capacity});
    line.erase(line.begin() + static_cast<std::ptrdiff_t>(place));
  }

  [[nodiscard]] bool knows_types(const Wish& wish) const {
    return std::all_of(wish.claims.begin(), wish.claims.end(), [&](const Claim& claim) {
      return find(terms.groups, claim.type) != nullptr;
    });
  }
  [[nodiscard]] bool lacks_group() const {
    return std::any_of(line.begin(), line.end(), [&](const Wish& wish) {
      return wish.seat == no_seat && !knows_types(wish);
    });
  }
  template <class Visit>
  void for_each_wanted(const Visit& visit) const {
    for (const auto& wish : line)
      for (const auto& claim : wish.claims) visit(Group{claim.type, claim.instances});
  }
  [[nodiscard]] std::uint32_t seats_wanted() const {
    const auto waiting = static_cast<std::size_t>(std::count_if(
        line.begin(), line.end(), [](const Wish& wish) { return wish.user != no_user; }));
    return static_cast<std::uint32_t>(std::min<std::size_t>(holders.size() + waiting, most_seats));
  }

  // False: none is free.
  bool take_seat(Step& step, std::size_t place) {
    const auto left = std::find_if(line.begin(), line.end(), [&](const Wish& other) {
      return other.user == no_user && asks_the_same(other, line[place]);
    });
    if (left != line.end()) {
      line[place].seat = left->seat;
      line.erase(left);
      return true;
    }
    const auto seat = this->free_seat(line, holders);
    if (!seat) return false;
    line[place].seat = *seat;
    std::vector<Need> needs;
    for (const auto& claim : line[place].claims)
      needs.push_back({static_cast<std::uint16_t>(*this->number_of(claim.type)),
                       static_cast<std::uint16_t>(claim.count)});
    this->act(step, [&](auto& inner) { node.request(*seat, {.needs = needs}, inner); });
    return true;
  }
  static bool asks_the_same(const Wish& one, const Wish& other) {
    return std::equal(
        one.claims.begin(), one.claims.end(), other.claims.begin(), other.claims.end(),
        [](const Claim& a, const Claim& b) { return a.type == b.type && a.count == b.count; });
  }

  // What the algorithm gave to the seats.
  void serve(Step& step) {
    while (!step.granted.empty() && phase == Phase::open) {
      const auto given = step.granted.front();
      step.granted.erase(step.granted.begin());
      const auto wish = std::find_if(line.begin(), line.end(),
                                     [&](const Wish& each) { return each.seat == given.seat; });
      if (wish == line.end()) return this->spoil(step);  // nobody asked for it
      const auto user = wish->user;
      line.erase(wish);
      if (user != no_user) {
        admit(step, user, given);
      } else if (!step.context.without(Without::giving_back)) {
        release(step, given.seat);
      }
    }
  }
  void admit(Step& step, UserId user, const typename Seated<P>::Given& given) {
    Admission admission{user};
    Holder holder{user, given.seat, {}};
    for (const auto& unit : given.units) {
      auto resource = resource_of(terms.groups, unit.number);
      if (!resource) return this->spoil(step);  // there is none
      holder.resources.push_back(*resource);
      resource->fence = unit.fence;
      admission.resources.push_back(*std::move(resource));
    }
    holders.push_back(std::move(holder));
    step.out.admitted.push_back(std::move(admission));
  }
  void use(Step& step) {
    serve(step);
    go_on(step);
  }

  bool leave(Step& step, const Event& event) { return leave(step, event.user); }
  // If there is no instance, the next one is told by the home what was held when this member
  // reported, and it is released then.
  bool leave(Step& step, UserId user) {
    const auto holder = std::find_if(holders.begin(), holders.end(),
                                     [&](const Holder& each) { return each.user == user; });
    if (holder == holders.end()) return false;
    const auto seat = holder->seat;
    holders.erase(holder);
    if (phase == Phase::open) {
      release(step, seat);
    } else {
      keep_types_held();
    }
    return true;
  }
  void release(Step& step, std::uint32_t seat) {
    this->act(step, [&](auto& inner) { node.release(seat, inner); });
  }
  // At the home: nobody uses what the dead may have had any more.
  void end_delay(Step& step) {
    while (leave(step, the_dead)) continue;
  }

  bool withdraw(Step& step, const Event& event) {
    const auto wish = std::find_if(line.begin(), line.end(),
                                   [&](const Wish& each) { return each.user == event.user; });
    if (wish == line.end()) return false;
    const auto seat = wish->seat;
    if (phase != Phase::open || seat == no_seat) {
      line.erase(wish);
      return true;
    }
    wish->user = no_user;
    if constexpr (Withdrawable<P>) {
      if (step.context.without(Without::giving_back)) return true;
      line.erase(wish);
      this->act(step, [&](auto& inner) { node.withdraw(seat, inner); });
    }
    return true;
  }

  // ---- the part in the algorithm

  // If no fence is left, the users wait, as if others had all, until the next view.
  void take_note(Step& step, const typename Seated<P>::Out& inner) {
    for (auto given : inner.given) {
      bool spent = false;
      for (auto& unit : given.units) {
        const auto count = base + unit.fence.count();
        spent |= count >= spent_count;
        if (spent) break;
        last = std::max(last, count);
        unit.fence = this->fence_of(step, count);
      }
      if (!spent) step.granted.push_back(given);
    }
  }

  // Only of what somebody has is it remembered how many there are.
  void keep_types_held() {
    std::erase_if(terms.groups, [&](const Group& type) {
      return std::none_of(holders.begin(), holders.end(), [&](const Holder& holder) {
        return std::any_of(holder.resources.begin(), holder.resources.end(),
                           [&](const Resource& each) { return each.type == type.name; });
      });
    });
  }
  [[nodiscard]] Holding holding_of(const Step& step, const Holder& holder) const {
    Holding holding{.seat = step.context.self};
    for (const auto& resource : holder.resources)
      holding.units.push_back(number_through(terms.groups, resource).value_or(0));
    return holding;
  }

  // Drops the part, reports, and asks for another one if a user needs it.
  void start_again(Step& step, Instance inquiry, bool clear) {
    std::erase_if(holders, [](const Holder& holder) { return holder.user == the_dead; });
    std::erase_if(line, [](const Wish& wish) { return wish.user == no_user; });
    for (auto& wish : line) wish.seat = no_seat;
    for (auto& holder : holders) holder.seat = no_seat;
    terms = {.groups = std::move(terms.groups)};
    keep_types_held();
    outgrown = false;
    step.granted.clear();
    Note report{.kind = Kind::report, .instance = inquiry, .count = last};
    report.clear = clear && step.context.ledger->delayed;
    for (const auto& holder : holders) report.holdings.push_back(holding_of(step, holder));
    report.terms = {.groups = terms.groups, .seats = seats_wanted()};
    phase = holders.empty() && line.empty() ? Phase::closed : Phase::asked;
    this->drop_part();
    // Before the report, which may be the last that the home waits for: what is wished for after
    // the birth of an instance may end it again.
    if (!line.empty()) this->tell_wishes(step, seats_wanted());
    this->tell_report(step, report);
  }

  void opened(Step& step, const Note& note) {
    // Told twice: it goes on, although more was asked for. What there is not was refused.
    if (phase == Phase::open && note.instance == instance) outgrown = false;
    if (phase == Phase::open || phase == Phase::broken) return;
    if (step.context.at_home() && note.instance != home.instance) return;  // ended meanwhile
    phase = Phase::open;
    instance = note.instance;
    base = note.count;
    terms = note.terms;
    const auto seating = this->seating_of(step, 1);
    std::vector<Holding> holdings;
    const auto mine = this->seat_holdings(seating, note, step.context.self, holdings);
    if (!mine || !are_there(holdings) || !sit_down(step, note))
      return this->spoil(step);  // nobody else can have what this member's users have
    if (!this->resume(step, setup_of(step, seating), holdings)) return;
    take_leftovers(step, note);
    use(step);
  }
  // Each instance once at most.
  [[nodiscard]] bool are_there(const std::vector<Holding>& holdings) const {
    const auto instances = count_instances(terms.groups);
    if (instances > most_instances) return false;
    std::vector<bool> taken(instances);
    for (const auto& holding : holdings)
      for (const auto unit : holding.units) {
        if (unit >= instances || taken[unit]) return false;
        taken[unit] = true;
      }
    return true;
  }
  // Who has something finds the seat that has it. False: there is none for somebody.
  bool sit_down(Step& step, const Note& note) {
    for (auto& holder : holders) {
      std::uint32_t seat = 0;
      const auto has = holding_of(step, holder);
      for (const auto& holding : note.holdings) {
        if (holding.seat != step.context.self) continue;
        if (holding.units == has.units) holder.seat = seat;
        ++seat;
      }
      if (holder.seat == no_seat) return false;
    }
    return true;
  }
  // What was given to this member and none of its users has: it is kept for the dead, or was left
  // while there was no instance.
  void take_leftovers(Step& step, const Note& note) {
    std::uint32_t seat = 0;
    for (const auto& holding : note.holdings) {
      if (holding.seat != step.context.self) continue;
      const auto mine = seat++;
      const bool used = std::any_of(holders.begin(), holders.end(),
                                    [&](const Holder& holder) { return holder.seat == mine; });
      if (used) continue;
      if (home.keeps_for_the_dead()) {
        Holder dead{the_dead, mine, {}};
        for (const auto unit : holding.units)
          dead.resources.push_back(*resource_of(terms.groups, unit));
        holders.push_back(std::move(dead));
      } else if (!step.context.without(Without::leaving_between)) {
        release(step, mine);
      }
    }
  }
  [[nodiscard]] Setup setup_of(const Step& step, const Seating& seating) const {
    auto setup = this->setup_of_seats(step, seating);
    for (std::uint16_t type = 0; type < terms.groups.size(); ++type)
      setup.resources.type_of.insert(setup.resources.type_of.end(), terms.groups[type].capacity,
                                     type);
    return setup;
  }

  // Nobody has said how many there are of these types, or there are too many types for them.
  void be_unknown(Step& step, const Note& note) {
    for (const auto& type : note.terms.groups)
      for (std::size_t i = 0; i < line.size();) {
        const bool meant =
            line[i].seat == no_seat &&
            std::any_of(line[i].claims.begin(), line[i].claims.end(), [&](const Claim& claim) {
              return claim.type == type.name && (claim.instances == 0 || type.capacity != 0);
            });
        meant ? refuse(step, i, type.capacity == 0 ? Reason::unknown : Reason::full, type)
              : void(++i);
      }
  }

  void be_refused(Step&) {}  // these two of locks only
  void go(Step&, const Note&) {}
  [[nodiscard]] bool is_used_here() const { return !line.empty() || !holders.empty(); }
};

}  // namespace turno::cluster
