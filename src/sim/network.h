// How long a message takes, within a site and between sites, and which arrive in the order in which
// they were sent.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "core/random.h"
#include "sim/options.h"

namespace turno::sim {

class Network {
 public:
  explicit Network(const Options& options) : options_(options) {}

  // `exempt`: takes no longer between sites than within one.
  Time delay(NodeId from, NodeId to, bool exempt, Random& random) {
    if (!sited()) return options_.delay.draw(random);
    const bool far = !options_.setup.sites.together(from, to);
    ++(far ? remote_ : local_);
    return (far && !exempt ? options_.sites.remote : options_.delay).draw(random);
  }
  // If channels keep order: no earlier than the message before it.
  Time arrival(NodeId from, NodeId to, Time at) {
    if (!options_.fifo) return at;
    auto& last = last_arrival_[(std::uint64_t{from.value} << 32) | to.value];
    last = std::max(last, at);
    return last;
  }

  [[nodiscard]] bool sited() const { return !options_.setup.sites.of.empty(); }
  [[nodiscard]] std::uint64_t local() const { return local_; }
  [[nodiscard]] std::uint64_t remote() const { return remote_; }

 private:
  const Options& options_;
  boost::unordered_flat_map<std::uint64_t, Time> last_arrival_;
  std::uint64_t local_ = 0, remote_ = 0;
};

}  // namespace turno::sim
