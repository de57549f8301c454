// Runs a command while holding a lock, permits of a semaphore or resources of a store, leading an
// election, or in a room.
#include "cli/hold/hold.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/cluster/cluster_directory.h"
#include "cli/cluster/gaps.h"
#include "cli/cluster/holders/holder_output.h"
#include "cli/cluster/node_address.h"
#include "cli/cluster/node_query.h"
#include "cli/frame/duration.h"
#include "cli/frame/readable.h"
#include "cli/hold/surroundings.h"
#include "cli/process/child.h"
#include "client/connection.h"
#include "client/holder.h"
#include "cluster/note.h"
#include "core/usage_error.h"
#include "net/fd.h"
#include "table/bequests.h"
#include "turno/turno.h"

namespace turno::cli {

namespace {

using std::chrono::milliseconds;

// Says something to the user, as loudly as was asked for.
class Voice {
 public:
  explicit Voice(const HoldOptions& options) : quiet_(options.quiet), verbose_(options.verbose) {}
  // Others have chosen the names in it.
  void error(const std::string& text) const {
    std::istringstream lines(text);
    std::string clean;
    for (std::string line; std::getline(lines, line);)
      clean += (clean.empty() ? "" : "\n") + printable(line);
    fmt::print(stderr, "turno: {}\n", clean);
  }
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

// So long nothing is said about a wait.
constexpr milliseconds moment{1000};
// A try that is over lasts so much longer for the name of the holder.
constexpr milliseconds longest_look{500};

// Where nodes are: what was given, and all that the client knows as soon as there is one.
class KnownNodes {
 public:
  explicit KnownNodes(std::vector<std::string> given) : given_(std::move(given)) {}
  // REQUIRES: it lives longer than this.
  void ask(const Client& client) {
    const std::scoped_lock lock(mutex_);
    client_ = &client;
  }
  [[nodiscard]] const std::vector<std::string>& given() const { return given_; }
  [[nodiscard]] std::vector<std::string> addresses() {
    const std::scoped_lock lock(mutex_);
    return client_ == nullptr ? given_ : client_->addresses();
  }

 private:
  const std::vector<std::string> given_;
  std::mutex mutex_;
  const Client* client_ = nullptr;
};

std::string own_name(std::string_view word) {
  return "turno-" + std::string(word) + "/" + std::to_string(::getpid());
}

// Who holds the lock and how many wait before this process, as far as a node tells it. Nothing if
// there is no time left to ask.
std::string state_of(const std::string& name, std::string_view kind, const std::string& own,
                     const std::vector<std::string>& addresses,
                     std::optional<std::chrono::steady_clock::time_point> limit) {
  constexpr milliseconds usual{1500}, least{20};
  for (const auto& address : addresses) {
    auto patience = usual;
    // It is asked three things, one after another.
    if (limit)
      patience = std::min(
          usual, std::chrono::floor<milliseconds>(*limit - std::chrono::steady_clock::now()) / 3);
    if (patience < least) return {};
    auto query = NodeQuery::open(address, patience);
    const auto who = query ? query->who(name, kind) : tl::unexpected(query.error());
    const auto waiters = who ? query->waiters(name, kind) : tl::unexpected(who.error());
    if (!waiters) continue;
    std::string text = "it is not known who holds it";
    if (who->holder) {
      text = client::describe(*who->holder);
      text.erase(std::min(text.find(';'), text.size()));
    }
    const auto& all = waiters->list;
    const auto others =
        std::count_if(all.begin(), all.end(), [&](const auto& each) { return each.client != own; });
    if (others > 0)
      text += ", " + std::to_string(others) + (others == 1 ? " other waits" : " others wait");
    if (!who->holder || several_have(who->holder->kind))
      for (const auto& silent : waiters->gaps.silent) text += "; " + describe(silent);
    return text;
  }
  return "nobody answers who holds it";
}

// Says once who is in the way, if the wait lasts longer than a moment and somebody looks on.
class Patience {
 public:
  Patience(const HoldOptions& options, const Request& request, KnownNodes& nodes,
           const Voice& voice) {
    const auto is_try = request.timeout == milliseconds(0);
    if (request.timeout)
      limit_ = std::chrono::steady_clock::now() + (is_try ? 2 * moment : *request.timeout);
    if (!options.verbose && (options.quiet || ::isatty(STDERR_FILENO) == 0)) return;
    thread_ = std::jthread([this, thing = options.thing(), name = options.name,
                            kind = options.kind_name(), own = own_name(options.word()), &nodes,
                            voice](std::stop_token stop) {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, stop, moment, [&] { return stop.stop_requested(); })) return;
      lock.unlock();
      const auto state = state_of(name, kind, own, nodes.addresses(), limit_);
      if (!stop.stop_requested() && !state.empty())
        voice.error("waiting for " + thing + ": " + state);
    });
  }
  // Does not wait for the answer of a node.
  void end() { thread_.request_stop(); }

 private:
  std::optional<std::chrono::steady_clock::time_point> limit_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

std::string within(milliseconds time) { return "within " + std::to_string(time.count()) + " ms"; }

void replace(std::string& text, const std::string& from, const std::string& to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

tl::expected<Grant, Error> acquire_at(Client& client, const HoldOptions& options,
                                      const Request& request, const std::stop_token& stop) {
  switch (options.kind) {
    case Kind::semaphore:
      return Semaphore(client, options.name, options.permits.value_or(0)).acquire(request, stop);
    case Kind::election:
      return Election(client, options.name).campaign(options.value, request, stop);
    case Kind::room:
      return Room(client, options.name).acquire(request, stop);
    case Kind::store:
      return Reservation(client, request.claims, options.name).acquire(request, stop);
    case Kind::lock:
      break;
  }
  return client.acquire(options.name, request, stop);
}

// The time to find a node is part of the time to wait.
Acquisition acquire(KnownNodes& nodes, const HoldOptions& options, Request request,
                    Client::Options client_options, const std::stop_token& stop) {
  const auto began = std::chrono::steady_clock::now();
  client_options.name = own_name(options.word());
  if (request.timeout)
    client_options.connect_timeout =
        request.timeout->count() == 0 ? client_options.answer_timeout : *request.timeout;
  auto client = Client::connect(nodes.given(), client_options);
  if (!client) return {nullptr, tl::unexpected(std::move(client.error()))};
  nodes.ask(**client);
  const auto asked = request.timeout;
  if (request.timeout > milliseconds(0)) {
    const auto gone = std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - began);
    request.timeout = std::max(*request.timeout - gone, milliseconds(1));
  }
  auto grant = acquire_at(**client, options, request, stop);
  // What was asked for, not what was left of it.
  if (!grant && grant.error().code == Error::Code::timeout && asked > milliseconds(0))
    replace(grant.error().message, within(*request.timeout), within(*asked));
  if (!grant && grant.error().code == Error::Code::timeout && request.timeout == milliseconds(0)) {
    // Of what several may have all nodes are asked.
    const auto holder = (*client)->who(options.name, options.kind_name(),
                                       options.many() ? 3 * longest_look : longest_look);
    if (holder && *holder)
      grant.error().message =
          options.thing() + (options.many() ? ": " : " is ") + client::describe(**holder);
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

// Renews a lock as long as it lives, and knows until when the lock is surely held.
class Renewal {
 public:
  // REQUIRES: start() before the expiry is used.
  Renewal(Grant& grant, milliseconds ttl, Guard& guard)
      : grant_(grant), ttl_(ttl), guard_(guard), expiry_(ttl, std::chrono::steady_clock::now()) {}

  // When the node began to count is not known: it begins again.
  tl::expected<void, Error> start() {
    if (auto renewed = renew(); !renewed) return renewed;
    thread_ = std::jthread([this](const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      // A failure needs no word here: a lock that is lost is told by its token, and one that cannot
      // be renewed expires.
      while (!wake_.wait_for(lock, stop, ttl_ / 3, [&] { return stop.stop_requested(); }))
        if (const auto renewed = renew(); !renewed && renewed.error().code == Error::Code::lost)
          return;
    });
    return {};
  }
  [[nodiscard]] const Expiry& expiry() const { return expiry_; }

 private:
  tl::expected<void, Error> renew() {
    const auto sent = std::chrono::steady_clock::now();
    auto renewed = grant_.renew(ttl_);
    if (!renewed) return renewed;
    expiry_.renewed(sent);
    guard_.expires(expiry_.kill_at());
    return {};
  }

  Grant& grant_;
  const milliseconds ttl_;
  Guard& guard_;
  Expiry expiry_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

// A node of an older version does not say it, and has this one unless it was told otherwise.
milliseconds lock_delay_of(const Client& client) {
  return client.identity().lock_delay.value_or(milliseconds(1000));
}

// The guard is to know by which connection the lock is held, from the moment when there is a guard.
class Connections {
 public:
  void held_by(int descriptor) {
    const std::scoped_lock lock(mutex_);
    if (guard_ != nullptr) return guard_->watch(descriptor);
    last_.reset(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  }
  void tell(Guard& guard) {
    const std::scoped_lock lock(mutex_);
    guard_ = &guard;
    if (last_) guard.watch(last_.get());
    last_.reset();
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    guard_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Guard* guard_ = nullptr;
  net::Fd last_;
};

// "lock 'L' was lost: the node closed it". REQUIRES: it was.
std::string how_it_was_lost(Grant& grant, const HoldOptions& options) {
  const auto renewed = grant.renew(milliseconds(1));  // says why, and nothing to the node
  return renewed ? options.thing() + " was lost" : renewed.error().message;
}

// From SIGTERM to SIGKILL when the lock is lost: the next holder comes in after the lock delay.
milliseconds time_to_stop(const HoldOptions& options, milliseconds lock_delay, const Voice& voice) {
  const auto longest = lock_delay * 3 / 4;
  if (options.kill_after.empty()) return longest;
  const auto asked = parse_duration("--kill-after", options.kill_after);
  if (asked > longest)
    voice.note("--kill-after is shortened to " + std::to_string(longest.count()) +
               " ms: others may have the lock " + std::to_string(lock_delay.count()) +
               " ms after it was lost (the cluster's lock delay)");
  return std::min(asked, longest);
}

int run_under(Client& client, Grant& grant, const Request& request, const HoldOptions& options,
              const std::vector<std::string>& command, const Signals& signals, Guard& guard,
              const Voice& voice) {
  const auto kill_after = time_to_stop(options, lock_delay_of(client), voice);
  std::optional<Renewal> renewal;
  if (request.ttl) {
    renewal.emplace(grant, *request.ttl, guard);
    if (const auto started = renewal->start(); !started) {
      voice.error(started.error().message);
      return started.error().code == Error::Code::lost ? exit_lost : exit_own_error;
    }
  }
  // This process may have been stopped since the lock was granted.
  if (client.catch_up(lock_delay_of(client) / 4); grant.lost()) {
    voice.note(how_it_was_lost(grant, options) + "; the command was not started");
    return exit_lost;
  }
  bool said = false;
  const auto end = run_command(
      {.arguments = command, .environment = environment_of(client, grant, options)}, signals,
      {.lost = grant.lost_token(),
       .kill_after = kill_after,
       .expiry = renewal ? &renewal->expiry() : nullptr,
       .on_loss =
           [&](Loss loss) {
             said = true;
             voice.note((loss == Loss::told ? how_it_was_lost(grant, options)
                                            : options.thing() + " could not be renewed in time") +
                        "; stopping the command");
           }},
      guard);
  renewal.reset();
  if (!end) {
    voice.error(end.error().message);
    return end.error().status;
  }
  // The guard was quicker than this process.
  if (end->lost && !said)
    voice.note((grant.lost() ? how_it_was_lost(grant, options)
                             : options.thing() + " was lost: the node is gone or silent") +
               "; the command was killed");
  if (end->lost) return exit_lost;
  if (grant.lost()) {
    voice.note(how_it_was_lost(grant, options) + "; the command ended by itself");
    return exit_lost;
  }
  voice.detail("the command ended with status " + std::to_string(end->status));
  return end->status;
}

// "gpu:2/8,licence": two of eight, and one more.
std::vector<Claim> parse_claims(const std::string& text) {
  std::vector<Claim> claims;
  std::istringstream list(text);
  for (std::string each; std::getline(list, each, ',');) {
    auto rest = std::string_view(each);
    const auto number_after = [&](char mark, std::uint32_t unless_said) {
      const auto at = rest.find(mark);
      if (at == std::string_view::npos) return unless_said;
      std::uint32_t value = 0;
      const auto digits = rest.substr(at + 1);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      const bool whole = error == std::errc() && end == digits.data() + digits.size();
      if (!whole || value < 1 || value > cluster::most_instances)
        throw UsageError("'" + each + "': a resource is said as TYPE, TYPE:COUNT or " +
                         "TYPE:COUNT/INSTANCES, with numbers from 1 to " +
                         std::to_string(cluster::most_instances));
      rest = rest.substr(0, at);
      return value;
    };
    Claim claim;
    claim.of = number_after('/', 0);
    claim.count = number_after(':', 1);
    claim.type = rest;
    if (claim.type.empty() || claim.type.size() > cluster::longest_name)
      throw UsageError("'" + each + "': a type of resources has a name of at most " +
                       std::to_string(cluster::longest_name) + " bytes");
    if (claim.of != 0 && claim.count > claim.of)
      throw UsageError("'" + each + "': " + std::to_string(claim.count) + " is more than " +
                       std::to_string(claim.of));
    claims.push_back(std::move(claim));
  }
  if (claims.empty()) throw UsageError("reserve needs resources, as in gpu:2/8,licence");
  return claims;
}

Request request_of(const HoldOptions& options) {
  Request request;
  if (!options.timeout.empty()) request.timeout = parse_duration("--timeout", options.timeout);
  if (options.nonblock) request.timeout = milliseconds(0);
  if (!options.ttl.empty()) request.ttl = parse_duration("--ttl", options.ttl);
  if (request.ttl == milliseconds(0)) throw UsageError("--ttl is more than 0");
  if (!options.kill_after.empty()) (void)parse_duration("--kill-after", options.kill_after);
  constexpr auto most = cluster::most_permits;
  if (options.kind == Kind::room) {
    if (options.group.empty()) throw UsageError("a room is entered with a group: --group GROUP");
    if (options.group.size() > cluster::longest_name)
      throw UsageError("the name of a group has at most " + std::to_string(cluster::longest_name) +
                       " bytes");
    if (options.capacity && (*options.capacity < 1 || *options.capacity > most))
      throw UsageError("--capacity is 1 to " + std::to_string(most));
    request.group = options.group;
    request.of = options.capacity.value_or(0);
  }
  if (options.kind == Kind::store) request.claims = parse_claims(options.resources);
  if (options.kind == Kind::semaphore) {
    const auto permits = options.permits.value_or(most);
    if (options.count < 1 || options.count > most || permits < 1 || permits > most)
      throw UsageError("a semaphore has 1 to " + std::to_string(most) + " permits");
    if (options.count > permits)
      throw UsageError("--count " + std::to_string(options.count) + " is more than --permits " +
                       std::to_string(permits));
    request.permits = options.count;
    request.of = options.permits.value_or(0);
  }
  if (options.conflict_status > 255) throw UsageError("--conflict-exit-code is at most 255");
  return request;
}

void check(const HoldOptions& options) {
  constexpr auto longest_name = cluster::longest_name;
  const auto thing = options.some();
  if (options.value.size() > table::longest_value)
    throw UsageError("--value has at most " + std::to_string(table::longest_value) +
                     " bytes, not " + std::to_string(options.value.size()));
  if (options.name.empty()) throw UsageError(thing + " needs a name");
  if (options.name.size() > longest_name)
    throw UsageError("the name of " + thing + " has at most " + std::to_string(longest_name) +
                     " bytes, not " + std::to_string(options.name.size()));
  for (const auto& node : options.nodes)
    if (const auto address = client::parse_node_address(node); !address)
      throw UsageError("--node: " + address.error().message);
}

}  // namespace

int run_while_holding(HoldOptions options, const std::vector<std::string>& command) {
  const Voice voice(options);
  check(options);
  if (options.system) options.directory = system_place().runtime.string();
  if (command.empty()) {
    const std::string word(options.word());
    throw UsageError(word + " needs a command to run: turno " + word + " " +
                     (options.kind == Kind::store ? options.resources : options.name) +
                     " -- COMMAND");
  }
  const auto request = request_of(options);
  const auto addresses = node_addresses(options.nodes, options.directory);
  if (!addresses) {
    voice.error(addresses.error().message);
    return exit_own_error;
  }
  if (const auto warning = warning_of_itself(options, request); !warning.empty())
    voice.error(warning);

  const Signals signals;
  const Notice done;
  Acquisition got;
  const auto began = std::chrono::steady_clock::now();
  // The lock delay is known when a node is; until then nothing runs that would have to be stopped.
  Connections connections;
  KnownNodes nodes(*addresses);
  Patience patience(options, request, nodes, voice);
  std::jthread worker([&](const std::stop_token& stop) {
    Client::Options hooks;
    hooks.notice = [&](const std::string& text) { voice.note(text); };
    hooks.find_nodes = [&] {
      return node_addresses(options.nodes, options.directory).value_or(std::vector<std::string>());
    };
    hooks.held_by = [&](int descriptor) { connections.held_by(descriptor); };
    got = acquire(nodes, options, request, hooks, stop);
    done.notify();
  });
  if (const auto signal = signal_before(done, signals)) {
    voice.detail("a signal ended the wait");
    // The end of this process ends the session, and so the wait, even if the node is hung.
    std::fflush(nullptr);
    std::_Exit(exit_signal + *signal);
  }
  worker.join();
  patience.end();
  if (!got.grant) {
    const auto& error = got.grant.error();
    const bool timeout = error.code == Error::Code::timeout;
    timeout ? voice.note(error.message) : voice.error(error.message);
    return timeout ? static_cast<int>(options.conflict_status) : exit_own_error;
  }
  const auto waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - began);
  voice.detail(fmt::format("acquired {} after {:.3f} s, fence {}", options.thing(), waited.count(),
                           got.grant->fence()));
  Guard guard(lock_delay_of(*got.client) / 4);
  connections.tell(guard);
  const auto status =
      run_under(*got.client, *got.grant, request, options, command, signals, guard, voice);
  connections.forget();
  got.grant->release();
  return status;
}

}  // namespace turno::cli
