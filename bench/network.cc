// Locks on real processes, beside Redis, flock(2) and a bare token ring, in one run on one machine:
// the ratios count, not the numbers. bench_network TURNO [SECONDS [ROUNDS [PART OF A LINE'S NAME]]]
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "competitors.h"
#include "load.h"
#include "measure.h"
#include "servers.h"
#include "turno/turno.h"

namespace turno::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Bench {
 public:
  Bench(const std::string& turno, std::chrono::milliseconds time)
      : time_(time),
        redis_(directory_.path()),
        five_(turno, directory_.path() / "five", 5),
        one_(turno, directory_.path() / "one", 1),
        script_(redis_.load("if redis.call('get',KEYS[1])==ARGV[1] then return "
                            "redis.call('del',KEYS[1]) else return 0 end")) {}

  // lock and unlock, by connections that each have a lock of their own. One after the other: a
  // request goes out when the reply to the one before is here. Pipelined: sixteen pairs at once.
  double uncontended(const std::string& address, bool redis, bool pipelined) {
    std::vector<Cycle> cycles;
    for (int i = 0; i < connections; ++i) {
      const auto name = "bench-" + std::to_string(i);
      const auto lock =
          redis ? command({"SET", name, "v", "NX", "PX", "30000"}) : command({"LOCK", name});
      const auto unlock =
          redis ? command({"EVALSHA", script_, "1", name, "v"}) : command({"UNLOCK", name});
      Cycle cycle;
      if (pipelined) {
        cycle.requests.push_back({"", 2 * depth});
        for (std::uint32_t k = 0; k < depth; ++k) cycle.requests[0].bytes += lock + unlock;
      } else {
        cycle.requests = {{lock}, {unlock}};
      }
      cycles.push_back(std::move(cycle));
    }
    return cycles_per_second({address}, cycles, time_) * (pipelined ? depth : 1);
  }
  double uncontended_embedded() {
    auto node = Node::start({.directory = (directory_.path() / "embedded").string()});
    if (!node) throw std::runtime_error(node.error().message);
    Mutex mutex(**node, "bench");
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t count = 0;
    while (std::chrono::steady_clock::now() < begin + time_)
      for (int i = 0; i < 1000; ++i, ++count) {
        const auto grant = mutex.acquire();
        if (!grant) throw std::runtime_error(grant.error().message);
      }
    return static_cast<double>(count) /
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // one lock, five that always want it
  double handoffs_of_clients(const std::vector<std::string>& addresses) {
    const Cycle cycle{{{command({"UNLOCK", "contended"}) + command({"LOCK", "contended"}), 2}},
                      command({"LOCK", "contended"})};
    return cycles_per_second(addresses, std::vector<Cycle>(5, cycle), time_);
  }
  double handoffs_of_redis(const std::string& address) {
    ask(address, {"DEL", "queue"});
    ask(address, {"LPUSH", "queue", "token"});
    const Cycle cycle{
        {{command({"LPUSH", "queue", "token"}) + command({"BLPOP", "queue", "0"}), 2}},
        command({"BLPOP", "queue", "0"})};
    return cycles_per_second({address}, std::vector<Cycle>(5, cycle), time_);
  }
  double handoffs_embedded(const std::string& algorithm) {
    const auto directory = directory_.path() / ("competing-" + std::to_string(++clusters_));
    return rate_of_processes(5, time_, [&](std::size_t number, Shared& shared) {
      auto node = Node::start({.directory = directory.string(),
                               .name = "n" + std::to_string(number),
                               .algorithm = algorithm});
      if (!node) ::_exit(1);
      Mutex mutex(**node, "contended");
      ++shared.ready;
      while (!shared.start) std::this_thread::sleep_for(1ms);
      while (shared.go_on) {
        const auto grant = mutex.acquire({.timeout = 2s});
        if (!grant) break;
        shared.entered(number);
      }
    });
  }

  [[nodiscard]] const Redis& redis() const { return redis_; }
  [[nodiscard]] const TurnoCluster& five() const { return five_; }
  [[nodiscard]] const TurnoCluster& one() const { return one_; }
  [[nodiscard]] fs::path file() const { return directory_.path() / "flock"; }
  [[nodiscard]] std::chrono::milliseconds time() const { return time_; }

 private:
  static constexpr int connections = 50;
  static constexpr std::uint32_t depth = 16;

  const std::chrono::milliseconds time_;
  const TemporaryDirectory directory_{"turno-bench"};
  const Redis redis_;
  const TurnoCluster five_, one_;
  const std::string script_;
  int clusters_ = 0;
};

// Only lines with `part` in their names are measured.
void run(Bench& bench, int rounds, const std::string& part) {
  const auto one = bench.one().sockets(), five = bench.five().sockets();
  const auto tcp = bench.one().tcp().front(), redis = bench.redis().tcp();
  std::vector<Group> groups = {
      {fmt::format("Lock and unlock, nobody competes (medians of {} rounds)", rounds),
       {"Redis, TCP", "Redis, Unix socket", "Redis, TCP, pipelined"},
       {{"embedded", [&] { return bench.uncontended_embedded(); }},
        {"RESP, TCP", [&] { return bench.uncontended(tcp, false, false); }},
        {"RESP, Unix socket", [&] { return bench.uncontended(one.front(), false, false); }},
        {"RESP, TCP, pipelined", [&] { return bench.uncontended(tcp, false, true); }},
        {"Redis, TCP", [&] { return bench.uncontended(redis, true, false); }},
        {"Redis, Unix socket",
         [&] { return bench.uncontended(bench.redis().socket(), true, false); }},
        {"Redis, TCP, pipelined", [&] { return bench.uncontended(redis, true, true); }},
        {"flock, one process", [&] { return file_locks(1, bench.file(), bench.time()); }}}},
      {"Hand-overs of one lock, five always compete",
       {"token ring", "Redis, BLPOP"},
       {{"embedded nodes, five processes, nxr-bh",
         [&] { return bench.handoffs_embedded("nxr-bh"); }},
        {"embedded nodes, five processes, nxr", [&] { return bench.handoffs_embedded("nxr"); }},
        {"embedded nodes, five processes, dir", [&] { return bench.handoffs_embedded("dir"); }},
        {"clients of one node", [&] { return bench.handoffs_of_clients(one); }},
        {"clients of five nodes", [&] { return bench.handoffs_of_clients(five); }},
        {"token ring", [&] { return token_ring(5, bench.time()); }},
        {"Redis, BLPOP", [&] { return bench.handoffs_of_redis(bench.redis().socket()); }},
        {"flock, five processes", [&] { return file_locks(5, bench.file(), bench.time()); }}}}};
  measure(groups, rounds, part);
  print(groups);
}

}  // namespace
}  // namespace turno::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_network TURNO [SECONDS [ROUNDS [PART]]]\n");
    return 64;
  }
  try {
    const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
    turno::bench::Bench bench(argv[1], std::chrono::milliseconds(static_cast<int>(seconds * 1000)));
    turno::bench::run(bench, argc > 3 ? std::atoi(argv[3]) : 3, argc > 4 ? argv[4] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_network: {}\n", error.what());
    return 125;
  }
  return 0;
}
