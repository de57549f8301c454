// Many lock names, each used once, on a real cluster with a short idle time: what stays in memory?
// bench_names TURNO [NAMES]. Ends with 1 if a node keeps more than 50 MiB.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "load.h"
#include "servers.h"

namespace turno::bench {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t nodes = 5, connections = 100;
constexpr double most_kept_mib = 50;

double resident_mib(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/statm", pid));
  std::uint64_t size = 0, resident = 0;
  status >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1048576;
}

// Uses names that nobody has used, one after the other: LOCK and UNLOCK in one go.
class User final : public Talker {
 public:
  User(const std::string& address, std::uint64_t& next, std::uint64_t& done, std::uint64_t end)
      : connection_(address), next_(next), done_(done), end_(end) {}
  [[nodiscard]] int descriptor() const override { return connection_.descriptor(); }
  void begin() override {
    if (next_ == end_) return;
    const auto name = fmt::format("name-{}", next_++);
    awaited_ = 2;
    connection_.write(command({"LOCK", name}) + command({"UNLOCK", name}));
  }
  Progress read() override {
    Progress progress;
    connection_.receive();
    while (connection_.next() != nullptr)
      if (--awaited_ == 0) {
        ++progress.finished;
        ++done_;
        begin();
      }
    return progress;
  }

 private:
  RespConnection connection_;
  std::uint64_t &next_, &done_;
  const std::uint64_t end_;
  std::uint32_t awaited_ = 0;
};

void use_names(const std::vector<std::string>& addresses, std::uint64_t names) {
  std::uint64_t next = 0, done = 0;
  std::vector<std::unique_ptr<Talker>> users;
  for (std::size_t i = 0; i < connections; ++i)
    users.push_back(std::make_unique<User>(addresses[i % addresses.size()], next, done, names));
  drive(users, 10min, [&] { return done < names; });
  if (done < names) throw std::runtime_error("the cluster does not answer");
}

int run(const std::string& turno, std::uint64_t names) {
  const TemporaryDirectory directory("turno-names");
  const TurnoCluster cluster(turno, directory.path(), nodes, {"--idle", "1s"});
  const auto memory = [&] {
    std::vector<double> sizes;
    sizes.reserve(nodes);
    for (const auto& program : cluster.programs()) sizes.push_back(resident_mib(program.pid()));
    return sizes;
  };
  const auto before = memory();
  const auto begin = std::chrono::steady_clock::now();
  use_names(cluster.sockets(), names);
  const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto used = memory();
  std::this_thread::sleep_for(5s);
  const auto after = memory();
  double most = 0;
  fmt::print("{} names, each locked and unlocked once: {:.1f} s, {:.0f} names/s\n", names, seconds,
             static_cast<double>(names) / seconds);
  fmt::print("{:<10}{:>14}{:>20}{:>18}\n", "node", "MiB before", "after the last one", "when idle");
  for (std::size_t i = 0; i < nodes; ++i) {
    fmt::print("{:<10}{:>14.1f}{:>20.1f}{:>18.1f}\n", fmt::format("n{}", i + 1), before[i], used[i],
               after[i]);
    most = std::max(most, after[i] - before[i]);
  }
  fmt::print("The most that a node keeps: {:.1f} MiB\n", most);
  return most <= most_kept_mib ? 0 : 1;
}

}  // namespace
}  // namespace turno::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_names TURNO [NAMES]\n");
    return 64;
  }
  try {
    return turno::bench::run(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_names: {}\n", error.what());
    return 125;
  }
}
