// A real etcd for tests: a process of Debian's etcd-server on ports that are free, with its data in
// memory.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "registry/etcd/gateway.h"
#include "registry/registry_testing.h"

namespace turno::registry {

// Several of them at once, so that they differ.
inline std::vector<int> free_ports(std::size_t count) {
  std::vector<int> sockets, ports;
  for (std::size_t i = 0; i < count; ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket, raw, size) != 0 || ::getsockname(socket, raw, &size) != 0)
      throw std::runtime_error("no free port");
    sockets.push_back(socket);
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int socket : sockets) ::close(socket);
  return ports;
}

class Etcd {
 public:
  // One of several, or the only one: `names` and the ports of all of them say who belongs together.
  struct Plan {
    std::vector<std::string> names;
    std::vector<int> client_ports, peer_ports;
    [[nodiscard]] static Plan of(std::size_t count) {
      Plan plan;
      const auto ports = free_ports(2 * count);
      for (std::size_t i = 0; i < count; ++i) {
        plan.names.push_back("etcd-" + std::to_string(i + 1));
        plan.client_ports.push_back(ports[2 * i]);
        plan.peer_ports.push_back(ports[2 * i + 1]);
      }
      return plan;
    }
  };

  Etcd() : Etcd(Plan::of(1), 0) { wait(); }
  Etcd(Plan plan, std::size_t which) : plan_(std::move(plan)), which_(which) { start(); }
  Etcd(const Etcd&) = delete;
  Etcd& operator=(const Etcd&) = delete;
  ~Etcd() { kill(); }

  [[nodiscard]] std::string endpoint() const {
    return "http://127.0.0.1:" + std::to_string(plan_.client_ports[which_]);
  }
  // When it returns, it answers no more.
  void stop() const {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  void go_on() const { ::kill(pid_, SIGCONT); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  // With what it has on its disk.
  void start() {
    const auto url = [](int port) { return "http://127.0.0.1:" + std::to_string(port); };
    std::string cluster;
    for (std::size_t i = 0; i < plan_.names.size(); ++i)
      cluster += (i == 0 ? "" : ",") + plan_.names[i] + "=" + url(plan_.peer_ports[i]);
    const auto client = url(plan_.client_ports[which_]), peer = url(plan_.peer_ports[which_]);
    std::vector<std::string> words = {
        "etcd", "--name", plan_.names[which_], "--data-dir", (data_.path() / "data").native(),
        "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls",
        peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", cluster,
        // Another token, another cluster.
        "--initial-cluster-token", data_.path().native() + std::to_string(plan_.peer_ports[0]),
        "--unsafe-no-fsync", "--pre-vote", "--heartbeat-interval=50", "--election-timeout=500",
        "--logger=zap", "--log-outputs", (data_.path() / "log").native()};
    if (plan_.names.size() > 1) words[16] = "turno-test-" + std::to_string(plan_.peer_ports[0]);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp("etcd", arguments.data());
    ::_exit(127);
  }
  // Until it answers.
  void wait() const {
    Gateway gateway({.endpoints = {endpoint()}});
    for (int i = 0; i < 200; ++i) {
      if (gateway.post("kv/range", Json().add("key", "YQ=="))) return;
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_)
        throw std::runtime_error("etcd has ended: is etcd-server installed?");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    throw std::runtime_error("etcd does not answer");
  }
  void forget_all() {
    kill();
    std::filesystem::remove_all(data_.path() / "data");
    start();
    wait();
  }
  [[nodiscard]] const std::filesystem::path& directory() const { return data_.path(); }

 private:
  TemporaryDirectory data_;
  Plan plan_;
  std::size_t which_;
  pid_t pid_ = 0;
};

}  // namespace turno::registry
