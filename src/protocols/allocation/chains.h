// What the control token of `brokered` knows of each instance: a chain of users, each handing the
// token to the next. And the choice of instances that lets a request start soonest.
//
// Times are hints of when a chain ends. Wrong ones cost time, never correctness.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <tuple>

#include "core/setup.h"
#include "protocols/allocation/config.h"
#include "protocols/allocation/needs.h"
#include "protocols/allocation/tokens.h"

namespace turno::protocols {

// The last in the chain of one instance. Tenures are numbered: each has one user and one successor.
struct Chain {
  NodeId last;               // nobody: the token has not left the control token yet
  std::uint32_t tenure = 0;  // of the last
  std::uint64_t ends = 0;    // about when the last leaves
  bool operator==(const Chain&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(last, tenure, ends); }
};
using Chains = boost::container::small_vector<Chain, 4>;

// From where and when a request is planned.
struct Planning {
  const Setup& setup;
  const AllocationConfig& config;
  const Chains& chains;
  NodeId broker;
  std::uint64_t now = 0;

  [[nodiscard]] std::uint64_t latency(NodeId from, NodeId to) const {
    if (from == to) return 0;
    const bool near = setup.sites.together(from, to);
    return static_cast<std::uint64_t>(near ? config.local_ns : config.remote_ns);
  }
  // When the instance's token can be at the node.
  [[nodiscard]] std::uint64_t available(std::size_t instance, NodeId node) const {
    const auto& chain = chains[instance];
    if (chain.last == nobody || chain.last == node) return now + latency(broker, node);
    const auto told = now + latency(broker, chain.last);
    return std::max(chain.ends, told) + latency(chain.last, node);
  }
  // When the node can have all that it needs.
  [[nodiscard]] std::uint64_t start(NodeId node, const Needs& needs) const {
    std::uint64_t latest = 0;
    boost::container::small_vector<std::uint64_t, 16> times;
    for (std::size_t type = 0; type < needs.types(); ++type) {
      if (needs.of(type) == 0) continue;
      times.clear();
      for (std::size_t i = 0; i < chains.size(); ++i)
        if (setup.resources.type_of[i] == type) times.push_back(available(i, node));
      const auto nth = times.begin() + (needs.of(type) - 1);
      std::nth_element(times.begin(), nth, times.end());
      latest = std::max(latest, *nth);
    }
    return latest;
  }
  // Of what is there by then: own tokens, then those whose chains end last (the others may serve
  // somebody who could start earlier), then near ones.
  [[nodiscard]] Instances choice(NodeId node, const Needs& needs, std::uint64_t start) const {
    Instances chosen, some;
    for (std::size_t type = 0; type < needs.types(); ++type) {
      if (needs.of(type) == 0) continue;
      some.clear();
      for (std::uint32_t i = 0; i < chains.size(); ++i)
        if (setup.resources.type_of[i] == type && available(i, node) <= start) some.push_back(i);
      std::sort(some.begin(), some.end(),
                [&](auto a, auto b) { return rank(a, node) < rank(b, node); });
      chosen.insert(chosen.end(), some.begin(), some.begin() + needs.of(type));
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  [[nodiscard]] std::tuple<bool, std::uint64_t, bool, std::uint32_t> rank(std::uint32_t instance,
                                                                          NodeId node) const {
    const auto& chain = chains[instance];
    const bool near = chain.last == nobody || setup.sites.together(chain.last, node);
    return {chain.last != node, ~chain.ends, !near, instance};
  }
};

}  // namespace turno::protocols
