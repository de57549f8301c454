#include "protocols/mutex/permission/maekawa.h"

#include <gtest/gtest.h>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = Maekawa::Kind;
using Phase = Maekawa::Phase;

Maekawa::Message ask(std::uint32_t time) { return {.kind = Kind::request, .time = time}; }
Maekawa::Message vote(std::uint32_t time, std::uint32_t clock) {
  return {.kind = Kind::grant, .time = time, .clock = clock};
}
Maekawa::Message recall(std::uint32_t time) { return {.kind = Kind::recall, .time = time}; }
Maekawa::Message yield(std::uint32_t time) { return {.kind = Kind::yield, .time = time}; }
Maekawa::Message farewell(std::uint32_t time, std::uint32_t fence) {
  return {.kind = Kind::release, .time = time, .clock = fence};
}

// A 2x2 grid: each node with its row and its column.
std::vector<Maekawa> grid() { return make<Maekawa>(voting({"012", "013", "023", "123"})); }
// Node 3 votes for all and asks for nothing.
std::vector<Maekawa> one_arbiter() { return make<Maekawa>(voting({"03", "13", "23", "3"})); }

TEST(Maekawa, AsksItsQuorumAndVotesForItselfWithoutAMessage) {
  auto node = grid()[0];
  EXPECT_EQ(request(node), effects<Maekawa>({{n1, ask(1)}, {n2, ask(1)}}));
  EXPECT_TRUE(node.have.contains(n0));
  EXPECT_EQ(node.votes.holder(), (Priority{1, n0}));
}

TEST(Maekawa, EntersWithAllVotesOfItsQuorum) {
  auto node = grid()[0];
  request(node);
  EXPECT_EQ(receive(node, n2, vote(1, 1)), nothing<Maekawa>());
  EXPECT_EQ(receive(node, n1, vote(1, 5)), granted<Maekawa>(6)) << "later than any vote";
  EXPECT_EQ(release(node), effects<Maekawa>({{n1, farewell(1, 6)}, {n2, farewell(1, 6)}}));
  EXPECT_TRUE(node.have.empty());
  EXPECT_FALSE(node.votes.cast_any());
}

TEST(Maekawa, ArbiterVotesForTheFirstAndThenForTheOldest) {
  auto arbiter = one_arbiter()[3];
  EXPECT_EQ(receive(arbiter, n0, ask(1)), effects<Maekawa>({{n0, vote(1, 1)}}));
  EXPECT_EQ(receive(arbiter, n2, ask(4)), nothing<Maekawa>());
  EXPECT_EQ(receive(arbiter, n1, ask(3)), nothing<Maekawa>());
  EXPECT_EQ(receive(arbiter, n0, farewell(1, 9)), effects<Maekawa>({{n1, vote(3, 9)}}))
      << "the vote tells the fence of who left, so that the next is larger";
}

TEST(Maekawa, ArbiterRecallsItsVoteFromAYoungerRequestOnce) {
  auto arbiter = one_arbiter()[3];
  receive(arbiter, n2, ask(1));
  EXPECT_EQ(receive(arbiter, n1, ask(1)), effects<Maekawa>({{n2, recall(1)}}));
  EXPECT_EQ(receive(arbiter, n0, ask(1)), nothing<Maekawa>()) << "it has already been asked back";
  EXPECT_EQ(receive(arbiter, n2, yield(1)), effects<Maekawa>({{n0, vote(1, 1)}}));
  EXPECT_EQ(arbiter.votes.queue().size(), 3U) << "who gave the vote back still waits";
}

TEST(Maekawa, ArbiterIgnoresAYieldOfWhoHasNoVote) {
  auto arbiter = one_arbiter()[3];
  receive(arbiter, n0, ask(1));
  EXPECT_EQ(receive(arbiter, n1, yield(1)), nothing<Maekawa>());
  EXPECT_EQ(receive(arbiter, n0, yield(2)), nothing<Maekawa>());
  EXPECT_EQ(arbiter.votes.holder(), (Priority{1, n0}));
}

TEST(Maekawa, RequesterThatIsNotInsideGivesTheVoteBack) {
  auto node = grid()[0];
  request(node);
  receive(node, n1, vote(1, 1));
  EXPECT_EQ(receive(node, n1, recall(1)), effects<Maekawa>({{n1, yield(1)}}));
  EXPECT_FALSE(node.have.contains(n1));
  EXPECT_EQ(receive(node, n2, vote(1, 1)), nothing<Maekawa>()) << "one vote is missing again";
  EXPECT_EQ(receive(node, n1, vote(1, 2)), granted<Maekawa>(3));
}

TEST(Maekawa, RecallThatOvertakesItsVoteIsAnsweredWhenTheVoteComes) {
  auto node = grid()[0];
  request(node);
  EXPECT_EQ(receive(node, n1, recall(1)), nothing<Maekawa>());
  EXPECT_EQ(receive(node, n1, vote(1, 1)), effects<Maekawa>({{n1, yield(1)}}));
  EXPECT_FALSE(node.have.contains(n1));
  EXPECT_TRUE(node.deferred.empty());
}

TEST(Maekawa, WhoIsInsideKeepsItsVotes) {
  auto node = grid()[0];
  request(node);
  receive(node, n1, recall(1));  // overtakes
  receive(node, n2, vote(1, 1));
  EXPECT_EQ(receive(node, n1, vote(1, 1)), granted<Maekawa>(2)) << "the last vote: it is inside";
  EXPECT_EQ(receive(node, n2, recall(1)), nothing<Maekawa>());
  EXPECT_EQ(node.have.size(), 3U);
  EXPECT_TRUE(node.deferred.empty());
}

TEST(Maekawa, WhatConcernsAnEarlierRequestIsIgnored) {
  auto node = grid()[0];
  EXPECT_EQ(receive(node, n1, recall(1)), nothing<Maekawa>());
  EXPECT_TRUE(node.deferred.empty());
  receive(node, n3, vote(0, 7));
  EXPECT_EQ(node.phase, Phase::idle);
  EXPECT_EQ(request(node), effects<Maekawa>({{n1, ask(8)}, {n2, ask(8)}})) << "its clock is not";
  EXPECT_EQ(receive(node, n1, recall(1)), nothing<Maekawa>());
  EXPECT_EQ(receive(node, n1, vote(1, 1)), nothing<Maekawa>());
  EXPECT_FALSE(node.have.contains(n1));
}

TEST(Maekawa, NodeGivesItsOwnVoteBackToAnOlderRequest) {
  auto nodes = grid();
  request(nodes[1]);
  EXPECT_EQ(receive(nodes[1], n0, ask(1)), effects<Maekawa>({{n0, vote(1, 1)}}))
      << "recall and yield are calls within node 1";
  EXPECT_TRUE(nodes[1].have.empty());
  EXPECT_EQ(receive(nodes[1], n0, farewell(1, 2)), nothing<Maekawa>());
  EXPECT_TRUE(nodes[1].have.contains(n1)) << "and got back when node 0 has left";
}

TEST(Maekawa, ResumesWithAHolderThatHasItsVotes) {
  const auto setup = voting({"012", "013", "023", "123"});
  auto nodes = make<Maekawa>(setup, {n0});
  EXPECT_EQ(nodes[0].have.size(), 3U);
  EXPECT_EQ(nodes[2].votes.holder().node, n0);
  EXPECT_FALSE(nodes[3].votes.cast_any()) << "not in the quorum of node 0";
  EXPECT_EQ(request(nodes[3]), effects<Maekawa>({{n1, ask(1)}, {n2, ask(1)}}));
  EXPECT_EQ(receive(nodes[1], n3, ask(1)), nothing<Maekawa>());
  EXPECT_EQ(receive(nodes[2], n3, ask(1)), nothing<Maekawa>());
  EXPECT_EQ(release(nodes[0]), effects<Maekawa>({{n1, farewell(0, 0)}, {n2, farewell(0, 0)}}));
  EXPECT_EQ(receive(nodes[1], n0, farewell(0, 0)), effects<Maekawa>({{n3, vote(1, 1)}}));
  EXPECT_EQ(receive(nodes[2], n0, farewell(0, 0)), effects<Maekawa>({{n3, vote(1, 1)}}));
  receive(nodes[3], n1, vote(1, 1));
  EXPECT_EQ(receive(nodes[3], n2, vote(1, 1)), granted<Maekawa>(2));
}

TEST(Maekawa, AloneItIsItsOwnQuorum) {
  auto node = make<Maekawa>(voting({"0"}))[0];
  EXPECT_EQ(request(node), granted<Maekawa>(2));
  EXPECT_EQ(release(node), nothing<Maekawa>());
  EXPECT_EQ(request(node), granted<Maekawa>(4));
}

}  // namespace
}  // namespace turno::protocols
