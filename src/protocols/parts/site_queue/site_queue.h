// A queue for one token that prefers neighbours: Naimi and Trehel's, made aware of sites. Bertier,
// Arantes and Sens ("Hierarchical token based mutual exclusion algorithms", 2004) had the idea; the
// rules here differ, because the published ones lose requests (docs/algorithms/grid.md).
//
// A request of one's own site is queued as in Naimi-Trehel. One of another site is kept by the
// first node on its way that has the token or waits for it, and goes into the token when that
// passes by: there the `deferred` wait, oldest first. While somebody is deferred a site may serve
// at most `preference` of its own. In a single site this is Naimi-Trehel, step by step.
//
// It is a value for others to contain: it says what to send, and its owner sends it.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <tuple>

#include "core/node_id.h"
#include "core/setup.h"

namespace turno::protocols {

struct SiteQueue {
  struct Config {
    std::uint32_t preference = 0;  // how often a site may prefer its own in a row
  };

  using Nodes = boost::container::small_vector<NodeId, 2>;

  // A node asks for the token.
  struct Ask {
    NodeId origin;
    std::uint8_t hops = 0;  // up to most_hops
    bool operator==(const Ask&) const = default;
    [[nodiscard]] auto fields() const { return std::tie(origin, hops); }
  };
  // What the token carries for the queue.
  struct Baggage {
    Nodes deferred;               // oldest first
    std::uint32_t preferred = 0;  // grants within the site since somebody is deferred
    bool operator==(const Baggage&) const = default;
    [[nodiscard]] auto fields() const { return std::tie(deferred, preferred); }
  };
  // What is to be sent: a request, or the token. Not both.
  struct Move {
    NodeId ask_to;  // nobody: nothing
    Ask ask{};
    NodeId token_to;  // nobody: it stays
  };

  // A request that went so far re-points whom it passes, or it might chase the token for ever.
  static constexpr std::uint8_t most_hops = 3;

  NodeId self;
  std::uint32_t preference = 0;
  const SiteSetup* sites = nullptr;  // null: all are neighbours
  bool limits_hops = true;           // always, but to show why
  NodeId father;                     // nobody: the last requester, as far as this site knows
  NodeId next;                       // who gets the token after this node
  Nodes deferred;                    // who asked from other sites
  bool has = false;                  // the token is here
  bool busy = false;                 // and in use
  bool wanting = false;
  Baggage baggage;  // of the token, while it is here

  bool operator==(const SiteQueue&) const = default;
  [[nodiscard]] auto fields() const {
    return std::tie(father, next, deferred, has, busy, wanting, baggage);
  }

  // The token is at `rest`. In its site everybody knows it; elsewhere the first node of the site.
  // REQUIRES: the setup outlives the queue.
  static SiteQueue start(const Setup& setup, NodeId self, NodeId rest) {
    auto queue = start(self, rest);
    if (setup.sites.of.empty()) return queue;
    queue.sites = &setup.sites;
    queue.preference = setup.config<Config>().preference;
    if (queue.has || queue.near(rest)) return queue;
    for (std::size_t i = 0; i < setup.size(); ++i) {
      if (!queue.near(NodeId{i})) continue;
      if (NodeId{i} != self) queue.father = NodeId{i};
      break;
    }
    return queue;
  }

  // The same where all are neighbours.
  static SiteQueue start(NodeId self, NodeId rest) {
    SiteQueue queue;
    queue.self = self;
    queue.has = self == rest;
    if (!queue.has) queue.father = rest;
    return queue;
  }

  [[nodiscard]] bool near(NodeId node) const {
    return sites == nullptr || sites->together(self, node);
  }
  [[nodiscard]] bool in_use() const { return has && busy; }

  // This node wants the token. If it is here, it is taken.
  Move acquire() {
    if (has) {
      busy = true;
      return {};
    }
    wanting = true;
    const auto to = father;
    father = nobody;
    return {.ask_to = to, .ask = {.origin = self}};
  }

  Move asked(const Ask& ask) {
    if (father != nobody) return passed_by(ask);
    if (has && !busy) {
      next = ask.origin;
      return pass();
    }
    if (next == nobody) {
      next = ask.origin;
      if (near(ask.origin)) father = ask.origin;  // else stay the one whom the site asks
    } else if (near(ask.origin)) {
      deferred.insert(deferred.begin(), next);  // next is of another site: it waits a little longer
      next = father = ask.origin;
    } else {
      deferred.push_back(ask.origin);
    }
    return {};
  }

  void arrived(const Baggage& carried) {
    has = busy = true;
    wanting = false;
    baggage = carried;
  }

  // The token is not needed here any more.
  Move done() {
    busy = false;
    return pass();
  }

  // The token as it leaves. Call it once for each Move with a `token_to`.
  Baggage take_baggage() {
    auto carried = std::move(baggage);
    baggage = {};
    return carried;
  }

 private:
  Move passed_by(const Ask& ask) {
    if ((has || wanting) && !near(ask.origin)) {
      deferred.push_back(ask.origin);  // the token comes here anyway
      return {};
    }
    const auto to = father;
    if (near(ask.origin) || (limits_hops && ask.hops >= most_hops)) father = ask.origin;
    if (sites == nullptr) return {.ask_to = to, .ask = {ask.origin}};  // there they do not matter
    const auto hops = std::min<std::uint8_t>(static_cast<std::uint8_t>(ask.hops + 1), most_hops);
    return {.ask_to = to, .ask = {ask.origin, hops}};
  }

  Move pass() {
    if (next == nobody && deferred.empty() && baggage.deferred.empty()) return {};
    auto& line = baggage.deferred;
    const bool local = next != nobody && near(next);
    if (next != nobody && !local) line.push_back(next);
    line.insert(line.end(), deferred.begin(), deferred.end());
    auto to = next;
    if (local && (line.empty() || baggage.preferred < preference)) {
      baggage.preferred = line.empty() ? 0 : baggage.preferred + 1;
    } else {
      to = line.front();
      line.erase(line.begin());
      if (local) line.push_back(next);
      baggage.preferred = 0;
    }
    if (father == nobody) father = to;
    next = nobody;
    deferred.clear();
    has = false;
    return {.token_to = to};
  }
};

}  // namespace turno::protocols
