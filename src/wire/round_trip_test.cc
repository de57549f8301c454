// What is written and read again is equal, and does the same: the messages of every algorithm, also
// of those that no network runs yet, and states, as far as they can be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string>
#include <tuple>
#include <vector>

#include "core/random.h"
#include "core/text/describe.h"
#include "protocols/list.h"
#include "protocols/parts/quorum/constructions.h"
#include "protocols/testing.h"
#include "protocols/typed_testing.h"
#include "wire/codec.h"

namespace turno::wire {

using namespace protocols;
namespace {

constexpr std::size_t nodes = 5, groups = 2;
constexpr Limits limits{.nodes = nodes, .epoch = 1};

template <class T>
std::string written(const T& value) {
  std::string bytes;
  Writer writer(bytes);
  encode(writer, value);
  return bytes;
}
template <class T>
bool reads(const std::string& bytes, T& value) {
  Reader reader(bytes);
  return decode(reader, value, limits) && reader.remaining() == 0;
}

// A state with an enum cannot be read: nobody knows the enum's last value.
template <class T>
constexpr bool readable() {
  if constexpr (std::is_enum_v<T>) {
    return false;
  } else if constexpr (HasFields<T>) {
    using Fields = decltype(std::declval<const T&>().fields());
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (readable<std::remove_cvref_t<std::tuple_element_t<I, Fields>>>() && ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Fields>>());
  } else if constexpr (std::ranges::range<const T> && !std::same_as<T, NodeSet>) {
    return readable<std::remove_cvref_t<decltype(*std::declval<const T&>().begin())>>();
  } else {
    return true;
  }
}

template <class P>
class RoundTrip : public ::testing::Test {
 public:
  using Message = typename P::Message;
  using Kind = EventKind;

  static turno::Setup setup() {
    turno::Setup setup =
        testing::shaped(P::info.shape == Shape::ring ? Topology::ring : Topology::star, nodes);
    const bool room = P::info.primitive == Primitive::room;
    if (P::info.voting) setup.quorums = quorums(QuorumConstruction::cyclic, room ? groups : nodes);
    if (room) setup.room.groups = groups;
    setup.permits = 2;
    setup.configure<RobustK::Config>().detector = Detector::vcube;
    if (P::info.primitive == Primitive::reservation) setup.resources.type_of = {0, 0, 1};
    if (P::info.sites) setup.sites.of = {0, 0, 0, 1, 1};
    setup.configure<Probes::Config>().waits = 3;
    setup.configure<CentralDetector::Config>().waits = 3;
    return setup;
  }

  explicit RoundTrip() : setup_(setup()), cluster_(setup_) {}

  // Something happens, and what is delivered is first read from its bytes.
  void go(Random& random) {
    const NodeId node{random.below(nodes)};
    const auto at = node.index();
    if (has_users(P::info.primitive) && !(P::info.primitive == Primitive::room && at < groups)) {
      if (cluster_.inside(at) && random.below(2) == 0) cluster_.leave(node);
      if (!cluster_.inside(at) && !cluster_.waiting(at) && random.below(2) == 0)
        cluster_.want(node, wish(random));
    }
    if constexpr (HasChoices<P>)
      if (const auto choices = cluster_[at].choices(); choices > 0)
        cluster_.happens(node, {.kind = Kind::choose,
                                .number = static_cast<std::uint32_t>(random.below(choices))});
    if constexpr (HasTimers<P>)
      if (random.below(4) == 0)
        cluster_.happens(node,
                         {.kind = Kind::expire,
                          .number = static_cast<std::uint32_t>(random.below(P::timers.size()))});
    if constexpr (readable<P>()) read_state(at);
    if (cluster_.flights().empty()) return;
    const auto index = P::info.fifo ? 0 : random.below(cluster_.flights().size());
    const auto flight = cluster_.flights()[index];
    read_message(flight);
    cluster_.deliver_at(index);
  }

  std::size_t messages = 0, states = 0;

 private:
  static Wish wish(Random& random) {
    if (P::info.primitive == Primitive::room)
      return {.group = static_cast<std::uint32_t>(random.below(groups))};
    if (P::info.primitive != Primitive::reservation) return {};
    const auto some = static_cast<std::uint16_t>(random.below(3));
    if (some == 0) return {.needs = {{1, 1}}};
    return {.needs = {{0, some}}};
  }

  void read_message(const Flight<Message>& flight) {
    Message back;
    ASSERT_TRUE(reads(written(flight.message), back)) << describe_message(flight.message);
    EXPECT_TRUE(back == flight.message) << describe_message(flight.message);
    const auto bytes = written(flight.message);
    EXPECT_EQ(written(back), bytes);
    if (P::info.primitive == Primitive::lock) {
      EXPECT_LE(bytes.size(), 40U);
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(reads(bytes.substr(0, size), back)) << "cut to " << size;
    ASSERT_TRUE(reads(bytes, back));
    auto one = cluster_[flight.to.index()], other = one;
    EXPECT_TRUE(testing::receive(one, flight.from, flight.message) ==
                testing::receive(other, flight.from, back))
        << describe_message(flight.message);
    EXPECT_TRUE(one == other) << describe_state(one) << "\n" << describe_state(other);
    ++messages;
  }

  void read_state(std::size_t at) {
    const auto& node = cluster_[at];
    auto back = P::resume(setup_, NodeId{at}, {});
    ASSERT_TRUE(reads(written(node), back)) << describe_state(node);
    EXPECT_TRUE(back == node) << describe_state(node);
    auto same = node;
    if (P::info.primitive == Primitive::lock && !cluster_.waiting(at) && !cluster_.inside(at)) {
      EXPECT_TRUE(testing::request(back) == testing::request(same)) << describe_state(node);
    }
    ++states;
  }

  turno::Setup setup_;
  testing::Cluster<P> cluster_;
};

using All = testing::TypesOf<Algorithms>;
TYPED_TEST_SUITE(RoundTrip, All, testing::AlgorithmName);

TYPED_TEST(RoundTrip, ChangesNothing) {
  Random random(7);
  for (int i = 0; i < 600 && !::testing::Test::HasFailure(); ++i) this->go(random);
  EXPECT_GT(this->messages, 5U);
}

// Also what no algorithm would say.
TYPED_TEST(RoundTrip, OfAnythingThatCanBeRead) {
  Random random(11);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(64, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random.below(i % 2 == 0 ? 256 : nodes + 2));
    Reader reader(bytes);
    typename TypeParam::Message message, back;
    if (!decode(reader, message, limits)) continue;
    ASSERT_TRUE(reads(written(message), back));
    ASSERT_TRUE(back == message) << describe_message(message);
  }
}

// ---- what follows from the fields is not sent, and must be right again

TEST(Derived, SuspectsFollowFromCounts) {
  EventCounters counters;
  counters.learn(NodeId{1}, 1);
  counters.learn(NodeId{3}, 4);
  EventCounters back;
  back.learn(NodeId{4}, 3);
  ASSERT_TRUE(reads(written(counters), back));
  EXPECT_EQ(back, counters);
  EXPECT_EQ(back.suspects(), counters.suspects());
  EXPECT_TRUE(back.suspects(NodeId{1}));
  EXPECT_FALSE(back.suspect(NodeId{1})) << "it is known";
}

TEST(Derived, EqualCountsAreReadAsEqual) {
  EventCounters counters;
  counters.learn(NodeId{1}, 1);
  EventCounters longer;
  ASSERT_TRUE(reads(std::string{3, 0, 1, 0}, longer));
  EXPECT_EQ(longer, counters);
  Needs needs;
  ASSERT_TRUE(reads(std::string{2, 0, 0}, needs));
  EXPECT_TRUE(needs.empty());
  EXPECT_EQ(needs, Needs{});
}

TEST(Derived, TokensAreReadInTheirOrder) {
  Tokens tokens;
  tokens.add({2, Fence::at(1, 5)});
  tokens.add({0, Fence::at(1, 7)});
  Tokens back;
  ASSERT_TRUE(reads(written(tokens), back));
  EXPECT_EQ(back, tokens);
  ASSERT_TRUE(reads(std::string{2, 2, 1, 5, 0, 1, 7}, back));
  EXPECT_EQ(back, tokens);
}

}  // namespace
}  // namespace turno::wire
