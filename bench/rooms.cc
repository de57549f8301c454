// A room as a lock of readers and writers, beside one of Redis in Lua (a sorted set of readers, a
// key of the writer, both expire).
#include <fmt/core.h>

#include "families.h"

namespace turno::bench {

namespace {

// One of ten writes.
bool writes(int user) { return user % 10 == 0; }

Cycle of_turno(const std::string& name, bool write) {
  auto enter =
      write ? command({"ENTER", name, "write", "CAPACITY", "1"}) : command({"ENTER", name, "read"});
  return {{{std::move(enter)}, {command({"LEAVE", name})}}};
}

class RedisLock {
 public:
  explicit RedisLock(const Redis& redis)
      : read_(redis.load("local t = redis.call('time') local now = t[1] * 1000 + t[2] / 1000 "
                         "if redis.call('exists', KEYS[2]) == 1 then return 0 end "
                         "return redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])")),
        read_no_more_(redis.load("return redis.call('zrem', KEYS[1], ARGV[1])")),
        write_(redis.load(
            "local t = redis.call('time') local now = t[1] * 1000 + t[2] / 1000 "
            "redis.call('zremrangebyscore', KEYS[1], '-inf', now) "
            "if redis.call('zcard', KEYS[1]) > 0 then return 0 end "
            "return redis.call('set', KEYS[2], ARGV[1], 'nx', 'px', ARGV[2]) and 1 or 0")),
        write_no_more_(redis.load("if redis.call('get', KEYS[2]) == ARGV[1] then "
                                  "return redis.call('del', KEYS[2]) end return 0")) {}
  [[nodiscard]] Cycle cycle(const std::string& name, int user, bool write) const {
    const auto id = fmt::format("user-{}", user);
    const auto run = [&](const std::string& script) {
      return command({"EVALSHA", script, "2", name + ":readers", name + ":writer", id, "30000"});
    };
    return {{{run(write ? write_ : read_), 1, after_a_pause},
             {run(write ? write_no_more_ : read_no_more_)}}};
  }

 private:
  const std::string read_, read_no_more_, write_, write_no_more_;
};

// The cycles a second of those who write, or of those who read.
double of_those(const std::vector<double>& rates, bool write) {
  double total = 0;
  for (std::size_t i = 0; i < rates.size(); ++i)
    if (writes(static_cast<int>(i)) == write) total += rates[i];
  return total;
}

}  // namespace

std::vector<Group> rooms(Place& place) {
  const RedisLock in_lua(place.redis());
  // Everybody reads.
  const auto turno_reads = [&place](const TurnoCluster& cluster) {
    return cycles_per_second(cluster.tcp(),
                             cycles_of(connections, [](int) { return of_turno("book", false); }),
                             place.time());
  };
  const auto redis_reads = [&place, in_lua] {
    const auto fresh = place.fresh();
    return cycles_per_second(
        {place.redis().tcp()},
        cycles_of(connections, [&](int i) { return in_lua.cycle(fresh, i, false); }), place.time());
  };
  const auto turno_mixed = [&place](const TurnoCluster& cluster, bool write) {
    const auto cycles = cycles_of(connections, [](int i) { return of_turno("mixed", writes(i)); });
    return of_those(drive(talkers(cluster.tcp(), cycles), place.time()), write);
  };
  const auto redis_mixed = [&place, in_lua](bool write) {
    const auto fresh = place.fresh();
    const auto cycles =
        cycles_of(connections, [&](int i) { return in_lua.cycle(fresh, i, writes(i)); });
    return of_those(drive(talkers({place.redis().tcp()}, cycles), place.time()), write);
  };
  std::vector<Group> groups = {
      {fmt::format("Rooms: {} connections read, enter and leave", connections),
       {"Redis, Lua"},
       {{"one node", [=, &place] { return turno_reads(place.one()); }},
        {"five nodes", [=, &place] { return turno_reads(place.five()); }},
        {"Redis, Lua", redis_reads}}}};
  for (const bool write : {false, true})
    groups.push_back({fmt::format("One of ten of {} connections writes: {} a second", connections,
                                  write ? "writes" : "reads"),
                      {"Redis, Lua, asks again after 1 ms"},
                      {{"one node", [=, &place] { return turno_mixed(place.one(), write); }},
                       {"five nodes", [=, &place] { return turno_mixed(place.five(), write); }},
                       {"Redis, Lua, asks again after 1 ms", [=] { return redis_mixed(write); }}}});
  return groups;
}

}  // namespace turno::bench
