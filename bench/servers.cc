#include "servers.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "load.h"
#include "net/fd.h"

namespace turno::bench {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TemporaryDirectory::TemporaryDirectory(const std::string& name)
    : path_(fs::temp_directory_path() / fmt::format("{}-{}", name, ::getpid())) {
  fs::create_directories(path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

int free_port() {
  const net::Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("there is no free port");
  return ntohs(address.sin_port);
}

void await(const std::function<void()>& attempt, int seconds) {
  for (int i = 0;; ++i) try {
      return attempt();
    } catch (const std::runtime_error&) {
      if (i >= seconds * 100) throw;
      std::this_thread::sleep_for(10ms);
    }
}

TurnoCluster::TurnoCluster(const std::string& turno, const fs::path& directory, std::size_t size,
                           const std::vector<std::string>& options) {
  fs::create_directories(directory);
  for (std::size_t i = 1; i <= size; ++i) {
    const auto name = fmt::format("n{}", i);
    tcp_.push_back(fmt::format("127.0.0.1:{}", free_port()));
    sockets_.push_back("unix:" + (directory / (name + ".sock")).string());
    std::vector<std::string> words = {turno,      "node",      "--dir",       directory.string(),
                                      "--name",   name,        "--http",      "none",
                                      "--client", tcp_.back(), "--log-level", "warning"};
    words.insert(words.end(), options.begin(), options.end());
    programs_.emplace_back(words, directory / "log");
    await([&] { ask(tcp_.back(), {"PING"}); });
  }
  std::this_thread::sleep_for(1s);  // they know each other
}

Redis::Redis(const fs::path& directory)
    : port_(free_port()),
      socket_("unix:" + (directory / "redis.sock").string()),
      program_({"redis-server", "--port", std::to_string(port_), "--save", "", "--appendonly", "no",
                "--unixsocket", (directory / "redis.sock").string(), "--dir", directory.string()},
               directory / "redis.log") {
  await([&] { ask(socket_, {"PING"}); });
}

std::string Redis::tcp() const { return "127.0.0.1:" + std::to_string(port_); }

std::string Redis::load(const std::string& script) const {
  return ask(socket_, {"SCRIPT", "LOAD", script});
}

}  // namespace turno::bench
