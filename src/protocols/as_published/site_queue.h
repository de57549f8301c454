// The queue for a token that prefers its site, as Vieira Neto's thesis (2008) prints it after
// Bertier, Arantes and Sens (its algorithms 1 to 6 and 12), and with its first repairs. To be
// refuted; parts/site_queue/site_queue.h is right.
//
// Who holds the token and has a successor of another site may put a neighbour before it; it then
// tells the neighbour of the one preempted (`preemption`).
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <tuple>
#include <utility>

#include "core/node_id.h"
#include "core/setup.h"
#include "protocols/parts/site_queue/site_queue.h"

namespace turno::protocols::as_published {

struct SiteQueue {
  // What is repaired.
  struct Repairs {
    bool preemption = false;  // a preemption follows `next`, and is not lost on its way
    bool counting = false;    // preemptions are counted once: the count goes with the preempted
    bool pointing = false;  // a father is a neighbour, even if a request is sent on to another site
    bool operator==(const Repairs&) const = default;
  };
  struct Move {
    enum class What : std::uint8_t { nothing, request, preemption, token } what = What::nothing;
    NodeId to;
    NodeId about;                 // whose request it is; who was preempted
    std::uint32_t preempted = 0;  // the count that travels
    bool fresh = false;           // a preemption that nobody has counted yet
  };
  using Moves = boost::container::small_vector<Move, 2>;

  NodeId self;
  std::uint32_t preference = 0;
  const SiteSetup* sites = nullptr;  // null: all are neighbours
  Repairs repairs{};
  NodeId father, next;
  NodeId remote_father;  // "remote_owner"
  bool has = false, busy = false, wanting = false;
  std::uint32_t preempted = 0;  // "num_preempt"

  bool operator==(const SiteQueue&) const = default;
  [[nodiscard]] auto fields() const {
    return std::tie(father, next, remote_father, has, busy, wanting, preempted);
  }

  // It begins like the queue that is right.
  static SiteQueue like(const protocols::SiteQueue& right) {
    SiteQueue queue;
    queue.self = right.self;
    queue.preference = right.preference;
    queue.sites = right.sites;
    queue.father = right.father;
    queue.has = right.has;
    return queue;
  }

  [[nodiscard]] bool near(NodeId node) const {
    return sites == nullptr || sites->together(self, node);
  }
  [[nodiscard]] bool requesting() const { return wanting || busy; }

  Moves acquire() {
    if (has) {
      busy = true;
      return {};
    }
    wanting = true;
    const auto to = father;
    father = nobody;
    return {{Move::What::request, to, self}};
  }

  Moves asked(NodeId origin) {
    if (father != nobody) {
      const auto to = father;
      if (near(origin)) father = origin;  // a request of another site leaves no trace: F5
      return {{Move::What::request, to, origin}};
    }
    if (has && !busy) {
      next = origin;
      return pass(false);
    }
    if (next == nobody) {
      next = origin;
      if (near(origin)) {
        father = origin;
      } else if (!repairs.preemption) {
        remote_father = origin;
      }
      return {};
    }
    if (near(origin) && preempted < preference) {
      ++preempted;
      const auto behind = next;
      next = father = origin;
      const auto count = repairs.counting ? std::exchange(preempted, 0) : preempted;
      return {{Move::What::preemption, origin, behind, count, true}};
    }
    if (near(origin) || !repairs.pointing) father = origin;  // F12
    return {{Move::What::request, next, origin}};            // F4: it may be sent on for ever
  }

  Moves told_of_preemption(NodeId behind, std::uint32_t count) {
    if (repairs.preemption && next != nobody && near(next))
      return {{Move::What::preemption, next, behind, count}};
    preempted += count;  // as printed, the count is added wherever it comes by: F11
    if (next == nobody) {
      next = behind;
      if (!repairs.preemption) remote_father = behind;
      // F3: if the token has come and gone out of use, nobody sends it on.
      return repairs.preemption && has && !busy ? pass(true) : Moves{};
    }
    if (!repairs.preemption)  // F2: `father` may be nobody
      return {{Move::What::preemption, father, behind, preempted}};
    return {{Move::What::request, next, behind}};  // two of other sites: one behind the other
  }

  void arrived(std::uint32_t count) {
    has = busy = true;
    wanting = false;
    preempted += count;
  }

  Moves done() {
    busy = false;
    return next == nobody ? Moves{} : pass(true);
  }

 private:
  // `on_release`: the rules of algorithm 12, otherwise those of algorithm 4, which differ: F14.
  Moves pass(bool on_release) {
    const auto to = next;
    if (!near(to) && (on_release || repairs.counting)) preempted = 0;
    if (father == nobody) father = to;
    if (on_release && !near(to)) remote_father = nobody;
    next = nobody;
    has = false;
    const auto count = preempted;
    if (repairs.counting) preempted = 0;
    return {{Move::What::token, to, nobody, count}};
  }
};

}  // namespace turno::protocols::as_published
