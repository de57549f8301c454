// A permit beside a lock: what decides the algorithm of semaphores. A semaphore can also be a
// store with one type, by each of the algorithms of reservations.
#include <fmt/core.h>

#include <array>

#include "families.h"

namespace turno::bench {

namespace {

constexpr std::array allocators = {"bouabdallah-laforest", "brokered", "central-allocator"};

// What is compared: a lock, a semaphore, a store.
enum class Kind { lock, permit, reservation };

// What is asked for in turn: taken and given back, one after the other.
Cycle cycle(Kind kind, const std::vector<std::string>& names, int permits) {
  Cycle all;
  for (const auto& name : names) {
    switch (kind) {
      case Kind::lock:
        all.requests.push_back({command({"LOCK", name})});
        all.requests.push_back({command({"UNLOCK", name})});
        break;
      case Kind::permit:
        all.requests.push_back({command({"PERMIT", name, "OF", std::to_string(permits)})});
        all.requests.push_back({command({"RELEASE", name})});
        break;
      case Kind::reservation:
        all.requests.push_back({command({"RESERVE", fmt::format("x:1/{}", permits), "IN", name})});
        all.requests.push_back({command({"RETURN", "IN", name})});
        break;
    }
  }
  return all;
}

struct Load {
  std::string title;
  int connections;
  int permits;
  bool shared;  // all want the same, at all nodes; else each has its own, at one node
  // That each has: some things have their home, or their coordinator, at the node that is asked.
  int things = 1;

  [[nodiscard]] std::vector<std::string> names(int connection) const {
    std::vector<std::string> all;
    all.reserve(static_cast<std::size_t>(things));
    for (int k = 0; k < things; ++k)
      all.push_back(shared ? "shared" : fmt::format("of-{}-{}-{}", connections, connection, k));
    return all;
  }
};

void measure_in_clusters_of(std::size_t nodes, Place& place) {
  std::vector<std::unique_ptr<TurnoCluster>> clusters;
  clusters.reserve(allocators.size());
  for (const auto* allocator : allocators)
    clusters.push_back(std::make_unique<TurnoCluster>(
        place.turno(), place.path() / fmt::format("{}-{}", allocator, nodes), nodes,
        std::vector<std::string>{"--allocator", allocator}));
  const auto run = [&](const TurnoCluster& cluster, Kind kind, const Load& load) {
    auto addresses = cluster.tcp();
    if (!load.shared) addresses.resize(1);
    const auto cycles = cycles_of(load.connections,
                                  [&](int i) { return cycle(kind, load.names(i), load.permits); });
    return load.things * cycles_per_second(addresses, cycles, place.time());
  };
  std::vector<Group> groups;
  for (const auto& load :
       {Load{"one connection, ten of 100 permits in turn", 1, 100, false, 10},
        Load{fmt::format("{} connections, each one of its own, 100 permits", connections),
             connections, 100, false},
        Load{fmt::format("{} connections at all nodes want 4 permits (or one lock)", connections),
             connections, 4, true}}) {
    Group group{fmt::format("A permit and back beside a lock, {} {}: {}", nodes,
                            nodes == 1 ? "node" : "nodes", load.title),
                {"lock"},
                {{"lock", [=, &clusters] { return run(*clusters[0], Kind::lock, load); }},
                 {"PERMIT", [=, &clusters] { return run(*clusters[0], Kind::permit, load); }}}};
    for (std::size_t i = 0; i < allocators.size(); ++i)
      group.measures.push_back({fmt::format("RESERVE, {}", allocators[i]), [=, &clusters] {
                                  return run(*clusters[i], Kind::reservation, load);
                                }});
    groups.push_back(std::move(group));
  }
  measure(groups, place.rounds());
  print(groups);
}

}  // namespace

void permits_beside_a_lock(Place& place) {
  for (const std::size_t nodes : {1U, 3U, 5U}) measure_in_clusters_of(nodes, place);
}

}  // namespace turno::bench
