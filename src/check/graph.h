// The graph of all reachable worlds, and what can be said about its infinite runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace turno::check {

// Edges are kept in the order in which worlds were expanded, which is the order of their numbers.
class Graph {
 public:
  using World = std::uint32_t;
  // An edge's label names a fair action: one that cannot be put off for ever once it is possible.
  // Zero: the action may be put off for ever (a user need not want in again).
  using Label = std::uint32_t;

  void begin_world() { begins_.push_back(targets_.size()); }
  void add_edge(World target) { targets_.push_back(target); }
  void add_label(Label label) { labels_.push_back(label); }
  void add_cost(std::uint8_t cost) { costs_.push_back(cost); }

  [[nodiscard]] std::size_t worlds() const { return begins_.size(); }
  [[nodiscard]] std::size_t edges() const { return targets_.size(); }
  [[nodiscard]] std::span<const World> targets(World world) const {
    return std::span(targets_).subspan(begin(world), end(world) - begin(world));
  }
  [[nodiscard]] std::span<const Label> labels(World world) const {
    return std::span(labels_).subspan(begin(world), end(world) - begin(world));
  }
  [[nodiscard]] std::size_t bytes() const {
    return begins_.capacity() * 8 + (targets_.capacity() + labels_.capacity()) * 4 +
           costs_.capacity();
  }

  // Every run ends.
  [[nodiscard]] bool acyclic() const;

  // What the cheapest and the dearest run from the first world to an end costs, if each edge was
  // given a cost and every run ends.
  struct Costs {
    std::uint64_t least = 0, most = 0;
    bool operator==(const Costs&) const = default;
  };
  [[nodiscard]] std::optional<Costs> costs() const;

  // A world from which no good world can be reached; the first one found.
  [[nodiscard]] std::optional<World> trap(const std::vector<std::uint8_t>& good) const;

  // A fair cycle among the worlds for which `inside` holds: every fair action that stays possible
  // on it is taken on it.
  struct FairCycle {
    std::vector<World> worlds;         // w0, w1, ..., back to w0 (which is not repeated)
    std::vector<std::size_t> actions;  // which edge of each of them is taken
    std::size_t component = 0;         // how many worlds are strongly connected to it
  };
  [[nodiscard]] std::optional<FairCycle> fair_cycle(const std::vector<std::uint8_t>& inside) const;

 private:
  template <class Visit>
  void for_each_in_order(Visit visit) const;
  [[nodiscard]] std::size_t begin(World world) const { return begins_[world]; }
  [[nodiscard]] std::size_t end(World world) const {
    return world + 1 < begins_.size() ? begins_[world + 1] : targets_.size();
  }

  std::vector<std::size_t> begins_;
  std::vector<World> targets_;
  std::vector<Label> labels_;
  std::vector<std::uint8_t> costs_;
};

}  // namespace turno::check
