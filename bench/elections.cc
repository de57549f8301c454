// Elections beside those of etcd.
#include <fmt/core.h>

#include <memory>

#include "families.h"

namespace turno::bench {

namespace {

constexpr int candidates = 5;

Cycle of_turno(const std::string& name) {
  return {{{command({"CAMPAIGN", name, "10.0.0.7:8080"})}, {command({"RESIGN", name})}}};
}

}  // namespace

std::vector<Group> elections(Place& place) {
  const auto turno = [&place](const TurnoCluster& cluster, bool shared) {
    return cycles_per_second(
        cluster.tcp(),
        cycles_of(shared ? candidates : connections,
                  [&](int i) { return of_turno(shared ? "shared" : fmt::format("own-{}", i)); }),
        place.time());
  };
  const auto etcd = [&place](bool shared) {
    const auto fresh = place.fresh();
    const auto count = shared ? candidates : connections;
    std::vector<std::unique_ptr<Talker>> talkers;
    talkers.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      talkers.push_back(place.etcd().talker(fmt::format("{}{}", fresh, shared ? 0 : i)));
    return sum(drive(talkers, place.time()));
  };
  return {{fmt::format("Elections: campaign and resign, {} connections with one each", connections),
           {"etcd"},
           {{"one node", [=, &place] { return turno(place.one(), false); }},
            {"five nodes", [=, &place] { return turno(place.five(), false); }},
            {"etcd", [=] { return etcd(false); }}}},
          {fmt::format("The same, {} always want to lead", candidates),
           {"etcd"},
           {{"one node", [=, &place] { return turno(place.one(), true); }},
            {"five nodes", [=, &place] { return turno(place.five(), true); }},
            {"etcd", [=] { return etcd(true); }}}}};
}

}  // namespace turno::bench
