// Requests whose answer waits until this node has left: the latest of each node.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <tuple>

#include "core/node_id.h"

namespace turno::protocols {

class Deferred {
 public:
  struct Request {
    NodeId node;
    std::uint64_t time = 0;
    bool curious = false;  // wants to know this node's slot as soon as it has one
    [[nodiscard]] auto fields() const { return std::tie(node, time, curious); }
    bool operator==(const Request&) const = default;
  };

  void add(NodeId node, std::uint64_t time) {
    const auto found = place(node);
    if (found == requests_.end() || found->node != node) {
      requests_.insert(found, {node, time});
    } else if (found->time < time) {
      *found = {node, time};
    }
  }
  void erase(NodeId node) {
    const auto found = place(node);
    if (found != requests_.end() && found->node == node) requests_.erase(found);
  }
  // The request of a node with this time, or nothing.
  [[nodiscard]] Request* find(NodeId node, std::uint64_t time) {
    const auto found = place(node);
    const bool here = found != requests_.end() && found->node == node && found->time == time;
    return here ? &*found : nullptr;
  }
  [[nodiscard]] bool contains(NodeId node, std::uint64_t time) const {
    return std::any_of(requests_.begin(), requests_.end(), [&](const Request& request) {
      return request.node == node && request.time == time;
    });
  }
  void clear() { requests_.clear(); }
  [[nodiscard]] auto begin() { return requests_.begin(); }
  [[nodiscard]] auto end() { return requests_.end(); }

  [[nodiscard]] auto fields() const { return std::tie(requests_); }
  bool operator==(const Deferred&) const = default;

 private:
  boost::container::small_vector<Request, 2>::iterator place(NodeId node) {
    return std::lower_bound(
        requests_.begin(), requests_.end(), node,
        [](const Request& request, NodeId wanted) { return request.node < wanted; });
  }

  boost::container::small_vector<Request, 2> requests_;  // by node
};

}  // namespace turno::protocols
