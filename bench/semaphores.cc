// Semaphores beside one of Redis in Lua (a sorted set whose members expire) and the advisory locks
// of PostgreSQL.
#include <fmt/core.h>

#include "families.h"

namespace turno::bench {

namespace {

constexpr int permits = 4;

// Permit and release, over and over, of semaphore `name`.
Cycle of_turno(const std::string& name) {
  return {
      {{command({"PERMIT", name, "OF", std::to_string(permits)})}, {command({"RELEASE", name})}}};
}

class RedisSemaphore {
 public:
  explicit RedisSemaphore(const Redis& redis)
      : take_(redis.load("local t = redis.call('time') local now = t[1] * 1000 + t[2] / 1000 "
                         "redis.call('zremrangebyscore', KEYS[1], '-inf', now) "
                         "if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end "
                         "return redis.call('zadd', KEYS[1], now + ARGV[3], ARGV[2])")),
        give_(redis.load("return redis.call('zrem', KEYS[1], ARGV[1])")) {}
  [[nodiscard]] Cycle cycle(const std::string& name, int user,
                            std::chrono::milliseconds pause) const {
    const auto id = fmt::format("user-{}", user);
    return {
        {{command({"EVALSHA", take_, "1", name, std::to_string(permits), id, "30000"}), 1, pause},
         {command({"EVALSHA", give_, "1", name, id})}}};
  }

 private:
  const std::string take_, give_;
};

}  // namespace

std::vector<Group> semaphores(Place& place) {
  const RedisSemaphore in_lua(place.redis());
  const auto own = [](int i) { return fmt::format("own-{}", i); };
  const auto turno = [&place, own](const TurnoCluster& cluster, bool shared) {
    return cycles_per_second(
        cluster.tcp(),
        cycles_of(connections, [&](int i) { return of_turno(shared ? "shared" : own(i)); }),
        place.time());
  };
  const auto redis = [&place, in_lua, own](bool shared, std::chrono::milliseconds pause) {
    const auto fresh = place.fresh();
    return cycles_per_second(
        {place.redis().tcp()},
        cycles_of(
            connections,
            [&](int i) { return in_lua.cycle(fresh + (shared ? "shared" : own(i)), i, pause); }),
        place.time());
  };
  const auto postgres = [&place](bool shared, std::chrono::milliseconds pause) {
    std::vector<std::unique_ptr<Talker>> talkers;
    talkers.reserve(connections);
    for (int i = 0; i < connections; ++i)
      talkers.push_back(place.postgres().talker(shared ? 0 : i + 1, permits, pause));
    return sum(drive(talkers, place.time()));
  };
  return {
      {fmt::format("Semaphores of {} permits: permit and release by {} connections that each have "
                   "one of their own",
                   permits, connections),
       {"Redis, Lua", "PostgreSQL"},
       {{"one node", [=, &place] { return turno(place.one(), false); }},
        {"five nodes", [=, &place] { return turno(place.five(), false); }},
        {"Redis, Lua", [=] { return redis(false, at_once); }},
        {"PostgreSQL", [=] { return postgres(false, at_once); }}}},
      {fmt::format("The same, {} connections want the same one", connections),
       {"Redis, asks again at once", "PostgreSQL, asks again at once"},
       {{"one node", [=, &place] { return turno(place.one(), true); }},
        {"five nodes", [=, &place] { return turno(place.five(), true); }},
        {"Redis, asks again at once", [=] { return redis(true, at_once); }},
        {"Redis, asks again after 1 ms", [=] { return redis(true, after_a_pause); }},
        {"PostgreSQL, asks again at once", [=] { return postgres(true, at_once); }},
        {"PostgreSQL, asks again after 1 ms", [=] { return postgres(true, after_a_pause); }}}}};
}

}  // namespace turno::bench
