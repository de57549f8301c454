// The clever parts against their dumb twins: the table against a standard map, the fingerprint made
// from what changed against the one made from scratch, the fingerprints against whole worlds.
#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "check/explorer.h"
#include "check/fingerprint_table.h"
#include "check/world.h"
#include "core/random.h"
#include "core/topology.h"
#include "protocols/mutex/permission/lamport.h"
#include "protocols/mutex/permission/ricart_agrawala.h"
#include "protocols/mutex/token/nxr.h"
#include "protocols/mutex/token/nxr_bh.h"
#include "protocols/mutex/token/suzuki_kasami.h"

namespace turno::check {

using namespace protocols;
namespace {

TEST(FingerprintTable, AgreesWithAMap) {
  FingerprintTable table;
  std::unordered_map<std::uint64_t, std::uint32_t> map;
  Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    // Some keys twice, and many that share their low bits.
    const auto key = random.below(2) == 0 ? random.below(20'000) : random.below(2'000) << 32;
    const auto [number, fresh] = table.insert(key);
    const auto [found, inserted] = map.emplace(key, static_cast<std::uint32_t>(map.size()));
    ASSERT_EQ(fresh, inserted);
    ASSERT_EQ(number, found->second);
  }
  EXPECT_EQ(table.size(), map.size());
}

template <class P>
Setup small_setup(std::size_t n) {
  Random random(1);
  Setup setup;
  setup.father =
      fathers(P::info.shape == Shape::tree ? Topology::line : Topology::complete, n, random);
  return setup;
}

// All worlds of a small system, found by comparing whole worlds: slow and certain.
template <class P>
class DumbExplorer {
 public:
  DumbExplorer(const Setup& setup, std::uint16_t requests, Channels channels)
      : channels_(channels) {
    World first;
    for (std::size_t i = 0; i < setup.size(); ++i) {
      first.nodes.push_back(P::resume(setup, NodeId{i}, {}));
      first.users.push_back({.left = requests});
    }
    add(first);
    for (std::size_t i = 0; i < worlds_.size(); ++i) expand(World(worlds_[i]));
  }
  [[nodiscard]] std::size_t states() const { return worlds_.size(); }
  [[nodiscard]] std::size_t transitions() const { return transitions_; }

 private:
  using Message = typename P::Message;
  using Kind = typename Input<Message>::Kind;
  struct World {
    std::vector<P> nodes;
    std::vector<User> users;
    std::vector<Flight<Message>> flights;
    Fence last = Fence::at(1);
    bool operator==(const World&) const = default;
  };

  void expand(const World& world) {
    for (std::size_t i = 0; i < world.nodes.size(); ++i) {
      auto next = world;
      auto& user = next.users[i];
      if (user.inside) {
        user.inside = false;
        feed(next, i, {.kind = Kind::release});
      } else if (user.waiting == 0 && user.left > 0) {
        --user.left;
        ++user.waiting;
        feed(next, i, {.kind = Kind::request});
      }
    }
    for (std::size_t i = 0; i < world.flights.size(); ++i) {
      const auto& flight = world.flights[i];
      const bool first = std::none_of(
          world.flights.begin(), world.flights.begin() + static_cast<std::ptrdiff_t>(i),
          [&](const auto& other) { return other.from == flight.from && other.to == flight.to; });
      if (channels_ == Channels::fifo && !first) continue;
      auto next = world;
      next.flights.erase(next.flights.begin() + static_cast<std::ptrdiff_t>(i));
      feed(next, flight.to.index(),
           {.kind = Kind::receive, .from = flight.from, .message = flight.message});
    }
  }

  void feed(World& world, std::size_t at, const Input<Message>& input) {
    Effects<Message> out;
    step(world.nodes[at], input, out);
    for (const auto& send : out.sends())
      for (std::size_t to = 0; to < world.nodes.size(); ++to)
        if (send.to == NodeId{to} || (send.to == out.everyone && to != at))
          world.flights.push_back({NodeId{at}, NodeId{to}, send.message});
    if (out.granted()) {
      --world.users[at].waiting;
      world.users[at].inside = true;
      world.last = *out.granted();
    }
    ++transitions_;
    add(world);
  }

  // Two worlds are the same if their messages are, in any order (FIFO: in any order of channels).
  void add(const World& world) {
    for (const auto& known : worlds_) {
      if (known.nodes != world.nodes || known.users != world.users || known.last != world.last)
        continue;
      if (sorted(known.flights) == sorted(world.flights)) return;
    }
    worlds_.push_back(world);
  }
  [[nodiscard]] std::vector<Flight<Message>> sorted(std::vector<Flight<Message>> flights) const {
    const auto key = [&](const Flight<Message>& f) {
      return std::tuple(f.from, f.to,
                        channels_ == Channels::fifo ? "" : describe_message(f.message));
    };
    std::stable_sort(flights.begin(), flights.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return flights;
  }

  Channels channels_;
  std::vector<World> worlds_;
  std::size_t transitions_ = 0;
};

template <class P>
class AgainstTheDumbExplorer : public ::testing::Test {};
using Protocols = ::testing::Types<NxrBh, RicartAgrawala, Lamport>;
TYPED_TEST_SUITE(AgainstTheDumbExplorer, Protocols);

TYPED_TEST(AgainstTheDumbExplorer, TheNumbersAreTheSame) {
  for (const auto channels : {Channels::fifo, Channels::unordered}) {
    if (TypeParam::info.fifo && channels == Channels::unordered) continue;
    for (const auto& [n, requests] : {std::pair{2, 2}, std::pair{3, 1}}) {
      const auto size = static_cast<std::size_t>(n);
      if (TypeParam::info.fifo && n == 3) continue;  // too many for the dumb one
      Options options;
      options.setup = small_setup<TypeParam>(size);
      options.requests = static_cast<std::uint16_t>(requests);
      options.channels = channels;
      const auto result = Explorer<TypeParam>(options).run();
      const DumbExplorer<TypeParam> dumb(options.setup, options.requests, channels);
      EXPECT_EQ(result.verdict, Verdict::holds);
      EXPECT_EQ(result.states, dumb.states()) << n << "x" << requests;
      EXPECT_EQ(result.transitions, dumb.transitions());
    }
  }
}

// A random walk: after each step the sum kept from step to step is the one made from scratch.
TYPED_TEST(AgainstTheDumbExplorer, TheFingerprintFromWhatChangedIsTheFullOne) {
  using P = TypeParam;
  using Kind = typename Input<typename P::Message>::Kind;
  const auto setup = small_setup<P>(3);
  Random random(3);
  std::vector<P> nodes;
  for (std::size_t i = 0; i < 3; ++i) nodes.push_back(P::resume(setup, NodeId{i}, {}));
  const std::vector<User> users(3, User{.left = 1000});
  Block<P> block(3, 1);
  Outside<P> outside;
  outside.monitor.begin(setup);
  block.push(nodes, users, outside);
  for (int i = 0; i < 300; ++i) {
    const auto world = block.back();
    Successor<P> successor;
    Input<typename P::Message> input;
    if (!world.flights.empty() && random.below(3) > 0) {
      auto index = random.below(world.flights.size());
      while (!world.deliverable(index, Channels::fifo)) index = random.below(world.flights.size());
      const auto& flight = world.flights[index];
      successor.action = {Kind::receive, static_cast<std::uint16_t>(index)};
      successor.at = flight.to;
      input = {.kind = Kind::receive, .from = flight.from, .message = flight.message};
    } else {
      successor.at = NodeId{random.below(3)};
      const auto& user = world.users[successor.at.index()];
      if (user.waiting > 0) continue;
      input.kind = user.inside ? Kind::release : Kind::request;
      successor.action.kind = input.kind;
    }
    successor.node = world.nodes[successor.at.index()];
    successor.user = world.users[successor.at.index()];
    successor.outside = *world.outside;
    step(successor.node, input, successor.out);
    if (input.kind == Kind::request) successor.user.waiting = 1;
    if (input.kind == Kind::release) {
      successor.user.inside = false;
      successor.outside.monitor.leave(successor.at);
    }
    if (successor.out.granted()) {
      successor.user = {.inside = true};
      const auto complaint = successor.outside.monitor.enter(
          setup, {.node = successor.at, .fence = *successor.out.granted()});
      ASSERT_FALSE(complaint) << complaint.text;
    }
    successor.node_hash = hash_node(successor.at, successor.node, successor.user);
    successor.sum = successor_sum(world, successor);
    Block<P> after(3, 1);
    after.push(world, successor);
    ASSERT_EQ(successor.sum, fingerprint(after.back(), Channels::unordered));
    ASSERT_EQ(successor.sum + order_of_messages(world, successor),
              fingerprint(after.back(), Channels::fifo));
    block = std::move(after);
  }
}

}  // namespace
}  // namespace turno::check
