// The node alone, without simulator and checker: so that the sanitizers' builds of a tortured
// cluster stay small. Takes the options of `turno node` that a torture needs, and some that `turno
// node` has not: a rule of recovery taken away, a wrong version of the algorithm, slow lines.
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <sstream>

#include "net/log.h"
#include "node/server.h"
#include "table/engine.h"
#include "wrong_locks.h"
#include "wrong_rooms.h"

namespace {

class Terminator final : public turno::net::Loop::Watcher {
 public:
  Terminator(turno::node::Server& server, int fd) : server_(server), signals_(fd) {
    server.daemon().loop().watch(fd, EPOLLIN, *this);
  }
  void ready(std::uint32_t) override {
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) == sizeof info) server_.drain("SIGTERM");
  }

 private:
  turno::node::Server& server_;
  const int signals_;
};

// "500ms" is 500.
const CLI::Validator milliseconds(
    [](std::string& text) {
      text.resize(text.size() - std::min<std::size_t>(text.size(), 2));
      return std::string();
    },
    "MS");

// False: there is no such rule.
bool leave_out(std::string_view rule, turno::node::Settings& settings) {
  const auto& names = turno::cluster::Rules::names;
  const auto found = std::ranges::find(names, rule);
  settings.rules.without = static_cast<turno::cluster::Rules::Without>(found - names.begin());
  return found != names.end();
}

// False: the algorithm has no such wrong version.
bool depart(std::string_view name, turno::node::Settings& settings) {
  if (const auto* wrong = turno::torture::wrong_lock(settings.algorithm, name)) {
    settings.make_engine = wrong->make;
    return true;
  }
  const auto engine = turno::table::make_engine(settings.algorithm);
  if (engine == nullptr) return false;
  const auto all = engine->departures();
  const auto found = std::ranges::find(all, name, &turno::Departure::name);
  settings.departure = static_cast<std::uint8_t>(found - all.begin() + 1);
  return found != all.end();
}

// The same of the algorithm of semaphores.
bool depart_semaphores(std::string_view name, turno::node::Settings& settings) {
  const auto engine = turno::table::make_pool_engine();
  const auto all = engine->departures();
  const auto found = std::ranges::find(all, name, &turno::Departure::name);
  settings.semaphore_departure = static_cast<std::uint8_t>(found - all.begin() + 1);
  return found != all.end();
}

// The same of the algorithm of rooms.
bool depart_rooms(std::string_view name, turno::node::Settings& settings) {
  const auto* wrong = turno::torture::wrong_room(name);
  if (wrong != nullptr) settings.make_room_engine = wrong->make;
  return wrong != nullptr;
}

// The same of the algorithm of reservations.
bool depart_stores(std::string_view name, turno::node::Settings& settings) {
  const auto* wrong = turno::torture::wrong_store(settings.allocator, name);
  if (wrong != nullptr) settings.make_store_engine = wrong->make;
  return wrong != nullptr;
}

// "n2:400:150": frames to n2 take 400 ms, and arrive 150 ms after each other. False: it is not so.
bool slow_down(const std::string& line, turno::node::Settings& settings) {
  std::istringstream in(line);
  std::string name;
  std::int64_t latency = 0, spacing = 0;
  char colon = 0;
  if (!std::getline(in, name, ':') || !(in >> latency >> colon >> spacing)) return false;
  settings.latency[name] = std::chrono::milliseconds(latency);
  settings.spacing[name] = std::chrono::milliseconds(spacing);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  turno::node::Settings settings;
  std::string log_level = "warning", without;
  struct {
    const char *of, *option;
    bool (*depart)(std::string_view name, turno::node::Settings& settings);
    std::string name = {};
  } departures[] = {{"the algorithm", "--departure", depart},
                    {"semaphores", "--semaphore-departure", depart_semaphores},
                    {"rooms", "--room-departure", depart_rooms},
                    {"reservations", "--store-departure", depart_stores}};
  std::string deadlock = "detect", missing_rule;
  std::vector<std::string> lines;
  std::uint64_t lock_delay = 500, idle = 200;
  bool not_eager = false, news_in_any_order = false;
  CLI::App app("One node");
  auto* node = app.add_subcommand("node");
  node->add_option("--dir", settings.directory)->required();
  node->add_option("--name", settings.name)->required();
  node->add_option("--algorithm", settings.algorithm)->required();
  node->add_option("--allocator", settings.allocator);
  node->add_option("--lock-delay", lock_delay)->transform(milliseconds);
  node->add_option("--idle", idle)->transform(milliseconds);
  node->add_option("--log-level", log_level);
  node->add_option("--without", without, "A rule of recovery that is left out");
  for (auto& each : departures)
    node->add_option(each.option, each.name, std::string("A wrong version of ") + each.of);
  node->add_option("--line", lines, "NAME:LATENCY:SPACING of frames to a peer, ms");
  node->add_option("--deadlock", deadlock, "What is done about deadlocks");
  node->add_option("--missing-rule", missing_rule,
                   "A rule of finding deadlocks that is left out: confirmation");
  node->add_flag("--news-in-any-order", news_in_any_order,
                 "Observers of elections are told old news, too");
  node->add_flag("--not-eager", not_eager, "It does not ask ahead for users that come back");
  CLI11_PARSE(app, argc, argv);
  settings.lock_delay = std::chrono::milliseconds(lock_delay);
  settings.idle = std::chrono::milliseconds(idle);
  settings.client_socket = settings.directory / (settings.name + ".sock");
  if (!without.empty() && !leave_out(without, settings)) {
    fmt::print(stderr, "there is no rule '{}'\n", without);
    return 64;
  }
  for (const auto& each : departures) {
    if (each.name.empty() || each.depart(each.name, settings)) continue;
    fmt::print(stderr, "there is no wrong version '{}' of {}\n", each.name, each.of);
    return 64;
  }
  for (const auto& line : lines) {
    if (slow_down(line, settings)) continue;
    fmt::print(stderr, "'{}' is no line\n", line);
    return 64;
  }
  const auto policy = turno::port::policy_named(deadlock);
  if (!policy || (!missing_rule.empty() && missing_rule != "confirmation")) {
    fmt::print(stderr, "there is no policy '{}', or no rule '{}'\n", deadlock, missing_rule);
    return 64;
  }
  settings.declarations.declare_deadlocks(*policy);
  if (!missing_rule.empty()) settings.missing_rule = turno::cluster::Tangle::Without::confirmation;
  settings.rules.eager = !not_eager;
  settings.news_in_order = !news_in_any_order;
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
