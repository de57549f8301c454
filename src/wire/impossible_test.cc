// What a wrong or hostile peer of the same view may send, after the decoder: every lock either
// takes it or says that it is impossible. Nothing that a peer sends ends the process.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "protocols/list.h"
#include "protocols/parts/quorum/constructions.h"
#include "protocols/testing.h"
#include "protocols/typed_testing.h"
#include "wire/codec.h"

namespace turno::wire {

using namespace protocols;
namespace {

template <class P>
class Peer : public ::testing::Test {
 public:
  using Message = typename P::Message;

  static turno::Setup setup(std::size_t nodes) {
    auto setup =
        testing::shaped(P::info.shape == Shape::ring ? Topology::ring : Topology::star, nodes);
    if (P::info.voting) setup.quorums = quorums(QuorumConstruction::cyclic, nodes);
    return setup;
  }

  // So many steps of correct nodes, in any order. What they say is kept.
  static testing::Cluster<P> walk(const turno::Setup& setup, int steps, Random& random,
                                  std::vector<Message>& said) {
    testing::Cluster<P> cluster(setup);
    const auto n = setup.size();
    for (int i = 0; i < steps; ++i) {
      const auto node = random.below(n);
      if (cluster.inside(node)) {
        if (random.below(2) == 0) cluster.leave(NodeId{node});
      } else if (!cluster.waiting(node) && random.below(2) == 0) {
        cluster.want(NodeId{node});
      }
      for (const auto& flight : cluster.flights()) said.push_back(flight.message);
      if (!cluster.flights().empty())
        cluster.deliver_at(P::info.fifo ? 0 : random.below(cluster.flights().size()));
    }
    return cluster;
  }

  // A message that the decoder lets through: made of nothing, or what was said with a byte changed.
  static Message anything(Random& random, const Limits& limits, const std::vector<Message>& said) {
    for (;;) {
      std::string bytes;
      if (!said.empty() && random.below(2) == 0) {
        Writer writer(bytes);
        encode(writer, said[random.below(said.size())]);
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(limits.nodes + 3));
      } else {
        bytes.resize(64);
        for (auto& byte : bytes)
          byte = static_cast<char>(random.below(random.below(4) == 0 ? 256 : limits.nodes + 2));
      }
      Reader reader(bytes);
      Message message;
      if (decode(reader, message, limits)) return message;
    }
  }
};

TYPED_TEST_SUITE(Peer, testing::TypesOf<Locks>, testing::AlgorithmName);

// Nothing, if it is impossible.
template <class P>
std::optional<testing::Out<P>> fed(P& node, NodeId from, const typename P::Message& message) {
  const PeerInput input;
  try {
    return testing::receive(node, from, message);
  } catch (const Impossible&) {
    return std::nullopt;
  }
}

// A node among correct ones, until now. Its user keeps the rules, whatever the others send.
TYPED_TEST(Peer, MaySendAnything) {
  std::size_t taken = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const auto nodes = 2 + random.below(4);
    const auto setup = TestFixture::setup(nodes);
    std::vector<typename TypeParam::Message> said;
    const auto cluster = TestFixture::walk(setup, static_cast<int>(random.below(30)), random, said);
    const Limits limits{.nodes = static_cast<std::uint32_t>(nodes), .epoch = setup.epoch};
    const auto at = random.below(nodes);
    auto node = cluster[at];
    bool inside = cluster.inside(at), waiting = cluster.waiting(at);
    for (int i = 0; i < 30; ++i) {
      const NodeId from{(at + 1 + random.below(nodes - 1)) % nodes};
      const auto before = node;
      const auto out = fed(node, from, TestFixture::anything(random, limits, said));
      (out ? taken : refused) += 1;
      if (!out) node = before;  // or nothing would be tried in the states beyond
      const auto perform = [&](const testing::Out<TypeParam>& done) {
        for (const auto& send : done.sends())
          EXPECT_TRUE(send.to.index() < nodes || send.to == done.everyone) << "sent to nobody";
        if (done.granted()) inside = std::exchange(waiting, false);
        return !done.granted() || inside;
      };
      if (out && !perform(*out)) break;  // let in a user that did not ask: its owner sees that
      if (random.below(3) > 0) continue;
      if (inside) {
        inside = false;
        perform(testing::release(node));
      } else if (!std::exchange(waiting, true)) {
        perform(testing::request(node));
      }
    }
  }
  EXPECT_GT(taken, 100U);
  // To lamport another order of messages explains everything.
  EXPECT_GE(refused, TypeParam::info.name == "lamport" ? 0U : 100U) << "taken: " << taken;
}

// In a lock that rests nobody waits for the token, and only one node has it.
TYPED_TEST(Peer, CannotMakeASecondToken) {
  if constexpr (HasToken<TypeParam>) {
    for (std::size_t nodes = 2; nodes <= 5; ++nodes) {
      Random random(nodes);
      const auto setup = TestFixture::setup(nodes);
      std::vector<typename TypeParam::Message> said;
      TestFixture::walk(setup, 200, random, said);
      std::erase_if(said, [](const auto& m) { return !TypeParam::carries_token(m); });
      ASSERT_FALSE(said.empty());
      for (std::size_t at = 0; at < nodes; ++at) {
        // On a ring one who does not have the token may get it at any time.
        const bool ring = TypeParam::info.shape == Shape::ring;
        const auto resting = testing::make<TypeParam>(
            setup, ring ? std::vector<Holding>{{.seat = NodeId{at}}} : std::vector<Holding>{})[at];
        for (const auto& token : said) {
          for (std::size_t from = 0; from < nodes; ++from) {
            if (from == at) continue;
            auto node = resting;
            EXPECT_FALSE(fed(node, NodeId{from}, token)) << describe_message(token);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace turno::wire
