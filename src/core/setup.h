// What all nodes of one thing know from the start: how many they are and in what shape, and what
// the thing is. What its algorithm wants to know beyond that is declared with the algorithm.
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/node_id.h"

namespace turno {

// A room. The first nodes are the groups' managers, the rest are processes.
struct RoomSetup {
  static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t groups = 0;
  std::vector<std::uint32_t> capacity;  // of each group; empty: unlimited
  [[nodiscard]] std::uint32_t capacity_of(NodeId group) const {
    return group.index() < capacity.size() ? capacity[group.index()] : unlimited;
  }
};

// Which instances of which resources there are. Instances are numbered through all types.
struct ResourceSetup {
  std::vector<std::uint16_t> type_of;  // of each instance
  [[nodiscard]] std::uint16_t types() const {
    std::uint16_t most = 0;
    for (auto type : type_of) most = std::max<std::uint16_t>(most, type + 1);
    return most;
  }
};

// Which nodes are near to each other.
struct SiteSetup {
  std::vector<std::uint16_t> of;  // of each node; empty: all are in one site
  [[nodiscard]] std::uint16_t at(NodeId node) const {
    return of.empty() ? std::uint16_t{0} : of[node.index()];
  }
  [[nodiscard]] bool together(NodeId a, NodeId b) const { return at(a) == at(b); }
};

struct Setup {
  std::vector<NodeId> father;                // a rooted tree; the root is its own father
  std::vector<std::vector<NodeId>> quorums;  // of each node; empty unless the algorithm votes
  std::uint32_t epoch = 1;                   // of the view: the high bits of every fence
  std::uint32_t permits = 1;                 // of a semaphore: how many may be inside
  RoomSetup room{};
  ResourceSetup resources{};
  SiteSetup sites{};
  std::uint8_t departure = 0;  // 0: the algorithm; k: its k-th departure, to be refuted

  [[nodiscard]] std::size_t size() const { return father.size(); }
  [[nodiscard]] NodeId root() const {
    for (std::size_t i = 0; i < father.size(); ++i)
      if (father[i] == NodeId{i}) return NodeId{i};
    return nobody;
  }

  // The parameters of an algorithm, a value of a type that it declares (`Config`). As they are if
  // nobody has set them, or as `configure` left them.
  template <class Config>
  [[nodiscard]] Config config() const {
    const auto* found = find<Config>();
    return found == nullptr ? Config{} : *found;
  }
  // Null: nobody has set them. The answer lives until the next `configure`.
  template <class Config>
  [[nodiscard]] const Config* find() const {
    for (const auto& config : configs)
      if (const auto* found = std::any_cast<Config>(&config)) return found;
    return nullptr;
  }
  // To be changed.
  template <class Config>
  Config& configure() {
    for (auto& config : configs)
      if (auto* found = std::any_cast<Config>(&config)) return *found;
    return *std::any_cast<Config>(&configs.emplace_back(Config{}));
  }

  std::vector<std::any> configs;  // one of a type
};

}  // namespace turno
