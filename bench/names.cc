// Many lock names, each used once, on a real cluster with a short idle time: what stays in memory?
// bench_names TURNO [NAMES]. Ends with 1 if a node keeps more than 50 MiB.
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "competitors.h"
#include "load.h"
#include "net/socket.h"
#include "wire/resp.h"

namespace turno::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
constexpr std::size_t nodes = 5, connections = 100;
constexpr double most_kept_mib = 50;

double resident_mib(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/statm", pid));
  std::uint64_t size = 0, resident = 0;
  status >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1048576;
}

struct Connection {
  net::Fd socket;
  wire::ReplyParser parser;
  std::uint32_t awaited = 0;
};

// Uses each name once: LOCK and UNLOCK in one go, spread over connections to all nodes.
void use_names(const std::vector<std::string>& addresses, std::uint64_t names) {
  const net::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  std::vector<std::unique_ptr<Connection>> all;
  std::uint64_t next = 0, done = 0;
  const auto ask_next = [&](Connection& connection) {
    if (next == names) return;
    const auto name = fmt::format("name-{}", next++);
    const auto bytes = command({"LOCK", name}) + command({"UNLOCK", name});
    connection.awaited = 2;
    [[maybe_unused]] const auto sent =
        ::send(connection.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  };
  for (std::size_t i = 0; i < connections; ++i) {
    auto connection = std::make_unique<Connection>();
    connection->socket = std::move(*net::connect(addresses[i % addresses.size()]));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection.get()}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, connection->socket.get(), &event);
    ask_next(*connection);
    all.push_back(std::move(connection));
  }
  std::vector<epoll_event> events(64);
  while (done < names) {
    const int count = ::epoll_wait(epoll.get(), events.data(), 64, 10'000);
    if (count <= 0) throw std::runtime_error("the cluster does not answer");
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      const auto room = connection.parser.prepare(4096);
      const auto size = ::recv(connection.socket.get(), room.data(), room.size(), 0);
      if (size <= 0) throw std::runtime_error("a node closed the connection");
      connection.parser.commit(static_cast<std::size_t>(size));
      while (connection.parser.next() == wire::Status::ready)
        if (--connection.awaited == 0) {
          ++done;
          ask_next(connection);
        }
    }
  }
}

int run(const std::string& turno, std::uint64_t names) {
  const auto directory = fs::temp_directory_path() / fmt::format("turno-names-{}", ::getpid());
  fs::create_directories(directory);
  std::vector<Program> programs;
  std::vector<std::string> addresses;
  for (std::size_t i = 1; i <= nodes; ++i) {
    const auto name = fmt::format("n{}", i);
    programs.emplace_back(
        std::vector<std::string>{turno, "node", "--dir", directory.string(), "--name", name,
                                 "--idle", "1s", "--http", "none", "--log-level", "warning"},
        directory / "log");
    addresses.push_back("unix:" + (directory / (name + ".sock")).string());
  }
  for (const auto& address : addresses)
    for (int i = 0;; ++i) try {
        ask(address, {"PING"});
        break;
      } catch (const std::runtime_error&) {
        if (i == 500) throw;
        std::this_thread::sleep_for(10ms);
      }
  std::this_thread::sleep_for(1s);
  const auto memory = [&] {
    std::vector<double> sizes;
    sizes.reserve(programs.size());
    for (const auto& program : programs) sizes.push_back(resident_mib(program.pid()));
    return sizes;
  };
  const auto before = memory();
  const auto begin = std::chrono::steady_clock::now();
  use_names(addresses, names);
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
  programs.clear();
  fs::remove_all(directory);
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
