#include "protocols/kmutex/raymond_k.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = RaymondK::Kind;
using Phase = RaymondK::Phase;

RaymondK::Message ask(std::uint64_t time) { return {.kind = Kind::request, .time = time}; }
RaymondK::Message reply(std::uint64_t time) { return {.kind = Kind::reply, .time = time}; }

std::vector<RaymondK> semaphore(std::size_t nodes, std::uint32_t permits,
                                const std::vector<Holding>& holdings = {}) {
  auto setup = shaped(Topology::complete, nodes);
  setup.permits = permits;
  return make<RaymondK>(setup, holdings);
}

TEST(RaymondK, EntersWhenAllButKMinusOneHaveAnswered) {
  auto node = semaphore(4, 2)[0];
  EXPECT_EQ(request(node), broadcast<RaymondK>(ask(1)));
  EXPECT_EQ(receive(node, n2, reply(1)), nothing<RaymondK>());
  EXPECT_EQ(receive(node, n2, reply(1)), nothing<RaymondK>()) << "a copy counts once";
  EXPECT_EQ(receive(node, n3, reply(1)), granted<RaymondK>(4));
  EXPECT_EQ(receive(node, n1, reply(1)), nothing<RaymondK>()) << "not needed any more";
}

TEST(RaymondK, EntersAtOnceIfThereAreEnoughPermits) {
  auto node = semaphore(3, 3)[1];
  auto expected = broadcast<RaymondK>(ask(1));
  expected.grant(Fence::at(1, 4));
  EXPECT_EQ(request(node), expected);
}

TEST(RaymondK, AnswersUnlessItIsInsideOrOlder) {
  auto node = semaphore(3, 2)[1];
  EXPECT_EQ(receive(node, n0, ask(1)), effects<RaymondK>({{n0, reply(1)}}));
  request(node);
  EXPECT_EQ(receive(node, n0, ask(2)), effects<RaymondK>({{n0, reply(2)}})) << "0 goes first";
  EXPECT_EQ(receive(node, n2, ask(2)), nothing<RaymondK>()) << "2 does not";
  receive(node, n0, reply(2));
  EXPECT_EQ(node.phase, Phase::inside);
  EXPECT_EQ(receive(node, n0, ask(3)), nothing<RaymondK>());
  EXPECT_EQ(receive(node, n0, ask(4)), nothing<RaymondK>()) << "it got in and out in between";
  EXPECT_EQ(release(node), effects<RaymondK>({{n0, reply(4)}, {n2, reply(2)}}))
      << "one answer, to the latest";
}

TEST(RaymondK, IgnoresAnswersToAnEarlierRequest) {
  auto node = semaphore(3, 2)[0];
  request(node);
  receive(node, n1, reply(1));
  release(node);
  request(node);
  EXPECT_EQ(receive(node, n2, reply(1)), nothing<RaymondK>()) << "to the first request";
  EXPECT_EQ(node.phase, Phase::waiting);
  EXPECT_EQ(receive(node, n2, reply(2)), granted<RaymondK>(6));
}

TEST(RaymondK, ForgetsWhatNoLongerMatters) {
  auto node = semaphore(2, 1)[0];
  const auto fresh = node;
  request(node);
  receive(node, n1, reply(1));
  receive(node, n1, ask(2));
  release(node);
  EXPECT_EQ(node.clock.now(), 2U);
  node.clock = {};
  EXPECT_EQ(node, fresh);
  request(node);
  node.crash();
  EXPECT_EQ(node, fresh);
}

TEST(RaymondK, ResumesWithHolders) {
  const auto nodes = semaphore(3, 2, {{.seat = n2}, {.seat = n0}});
  EXPECT_EQ(nodes[0].phase, Phase::inside);
  EXPECT_EQ(nodes[1].phase, Phase::idle);
  EXPECT_EQ(nodes[2].phase, Phase::inside);
}

}  // namespace
}  // namespace turno::protocols
