// Locks on real processes, beside Redis, flock(2) and a bare token ring, in one run on one machine:
// the ratios count, not the numbers. bench_network TURNO [SECONDS [ROUNDS [PART OF A LINE'S NAME]]]
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include "competitors.h"
#include "load.h"
#include "turno/turno.h"

namespace turno::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

struct Measure {
  std::string name;
  std::function<double()> run;
  std::vector<double> rates = {};

  [[nodiscard]] double median() const {
    auto sorted = rates;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
};

class Bench {
 public:
  Bench(std::string turno, std::chrono::milliseconds time) : turno_(std::move(turno)), time_(time) {
    directory_ = fs::temp_directory_path() / fmt::format("turno-bench-{}", ::getpid());
    fs::create_directories(directory_);
    redis_socket_ = (directory_ / "redis.sock").string();
    redis_port_ = 20000 + static_cast<int>(::getpid() % 20000);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    programs_.clear();
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  void start_servers() {
    programs_.emplace_back(
        std::vector<std::string>{"redis-server", "--port", std::to_string(redis_port_), "--save",
                                 "", "--appendonly", "no", "--unixsocket", redis_socket_, "--dir",
                                 directory_.string()},
        directory_ / "redis.log");
    for (int i = 1; i <= 5; ++i) start_node(directory_ / "five", i);
    start_node(directory_ / "one", 1);
    for (int i = 1; i <= 5; ++i) await(socket("five", i));
    await(socket("one", 1));
    await("unix:" + redis_socket_);
    script_ = ask("unix:" + redis_socket_,
                  {"SCRIPT", "LOAD",
                   "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) "
                   "else return 0 end"});
    std::this_thread::sleep_for(1s);
  }

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
    auto node = Node::start({.directory = (directory_ / "embedded").string()});
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
    const auto directory = directory_ / ("competing-" + std::to_string(++clusters_));
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

  std::string socket(const std::string& cluster, int node) const {
    return "unix:" + (directory_ / cluster / ("n" + std::to_string(node) + ".sock")).string();
  }
  std::string redis_socket() const { return "unix:" + redis_socket_; }
  std::string redis_tcp() const { return "127.0.0.1:" + std::to_string(redis_port_); }
  std::string turno_tcp() const { return "127.0.0.1:" + std::to_string(redis_port_ + 1); }
  std::vector<std::string> five() const {
    std::vector<std::string> addresses;
    for (int i = 1; i <= 5; ++i) addresses.push_back(socket("five", i));
    return addresses;
  }
  fs::path file() const { return directory_ / "flock"; }
  std::chrono::milliseconds time() const { return time_; }

 private:
  static constexpr int connections = 50;
  static constexpr std::uint32_t depth = 16;

  void start_node(const fs::path& directory, int number) {
    fs::create_directories(directory);
    std::vector<std::string> words = {
        turno_,   "node", "--dir",       directory.string(), "--name", "n" + std::to_string(number),
        "--http", "none", "--log-level", "warning"};
    if (directory.filename() == "one") {
      words.emplace_back("--client");
      words.push_back(turno_tcp());
    }
    programs_.emplace_back(words, directory / "log");
  }
  static void await(const std::string& address) {
    for (int i = 0;; ++i) {
      try {
        ask(address, {"PING"});
        return;
      } catch (const std::runtime_error&) {
        if (i > 500) throw;
        std::this_thread::sleep_for(10ms);
      }
    }
  }

  const std::string turno_;
  const std::chrono::milliseconds time_;
  fs::path directory_;
  std::string redis_socket_, script_;
  int redis_port_ = 0, clusters_ = 0;
  std::vector<Program> programs_;
};

void print(const std::vector<Measure>& measures, const std::vector<std::string>& references) {
  fmt::print("{:<44}{:>14}", "", "per second");
  for (const auto& reference : references) fmt::print("{:>25}", "of " + reference);
  fmt::print("\n");
  for (const auto& measure : measures) {
    fmt::print("{:<44}{:>14.0f}", measure.name, measure.median());
    for (const auto& reference : references) {
      const auto found = std::find_if(measures.begin(), measures.end(),
                                      [&](const Measure& m) { return m.name == reference; });
      fmt::print("{:>25.2f}", measure.median() / found->median());
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

// Only lines with `part` in their names are measured.
void run(Bench& bench, int rounds, const std::string& part) {
  std::vector<Measure> alone = {
      {"embedded", [&] { return bench.uncontended_embedded(); }},
      {"RESP, TCP", [&] { return bench.uncontended(bench.turno_tcp(), false, false); }},
      {"RESP, Unix socket",
       [&] { return bench.uncontended(bench.socket("one", 1), false, false); }},
      {"RESP, TCP, pipelined", [&] { return bench.uncontended(bench.turno_tcp(), false, true); }},
      {"Redis, TCP", [&] { return bench.uncontended(bench.redis_tcp(), true, false); }},
      {"Redis, Unix socket", [&] { return bench.uncontended(bench.redis_socket(), true, false); }},
      {"Redis, TCP, pipelined", [&] { return bench.uncontended(bench.redis_tcp(), true, true); }},
      {"flock, one process", [&] { return file_locks(1, bench.file(), bench.time()); }},
  };
  std::vector<Measure> competing = {
      {"embedded nodes, five processes, nxr-bh", [&] { return bench.handoffs_embedded("nxr-bh"); }},
      {"embedded nodes, five processes, nxr", [&] { return bench.handoffs_embedded("nxr"); }},
      {"embedded nodes, five processes, dir", [&] { return bench.handoffs_embedded("dir"); }},
      {"clients of one node", [&] { return bench.handoffs_of_clients({bench.socket("one", 1)}); }},
      {"clients of five nodes", [&] { return bench.handoffs_of_clients(bench.five()); }},
      {"token ring", [&] { return token_ring(5, bench.time()); }},
      {"Redis, BLPOP", [&] { return bench.handoffs_of_redis(bench.redis_socket()); }},
      {"flock, five processes", [&] { return file_locks(5, bench.file(), bench.time()); }},
  };
  for (int i = 0; i < rounds; ++i)
    for (auto* group : {&alone, &competing})
      for (auto& measure : *group)
        if (measure.name.find(part) != std::string::npos) measure.rates.push_back(measure.run());
  fmt::print("Lock and unlock, nobody competes (medians of {} rounds)\n", rounds);
  print(alone, {"Redis, TCP", "Redis, Unix socket", "Redis, TCP, pipelined"});
  fmt::print("Hand-overs of one lock, five always compete\n");
  print(competing, {"token ring", "Redis, BLPOP"});
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
    bench.start_servers();
    turno::bench::run(bench, argc > 3 ? std::atoi(argv[3]) : 3, argc > 4 ? argv[4] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_network: {}\n", error.what());
    return 125;
  }
  return 0;
}
