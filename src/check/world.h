// A world: the values of all nodes, what their users are doing, the messages on their way, and the
// last fence granted. The search keeps the worlds it has found and not yet expanded in blocks of flat
// arrays; a block that is done is used again.
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

namespace turno::check {

struct Action {
  enum class Kind : std::uint8_t { want, leave, deliver } kind = Kind::want;
  std::uint16_t index = 0;  // of the node, or of the message in the world
};

template <Protocol P>
struct WorldView {
  using Message = typename P::Message;
  std::span<const P> nodes;
  std::span<const User> users;
  std::span<const std::uint64_t> node_hashes;
  std::span<const Flight<Message>> flights;
  std::span<const std::uint64_t> flight_hashes;
  Fence last;
  std::uint64_t sum = 0;  // its fingerprint, if messages are unordered

  [[nodiscard]] Snapshot<P> snapshot() const { return {nodes, users, flights}; }
  [[nodiscard]] bool deliverable(std::size_t flight, Channels channels) const {
    return channels == Channels::unordered || place_in_channel(flight) == 0;
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
  Fence last;
  std::uint64_t node_hash = 0;
  std::uint64_t sum = 0;          // of the world it makes
  std::uint64_t fingerprint = 0;  // of the world it makes
  Effects<typename P::Message> out;
};

template <Protocol P, class Lens = PlainLens>
std::uint64_t hash_node(NodeId id, const P& node, const User& user, const Lens& lens = {}) {
  Digest digest(id.value + 1);
  digest.add((std::uint64_t{user.left} << 16) | (std::uint64_t{user.waiting} << 1) |
             (user.inside ? 1U : 0U));
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

inline std::uint64_t hash_fence(Fence last) {
  Digest digest(last.value);
  return digest.value();
}

template <Protocol P>
class Block {
 public:
  using Message = typename P::Message;

  explicit Block(std::size_t nodes) : n_(nodes) {}

  [[nodiscard]] std::size_t size() const { return lasts_.size(); }
  [[nodiscard]] WorldView<P> operator[](std::size_t i) const {
    const auto begin = i == 0 ? 0 : flight_ends_[i - 1];
    const auto count = flight_ends_[i] - begin;
    return {.nodes = std::span(nodes_).subspan(i * n_, n_),
            .users = std::span(users_).subspan(i * n_, n_),
            .node_hashes = std::span(node_hashes_).subspan(i * n_, n_),
            .flights = std::span(flights_).subspan(begin, count),
            .flight_hashes = std::span(flight_hashes_).subspan(begin, count),
            .last = lasts_[i],
            .sum = sums_[i]};
  }
  [[nodiscard]] WorldView<P> back() const { return (*this)[size() - 1]; }
  [[nodiscard]] std::size_t bytes() const {
    return nodes_.capacity() * sizeof(P) + users_.capacity() * sizeof(User) +
           node_hashes_.capacity() * 8 + flights_.capacity() * (sizeof(Flight<Message>) + 8) +
           lasts_.capacity() * 24;
  }

  void clear() {
    nodes_.clear();
    users_.clear();
    node_hashes_.clear();
    flights_.clear();
    flight_hashes_.clear();
    flight_ends_.clear();
    lasts_.clear();
    sums_.clear();
  }

  // A world with no message on its way.
  void push(std::span<const P> nodes, std::span<const User> users, Fence last) {
    for (std::size_t i = 0; i < n_; ++i) {
      nodes_.push_back(nodes[i]);
      users_.push_back(users[i]);
      node_hashes_.push_back(hash_node(NodeId{i}, nodes[i], users[i]));
    }
    std::uint64_t sum = hash_fence(last);
    for (auto hash : node_hashes_) sum += hash;
    finish(last, sum);
  }

  // The successor of a world of another block.
  void push(const WorldView<P>& before, const Successor<P>& successor) {
    nodes_.insert(nodes_.end(), before.nodes.begin(), before.nodes.end());
    users_.insert(users_.end(), before.users.begin(), before.users.end());
    node_hashes_.insert(node_hashes_.end(), before.node_hashes.begin(), before.node_hashes.end());
    const auto at = nodes_.size() - n_ + successor.at.index();
    nodes_[at] = successor.node;
    users_[at] = successor.user;
    node_hashes_[at] = successor.node_hash;
    const bool delivers = successor.action.kind == Action::Kind::deliver;
    const std::size_t taken = delivers ? successor.action.index : before.flights.size();
    copy(before, 0, taken);
    if (delivers) copy(before, taken + 1, before.flights.size());
    for_each_send(successor, n_, [&](NodeId to, const Message& message) {
      flights_.push_back({successor.at, to, message});
      flight_hashes_.push_back(hash_flight(successor.at, to, message));
    });
    finish(successor.last, successor.sum);
  }

 private:
  void copy(const WorldView<P>& before, std::size_t begin, std::size_t end) {
    const auto from = static_cast<std::ptrdiff_t>(begin);
    const auto to = static_cast<std::ptrdiff_t>(end);
    flights_.insert(flights_.end(), before.flights.begin() + from, before.flights.begin() + to);
    flight_hashes_.insert(flight_hashes_.end(), before.flight_hashes.begin() + from,
                          before.flight_hashes.begin() + to);
  }

  void finish(Fence last, std::uint64_t sum) {
    flight_ends_.push_back(flights_.size());
    lasts_.push_back(last);
    sums_.push_back(sum);
  }

  std::size_t n_;
  std::vector<P> nodes_;
  std::vector<User> users_;
  std::vector<std::uint64_t> node_hashes_;
  std::vector<Flight<Message>> flights_;
  std::vector<std::uint64_t> flight_hashes_;
  std::vector<std::size_t> flight_ends_;
  std::vector<Fence> lasts_;
  std::vector<std::uint64_t> sums_;
};

// The worlds still to be expanded, first in, first out.
template <Protocol P>
class Frontier {
 public:
  explicit Frontier(std::size_t nodes) : n_(nodes), reading_(std::make_unique<Block<P>>(nodes)) {}

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
    free_.push_back(std::move(reading_));
    reading_ = std::move(written_.front());
    written_.pop_front();
  }
  // Never touches the block that `front` is in, so that `before` may be the front.
  void push(const WorldView<P>& before, const Successor<P>& successor) {
    if (written_.empty() || written_.back()->size() == worlds_in_block) add_block();
    written_.back()->push(before, successor);
  }
  void push(const Block<P>& first_world) {
    *reading_ = first_world;
    first_ = 0;
  }

 private:
  static constexpr std::size_t worlds_in_block = 256;

  void add_block() {
    if (free_.empty()) free_.push_back(std::make_unique<Block<P>>(n_));
    written_.push_back(std::move(free_.back()));
    free_.pop_back();
  }

  std::size_t n_;
  std::unique_ptr<Block<P>> reading_;
  std::size_t first_ = 0;  // in the block being read
  std::deque<std::unique_ptr<Block<P>>> written_;
  std::vector<std::unique_ptr<Block<P>>> free_;
};

// The messages that the successor's step sends, broadcasts spelled out.
template <Protocol P, class Visit>
void for_each_send(const Successor<P>& successor, std::size_t n, Visit visit) {
  for (const auto& send : successor.out.sends()) {
    if (send.to != successor.out.everyone) {
      visit(send.to, send.message);
      continue;
    }
    for (std::size_t i = 0; i < n; ++i)
      if (NodeId{i} != successor.at) visit(NodeId{i}, send.message);
  }
}

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
  if constexpr (std::same_as<Lens, PlainLens>) sum += hash_fence(world.last);
  return sum;
}

// The sum of a successor's parts, from what changed: equal to `fingerprint` of the world it makes, if
// messages are unordered.
template <Protocol P>
std::uint64_t successor_sum(const WorldView<P>& before, const Successor<P>& successor) {
  auto sum = before.sum - before.node_hashes[successor.at.index()] + successor.node_hash;
  if (successor.last != before.last) sum += hash_fence(successor.last) - hash_fence(before.last);
  if (successor.action.kind == Action::Kind::deliver)
    sum -= before.flight_hashes[successor.action.index];
  for_each_send(successor, before.nodes.size(), [&](NodeId to, const typename P::Message& message) {
    sum += hash_flight(successor.at, to, message);
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
    if (successor.action.kind == Action::Kind::deliver && i == successor.action.index) continue;
    const auto& flight = before.flights[i];
    add(flight.from, flight.to, [&] { return before.flight_hashes[i]; });
  }
  for_each_send(successor, before.nodes.size(), [&](NodeId to, const typename P::Message& message) {
    add(successor.at, to, [&] { return hash_flight(successor.at, to, message); });
  });
  return sum;
}

}  // namespace turno::check
