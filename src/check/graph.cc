#include "check/graph.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <deque>

#include "core/assert.h"

namespace turno::check {

// Worlds of which all predecessors have been seen, one after the other. Those on a cycle, and
// behind one, are not among them.
template <class Visit>
void Graph::for_each_in_order(Visit visit) const {
  std::vector<std::uint32_t> predecessors(worlds(), 0);
  for (auto target : targets_) ++predecessors[target];
  std::vector<World> free;
  for (World world = 0; world < worlds(); ++world)
    if (predecessors[world] == 0) free.push_back(world);
  while (!free.empty()) {
    const auto world = free.back();
    free.pop_back();
    visit(world);
    for (auto target : targets(world))
      if (--predecessors[target] == 0) free.push_back(target);
  }
}

bool Graph::acyclic() const {
  std::size_t seen = 0;
  for_each_in_order([&](World) { ++seen; });
  return seen == worlds();
}

std::optional<Graph::Costs> Graph::costs() const {
  if (costs_.size() != targets_.size() || !acyclic()) return std::nullopt;
  constexpr Costs unreached{~std::uint64_t{0}, 0};
  std::vector<Costs> until(worlds(), unreached);
  until.front() = {};
  Costs all = unreached;
  const auto merge = [](Costs& into, const Costs& other) {
    into = {std::min(into.least, other.least), std::max(into.most, other.most)};
  };
  for_each_in_order([&](World world) {
    const auto here = until[world];
    if (here == unreached) return;  // only by a fault
    const auto next = targets(world);
    if (next.empty()) merge(all, here);
    for (std::size_t i = 0; i < next.size(); ++i) {
      const std::uint64_t cost = costs_[begin(world) + i];
      merge(until[next[i]], {here.least + cost, here.most + cost});
    }
  });
  return all;
}

std::optional<Graph::World> Graph::trap(const std::vector<std::uint8_t>& good) const {
  // Most edges lead to worlds with larger numbers, so a sweep from the end settles most at once.
  auto reaches = good;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto i = worlds(); i-- > 0;) {
      if (reaches[i] != 0) continue;
      for (auto target : targets(static_cast<World>(i))) {
        if (reaches[target] == 0) continue;
        reaches[i] = 1;
        changed = true;
        break;
      }
    }
  }
  const auto found = std::find(reaches.begin(), reaches.end(), 0);
  if (found == reaches.end()) return std::nullopt;
  return static_cast<World>(found - reaches.begin());
}

namespace {

using World = Graph::World;
using Label = Graph::Label;
using Labels = boost::unordered_flat_set<Label>;

constexpr std::uint32_t none = 0xffffffff;

// Tarjan's algorithm without recursion. Calls visit(members) for each strongly connected component
// that contains a cycle.
template <class Visit>
void for_each_component(const Graph& graph, const std::vector<std::uint8_t>& inside, Visit visit) {
  const auto n = graph.worlds();
  std::vector<std::uint32_t> index(n, none);
  std::vector<std::uint32_t> low(n, 0);
  std::vector<std::uint8_t> stacked(n, 0);
  std::vector<World> stack;
  struct Frame {
    World world;
    std::size_t next;
  };
  std::vector<Frame> frames;
  std::uint32_t counter = 0;

  const auto open = [&](World world) {
    index[world] = low[world] = counter++;
    stack.push_back(world);
    stacked[world] = 1;
    frames.push_back({world, 0});
  };
  const auto close = [&](World world) {
    std::vector<World> members;
    World member = 0;
    do {
      member = stack.back();
      stack.pop_back();
      stacked[member] = 0;
      members.push_back(member);
    } while (member != world);
    const auto targets = graph.targets(world);
    const bool loop = std::find(targets.begin(), targets.end(), world) != targets.end();
    return members.size() > 1 || loop ? visit(members) : false;
  };

  for (World root = 0; root < n; ++root) {
    if (inside[root] == 0 || index[root] != none) continue;
    open(root);
    while (!frames.empty()) {
      auto& frame = frames.back();
      const auto world = frame.world;
      const auto targets = graph.targets(world);
      if (frame.next < targets.size()) {
        const auto target = targets[frame.next++];
        if (inside[target] == 0) continue;
        if (index[target] == none) {
          open(target);
        } else if (stacked[target] != 0) {
          low[world] = std::min(low[world], index[target]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty())
        low[frames.back().world] = std::min(low[frames.back().world], low[world]);
      if (low[world] == index[world] && close(world)) return;
    }
  }
}

class Component {
 public:
  Component(const Graph& graph, std::vector<World> members)
      : graph_(graph), members_(std::move(members)), set_(members_.begin(), members_.end()) {}

  // Some run stays in here and takes every fair action that stays possible.
  [[nodiscard]] bool fair() const {
    Labels always = enabled(members_.front());
    Labels taken;
    for (auto world : members_) {
      const auto here = enabled(world);
      boost::unordered::erase_if(always, [&](Label label) { return !here.contains(label); });
      const auto targets = graph_.targets(world);
      const auto labels = graph_.labels(world);
      for (std::size_t i = 0; i < targets.size(); ++i)
        if (set_.contains(targets[i])) taken.insert(labels[i]);
    }
    return std::all_of(always.begin(), always.end(),
                       [&](Label label) { return taken.contains(label); });
  }

  // A cycle that is fair, found by walking to the nearest place where some owed action is taken or
  // not possible, until nothing is owed. REQUIRES: fair().
  [[nodiscard]] Graph::FairCycle cycle() const {
    Graph::FairCycle cycle;
    cycle.component = members_.size();
    const auto start = members_.back();
    auto at = start;
    auto owed = enabled(start);
    while (!owed.empty() || cycle.worlds.empty()) {
      const auto path = walk(at, [&](World world, std::size_t edge) {
        if (owed.empty()) return true;
        const auto here = enabled(world);
        return owed.contains(graph_.labels(world)[edge]) ||
               std::any_of(owed.begin(), owed.end(), [&](Label l) { return !here.contains(l); });
      });
      follow(path, at, owed, cycle);
    }
    if (at != start)
      follow(walk(at, [&](World w, std::size_t e) { return graph_.targets(w)[e] == start; }), at,
             owed, cycle);
    return cycle;
  }

 private:
  using Path = std::vector<std::size_t>;  // edges

  [[nodiscard]] Labels enabled(World world) const {
    Labels labels;
    for (auto label : graph_.labels(world))
      if (label != 0) labels.insert(label);
    return labels;
  }

  void follow(const Path& path, World& at, Labels& owed, Graph::FairCycle& cycle) const {
    for (auto edge : path) {
      const auto here = enabled(at);
      boost::unordered::erase_if(owed, [&](Label label) { return !here.contains(label); });
      owed.erase(graph_.labels(at)[edge]);
      cycle.worlds.push_back(at);
      cycle.actions.push_back(edge);
      at = graph_.targets(at)[edge];
    }
  }

  // The shortest path from a world through an edge that satisfies `goal`.
  template <class Goal>
  [[nodiscard]] Path walk(World from, Goal goal) const {
    struct Origin {
      World world;
      std::size_t edge;
    };
    boost::unordered_flat_map<World, Origin> origin;
    std::deque<World> todo{from};
    origin[from] = {from, 0};
    while (!todo.empty()) {
      const auto world = todo.front();
      todo.pop_front();
      const auto targets = graph_.targets(world);
      for (std::size_t edge = 0; edge < targets.size(); ++edge) {
        if (!set_.contains(targets[edge])) continue;
        if (goal(world, edge)) {
          Path path{edge};
          for (auto at = world; at != from; at = origin[at].world) path.push_back(origin[at].edge);
          std::reverse(path.begin(), path.end());
          return path;
        }
        if (origin.emplace(targets[edge], Origin{world, edge}).second)
          todo.push_back(targets[edge]);
      }
    }
    TURNO_ASSERT(false && "a strongly connected component has a path to each of its edges");
    return {};
  }

  const Graph& graph_;
  std::vector<World> members_;
  boost::unordered_flat_set<World> set_;
};

}  // namespace

std::optional<Graph::FairCycle> Graph::fair_cycle(const std::vector<std::uint8_t>& inside) const {
  std::optional<FairCycle> found;
  for_each_component(*this, inside, [&](std::vector<World>& members) {
    std::sort(members.begin(), members.end(), std::greater<>());  // the earliest world last
    const Component component(*this, members);
    if (!component.fair()) return false;
    found = component.cycle();
    return true;
  });
  return found;
}

}  // namespace turno::check
