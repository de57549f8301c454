// A node with one lock, through views: what the checker explores and the simulator runs, so that
// recovery is known to be right before it meets a socket. The daemon does the same for many locks
// (node/lock_table.h) with the same cluster::Lock.
//
// Nodes are numbered for ever here; inside a view they are numbered from 0 in the same order. The
// home is the last member, so that both a crash and a join can move it.
//
// Assumes channels that keep order (as the links of a cluster do), and a registry that lets nobody
// be taken for dead who lives.
#pragma once

#include <boost/container/small_vector.hpp>

#include "cluster/lock.h"
#include "core/protocol.h"

namespace turno::cluster {

template <Protocol P>
struct Recovering {
  static constexpr Info info = P::info;
  // Recovery without one of its rules, for the checker to refute.
  enum class Without : std::uint8_t { nothing, all_reports, epochs, fence_epoch, fence_floor };

  struct Message : LockMessage<P> {
    std::uint32_t epoch = 0;
    static constexpr std::array<std::string_view, 8> labels = {
        "kind", "instance", "holder", "count", "holds", "free", "inner", "epoch"};
    [[nodiscard]] auto fields() const {
      return std::tuple_cat(LockMessage<P>::fields(), std::tie(epoch));
    }
    bool operator==(const Message&) const = default;
  };
  using Out = Effects<Message>;
  using Kind = typename LockMessage<P>::Kind;

  struct Early {
    NodeId from;
    Instance instance = 0;
    typename P::Message inner{};
    [[nodiscard]] auto fields() const { return std::tie(from, instance, inner); }
    bool operator==(const Early&) const = default;
  };
  enum class Life : std::uint8_t { absent, present, crashed };

  NodeId self;
  const Setup* setup = nullptr;  // of the first view
  bool joined = false;           // was not a member of the first view
  Without without = Without::nothing;

  Life life = Life::present;
  std::uint32_t epoch = 0;  // of the view that this node knows; 0: none yet
  NodeSet members;
  Lock<P> lock;
  Book book;
  boost::container::small_vector<Early, 2> early;  // of instances that it does not know yet
  std::uint8_t retired = 0;                        // how often it retired the lock

  static constexpr std::array<std::string_view, 7> labels = {"life", "epoch", "members", "lock",
                                                             "book", "early", "retired"};
  [[nodiscard]] auto fields() const {
    return std::tie(life, epoch, members, lock, book, early, retired);
  }
  bool operator==(const Recovering&) const = default;

  static Recovering resume(const Setup& setup, NodeId self, std::span<const NodeId>) {
    Recovering node;
    node.self = self;
    node.setup = &setup;
    node.without = static_cast<Without>(setup.departure);
    node.joined = setup.absent.contains(self);
    if (node.joined) {
      node.life = Life::absent;
      return node;
    }
    node.epoch = setup.epoch;
    for (std::size_t i = 0; i < setup.size(); ++i)
      if (!setup.absent.contains(NodeId{i})) node.members.insert(NodeId{i});
    if (node.place().at_home()) node.lock.begin_home({});
    return node;
  }

  void request(Demand, Out& out) {
    typename Lock<P>::Out inner;
    lock.request(place(), inner);
    perform(inner, out);
  }
  void release(Out& out) {
    if (!present()) return;  // taken for dead
    typename Lock<P>::Out inner;
    lock.release(place(), inner);
    perform(inner, out);
  }

  [[nodiscard]] bool ready(const Message& message) const {
    return !present() || message.epoch <= epoch || without == Without::epochs;
  }

  void receive(NodeId from, const Message& message, Out& out) {
    const bool of_this_view = message.epoch == epoch || without == Without::epochs;
    if (!present() || !of_this_view || !members.contains(from)) return;
    const auto sender = number_in_view(from);
    if (!lock.knows(message)) return keep(sender, message, out);
    if (message.kind == Kind::gone) return drop_early(message.instance);
    typename Lock<P>::Out inner;
    lock.receive(place(), sender, message, inner);
    if (message.kind == Kind::report && without == Without::all_reports) {
      lock.home.missing.clear();
      lock.conclude(place(), inner);
    }
    deliver_early(inner);
    perform(inner, out);
  }

  void crash() {
    const auto dead = self;
    *this = Recovering{.self = dead, .setup = setup, .joined = joined, .without = without};
    life = Life::crashed;
  }
  void join() { life = Life::present; }

  void adopt(const ViewChange& view, Out& out) {
    epoch = view.epoch;
    members = view.members;
    book = {};
    early.clear();
    const auto here = place();
    if (here.at_home()) {
      NodeSet all;
      for (std::size_t i = 0; i < members.size(); ++i) all.insert(NodeId{i});
      lock.begin_home(all);
    } else {
      lock.home = {};
    }
    typename Lock<P>::Out inner;
    lock.adopt(here, inner);
    perform(inner, out);
  }

  [[nodiscard]] bool retirable() const { return present() && lock.retirable(); }
  void retire(Out& out) {
    ++retired;
    typename Lock<P>::Out inner;
    lock.retire(place(), inner);
    perform(inner, out);
  }

  [[nodiscard]] bool present() const { return life == Life::present; }
  [[nodiscard]] bool crashed() const { return life == Life::crashed; }
  // A join and a crash each change the view once.
  [[nodiscard]] std::uint32_t changes() const {
    return (joined && life != Life::absent ? 1U : 0U) + (crashed() ? 1U : 0U);
  }

 private:
  [[nodiscard]] Place place() {
    const NodeId home{members.size() - 1};
    const auto fenced = without == Without::fence_epoch ? setup->epoch : epoch;
    if (without == Without::fence_floor) book.floor = 0;
    return {.setup = &setup->arrange(fenced, members.size(), home),
            .self = number_in_view(self),
            .home = home,
            .book = &book};
  }

  [[nodiscard]] NodeId number_in_view(NodeId node) const {
    std::size_t number = 0;
    members.for_each([&](NodeId member) { number += member < node ? 1U : 0U; });
    return NodeId{number};
  }
  [[nodiscard]] NodeId number_for_ever(NodeId in_view) const {
    NodeId found;
    std::size_t number = 0;
    members.for_each([&](NodeId member) {
      if (number++ == in_view.index()) found = member;
    });
    return found;
  }

  // Of an instance that this node does not know (yet, or any more) it asks the home.
  void keep(NodeId from, const Message& message, Out& out) {
    const auto here = place();
    if (here.at_home()) return;  // the home knows all that live
    const bool asked = std::any_of(early.begin(), early.end(), [&](const Early& other) {
      return other.instance == message.instance;
    });
    early.push_back({from, message.instance, message.inner});
    if (asked) return;
    typename Lock<P>::Out inner;
    inner.send(here.home, {.kind = Kind::query, .instance = message.instance});
    perform(inner, out);
  }
  void drop_early(Instance instance) {
    early.erase(std::remove_if(early.begin(), early.end(),
                               [&](const Early& other) { return other.instance == instance; }),
                early.end());
  }
  void deliver_early(typename Lock<P>::Out& out) {
    if (early.empty() || lock.phase != Lock<P>::Phase::open) return;
    const auto waiting = early;
    const auto instance = lock.instance;
    drop_early(instance);
    for (const auto& message : waiting)
      if (message.instance == instance)
        lock.receive(place(), message.from, {.instance = instance, .inner = message.inner}, out);
  }

  void perform(const typename Lock<P>::Out& inner, Out& out) {
    for (const auto& send : inner.sends()) {
      const Message message{send.message, epoch};
      if (send.to != inner.everyone) {
        out.send(number_for_ever(send.to), message);
        continue;
      }
      members.for_each([&](NodeId member) {
        if (member != self) out.send(member, message);
      });
    }
    if (inner.granted()) out.grant(*inner.granted());
  }
};

}  // namespace turno::cluster
