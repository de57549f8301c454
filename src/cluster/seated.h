// Several participants of an algorithm at one member: its seats. To part.h they are one
// participant, whose messages say between which seats they are; those between seats of one member
// are calls.
//
// First come the seats that are roles (the managers of a room's groups, the coordinator of a
// store), placed on the members one after the other, beginning at the home; then each member has
// the same number of seats for its users.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/assert.h"
#include "core/protocol.h"

namespace turno::cluster {

// Which seats there are, and at which member each is. A parameter of Setup.
struct Seating {
  std::uint32_t roles = 0, members = 1, seats = 1;  // seats: of each member, for its users
  NodeId home;

  [[nodiscard]] std::size_t size() const { return roles + std::size_t{members} * seats; }
  [[nodiscard]] NodeId member_of(std::uint32_t seat) const {
    if (seat < roles) return member_of_role(seat);
    return NodeId{(seat - roles) / seats};
  }
  [[nodiscard]] NodeId member_of_role(std::uint32_t role) const {
    return NodeId{(home.index() + role) % members};
  }
  [[nodiscard]] std::uint32_t first_role_at(NodeId member) const {
    return (member.value + members - home.value) % members;
  }
  [[nodiscard]] std::uint32_t roles_at(NodeId member) const {
    const auto first = first_role_at(member);
    return first < roles ? (roles - first - 1) / members + 1 : 0;
  }
  // A seat of a member for its users, among all seats.
  [[nodiscard]] NodeId user_seat(NodeId member, std::uint32_t number) const {
    return NodeId{roles + member.index() * seats + number};
  }
};

template <Protocol P>
struct Seated {
  struct Message : P::Message {
    std::uint32_t from_seat = 0, to_seat = 0;
    static constexpr auto labels = [] {
      std::array<std::string_view, P::Message::labels.size() + 2> all{};
      std::copy(P::Message::labels.begin(), P::Message::labels.end(), all.begin());
      all[all.size() - 2] = "from seat";
      all[all.size() - 1] = "to seat";
      return all;
    }();
    [[nodiscard]] auto fields() const {
      return std::tuple_cat(P::Message::fields(), std::tie(from_seat, to_seat));
    }
    bool operator==(const Message&) const = default;
  };

  // What the algorithm gave one of the users' seats.
  struct Given {
    std::uint32_t seat = 0;  // among those of this member's users
    Fence fence;
    boost::container::small_vector<Unit, 1> units;
  };
  // What the seats want done. Of it the grants may be several.
  struct Out : Effects<Message> {
    boost::container::small_vector<Given, 2> given;
  };

  NodeId self;
  Seating seating;
  std::shared_ptr<const Setup> setup;  // participants may keep a pointer to it
  std::vector<P> seats;                // the roles at this member, then its users' seats

  static constexpr std::array<std::string_view, 1> labels = {"seats"};
  [[nodiscard]] auto fields() const { return std::tie(seats); }
  bool operator==(const Seated& other) const { return seats == other.seats; }

  // REQUIRES: the setup has a Seating. Holdings name seats among all.
  static Seated resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Seated node;
    node.self = self;
    node.seating = setup.config<Seating>();
    node.setup = std::make_shared<const Setup>(setup);
    const auto count = node.seating.roles_at(self) + node.seating.seats;
    node.seats.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i)
      node.seats.push_back(P::resume(*node.setup, NodeId{node.seat_at(i)}, holdings));
    return node;
  }

  // A user's seat wants in, leaves, does not wait any more.
  void request(std::uint32_t seat, const Demand& demand, Out& out) {
    act(user(seat), out, [&](P& node, auto& effects) { node.request(demand, effects); });
  }
  void release(std::uint32_t seat, Out& out) {
    act(user(seat), out, [](P& node, auto& effects) { node.release(effects); });
  }
  void withdraw(std::uint32_t seat, Out& out) {
    act(user(seat), out, [](P& node, auto& effects) { node.withdraw(effects); });
  }
  // A message of another member: it says between which seats. Another's words are none of ours.
  void receive(NodeId from, const Message& message, Out& out) {
    TURNO_ASSERT(message.to_seat < seating.size() && message.from_seat < seating.size());
    TURNO_ASSERT(seating.member_of(message.to_seat) == self);
    TURNO_ASSERT(seating.member_of(message.from_seat) == from);
    if constexpr (requires { P::possible(*setup, message); })
      TURNO_ASSERT(P::possible(*setup, message));
    deliver(message, out);
  }

 private:
  // Which one of all seats it is that is the i-th here, and back.
  [[nodiscard]] std::uint32_t seat_at(std::uint32_t i) const {
    const auto roles = seating.roles_at(self);
    if (i < roles) return seating.first_role_at(self) + i * seating.members;
    return seating.user_seat(self, i - roles).value;
  }
  [[nodiscard]] std::uint32_t place_of(std::uint32_t seat) const {
    if (seat < seating.roles) return (seat - seating.first_role_at(self)) / seating.members;
    return seating.roles_at(self) + (seat - seating.roles) % seating.seats;
  }
  [[nodiscard]] std::uint32_t user(std::uint32_t number) const {
    return seating.roles_at(self) + number;
  }

  // One seat acts, and then those of this member to which it says something.
  template <class Call>
  void act(std::uint32_t place, Out& out, const Call& call) {
    std::vector<Message> inner;
    step(place, out, inner, call);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const auto message = inner[i];
      step(place_of(message.to_seat), out, inner, [&](P& node, auto& effects) {
        node.receive(NodeId{message.from_seat}, message, effects);
      });
    }
  }
  void deliver(const Message& message, Out& out) {
    act(place_of(message.to_seat), out,
        [&](P& node, auto& effects) { node.receive(NodeId{message.from_seat}, message, effects); });
  }

  template <class Call>
  void step(std::uint32_t place, Out& out, std::vector<Message>& inner, const Call& call) {
    TURNO_ASSERT(place < seats.size());
    Effects<typename P::Message> effects;
    call(seats[place], effects);
    TURNO_ASSERT(effects.alarms().empty());  // its algorithms have no timers, or no use for them
    const auto from = seat_at(place);
    effects.for_each_send(NodeId{from}, seating.size(),
                          [&](NodeId to, const typename P::Message& sent) {
                            TURNO_ASSERT(to.index() < seating.size());
                            Message message;
                            static_cast<typename P::Message&>(message) = sent;
                            message.from_seat = from;
                            message.to_seat = to.value;
                            const auto member = seating.member_of(to.value);
                            member == self ? inner.push_back(message) : out.send(member, message);
                          });
    if (!effects.granted()) return;
    const auto roles = seating.roles_at(self);
    TURNO_ASSERT(place >= roles);
    out.given.push_back(
        {place - roles, *effects.granted(), {effects.units().begin(), effects.units().end()}});
  }
};

}  // namespace turno::cluster
