// Three resources at once, beside three locks that are taken one after the other, in order.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <random>

#include "families.h"

namespace turno::bench {

namespace {

constexpr int resources = 12;
using Three = std::array<std::string, 3>;

// In order. Of `user` alone, or three of twelve that the user always wants.
Three wanted(int user, bool shared) {
  Three three;
  if (!shared) {
    for (int k = 0; k < 3; ++k)
      three[static_cast<std::size_t>(k)] = fmt::format("own-{}-{}", user, k);
    return three;
  }
  std::array<int, resources> all{};
  for (int k = 0; k < resources; ++k) all[static_cast<std::size_t>(k)] = k;
  std::mt19937 random(static_cast<std::uint32_t>(user));
  for (std::size_t k = 0; k < 3; ++k) {
    std::swap(all[k], all[k + random() % (resources - k)]);
    three[k] = fmt::format("resource-{:02}", all[k]);
  }
  std::sort(three.begin(), three.end());
  return three;
}

// A store of one's own, or the one that all share.
Cycle reserved(int user, bool shared) {
  std::vector<std::string> words = {"RESERVE"};
  for (const auto& name : wanted(user, shared)) words.push_back(name + ":1/1");
  const auto store = shared ? "shared" : fmt::format("own-{}", user);
  words.insert(words.end(), {"IN", store});
  return {{{command(words)}, {command({"RETURN", "IN", store})}}};
}

Cycle locked_one_by_one(int user, bool shared) {
  Cycle cycle;
  std::string unlock;
  for (const auto& name : wanted(user, shared)) {
    cycle.requests.push_back({command({"LOCK", name})});
    unlock += command({"UNLOCK", name});
  }
  cycle.requests.push_back({unlock, 3});
  return cycle;
}

Cycle locked_on_redis(const std::string& unlock, const std::string& fresh, int user, bool shared,
                      std::chrono::milliseconds pause) {
  Cycle cycle;
  std::string back;
  const auto id = fmt::format("user-{}", user);
  for (const auto& name : wanted(user, shared)) {
    cycle.requests.push_back({command({"SET", fresh + name, id, "NX", "PX", "30000"}), 1, pause});
    back += command({"EVALSHA", unlock, "1", fresh + name, id});
  }
  cycle.requests.push_back({back, 3});
  return cycle;
}

}  // namespace

std::vector<Group> reservations(Place& place) {
  const auto unlock = place.redis().load(
      "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0");
  const auto turno = [&place](const TurnoCluster& cluster, bool shared, auto cycle) {
    return cycles_per_second(cluster.tcp(),
                             cycles_of(connections, [&](int i) { return cycle(i, shared); }),
                             place.time());
  };
  const auto redis = [&place, unlock](bool shared, std::chrono::milliseconds pause) {
    const auto fresh = place.fresh();
    return cycles_per_second(
        {place.redis().tcp()},
        cycles_of(connections,
                  [&](int i) { return locked_on_redis(unlock, fresh, i, shared, pause); }),
        place.time());
  };
  return {{fmt::format("Three resources, nobody competes: all at once and back, {} connections",
                       connections),
           {"Redis, three locks"},
           {{"one node", [=, &place] { return turno(place.one(), false, reserved); }},
            {"five nodes", [=, &place] { return turno(place.five(), false, reserved); }},
            {"five nodes, three locks",
             [=, &place] { return turno(place.five(), false, locked_one_by_one); }},
            {"Redis, three locks", [=] { return redis(false, at_once); }}}},
          {fmt::format("The same, each of {} connections wants its three of {}", connections,
                       resources),
           {"Redis, three locks, again at once", "Redis, three locks, again after 1 ms"},
           {{"one node", [=, &place] { return turno(place.one(), true, reserved); }},
            {"five nodes", [=, &place] { return turno(place.five(), true, reserved); }},
            {"five nodes, three locks",
             [=, &place] { return turno(place.five(), true, locked_one_by_one); }},
            {"Redis, three locks, again at once", [=] { return redis(true, at_once); }},
            {"Redis, three locks, again after 1 ms", [=] { return redis(true, after_a_pause); }}}}};
}

}  // namespace turno::bench
