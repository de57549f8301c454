// The same where the member takes part with several seats (seated.h): a room's desk, a store's.
//
// An instance has as many seats for each member's users, and knows those groups or types, as were
// wanted at its birth. Who needs more tells the home, which ends the instance.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cluster/many.h"
#include "cluster/seated.h"

namespace turno::cluster {

template <Protocol P, class Whole>
struct ManySeats : Many<Seated<P>, Whole> {
  using Base = Many<Seated<P>, Whole>;
  using Base::node;
  using typename Base::Step;
  using Granted = std::vector<typename Seated<P>::Given>;

  // What the home says to others is sent before its own member answers, perhaps by asking for more:
  // otherwise the end of an instance would be told before its birth.
  static constexpr bool others_first = true;
  static constexpr std::uint32_t no_seat = ~std::uint32_t{0};

  Terms terms;            // of the instance
  bool outgrown = false;  // the home was told that the instance is not enough

  bool operator==(const ManySeats&) const = default;

 protected:
  [[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view group) const {
    const auto* found = find(terms.groups, group);
    if (found == nullptr) return {};
    return static_cast<std::uint32_t>(found - terms.groups.data());
  }

  // ---- what the member's users need

  void tell_wishes(Step& step, std::uint32_t seats) {
    Note wishes{.kind = Note::Kind::open};
    wishes.terms.seats = std::min(seats, most_seats);
    wishes.terms.groups = wanted();
    this->tell_home(step, wishes);
  }
  // If those are more than can be said, first those that the instance does not know: what is not
  // said cannot be refused.
  [[nodiscard]] Groups wanted() const {
    Groups all, unknown;
    this->whole().for_each_wanted([&](const Group& group) {
      add(all, group);
      if (!number_of(group.name)) add(unknown, group);
    });
    if (all.size() < most_groups) return all;
    for (const auto& group : all) add(unknown, group);
    return unknown;
  }
  static void add(Groups& groups, const Group& group) {
    if (groups.size() < most_groups && find(groups, group.name) == nullptr) groups.push_back(group);
  }

  // What it has is not enough: the home is to begin again.
  void outgrow(Step& step, bool crowded) {
    if (crowded && terms.seats >= most_seats) crowded = false;
    if (!crowded && !this->whole().lacks_group()) return;
    outgrown = true;
    const auto wanted = this->whole().seats_wanted();
    tell_wishes(step, crowded ? std::max(wanted, terms.seats + 1) : wanted);
  }

  // Nothing: none is free.
  template <class Waiting, class Inside>
  [[nodiscard]] std::optional<std::uint32_t> free_seat(const std::vector<Waiting>& waiting,
                                                       const std::vector<Inside>& inside) const {
    std::vector<bool> taken(terms.seats);
    for (const auto& each : waiting)
      if (each.seat != no_seat) taken[each.seat] = true;
    for (const auto& each : inside) taken[each.seat] = true;
    const auto free = std::find(taken.begin(), taken.end(), false);
    if (free == taken.end()) return {};
    return static_cast<std::uint32_t>(free - taken.begin());
  }

  // What one does to the algorithm. What peers have said before may make it impossible.
  template <class Call>
  void act(Step& step, const Call& call) {
    typename Seated<P>::Out inner;
    try {
      const PeerInput guard;
      call(inner);
    } catch (const Impossible&) {
      return this->spoil(step);
    }
    this->perform(step, inner);
  }

  // ---- the instance

  [[nodiscard]] Seating seating_of(const Step& step, std::size_t roles) const {
    return {.roles = static_cast<std::uint32_t>(roles),
            .members = static_cast<std::uint32_t>(step.context.setup->size()),
            .seats = terms.seats,
            .home = step.context.home};
  }
  [[nodiscard]] static Setup setup_of_seats(const Step& step, const Seating& seating) {
    Setup setup = *step.context.setup;
    setup.configure<Seating>() = seating;
    setup.father.assign(seating.size(), NodeId{0});
    return setup;
  }
  // Who has something takes the first seats of its member. How many those of this member are;
  // nothing: they cannot be.
  [[nodiscard]] static std::optional<std::size_t> seat_holdings(const Seating& seating,
                                                                const Note& note, NodeId self,
                                                                std::vector<Holding>& holdings) {
    if (seating.seats == 0) return {};
    std::vector<std::uint32_t> seated(seating.members);
    for (const auto& holding : note.holdings) {
      if (holding.seat.index() >= seated.size()) return {};
      const auto seat = seated[holding.seat.index()]++;
      if (seat >= seating.seats) return {};
      holdings.push_back({.seat = seating.user_seat(holding.seat, seat), .units = holding.units});
    }
    return seated[self.index()];
  }
};

}  // namespace turno::cluster
