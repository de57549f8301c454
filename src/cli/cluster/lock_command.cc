// turno lock: run a command while holding a lock.
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/cluster/commands.h"
#include "cli/cluster/node_address.h"
#include "cli/frame/duration.h"
#include "cli/process/child.h"
#include "client/holder.h"
#include "core/usage_error.h"
#include "turno/turno.h"

namespace turno::cli {

namespace {

using std::chrono::milliseconds;

struct LockOptions {
  std::string name;
  std::string timeout, ttl;  // empty: none
  std::string kill_after = "10s";
  std::string node, directory;
  bool quiet = false, verbose = false;
};

// Says something to the user, as loudly as was asked for.
class Voice {
 public:
  explicit Voice(const LockOptions& options) : quiet_(options.quiet), verbose_(options.verbose) {}
  void error(const std::string& text) const { fmt::print(stderr, "turno: {}\n", text); }
  void note(const std::string& text) const {
    if (!quiet_) error(text);
  }
  void detail(const std::string& text) const {
    if (verbose_) error(text);
  }

 private:
  bool quiet_, verbose_;
};

// What a thread finds out while this one listens for signals.
struct Acquisition {
  std::unique_ptr<Client> client;
  tl::expected<Grant, Error> grant = tl::unexpected(Error{});
};

Acquisition acquire(const std::string& address, const LockOptions& options, const Request& request,
                    const std::stop_token& stop) {
  auto client = Client::connect(address, {.name = "turno-lock/" + std::to_string(::getpid())});
  if (!client) return {nullptr, tl::unexpected(std::move(client.error()))};
  auto grant = (*client)->acquire(options.name, request, stop);
  if (!grant && grant.error().code == Error::Code::timeout && request.timeout == milliseconds(0)) {
    const auto holder = (*client)->who(options.name);
    if (holder && *holder)
      grant.error().message = "lock '" + options.name + "' is " + client::describe(**holder);
    if (!holder && holder.error().code == Error::Code::unavailable)
      grant.error().message += "; " + holder.error().message;
  }
  return {std::move(*client), std::move(grant)};
}

// The first signal that should end a wait, or none when there is something to read.
std::optional<int> signal_before(const Notice& done, const Signals& signals) {
  for (;;) {
    std::array<pollfd, 2> ready{pollfd{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = done.descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), -1);
    while (const auto signal = signals.next()) {
      if (*signal == SIGTSTP) {
        stop_until_continued();
      } else if (*signal != SIGCONT && *signal != SIGCHLD) {
        return signal;
      }
    }
    if (ready[1].revents != 0) return std::nullopt;
  }
}

// Lives as long as the lock is to be renewed.
class Renewal {
 public:
  Renewal(Grant& grant, milliseconds ttl) {
    thread_ = std::jthread([this, &grant, ttl](const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      // A failure needs no word here: a lock that is lost is told by its token.
      while (!wake_.wait_for(lock, stop, ttl / 3, [&] { return stop.stop_requested(); }))
        if (const auto renewed = grant.renew(ttl);
            !renewed && renewed.error().code == Error::Code::lost)
          return;
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

std::vector<std::string> environment_of(const Client& client, const Grant& grant) {
  const auto identity = client.identity();
  return {"TURNO_LOCK=" + std::string(grant.name()), "TURNO_FENCE=" + std::to_string(grant.fence()),
          "TURNO_NODE=" + identity.node, "TURNO_SESSION=" + identity.session};
}

int run_under(const Client& client, Grant& grant, const Request& request, milliseconds kill_after,
              const std::vector<std::string>& command, const Signals& signals, const Voice& voice) {
  std::optional<Renewal> renewal;
  if (request.ttl) renewal.emplace(grant, *request.ttl);
  const auto name = std::string(grant.name());
  const auto end = run_command({.arguments = command, .environment = environment_of(client, grant)},
                               signals, grant.lost_token(), kill_after, [&] {
                                 voice.note("lock '" + name + "' was lost; stopping the command");
                               });
  renewal.reset();
  if (!end) {
    voice.error(end.error().message);
    return end.error().status;
  }
  if (end->lost) return exit_lost;
  if (grant.lost()) {
    voice.note("lock '" + name + "' was lost before the command ended");
    return exit_lost;
  }
  voice.detail("the command ended with status " + std::to_string(end->status));
  return end->status;
}

int lock_and_run(const LockOptions& options, const std::vector<std::string>& command) {
  const Voice voice(options);
  if (options.name.empty()) throw UsageError("a lock needs a name");
  if (command.empty())
    throw UsageError("lock needs a command to run: turno lock " + options.name + " -- COMMAND");
  Request request;
  if (!options.timeout.empty()) request.timeout = parse_duration("--timeout", options.timeout);
  if (!options.ttl.empty()) request.ttl = parse_duration("--ttl", options.ttl);
  if (request.ttl == milliseconds(0)) throw UsageError("--ttl is more than 0");
  const auto kill_after = parse_duration("--kill-after", options.kill_after);
  const auto address = node_address(options.node, options.directory);
  if (!address) {
    voice.error(address.error().message);
    return exit_own_error;
  }

  const Signals signals;
  const Notice done;
  Acquisition got;
  const auto began = std::chrono::steady_clock::now();
  std::jthread worker([&](const std::stop_token& stop) {
    got = acquire(*address, options, request, stop);
    done.notify();
  });
  if (const auto signal = signal_before(done, signals)) {
    voice.detail("a signal ended the wait");
    // The end of this process ends the session, and so the wait, even if the node is hung.
    std::fflush(nullptr);
    std::_Exit(exit_signal + *signal);
  }
  worker.join();
  if (!got.grant) {
    const auto& error = got.grant.error();
    const bool timeout = error.code == Error::Code::timeout;
    timeout ? voice.note(error.message) : voice.error(error.message);
    return timeout ? exit_timeout : exit_own_error;
  }
  const auto waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - began);
  voice.detail(fmt::format("acquired lock '{}' after {:.3f} s, fence {}", options.name,
                           waited.count(), got.grant->fence()));
  const auto status =
      run_under(*got.client, *got.grant, request, kill_after, command, signals, voice);
  got.grant->release();
  return status;
}

}  // namespace

void add_lock(Command app, Job& job, const std::vector<std::string>& command) {
  auto lock = app.add_subcommand("lock", "Run a command while holding a lock");
  auto options = std::make_shared<LockOptions>();
  lock.add_option("NAME", options->name, "The lock").required();
  lock.add_option("-w,--timeout", options->timeout,
                  "Wait at most so long; 0 tries once (default: for ever)");
  lock.add_option("--ttl", options->ttl,
                  "The node takes the lock back when it has not heard of this process for so long "
                  "(default: when the connection ends)");
  lock.add_option("--kill-after", options->kill_after,
                  "When the lock is lost: from SIGTERM to SIGKILL")
      .capture_default_str();
  lock.add_option(
      "--node", options->node,
      "HOST:PORT or unix:PATH of a node (default: TURNO_NODE_ADDRESS, or one in --dir)");
  lock.add_option("--dir", options->directory, "Directory of the cluster on this machine")
      .envname("TURNO_DIR");
  lock.add_flag("-q,--quiet", options->quiet, "Say nothing when the lock is not acquired or lost");
  lock.add_flag("-v,--verbose", options->verbose, "Say what happens");
  lock.footer(
      "\nturno lock NAME [OPTIONS] [--] COMMAND [ARGUMENTS...]\n"
      "\nThe command runs without a shell, in a process group of its own. It finds the lock in\n"
      "TURNO_LOCK, TURNO_FENCE, TURNO_NODE and TURNO_SESSION. Signals are passed on. If the lock "
      "is\n"
      "lost, the group gets SIGTERM, and SIGKILL later; if this process is killed, SIGKILL.\n"
      "\nExit status: the command's; 128+n if signal n ended it or the wait; 123 lock lost; 124 "
      "not\n"
      "acquired in time; 125 Turno's own error; 126 command cannot be run; 127 not found; 64 "
      "usage.\n"
      "\nExamples:\n  turno lock backup -- tar czf /backup/home.tar.gz /home\n"
      "  turno lock backup --timeout 0 sh -c 'echo $TURNO_FENCE'\n");
  lock.callback([&job, &command, options] {
    job = [&command, options] { return lock_and_run(*options, command); };
  });
}

}  // namespace turno::cli
