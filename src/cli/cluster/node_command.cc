// turno node: one node of a cluster, in the foreground.
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/commands.h"
#include "cli/cluster/node_options.h"
#include "cli/frame/duration.h"
#include "core/usage_error.h"
#include "net/log.h"
#include "node/server.h"

namespace turno::cli {

namespace {

sigset_t awaited_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, number);
  return set;
}

// SIGINT and SIGTERM make the node leave, the second one at once; SIGHUP, as log rotation sends it,
// only makes it open its log again. REQUIRES: they are blocked.
class Signals final : public net::Loop::Watcher {
 public:
  explicit Signals(node::Server& server) : server_(server) {
    const auto set = awaited_signals();
    fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    server_.daemon().loop().watch(fd_.get(), EPOLLIN, *this);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() { server_.daemon().loop().forget(fd_.get(), *this); }

 private:
  void ready(std::uint32_t) override {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info) return;
    if (info.ssi_signo == SIGHUP) {
      if (const auto trouble = log::reopen_file(); !trouble.empty())
        log::error("the log cannot be opened again, and goes where it went: {}", trouble);
      return;
    }
    const auto* signal = ::strsignal(static_cast<int>(info.ssi_signo));
    if (!server_.daemon().draining()) return server_.drain(signal);
    log::info("{} again: the node ends at once", signal);
    server_.stop();
  }

  node::Server& server_;
  net::Fd fd_;
};

int run(const NodeOptions& options) {
  auto settings = options.settings();
  if (const auto ready = prepare_place(cluster_place(options.place)); !ready) {
    fmt::print(stderr, "turno: {}\n", ready.error().message);
    return exit_own_error;
  }
  log::set_origin(settings.name);
  // A connection is a descriptor: as many as this process may have.
  if (rlimit limit{}; ::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  // Signals are blocked before any thread is made, so that no thread gets them.
  const auto awaited = awaited_signals();
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  if (!options.log_file.empty())
    if (const auto trouble = log::open_file(options.log_file); !trouble.empty())
      throw std::runtime_error("cannot write the log " + trouble);
  const auto wanted_delay = settings.lock_delay, wanted_idle = settings.idle;
  auto server = node::Server::start(std::move(settings));
  if (!server) {
    fmt::print(stderr, "turno: {}\n", server.error());
    return exit_own_error;
  }
  const Signals signals(**server);
  const auto& self = (*server)->daemon().self();
  const auto said = [](const std::string& address) { return address.empty() ? "none" : address; };
  log::info("listens for clients on {} and {}, for peers on {}, http on {}; algorithm {}",
            said(self.client_address), said(self.client_socket), self.peer_address,
            said(self.http_address), (*server)->daemon().settings().algorithm);
  const auto& fixed = (*server)->daemon().settings();
  if (!options.lock_delay.empty() && fixed.lock_delay != wanted_delay)
    log::warning("--lock-delay is not heeded: the first node of the cluster chose {} ms",
                 fixed.lock_delay.count());
  if (!options.idle.empty() && fixed.idle != wanted_idle)
    log::warning("--idle is not heeded: the first node of the cluster chose {} ms",
                 fixed.idle.count());
  const auto failure = (*server)->run();
  return failure.empty() ? 0 : exit_own_error;
}

}  // namespace

void add_node(Command app, Job& job) {
  auto command = app.add_subcommand("node", "Run one node of a cluster in the foreground");
  auto options = std::make_shared<NodeOptions>();
  options->add_to(command);
  command.footer(
      "\nSIGINT or SIGTERM make it leave: clients that can move to another node do, the others "
      "are\ntold that their locks are lost and get the lock delay to stop. A second signal ends "
      "it at once, as\na crash does: what clients still hold is kept for the lock delay. SIGHUP "
      "opens the log\nfile again. turno up starts several nodes.\n"
      "\nExample:\n  turno node --name node-1 --client 127.0.0.1:7000\n");
  command.callback([&job, options] { job = [options] { return run(*options); }; });
}

}  // namespace turno::cli
