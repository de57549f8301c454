#include "protocols/kmutex/robust_k.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = RobustK::Kind;
using Phase = RobustK::Phase;
using Message = RobustK::Message;

Message tree(NodeId root, std::uint64_t time, std::uint8_t hops) {
  return {.kind = Kind::tree, .hops = hops, .root = root, .time = time};
}
Message ask(std::uint64_t time) { return {.kind = Kind::request, .time = time}; }
Message reply(std::uint64_t time) { return {.kind = Kind::reply, .time = time}; }
Message ack(std::uint64_t time) { return {.kind = Kind::ack, .time = time}; }
Message later(std::uint64_t time) { return {.kind = Kind::later, .time = time}; }
Message where(std::uint64_t time) { return {.kind = Kind::where, .time = time}; }
Message taken(std::uint64_t time, std::uint32_t slot) {
  return {.kind = Kind::taken, .slot = slot, .time = time};
}

Setup semaphore(std::size_t nodes, std::uint32_t permits) {
  auto setup = shaped(Topology::complete, nodes);
  setup.permits = permits;
  return setup;
}
Setup direct(std::size_t nodes, std::uint32_t permits) {
  auto setup = semaphore(nodes, permits);
  setup.configure<RobustK::Config>().direct = true;
  return setup;
}
RobustK node_of(const Setup& setup, std::size_t node) { return make<RobustK>(setup)[node]; }

Out<RobustK> suspect(RobustK& node, NodeId dead) {
  return stepped(node, {.kind = EventKind::suspect, .from = dead});
}
Out<RobustK> expire(RobustK& node, RobustK::Timer timer) {
  return stepped(node, {.kind = EventKind::expire, .number = timer});
}
Out<RobustK> enters(std::uint32_t slot, std::uint64_t count,
                    std::initializer_list<Out<RobustK>::Send> sends = {}) {
  auto out = effects<RobustK>(sends);
  out.grant(Unit{slot, Fence::at(1, count)});
  return out;
}

TEST(RobustK, AsksAlongTheTreeAndWaitsForAcknowledgements) {
  auto node = node_of(semaphore(4, 1), 0);
  auto expected = effects<RobustK>({{n1, tree(n0, 1, 1)}, {n2, tree(n0, 1, 2)}});
  expected.arm(RobustK::acknowledgements, 80'000'000);
  EXPECT_EQ(request(node), expected);
  receive(node, n1, ack(1));
  receive(node, n2, ack(1));
  auto done = nothing<RobustK>();
  done.disarm(RobustK::acknowledgements);
  EXPECT_EQ(receive(node, n3, ack(1)), done);
}

TEST(RobustK, AnswersAcknowledgesAndHandsOn) {
  auto node = node_of(semaphore(4, 1), 2);
  EXPECT_EQ(receive(node, n0, tree(n0, 1, 2)),
            effects<RobustK>({{n0, reply(1)}, {n0, ack(1)}, {n3, tree(n0, 1, 1)}}));
  EXPECT_EQ(receive(node, n0, tree(n0, 1, 2)),
            effects<RobustK>({{n0, ack(1)}, {n3, tree(n0, 1, 1)}}))
      << "a copy is acknowledged and handed on, and not answered again";
}

TEST(RobustK, AsksThoseAgainWhoHaveNotAcknowledged) {
  auto node = node_of(semaphore(4, 1), 0);
  request(node);
  receive(node, n1, ack(1));
  suspect(node, n2);
  auto expected = effects<RobustK>({{n3, tree(n0, 1, 1)}});
  expected.arm(RobustK::acknowledgements, 80'000'000);
  EXPECT_EQ(expire(node, RobustK::acknowledgements), expected);
}

TEST(RobustK, EntersWithTheAnswersOfAllThatLive) {
  auto node = node_of(direct(3, 1), 0);
  EXPECT_EQ(request(node), effects<RobustK>({{n1, ask(1)}, {n2, ask(1)}}));
  EXPECT_EQ(receive(node, n1, reply(1)), nothing<RobustK>());
  EXPECT_EQ(suspect(node, n2), enters(0, 3));
  EXPECT_EQ(suspect(node, n2), nothing<RobustK>()) << "told twice";
}

TEST(RobustK, AnAnswerOfTheDeadIsNotCountedBeforeNorAfter) {
  auto node = node_of(direct(4, 1), 0);
  request(node);
  receive(node, n2, reply(1));
  EXPECT_EQ(suspect(node, n2), nothing<RobustK>()) << "1 and 3 still have to answer";
  EXPECT_EQ(receive(node, n2, reply(1)), nothing<RobustK>());
  EXPECT_EQ(receive(node, n1, reply(1)), nothing<RobustK>());
  EXPECT_EQ(receive(node, n3, reply(1)), enters(0, 4));
}

TEST(RobustK, IgnoresAnswersToAnEarlierRequest) {
  auto node = node_of(direct(2, 1), 0);
  request(node);
  receive(node, n1, reply(1));
  release(node);
  request(node);
  EXPECT_EQ(receive(node, n1, reply(1)), nothing<RobustK>());
  EXPECT_TRUE(node.ignores(n1, reply(1)));
  EXPECT_FALSE(node.ignores(n1, reply(2)));
}

TEST(RobustK, TheLastOneLeftEntersAlone) {
  auto node = node_of(semaphore(3, 1), 0);
  suspect(node, n1);
  suspect(node, n2);
  EXPECT_EQ(request(node), enters(0, 3)) << "nothing is sent to the dead, and nothing awaited";
}

TEST(RobustK, DefersWhileItIsInsideOrOlderAndSaysWhere) {
  auto node = node_of(direct(4, 2), 0);
  request(node);
  EXPECT_EQ(receive(node, n1, ask(1)), effects<RobustK>({{n1, later(1)}}));
  receive(node, n2, reply(1));
  EXPECT_EQ(node.phase, Phase::waiting) << "1 and 3 are silent: one too many";
  EXPECT_EQ(receive(node, n3, reply(1)), nothing<RobustK>()) << "1 is silent: which slot has it?";
  EXPECT_EQ(receive(node, n1, reply(1)), enters(0, 4));
  EXPECT_EQ(receive(node, n2, ask(2)), effects<RobustK>({{n2, taken(2, 0)}}));
  EXPECT_EQ(release(node), effects<RobustK>({{n1, reply(1)}, {n2, reply(2)}}));
}

TEST(RobustK, TakesASlotThatNobodyHas) {
  auto node = node_of(direct(4, 3), 3);
  request(node);
  receive(node, n0, reply(1));
  EXPECT_EQ(receive(node, n1, taken(1, 0)), nothing<RobustK>());
  EXPECT_EQ(receive(node, n2, taken(1, 2)), enters(1, 7));
}

TEST(RobustK, ASlotIsFreeAgainWhenItsHolderAnswersOrCrashes) {
  auto node = node_of(direct(4, 2), 3);
  request(node);
  receive(node, n0, reply(1));
  receive(node, n1, taken(1, 0));
  auto other = node;
  receive(node, n2, taken(1, 1));
  EXPECT_EQ(receive(node, n1, reply(1)), enters(0, 7));
  receive(other, n2, taken(1, 1));
  EXPECT_EQ(suspect(other, n1), enters(0, 7));
}

TEST(RobustK, AsksTheOlderForItsSlotWhenOnlySlotsAreMissing) {
  auto node = node_of(direct(3, 2), 1);
  request(node);
  EXPECT_EQ(receive(node, n0, later(1)), nothing<RobustK>()) << "two have not answered";
  EXPECT_EQ(receive(node, n2, reply(1)), effects<RobustK>({{n0, where(1)}}));
  EXPECT_EQ(receive(node, n0, taken(1, 0)), enters(1, 4));
}

TEST(RobustK, TellsItsSlotAsSoonAsItHasOne) {
  auto node = node_of(direct(3, 2), 0);
  request(node);
  receive(node, n1, ask(1));
  EXPECT_EQ(receive(node, n1, where(1)), nothing<RobustK>());
  receive(node, n1, reply(1));
  EXPECT_EQ(receive(node, n2, reply(1)), enters(0, 3, {{n1, taken(1, 0)}}));
  EXPECT_EQ(receive(node, n1, where(1)), effects<RobustK>({{n1, taken(1, 0)}}));
  EXPECT_EQ(receive(node, n2, where(1)), nothing<RobustK>()) << "2 has its answer";
}

TEST(RobustK, WithAPermitForEachNodeEachHasItsOwnSlot) {
  auto node = node_of(direct(3, 3), 2);
  EXPECT_EQ(request(node), enters(2, 5, {{n0, ask(1)}, {n1, ask(1)}}));
}

TEST(RobustK, CountedPermitsHaveNoNames) {
  auto setup = direct(3, 2);
  setup.configure<RobustK::Config>().counted = true;
  auto node = node_of(setup, 0);
  request(node);
  EXPECT_EQ(receive(node, n1, ask(1)), nothing<RobustK>()) << "nothing is said about slots";
  EXPECT_EQ(receive(node, n2, reply(1)), granted<RobustK>(3)) << "1 may be anywhere";
}

TEST(RobustK, AFixedThresholdCountsSuspectsLikeTheOthers) {
  auto setup = semaphore(4, 2);
  setup.configure<RobustK::Config>().fixed_threshold = true;
  auto node = node_of(setup, 0);
  suspect(node, n2);
  auto asked = effects<RobustK>({{n1, tree(n0, 1, 1)}, {n3, tree(n0, 1, 2)}, {n2, tree(n0, 1, 1)}});
  asked.arm(RobustK::acknowledgements, 80'000'000);
  EXPECT_EQ(request(node), asked) << "the tree goes round the suspect, who is asked directly";
  receive(node, n1, reply(1));
  EXPECT_EQ(suspect(node, n3), nothing<RobustK>()) << "a suspicion lets nobody in";
  EXPECT_EQ(receive(node, n2, reply(1)), granted<RobustK>(4)) << "a suspect may answer";
  receive(node, n2, tree(n2, 5, 1));
  suspect(node, n2);
  EXPECT_EQ(release(node), effects<RobustK>({{n2, reply(5)}})) << "and gets its answer";
}

TEST(RobustK, AReplyCanServeAsAcknowledgement) {
  auto setup = semaphore(2, 1);
  setup.configure<RobustK::Config>().reply_acknowledges = true;
  auto one = node_of(setup, 0), other = node_of(setup, 1);
  request(one);
  EXPECT_EQ(receive(other, n0, tree(n0, 1, 1)), effects<RobustK>({{n0, reply(1)}}));
  EXPECT_EQ(receive(other, n0, tree(n0, 1, 1)), effects<RobustK>({{n0, reply(1)}}))
      << "to a copy again";
  receive(one, n1, reply(1));
  EXPECT_EQ(one.phase, Phase::inside);
  EXPECT_FALSE(one.tree.running());
  EXPECT_EQ(receive(one, n1, tree(n1, 2, 1)), effects<RobustK>({{n1, ack(2)}})) << "deferred";
}

TEST(RobustK, OnLossyLinksWhoWaitsAsksAgain) {
  auto setup = direct(3, 1);
  setup.configure<RobustK::Config>().lossy = true;
  auto node = node_of(setup, 0);
  request(node);
  receive(node, n2, reply(1));
  auto again = effects<RobustK>({{n1, ask(1)}});
  again.arm(RobustK::acknowledgements, 80'000'000);
  EXPECT_EQ(expire(node, RobustK::acknowledgements), again);
  auto expected = nothing<RobustK>();
  expected.disarm(RobustK::acknowledgements);
  expected.grant(Unit{0, Fence::at(1, 3)});
  EXPECT_EQ(receive(node, n1, reply(1)), expected);
}

TEST(RobustK, QueuedRequestsWaitForTheAcknowledgementsOfTheLast) {
  auto setup = semaphore(3, 1);
  setup.configure<RobustK::Config>().queued = true;
  auto node = node_of(setup, 0);
  request(node);
  receive(node, n1, reply(1));
  receive(node, n2, reply(1));
  receive(node, n1, ack(1));
  release(node);
  EXPECT_EQ(request(node), nothing<RobustK>()) << "2 has not acknowledged";
  const auto out = receive(node, n2, ack(1));
  EXPECT_EQ(out.sends(), effects<RobustK>({{n1, tree(n0, 2, 1)}, {n2, tree(n0, 2, 2)}}).sends());
}

// The detector inside: CRASH is handled in the step in which a silence is noticed.
TEST(RobustK, DetectsCrashesItself) {
  auto setup = semaphore(2, 1);
  setup.configure<RobustK::Config>().detector = Detector::hi_adsd;
  auto node = node_of(setup, 0);
  Out<RobustK> out;
  node.start(out);
  auto expected = effects<RobustK>({{n1, {.kind = Kind::ping, .time = 1}}});
  expected.arm(RobustK::round, 1'000'000'000);
  expected.arm(RobustK::answer, 40'000'000);
  EXPECT_EQ(out, expected);
  request(node);
  const auto entered = expire(node, RobustK::answer);
  EXPECT_TRUE(entered.granted()) << "1 is dead, and nobody else is missing";
  EXPECT_TRUE(node.suspects().contains(n1));
}

TEST(RobustK, AnswersATestWithWhatItKnows) {
  auto node = node_of(semaphore(3, 1), 0);
  suspect(node, n2);
  const auto out = receive(node, n1, {.kind = Kind::ping, .time = 5});
  ASSERT_EQ(out.sends().size(), 1U);
  EXPECT_EQ(out.sends()[0].message.kind, Kind::pong);
  EXPECT_EQ(out.sends()[0].message.time, 5U);
  EXPECT_TRUE(out.sends()[0].message.news.suspects(n2));
}

TEST(RobustK, ACrashLeavesNothing) {
  auto node = node_of(direct(3, 2), 0);
  const auto fresh = node;
  request(node);
  receive(node, n1, ask(1));
  suspect(node, n2);
  node.crash();
  EXPECT_EQ(node, fresh);
}

TEST(RobustK, ResumesWithHoldersInTheirSlots) {
  const auto nodes = make<RobustK>(direct(4, 3), std::vector<Holding>{{n2, 0, {0}}, {n0, 0, {2}}});
  EXPECT_EQ(nodes[2].phase, Phase::inside);
  EXPECT_EQ(nodes[2].slot, 0U);
  EXPECT_EQ(nodes[0].slot, 2U);
  EXPECT_EQ(nodes[1].phase, Phase::idle);
}

}  // namespace
}  // namespace turno::protocols
