// One lock through views, as stories. The checker explores all of them and more
// (recovery_check_test.cc), but for the delay after a crash: that is a matter of time.
#include "cluster/lock.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "protocols/arrangement.h"
#include "protocols/mutex/dir.h"
#include "protocols/mutex/ricart_agrawala.h"

namespace turno::cluster {
namespace {

constexpr NodeId n0{0}, n1{1}, n2{2};

// The members of a view, their users, and a driver that delivers as the test says. Whoever dies is
// the last, so that the others keep their numbers.
template <class P>
class Cluster {
 public:
  Cluster(std::size_t members, NodeId home) : nodes_(members) {
    change_view({.members = members, .home = home});
    for (std::size_t i = 0; i < members; ++i) nodes_[i].epoch = epoch_;
    nodes_[home.index()].lock.begin_home({});
  }

  void want(NodeId node) {
    act(node, [&](auto& lock, auto& place, auto& out) { lock.request(place, out); });
  }
  void leave(NodeId node) {
    act(node, [&](auto& lock, auto& place, auto& out) { lock.release(place, out); });
  }
  void retire() {
    act(home_, [&](auto& lock, auto& place, auto& out) { lock.retire(place, out); });
  }
  void end_delay() {
    nodes_[home_.index()].book.delayed = false;
    act(home_, [&](auto& lock, auto& place, auto& out) { lock.conclude(place, out); });
  }

  struct View {
    std::size_t members = 0;
    NodeId home;
    bool delayed = false;
  };
  // There is a new view. Nobody knows it yet; messages of the old one are lost.
  void change_view(const View& view) {
    ++epoch_;
    home_ = view.home;
    delayed_ = view.delayed;
    nodes_.resize(view.members);
    setup_ = arrangement(P::info, epoch_, view.members, home_);
    flights_.clear();
  }
  void adopt(NodeId node) {
    auto& self = nodes_[node.index()];
    self.epoch = epoch_;
    self.book = {.delayed = delayed_};
    self.lock.home = {};
    NodeSet all;
    for (std::size_t i = 0; i < nodes_.size(); ++i) all.insert(NodeId{i});
    if (node == home_) self.lock.begin_home(all);
    act(node, [&](auto& lock, auto& place, auto& out) { lock.adopt(place, out); });
  }
  void all_adopt() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) adopt(NodeId{i});
  }

  // The oldest message from one to another; says what it was.
  std::string deliver(NodeId from, NodeId to) {
    for (auto flight = flights_.begin(); flight != flights_.end(); ++flight) {
      if (flight->from != from || flight->to != to) continue;
      const auto [sender, receiver, message] = *flight;
      flights_.erase(flight);
      receive(sender, receiver, message);
      return std::string(kind_name(message));
    }
    return "nothing";
  }
  void deliver_all() {
    while (!flights_.empty()) deliver(flights_.front().from, flights_.front().to);
  }

  [[nodiscard]] const Lock<P>& lock(NodeId node) const { return nodes_[node.index()].lock; }
  [[nodiscard]] bool inside(NodeId node) const { return lock(node).inside; }
  [[nodiscard]] const std::vector<Fence>& fences() const { return fences_; }
  [[nodiscard]] std::size_t kept(NodeId node) const { return nodes_[node.index()].early.size(); }
  [[nodiscard]] bool fences_grow() const {
    for (std::size_t i = 1; i < fences_.size(); ++i)
      if (fences_[i] <= fences_[i - 1]) return false;
    return true;
  }

 private:
  using Message = LockMessage<P>;
  using Kind = typename Message::Kind;
  struct Node {
    Lock<P> lock;
    Book book;
    std::uint32_t epoch = 0;
    std::vector<Flight<Message>> early;
  };

  template <class Action>
  void act(NodeId at, Action action) {
    auto& node = nodes_[at.index()];
    ASSERT_EQ(node.epoch, epoch_) << "a node acts in a view that it does not know";
    const Place place{.setup = &setup_, .self = at, .home = home_, .book = &node.book};
    typename Lock<P>::Out out;
    action(node.lock, place, out);
    for (const auto& [to, message] : out.sends())
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (NodeId{i} != at && (to == out.everyone || to == NodeId{i}))
          flights_.push_back({at, NodeId{i}, message});
    if (out.granted()) fences_.push_back(*out.granted());
  }

  void receive(NodeId from, NodeId to, const Message& message) {
    auto& node = nodes_[to.index()];
    if (!node.lock.knows(message)) {
      if (to == home_) return;  // it knows all that live
      node.early.push_back({from, to, message});
      flights_.push_back({to, home_, {.kind = Kind::query, .instance = message.instance}});
      return;
    }
    if (message.kind == Kind::gone) return node.early.clear();
    const auto hand_over = [&](const Flight<Message>& flight) {
      act(to, [&](auto& lock, auto& place, auto& out) {
        lock.receive(place, flight.from, flight.message, out);
      });
    };
    hand_over({from, to, message});
    if (message.kind != Kind::opened) return;
    for (const auto& flight : std::exchange(node.early, {})) hand_over(flight);
  }

  std::vector<Node> nodes_;
  std::uint32_t epoch_ = 0;
  NodeId home_;
  bool delayed_ = false;
  Setup setup_;
  std::deque<Flight<Message>> flights_;
  std::vector<Fence> fences_;
};

TEST(Lock, IsOpenedByWhoFirstWantsIt) {
  Cluster<Dir> cluster(3, n2);
  EXPECT_TRUE(cluster.lock(n0).idle());
  cluster.want(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "open");
  EXPECT_EQ(cluster.deliver(n2, n0), "opened");
  EXPECT_EQ(cluster.deliver(n0, n2), "protocol");  // from here on dir is on its own: a request
  EXPECT_EQ(cluster.deliver(n2, n0), "protocol");  // and the token
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_EQ(cluster.fences(), std::vector{Fence::at(1, fences_per_turn)});
  EXPECT_TRUE(cluster.lock(n1).idle()) << "who does not want it hears nothing of it";
}

TEST(Lock, OfALiveHolderIsKeptThroughAView) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.want(n1);
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1});  // n2 is dead
  cluster.all_adopt();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_FALSE(cluster.inside(n1));
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "it waited before, and did not have to ask again";
  EXPECT_EQ(cluster.fences().back().epoch(), 2U);
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(Lock, IsNotGivenAwayBeforeEverybodyHasReported) {
  Cluster<Dir> cluster(4, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 3, .home = n2});
  cluster.adopt(n1);
  cluster.adopt(n2);
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n1)) << "n0 has not been heard of";
  cluster.adopt(n0);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n1)) << "n0 is inside";
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

// ---- the delay after a crash

TEST(LockDelay, DoesNotConcernATokenKnownToRest) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.leave(n0);  // the token stays
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "nobody else can have been inside";
}

TEST(LockDelay, HoldsBackALockThatTheDeadMayHaveHeld) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n2);  // the home itself, which dies with it
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n0));
  cluster.end_delay();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(LockDelay, ConcernsEveryIdleLockOfAnAlgorithmWithoutAToken) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.leave(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_FALSE(cluster.inside(n0)) << "nobody can tell that n2 was not inside";
  cluster.end_delay();
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
}

TEST(LockDelay, DoesNotConcernALiveHolderAndThoseBehindIt) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.want(n1);
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "who was inside is known: no need to wait";
}

TEST(LockDelay, EndsForNobodyIfNobodyAsks) {
  Cluster<Dir> cluster(3, n2);
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.deliver_all();
  cluster.end_delay();
  EXPECT_TRUE(cluster.lock(n0).idle());
  EXPECT_TRUE(cluster.lock(n1).idle());
}

// ---- who leaves while nobody can be told

TEST(Lock, IsFreeIfItsHolderLeavesBeforeItKnowsTheNewInstance) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n1);
  EXPECT_EQ(cluster.deliver(n0, n1), "report");  // that it is inside
  cluster.leave(n0);
  EXPECT_FALSE(cluster.inside(n1));
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

TEST(Lock, IsKnownToBeFreeIfItsHolderLeftBetweenTwoViews) {
  Cluster<RicartAgrawala> cluster(4, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.change_view({.members = 3, .home = n2});
  cluster.all_adopt();
  cluster.leave(n0);  // its report says that it is inside, but is lost with the home
  cluster.change_view({.members = 2, .home = n1, .delayed = true});
  cluster.all_adopt();
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1)) << "n0 says that it was the one inside, and left";
}

// ---- idle locks

TEST(Lock, LeavesNothingBehindWhenItIsRetired) {
  Cluster<Dir> cluster(3, n2);
  for (const auto node : {n0, n1}) {
    cluster.want(node);
    cluster.deliver_all();
    cluster.leave(node);
    cluster.deliver_all();
  }
  cluster.retire();
  EXPECT_FALSE(cluster.lock(n0).idle());
  cluster.deliver_all();
  for (const auto node : {n0, n1, n2}) EXPECT_TRUE(cluster.lock(node).idle());
  cluster.want(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_TRUE(cluster.fences_grow()) << "also over what was forgotten";
}

TEST(Lock, IsNotTakenFromItsHolderWhenItIsRetired) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.retire();
  cluster.want(n1);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  EXPECT_FALSE(cluster.inside(n1));
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(Lock, IsOpenedAgainForWhoAsksWhileItIsRetired) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver_all();
  cluster.leave(n0);
  cluster.want(n1);  // its wish is on its way
  cluster.retire();
  EXPECT_EQ(cluster.deliver(n1, n2), "open");
  EXPECT_FALSE(cluster.inside(n1));
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
  EXPECT_TRUE(cluster.fences_grow());
}

TEST(Lock, ServesWhoWasAskingInAnInstanceThatIsRetired) {
  Cluster<Dir> cluster(3, n2);
  cluster.want(n0);
  EXPECT_EQ(cluster.deliver(n0, n2), "open");
  EXPECT_EQ(cluster.deliver(n2, n0), "opened");
  cluster.retire();                                // n0's request is on its way,
  EXPECT_EQ(cluster.deliver(n2, n0), "retire");    // but it drops the instance,
  EXPECT_EQ(cluster.deliver(n0, n2), "protocol");  // and the home does not know it any more
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
}

// ---- messages of instances that are not known

TEST(Lock, KeepsAnEarlyMessageUntilTheHomeHasToldOfItsInstance) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver(n0, n2);
  cluster.deliver(n2, n0);
  EXPECT_EQ(cluster.deliver(n0, n1), "protocol");  // may it enter? n1 does not know of the lock
  EXPECT_EQ(cluster.kept(n1), 1U);
  EXPECT_EQ(cluster.deliver(n1, n2), "query");
  EXPECT_EQ(cluster.deliver(n2, n1), "opened");
  EXPECT_EQ(cluster.kept(n1), 0U);
  EXPECT_EQ(cluster.deliver(n1, n0), "protocol");  // yes
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
}

TEST(Lock, DropsALateMessageOfAnInstanceThatIsGone) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver(n0, n2);
  cluster.deliver(n2, n0);
  cluster.deliver(n0, n1);
  cluster.retire();  // before n1's query arrives
  EXPECT_EQ(cluster.deliver(n1, n2), "query");
  EXPECT_EQ(cluster.deliver(n2, n1), "gone");
  EXPECT_EQ(cluster.kept(n1), 0U);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0)) << "by the next instance";
}

TEST(Lock, IgnoresBeingToldTwice) {
  Cluster<RicartAgrawala> cluster(3, n2);
  cluster.want(n0);
  cluster.deliver(n0, n2);
  cluster.deliver(n2, n0);
  cluster.deliver(n0, n1);  // for this n1 sends a query,
  cluster.want(n1);         // and for this a wish
  EXPECT_EQ(cluster.deliver(n1, n2), "query");
  EXPECT_EQ(cluster.deliver(n1, n2), "open");
  EXPECT_EQ(cluster.deliver(n2, n1), "opened");
  const auto before = cluster.lock(n1);
  EXPECT_EQ(cluster.deliver(n2, n1), "opened");
  EXPECT_EQ(cluster.lock(n1), before);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n0));
  cluster.leave(n0);
  cluster.deliver_all();
  EXPECT_TRUE(cluster.inside(n1));
}

// A peer may be wrong about who is the home. What it says then counts for nothing.
TEST(Lock, IgnoresReportsAndWishesWhereItsHomeIsNot) {
  Lock<Dir> lock;
  const auto setup = arrangement(Dir::info, 1, 3, n2);
  Book book;
  const Place place{.setup = &setup, .self = n0, .home = n2, .book = &book};
  using Kind = Lock<Dir>::Kind;
  for (const auto kind : {Kind::report, Kind::open, Kind::query}) {
    Lock<Dir>::Out out;
    lock.receive(place, n1, {.kind = kind, .instance = 7, .count = 99, .holds = true}, out);
    EXPECT_EQ(out, Lock<Dir>::Out{});
  }
  EXPECT_EQ(lock, Lock<Dir>{});
  EXPECT_EQ(book, Book{});
}

}  // namespace
}  // namespace turno::cluster
