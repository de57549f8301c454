// The node alone, without simulator and checker: so that the sanitizers' builds of a tortured
// cluster stay small. Takes the options of `turno node` that a torture needs.
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "net/log.h"
#include "node/server.h"

namespace {

class Terminator final : public turno::net::Loop::Watcher {
 public:
  Terminator(turno::node::Server& server, int fd) : server_(server) {
    server.daemon().loop().watch(fd, EPOLLIN, *this);
  }
  void ready(std::uint32_t) override { server_.stop(); }

 private:
  turno::node::Server& server_;
};

}  // namespace

int main(int argc, char** argv) {
  turno::node::Settings settings;
  std::string log_level = "warning";
  std::uint64_t lock_delay = 500, idle = 200;
  CLI::App app("One node");
  auto* node = app.add_subcommand("node");
  node->add_option("--dir", settings.directory)->required();
  node->add_option("--name", settings.name)->required();
  node->add_option("--algorithm", settings.algorithm)->required();
  node->add_option("--lock-delay", lock_delay)
      ->transform(CLI::Validator(
          [](std::string& text) {
            text.resize(text.size() - 2);  // "500ms"
            return std::string();
          },
          "MS"));
  node->add_option("--idle", idle)
      ->transform(CLI::Validator(
          [](std::string& text) {
            text.resize(text.size() - 2);
            return std::string();
          },
          "MS"));
  node->add_option("--log-level", log_level);
  CLI11_PARSE(app, argc, argv);
  settings.lock_delay = std::chrono::milliseconds(lock_delay);
  settings.idle = std::chrono::milliseconds(idle);
  settings.client_socket = settings.directory / (settings.name + ".sock");
  turno::log::set_level(*turno::log::level_named(log_level));
  turno::log::set_origin(settings.name);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  auto server = turno::node::Server::start(std::move(settings));
  if (!server) {
    fmt::print(stderr, "{}\n", server.error());
    return 125;
  }
  const turno::net::Fd signals(::signalfd(-1, &set, SFD_CLOEXEC));
  Terminator terminator(**server, signals.get());
  const auto failure = (*server)->run();
  (*server)->daemon().loop().forget(signals.get(), terminator);
  return failure.empty() ? 0 : 125;
}
