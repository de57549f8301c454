// A world: the values of all nodes, what their users are doing, the messages on their way, what an
// observer remembers, and which faults have happened. The search keeps the worlds it has found and
// not yet expanded in blocks of flat arrays.
//
// The fingerprint of a world is a sum over its parts, so the order of messages in memory does not
// matter and a successor's fingerprint follows from what changed.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "check/options.h"
#include "core/protocol.h"
#include "properties/monitor.h"

namespace turno::check {

struct Action {
  using Kind = EventKind;
  Kind kind = Kind::request;
  std::uint16_t index = 0;  // of the node, or of the message in the world
  std::uint16_t other = 0;  // who is suspected, which timer, which choice
  bool fault = false;       // it need not happen, so that nobody may wait for it

  [[nodiscard]] bool takes_message() const {
    return kind == Kind::receive || kind == Kind::lose || kind == Kind::bounce;
  }
};

// The faults that have happened and that no node remembers.
struct Spent {
  std::uint8_t crashes = 0, recoveries = 0, losses = 0, duplicates = 0, early_timeouts = 0,
               false_suspicions = 0, withdrawals = 0, lapses = 0;
  [[nodiscard]] auto fields() const {
    return std::tie(crashes, recoveries, losses, duplicates, early_timeouts, false_suspicions,
                    withdrawals, lapses);
  }
  bool operator==(const Spent&) const = default;
};

// What is in a world beside nodes, users and messages.
template <Protocol P>
struct Outside {
  Monitor<P::info.primitive> monitor;
  Spent spent;
  [[nodiscard]] auto fields() const { return std::tie(monitor, spent); }
  bool operator==(const Outside&) const = default;
};

// Crashes as the protocol itself knows them: the dead get no messages.
template <class P>
inline constexpr bool has_deaths = Mortal<P> && !HasViews<P>;

template <Protocol P>
struct WorldView {
  using Message = typename P::Message;
  std::span<const P> nodes;
  std::span<const User> users;
  std::span<const std::uint64_t> node_hashes;
  std::span<const Flight<Message>> flights;
  std::span<const std::uint64_t> flight_hashes;
  const Outside<P>* outside = nullptr;
  std::uint64_t sum = 0;  // its fingerprint, if messages are unordered

  [[nodiscard]] Snapshot<P> snapshot() const { return {nodes, users, flights}; }
  [[nodiscard]] bool deliverable(std::size_t flight, Channels channels) const {
    return channels == Channels::unordered || place_in_channel(flight) == 0;
  }
  [[nodiscard]] bool last_in_channel(std::size_t flight) const {
    for (auto i = flight + 1; i < flights.size(); ++i)
      if (flights[i].from == flights[flight].from && flights[i].to == flights[flight].to)
        return false;
    return true;
  }
  // How many messages are ahead of this one in its channel.
  [[nodiscard]] std::size_t place_in_channel(std::size_t flight) const {
    std::size_t ahead = 0;
    for (std::size_t i = 0; i < flight; ++i)
      if (flights[i].from == flights[flight].from && flights[i].to == flights[flight].to) ++ahead;
    return ahead;
  }
};

// What one action makes of a world: one node, one user, some messages.
template <Protocol P>
struct Successor {
  Action action;
  NodeId at;  // the node that acts
  P node;
  User user;
  Outside<P> outside;
  Complaint complaint;  // of the observer, or of the node
  std::uint64_t node_hash = 0;
  std::uint64_t sum = 0;          // of the world it makes
  std::uint64_t fingerprint = 0;  // of the world it makes
  Effects<typename P::Message> out;
};

template <Protocol P, class Lens = PlainLens>
std::uint64_t hash_node(NodeId id, const P& node, const User& user, const Lens& lens = {}) {
  Digest digest(id.value + 1);
  digest.add((std::uint64_t{user.wish} << 32) | (std::uint64_t{user.left} << 16) |
             (std::uint64_t{user.waiting} << 1) | (user.inside ? 1U : 0U));
  if constexpr (has_deaths<P> || HasTimers<P>)
    digest.add((std::uint64_t{user.told} << 32) | (std::uint64_t{user.timers} << 16) |
               (std::uint64_t{user.crashes} << 1) | (user.dead ? 1U : 0U));
  if constexpr (HasViews<P>) {
    digest.add((std::uint64_t{user.who_waits} << 8) | user.who_is_inside);
    digest.add(lens(user.lapsed));
  }
  add_to(digest, node, lens);
  return digest.value();
}

template <class Message, class Lens = PlainLens>
std::uint64_t hash_flight(NodeId from, NodeId to, const Message& message, const Lens& lens = {}) {
  Digest digest((std::uint64_t{from.value} << 32) | to.value);
  add_to(digest, message, lens);
  return digest.value();
}

// Tells apart the places of equal messages in one FIFO channel.
inline std::uint64_t at_place(std::uint64_t flight_hash, std::size_t place) {
  if (place == 0) return flight_hash;
  Digest digest(flight_hash);
  digest.add(place);
  return digest.value();
}

template <Protocol P, class Lens = PlainLens>
std::uint64_t hash_outside(const Outside<P>& outside, const Lens& lens = {}) {
  Digest digest;
  add_to(digest, outside, lens);
  return digest.value();
}

// The messages that a step adds to the world. Those that nobody will look at are not among them.
template <Protocol P, class Visit>
void for_each_new_flight(const WorldView<P>& before, const Successor<P>& successor, Visit visit) {
  successor.out.for_each_send(successor.at, before.nodes.size(),
                              [&](NodeId to, const auto& message) {
                                if (to.index() < before.nodes.size()) {
                                  if constexpr (has_deaths<P> && !Bouncing<P>)
                                    if (before.users[to.index()].dead) return;
                                  if constexpr (Ignoring<P>)
                                    if (before.nodes[to.index()].ignores(successor.at, message))
                                      return;
                                }
                                visit({successor.at, to, message});
                              });
  if (successor.action.kind == Action::Kind::repeat) visit(before.flights[successor.action.index]);
}

// Of one that dies now or is dead to the other.
template <Protocol P>
bool between_the_dead(const WorldView<P>& before, const Successor<P>& successor,
                      const Flight<typename P::Message>& flight) {
  const auto dead = [&](NodeId node) {
    return node == successor.at || before.users[node.index()].dead;
  };
  return dead(flight.from) && dead(flight.to);
}

// Whether a message of the world before is no longer there after the step.
template <Protocol P>
bool disappears(const WorldView<P>& before, const Successor<P>& successor, std::size_t flight) {
  if (successor.action.takes_message() && flight == successor.action.index) return true;
  if constexpr (has_deaths<P> || Ignoring<P>) {
    const auto& message = before.flights[flight];
    if constexpr (Bouncing<P>)
      return successor.user.dead && between_the_dead(before, successor, message);
    if (message.to != successor.at) return false;
    if (successor.user.dead) return true;
    if constexpr (Ignoring<P>) return successor.node.ignores(message.from, message.message);
  }
  return false;
}

// Up to `capacity` worlds. Memory is taken once and kept: a block is used again and again.
template <Protocol P>
class Block {
 public:
  using Message = typename P::Message;

  Block(std::size_t nodes, std::size_t capacity)
      : n_(nodes),
        nodes_(nodes * capacity),
        users_(nodes * capacity),
        node_hashes_(nodes * capacity),
        flights_(16 * capacity),
        flight_hashes_(16 * capacity),
        worlds_(capacity) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ == worlds_.size(); }
  [[nodiscard]] std::size_t capacity() const { return worlds_.size(); }
  [[nodiscard]] WorldView<P> operator[](std::size_t i) const {
    const auto begin = i == 0 ? 0 : worlds_[i - 1].flights_end;
    const auto count = worlds_[i].flights_end - begin;
    return {.nodes = std::span(nodes_).subspan(i * n_, n_),
            .users = std::span(users_).subspan(i * n_, n_),
            .node_hashes = std::span(node_hashes_).subspan(i * n_, n_),
            .flights = std::span(flights_).subspan(begin, count),
            .flight_hashes = std::span(flight_hashes_).subspan(begin, count),
            .outside = &worlds_[i].outside,
            .sum = worlds_[i].sum};
  }
  [[nodiscard]] WorldView<P> back() const { return (*this)[size_ - 1]; }
  [[nodiscard]] std::size_t bytes() const {
    return nodes_.size() * (sizeof(P) + sizeof(User) + 8) +
           flights_.size() * (sizeof(Flight<Message>) + 8) + worlds_.size() * sizeof(World);
  }

  void clear() {
    size_ = 0;
    flights_end_ = 0;
  }

  // A world with no message on its way.
  void push(std::span<const P> nodes, std::span<const User> users, const Outside<P>& outside) {
    std::uint64_t sum = hash_outside(outside);
    for (std::size_t i = 0; i < n_; ++i) {
      const auto at = size_ * n_ + i;
      nodes_[at] = nodes[i];
      users_[at] = users[i];
      node_hashes_[at] = hash_node(NodeId{i}, nodes[i], users[i]);
      sum += node_hashes_[at];
    }
    worlds_[size_++] = {flights_end_, outside, sum};
  }

  // The successor of a world that is not in this block. REQUIRES: !full()
  void push(const WorldView<P>& before, const Successor<P>& successor) {
    const auto first = size_ * n_;
    for (std::size_t i = 0; i < n_; ++i) {
      const bool acts = i == successor.at.index();
      nodes_[first + i] = acts ? successor.node : before.nodes[i];
      users_[first + i] = acts ? successor.user : before.users[i];
      node_hashes_[first + i] = acts ? successor.node_hash : before.node_hashes[i];
    }
    make_room(before.flights.size() + 1 + successor.out.sends().size() * n_);
    for (std::size_t i = 0; i < before.flights.size(); ++i)
      if (!disappears(before, successor, i)) put(before.flights[i], before.flight_hashes[i]);
    for_each_new_flight(before, successor, [&](const Flight<Message>& flight) {
      put(flight, hash_flight(flight.from, flight.to, flight.message));
    });
    worlds_[size_++] = {flights_end_, successor.outside, successor.sum};
  }

 private:
  struct World {
    std::size_t flights_end = 0;
    Outside<P> outside;
    std::uint64_t sum = 0;
  };

  void make_room(std::size_t more) {
    if (flights_end_ + more <= flights_.size()) return;
    flights_.resize((flights_end_ + more) * 2);
    flight_hashes_.resize(flights_.size());
  }
  void put(const Flight<Message>& flight, std::uint64_t hash) {
    flights_[flights_end_] = flight;
    flight_hashes_[flights_end_++] = hash;
  }

  std::size_t n_;
  std::size_t size_ = 0, flights_end_ = 0;
  std::vector<P> nodes_;
  std::vector<User> users_;
  std::vector<std::uint64_t> node_hashes_;
  std::vector<Flight<Message>> flights_;
  std::vector<std::uint64_t> flight_hashes_;
  std::vector<World> worlds_;
};

// The worlds still to be expanded, first in, first out.
template <Protocol P>
class Frontier {
 public:
  explicit Frontier(std::size_t nodes)
      : n_(nodes), reading_(std::make_unique<Block<P>>(nodes, worlds_in_block)) {}

  [[nodiscard]] bool empty() const { return first_ == reading_->size(); }
  [[nodiscard]] WorldView<P> front() const { return (*reading_)[first_]; }
  [[nodiscard]] WorldView<P> back() const {
    return written_.empty() ? reading_->back() : written_.back()->back();
  }
  [[nodiscard]] std::size_t bytes() const {
    return (written_.size() + free_.size() + 1) * reading_->bytes();  // blocks are alike
  }

  void pop() {
    if (++first_ < reading_->size() || written_.empty()) return;
    first_ = 0;
    reading_->clear();
    if (reading_->capacity() == worlds_in_block) free_.push_back(std::move(reading_));
    reading_ = std::move(written_.front());
    written_.pop_front();
  }
  // Never touches the block that `front` is in, so that `before` may be the front.
  void push(const WorldView<P>& before, const Successor<P>& successor) {
    if (written_.empty() || written_.back()->full()) add_block();
    written_.back()->push(before, successor);
  }
  // Of the first worlds, before all others.
  void push(const Block<P>& first_world) {
    auto block = std::make_unique<Block<P>>(first_world);
    if (reading_->size() == 0) {
      reading_ = std::move(block);
    } else {
      written_.push_back(std::move(block));
    }
  }

 private:
  static constexpr std::size_t worlds_in_block = 256;

  void add_block() {
    if (free_.empty()) free_.push_back(std::make_unique<Block<P>>(n_, worlds_in_block));
    written_.push_back(std::move(free_.back()));
    free_.pop_back();
  }

  std::size_t n_;
  std::unique_ptr<Block<P>> reading_;
  std::size_t first_ = 0;  // in the block being read
  std::deque<std::unique_ptr<Block<P>>> written_;
  std::vector<std::unique_ptr<Block<P>>> free_;
};

// The fingerprint of a whole world, from scratch.
template <Protocol P, class Lens = PlainLens>
std::uint64_t fingerprint(const WorldView<P>& world, Channels channels, const Lens& lens = {}) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < world.nodes.size(); ++i)
    sum += hash_node(NodeId{i}, world.nodes[i], world.users[i], lens);
  for (std::size_t i = 0; i < world.flights.size(); ++i) {
    const auto& flight = world.flights[i];
    const auto hash = hash_flight(flight.from, flight.to, flight.message, lens);
    sum += at_place(hash, channels == Channels::fifo ? world.place_in_channel(i) : 0);
  }
  return sum + hash_outside(*world.outside, lens);
}

// The sum of a successor's parts, from what changed: equal to `fingerprint` of the world it makes,
// if messages are unordered.
template <Protocol P>
std::uint64_t successor_sum(const WorldView<P>& before, const Successor<P>& successor) {
  auto sum = before.sum - before.node_hashes[successor.at.index()] + successor.node_hash;
  if (successor.outside != *before.outside)
    sum += hash_outside(successor.outside) - hash_outside(*before.outside);
  if constexpr (has_deaths<P> || Ignoring<P>) {
    for (std::size_t i = 0; i < before.flights.size(); ++i)
      if (disappears(before, successor, i)) sum -= before.flight_hashes[i];
  } else if (successor.action.takes_message()) {
    sum -= before.flight_hashes[successor.action.index];
  }
  for_each_new_flight(before, successor, [&](const Flight<typename P::Message>& flight) {
    sum += hash_flight(flight.from, flight.to, flight.message);
  });
  return sum;
}

// What must be added to the sum because messages keep their order: each is hashed with its place.
template <Protocol P>
std::uint64_t order_of_messages(const WorldView<P>& before, const Successor<P>& successor) {
  struct Channel {
    NodeId from, to;
  };
  boost::container::small_vector<Channel, 32> seen;
  std::uint64_t sum = 0;
  const auto add = [&](NodeId from, NodeId to, auto hash) {
    std::size_t place = 0;
    for (const auto& channel : seen)
      if (channel.from == from && channel.to == to) ++place;
    seen.push_back({from, to});
    if (place > 0) sum += at_place(hash(), place) - hash();
  };
  for (std::size_t i = 0; i < before.flights.size(); ++i) {
    if (disappears(before, successor, i)) continue;
    const auto& flight = before.flights[i];
    add(flight.from, flight.to, [&] { return before.flight_hashes[i]; });
  }
  for_each_new_flight(before, successor, [&](const Flight<typename P::Message>& flight) {
    add(flight.from, flight.to,
        [&] { return hash_flight(flight.from, flight.to, flight.message); });
  });
  return sum;
}

}  // namespace turno::check
