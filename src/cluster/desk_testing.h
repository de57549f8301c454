// Desks of one lock at several members, driven by hand: for stories about them.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "cluster/desk.h"
#include "core/text/describe.h"
#include "protocols/arrangement.h"

namespace turno::cluster {

inline constexpr NodeId n0{0}, n1{1}, n2{2}, n3{3};

// The members of a view, a user or two of each, and a driver that delivers as the test says.
// Whoever dies is the last, so that the others keep their numbers.
template <class P>
class Cluster {
 public:
  Cluster(std::size_t members, NodeId home, Rules rules = {}) : nodes_(members), rules_(rules) {
    change_view({.members = members, .home = home});
    for (std::size_t i = 0; i < members; ++i) nodes_[i].epoch = epoch_;
    nodes_[home.index()].desk.begin_home({}, false);
  }

  void want(NodeId node, UserId user = 1) { act(node, {.kind = Kind::ask, .user = user}); }
  void try_once(NodeId node, UserId user = 1) { act(node, {.kind = Kind::attempt, .user = user}); }
  void leave(NodeId node) { act(node, {.kind = Kind::leave, .fence = desk(node).turn.fence}); }
  void withdraw(NodeId node, UserId user = 1) { act(node, {.kind = Kind::withdraw, .user = user}); }
  void linger(NodeId node) { act(node, {.kind = Kind::linger}); }
  void spoil(NodeId node) { act(node, {.kind = Kind::spoil}); }
  // The user of one member moves to another, which is told.
  void move(NodeId from, NodeId to, UserId user) {
    const auto fence = desk(from).turn.fence;
    act(from, {.kind = Kind::bequeath, .fence = fence});
    act(to, {.kind = Kind::inherit, .user = user, .fence = fence});
    nodes_[to.index()].testator = from;
  }
  void leave_with(NodeId node, Fence fence) { act(node, {.kind = Kind::leave, .fence = fence}); }
  void retire() { act(home_, {.kind = Kind::retire}); }
  void end_delay() {
    nodes_[home_.index()].ledger.delayed = false;
    act(home_, {.kind = Kind::delay_over});
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
    gone_.clear();
    for (auto i = view.members; i < nodes_.size(); ++i) gone_.insert(NodeId{i});
    nodes_.resize(view.members);
    setup_ = protocols::arrangement(P::info, epoch_, view.members, home_);
    flights_.clear();
  }
  void adopt(NodeId node) {
    auto& self = nodes_[node.index()];
    self.epoch = epoch_;
    NodeSet all;
    for (std::size_t i = 0; i < nodes_.size(); ++i) all.insert(NodeId{i});
    self.ledger = {.delayed = delayed_, .unreported = all};
    self.ledger.unreported.erase(node);
    act(node, {.kind = Kind::adopt,
               .gone = &gone_,
               .missing = node == home_ ? &all : nullptr,
               .inherits = self.testator != nobody && gone_.contains(self.testator)});
    if (node != home_) flights_.push_back({node, home_, {{.kind = Note::Kind::reported}}});
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
      if (message.kind == Note::Kind::reported)
        nodes_[receiver.index()].ledger.unreported.erase(sender);
      act(receiver, {.kind = Kind::receive, .from = sender, .note = &message});
      return std::string(kind_name(message));
    }
    return "nothing";
  }
  void deliver_all() {
    while (!flights_.empty()) deliver(flights_.front().from, flights_.front().to);
  }

  [[nodiscard]] const Desk<P>& desk(NodeId node) const { return nodes_[node.index()].desk; }
  [[nodiscard]] bool idle(NodeId node) const {
    return desk(node).idle(nodes_[node.index()].ledger);
  }
  [[nodiscard]] bool inside(NodeId node) const { return desk(node).turn.is_used(); }
  [[nodiscard]] UserId user_inside(NodeId node) const { return desk(node).turn.holder; }
  [[nodiscard]] const std::vector<Fence>& fences() const { return fences_; }
  [[nodiscard]] std::size_t kept(NodeId node) const { return desk(node).orphans.size(); }
  [[nodiscard]] std::size_t refused() const { return refused_; }
  [[nodiscard]] std::size_t sent() const { return sent_; }
  [[nodiscard]] bool fences_grow() const {
    for (std::size_t i = 1; i < fences_.size(); ++i)
      if (fences_[i] <= fences_[i - 1]) return false;
    return true;
  }

 private:
  using Message = typename Desk<P>::Message;
  using Kind = DeskEvent::Kind;
  struct Node {
    Desk<P> desk;
    Ledger ledger;
    std::uint32_t epoch = 0;
    NodeId testator;  // from which a user moved here
  };

  void act(NodeId at, const DeskEvent& event) {
    auto& node = nodes_[at.index()];
    ASSERT_EQ(node.epoch, epoch_) << "a node acts in a view that it does not know";
    const Context context{&setup_, at, home_, &node.ledger, rules_};
    typename Desk<P>::Out out;
    node.desk.step(context, event, out);
    out.for_each_send(at, nodes_.size(), [&](NodeId to, const Message& message) {
      flights_.push_back({at, to, message});
      ++sent_;
    });
    if (out.granted()) fences_.push_back(*out.granted());
    refused_ += out.refused != no_user ? 1U : 0U;
  }

  std::vector<Node> nodes_;
  const Rules rules_;
  std::uint32_t epoch_ = 0;
  NodeId home_;
  NodeSet gone_;
  bool delayed_ = false;
  Setup setup_;
  std::deque<Flight<Message>> flights_;
  std::vector<Fence> fences_;
  std::size_t refused_ = 0, sent_ = 0;
};

}  // namespace turno::cluster
