#include "protocols/mutex/token/nxr.h"

#include <gtest/gtest.h>

#include <string>

#include "protocols/testing.h"

namespace turno::protocols {
namespace {

using namespace turno::testing;
using Kind = Nxr::Kind;

Nxr::Message ask(NodeId node) { return {.kind = Kind::request, .node = node}; }
Nxr::Message token(NodeId give_back_to, std::uint64_t count) {
  return {.kind = Kind::token, .node = give_back_to, .fence = Fence::at(1, count)};
}

std::vector<Nxr> line() { return make<Nxr>(shaped(Topology::line, 3)); }

TEST(Nxr, IdleHolderEntersAndReentersForNothing) {
  auto root = line()[0];
  EXPECT_EQ(request(root), granted<Nxr>(1));
  EXPECT_EQ(release(root), nothing<Nxr>());
  EXPECT_EQ(request(root), granted<Nxr>(2));
}

TEST(Nxr, OthersAskTheirFatherAndBecomeRoots) {
  auto leaf = line()[2];
  EXPECT_EQ(request(leaf), effects<Nxr>({{n1, ask(n2)}}));
  EXPECT_EQ(leaf.father, n2);
  EXPECT_EQ(leaf.queue, (Queue<NodeId>{n2})) << "Lemma 4: who waits is in its own queue";
}

TEST(Nxr, IdleHolderGivesTheTokenToTheFirstWhoAsks) {
  auto root = line()[0];
  EXPECT_EQ(receive(root, n1, ask(n2)), effects<Nxr>({{n2, token(nobody, 0)}}));
  EXPECT_FALSE(root.has_token());
  EXPECT_EQ(root.father, n2);
  EXPECT_TRUE(root.queue.empty());
}

TEST(Nxr, NodeThatWantsNothingForwardsAndTurnsToTheRequester) {
  auto middle = line()[1];
  EXPECT_EQ(receive(middle, n2, ask(n2)), effects<Nxr>({{n0, ask(n2)}}));
  EXPECT_EQ(middle.father, n2);
}

TEST(Nxr, WaitingNodeTakesTheRequestIntoItsQueue) {
  auto middle = line()[1];
  request(middle);
  EXPECT_EQ(receive(middle, n2, ask(n2)), nothing<Nxr>());
  EXPECT_EQ(middle.queue, (Queue<NodeId>{n1, n2}));
}

TEST(Nxr, NodeInsideTakesTheRequestIntoItsQueue) {
  auto root = line()[0];
  request(root);
  EXPECT_EQ(receive(root, n1, ask(n1)), nothing<Nxr>());
  EXPECT_EQ(root.queue, (Queue<NodeId>{n0, n1}));
  EXPECT_EQ(root.father, n0);
}

// Errata F1, F2 and F4 of the printed figure: nobody is not enqueued, the token is gone, and only a
// node that owes nothing more turns to the one it served.
TEST(Nxr, LastClaimTakesTheTokenForGood) {
  auto middle = line()[1];
  request(middle);
  EXPECT_EQ(receive(middle, n0, token(nobody, 3)), granted<Nxr>(4));
  EXPECT_EQ(middle.queue, (Queue<NodeId>{n1}));
  receive(middle, n2, ask(n2));
  EXPECT_EQ(release(middle), effects<Nxr>({{n2, token(nobody, 4)}}));
  EXPECT_FALSE(middle.has_token());
  EXPECT_EQ(middle.father, n2);
  EXPECT_TRUE(middle.queue.empty());
}

TEST(Nxr, NodeThatOwesMoreWantsTheTokenBackAndStaysRoot) {
  auto middle = make<Nxr>(shaped(Topology::line, 4))[1];
  request(middle);
  receive(middle, n2, ask(n2));
  EXPECT_EQ(receive(middle, n0, token(n0, 3)), granted<Nxr>(4));
  EXPECT_EQ(middle.queue, (Queue<NodeId>{n1, n2, n0})) << "whom it must give it back to comes last";
  EXPECT_EQ(release(middle), effects<Nxr>({{n2, token(n1, 4)}}));
  EXPECT_FALSE(middle.has_token());
  EXPECT_EQ(middle.father, n1);
  EXPECT_EQ(middle.queue, (Queue<NodeId>{n0}));
}

// Erratum F3: the token comes back to a node that is itself served, and goes straight on.
TEST(Nxr, NodeThatOnlyOwesRelaysTheTokenAndDoesNotKeepIt) {
  auto middle = line()[1];
  request(middle);
  receive(middle, n0, token(nobody, 3));
  receive(middle, n2, ask(n2));
  receive(middle, n0, ask(n0));
  EXPECT_EQ(release(middle), effects<Nxr>({{n2, token(n1, 4)}}));
  EXPECT_EQ(receive(middle, n2, token(nobody, 5)), effects<Nxr>({{n0, token(nobody, 5)}}));
  EXPECT_FALSE(middle.has_token());
  EXPECT_EQ(middle.father, n0);
}

// Erratum F5: one who asks twice is served twice and never sends the token to itself.
TEST(Nxr, NodeThatAskedTwiceReentersAtOnce) {
  auto root = line()[0];
  request(root);
  EXPECT_EQ(request(root), nothing<Nxr>());
  EXPECT_EQ(release(root), granted<Nxr>(2));
  EXPECT_EQ(release(root), nothing<Nxr>());
  EXPECT_TRUE(root.has_token());

  auto leaf = line()[2];
  request(leaf);
  EXPECT_EQ(request(leaf), nothing<Nxr>()) << "one request is on its way already";
  EXPECT_EQ(leaf.queue, (Queue<NodeId>{n2, n2}));
}

TEST(Nxr, ResumesWithAHolderAtTheRootOfAStar) {
  auto nodes = make<Nxr>(shaped(Topology::line, 3), {n2});
  EXPECT_EQ(nodes[0].father, n2);
  EXPECT_EQ(nodes[1].father, n2);
  EXPECT_EQ(request(nodes[0]), effects<Nxr>({{n2, ask(n0)}}));
  EXPECT_EQ(receive(nodes[2], n0, ask(n0)), nothing<Nxr>());
  EXPECT_EQ(release(nodes[2]), effects<Nxr>({{n0, token(nobody, 0)}}));
  EXPECT_EQ(receive(nodes[0], n2, token(nobody, 0)), granted<Nxr>(1));
}

// The virtual tree of the paper. The word of a waiting node leads from the privileged node over
// those who owe the token one to the next.

NodeId root_above(const Cluster<Nxr>& cluster, NodeId node) {
  while (cluster[node.index()].father != node) node = cluster[node.index()].father;
  return node;
}

NodeId owed_by(const Cluster<Nxr>& cluster, NodeId node) {
  for (std::size_t i = 0; i < cluster.size(); ++i)
    if (NodeId{i} != node && cluster[i].queue.contains(node)) return NodeId{i};
  for (const auto& flight : cluster.flights())
    if (flight.message.node == node)
      return Nxr::carries_token(flight.message) ? flight.to : root_above(cluster, flight.to);
  return nobody;
}

std::string word(const Cluster<Nxr>& cluster, NodeId node) {
  auto text = describe(node);
  for (auto by = owed_by(cluster, node); by != nobody; by = owed_by(cluster, by))
    text = describe(by) + "." + text;
  return text;
}

// Erratum F6: the paper's words may repeat a node that stands in its own queue, so as soon as
// somebody waits there is no unique word: 0.1, 0.1.1, 0.1.1.1, ... Words must not use such entries.
TEST(NxrVirtualTree, AWaitingNodeStandsInItsOwnQueue) {
  Cluster<Nxr> cluster(shaped(Topology::line, 2));
  cluster.want(n1);
  EXPECT_TRUE(cluster[1].queue.contains(n1)) << "it would be owed by itself";
  EXPECT_EQ(owed_by(cluster, n1), n0) << "without its own entry there is one claim";
  EXPECT_EQ(word(cluster, n1), "0.1");
}

// Erratum F7, case 1: the proof looks only at the word of the node that asks.
TEST(NxrVirtualTree, WhoAsksChangesTheWordOfARequestThatIsOnItsWay) {
  Cluster<Nxr> cluster(shaped(Topology::line, 3));
  cluster.want(n2);
  EXPECT_EQ(word(cluster, n2), "0.2");
  cluster.want(n1);
  EXPECT_EQ(word(cluster, n2), "0.1.2") << "node 1 is now the first waiting node on the way";
  EXPECT_EQ(cluster.broken(), "");
}

// Erratum F7, case 2: the proof says that nothing changes.
TEST(NxrVirtualTree, WhoForwardsChangesTheWordOfAnother) {
  Cluster<Nxr> cluster(turno::Setup{.father = {n0, n0, n1, n1}});
  cluster.want(n2);
  cluster.want(n3);
  EXPECT_EQ(word(cluster, n3), "0.3");
  cluster.deliver(n2, n1);
  EXPECT_EQ(word(cluster, n3), "0.2.3") << "node 1 has turned to node 2";
  EXPECT_EQ(word(cluster, n2), "0.2");
  EXPECT_EQ(cluster.broken(), "");
}

// Erratum F11: one pending request, and yet two trees.
TEST(NxrVirtualTree, HasTwoRootsWhileASingleRequestTravels) {
  Cluster<Nxr> cluster(shaped(Topology::line, 3));
  cluster.want(n2);
  EXPECT_EQ(root_above(cluster, n0), n0);
  EXPECT_EQ(root_above(cluster, n1), n0);
  EXPECT_EQ(root_above(cluster, n2), n2);
  EXPECT_EQ(cluster.broken(), "");
}

TEST(NxrVirtualTree, LeadsThroughWhomeverAbsorbedTheRequest) {
  Cluster<Nxr> cluster(shaped(Topology::line, 4));
  cluster.want(n0);
  cluster.want(n1);
  cluster.want(n3);
  cluster.drain();
  EXPECT_EQ(word(cluster, n0), "0") << "the privileged node";
  EXPECT_EQ(word(cluster, n1), "0.1");
  EXPECT_EQ(word(cluster, n3), "0.1.3") << "node 2 forwarded to node 1, which waits";
  EXPECT_EQ(cluster[2].father, n3);
  cluster.leave(n0);
  cluster.drain();
  EXPECT_EQ(word(cluster, n3), "1.3");
  EXPECT_EQ(cluster.broken(), "");
}

// The invariants themselves notice what the errata do.
TEST(NxrVirtualTree, InvariantsNoticeATokenKept) {
  Cluster<Nxr> cluster(shaped(Topology::line, 2));
  auto nodes = make<Nxr>(shaped(Topology::line, 2));
  std::vector<User> users(2);
  const auto broken = [&] { return Nxr::broken_invariant({nodes, users, {}}); };
  EXPECT_EQ(broken(), "");
  nodes[0].queue.push(n1);
  EXPECT_EQ(broken(), "I2: an idle holder owes nothing");
  nodes[0].queue.clear();
  users[1].waiting = 1;
  EXPECT_EQ(broken(), "I3: the own claims are what the user asked for");
  nodes[1].queue.push(n1);
  EXPECT_EQ(broken(), "I4: the roots are those who wait or have the token");
  nodes[1].father = n1;
  EXPECT_EQ(broken(), "I7: a waiting node has one claim") << "its request is lost";
}

}  // namespace
}  // namespace turno::protocols
