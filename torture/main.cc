// turno-torture: a real cluster and real clients under faults. Ends with 0 if, by the clients' own
// records, no two ever held a lock at once, fences only grew, and everybody was served. With a
// canary, a cluster that is wrong on purpose, it ends with 0 if that was noticed. A play is a
// directed run of a right cluster.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>

#include "canaries.h"
#include "commands.h"
#include "held.h"
#include "plays.h"
#include "records.h"
#include "run.h"
#include "stopped/stopped.h"
#include "tangles.h"

namespace turno::torture {
namespace {

std::string describe(const Options& options) {
  const auto& things = options.things;
  if (!things.resources.empty())
    return fmt::format("stores of {} resources by {}", fmt::join(things.resources, " and "),
                       options.node.allocator);
  if (things.groups > 0) return fmt::format("rooms of {} groups", things.groups);
  if (things.permits > 0) return fmt::format("semaphores of {} permits", things.permits);
  return (things.elections ? "elections by " : "") + options.node.algorithm;
}

int tell(const Report& report, const Options& options) {
  const auto what = describe(options);
  fmt::print("{}: {}\n", what, report.summary);
  if (!report.misplayed.empty()) {
    fmt::print(stderr, "it could not be played: {}\n", report.misplayed);
    return 1;
  }
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(most, report.complaints.size()); ++i)
    fmt::print(stderr, "{} (seed {}): {}\n", what, options.seed, report.complaints[i]);
  if (report.complaints.size() > most)
    fmt::print(stderr, "and {} more\n", report.complaints.size() - most);
  return report.complaints.empty() ? 0 : 1;
}

// With --held. If the nodes do without a rule, that must be noticed.
int hold_once(const Options& options, const Held& held) {
  const auto report = hold_many(options, held);
  if (options.node.without.empty()) return tell(report, options);
  fmt::print("without {}: {} complaints; {}\n", options.node.without, report.complaints.size(),
             report.summary);
  return report.complaints.empty() ? 1 : 0;
}

int play(const std::string& name, Options options) {
  const auto* play = play_named(name);
  if (play == nullptr) {
    fmt::print(stderr, "there is no play '{}'\n", name);
    return 64;
  }
  options.node.algorithm = play->algorithm;
  return tell(perform(*play, options), options);
}

bool is_caught(const Canary& canary, Options options) {
  const auto begin = now_ns();
  options.node.directory /= canary.name;
  const auto report = look_for(canary, options);
  const auto seconds = static_cast<double>(now_ns() - begin) / 1e9;
  const bool caught = report.misplayed.empty() && !report.complaints.empty();
  if (caught) {
    fmt::print("{} was caught after {:.1f} s: {}\n", canary.name, seconds,
               report.complaints.front());
  } else {
    fmt::print(stderr, "{} (seed {}) was not caught in {:.1f} s: {}{}\n", canary.name, options.seed,
               seconds, canary.flaw,
               report.misplayed.empty() ? "" : "; not played: " + report.misplayed);
  }
  std::error_code ignored;
  std::filesystem::remove_all(options.node.directory, ignored);
  return caught;
}

int look_for_canaries(const std::string& name, const Options& options) {
  bool known = false;
  int status = 0;
  for (const auto& canary : canaries()) {
    if (name.empty() ? !canary.hidden.empty() : name != canary.name) continue;
    known = true;
    if (!is_caught(canary, options)) status = 1;
  }
  if (known) return status;
  fmt::print(stderr, "there is no canary '{}'\n", name);
  return 64;
}

// With --turno: commands under turno lock. Without the lock, it must be noticed.
int run_commands_once(const Options& options, const Commands& commands) {
  auto report = run_commands(options, commands);
  if (!commands.without_lock) return tell(report, options);
  fmt::print("without the lock: {} complaints; {}\n", report.complaints.size(), report.summary);
  return report.complaints.empty() ? 1 : 0;
}

// With --deadlock. If the nodes do not confirm what they hear, that must be noticed.
int run_tangles(Options options, const Tangles& tangles) {
  options.until_complaint = tangles.without_confirmation;
  const auto report = tangle(options, tangles);
  if (!tangles.without_confirmation) return tell(report, options);
  fmt::print("without confirmation: {}; {}\n",
             report.complaints.empty() ? "nothing was noticed" : report.complaints.front(),
             report.summary);
  return report.complaints.empty() ? 1 : 0;
}

int run(int argc, char** argv) {
  if (argc == 6 && std::string_view(argv[1]) == "--work")
    return work(argv[2], argv[3], static_cast<std::uint32_t>(std::stoul(argv[4])), argv[5]);
  Options options;
  Commands commands;
  std::string canary, directed;
  bool no_faults = false, all_canaries = false;
  std::int64_t idle_ms = 0, lock_delay_ms = 200, held_stop_ms = 0;
  Held held{.locks = 0};
  bool held_kill = false;
  Tangles tangles;
  double stopped_seconds = 0;
  CLI::App app("A real cluster under faults, judged by its clients' records", "turno-torture");
  app.add_option("--binary", options.node.binary,
                 "The turno program; torture-node if there is a canary")
      ->required();
  app.add_option("--algorithm", options.node.algorithm)->capture_default_str();
  app.add_option("--dir", options.node.directory, "Where the cluster lives while it is tortured");
  app.add_option("--nodes", options.nodes)->capture_default_str();
  app.add_option("--clients", options.clients)->capture_default_str();
  app.add_option("--locks", options.locks)->capture_default_str();
  app.add_option("--permits", options.things.permits,
                 "They are semaphores, and each has so many permits (default: locks)");
  app.add_option("--resources", options.things.resources,
                 "They are stores, with so many instances of each type: 3,2 (default: locks)")
      ->delimiter(',');
  app.add_option("--groups", options.things.groups,
                 "They are rooms, entered with one of so many groups (default: locks)");
  app.add_flag("--elections", options.things.elections, "They are elections");
  app.add_option("--allocator", options.node.allocator, "The algorithm of stores")
      ->capture_default_str();
  auto* seconds = app.add_option("--seconds", options.seconds)->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--slack", options.slack, "How many times slower than usual all is");
  app.add_option("--idle", idle_ms, "After which locks are forgotten, ms; by default 50 or 60000");
  app.add_option("--lock-delay", lock_delay_ms, "ms")->capture_default_str();
  app.add_option("--log-level", options.node.log_level)->capture_default_str();
  app.add_option("--canary", canary, "Is this wrong version noticed?");
  app.add_flag("--canaries", all_canaries, "Are all wrong versions noticed?");
  app.add_option("--play", directed, "Instead: this directed run of a right cluster");
  app.add_option("--held", held.locks,
                 "Instead: so many locks are held through a node while another one leaves");
  app.add_flag("--held-kill", held_kill, "With --held: it does not leave, but is killed");
  app.add_option("--held-stop", held_stop_ms, "With --held: the holders' node stops so long, ms");
  app.add_option("--without", options.node.without,
                 "With --held: the nodes do without this rule, which must be noticed; needs "
                 "torture-node");
  app.add_option("--stopped", stopped_seconds,
                 "Instead: a member is stopped so long while the others work, and their memory is "
                 "judged");
  app.add_option("--turno", commands.turno,
                 "Instead: commands run under the `turno lock` of this program");
  app.add_flag("--rolling", commands.rolling,
               "With --turno: nodes are replaced one after another, and nobody may lose a lock");
  app.add_flag("--all-kinds", commands.all_kinds,
               "With --turno: under `turno semaphore`, `room`, `reserve` and `elect`, too");
  app.add_flag("--without-lock", commands.without_lock, "With --turno: they run without the lock");
  app.add_option("--deadlock", tangles.mode,
                 "Instead: sessions that deadlock under a policy (abort, ordered), or that "
                 "cannot (none)")
      ->check(CLI::IsMember({"abort", "ordered", "none"}));
  app.add_option("--sessions", tangles.sessions, "With --deadlock")->capture_default_str();
  app.add_option("--things", tangles.things, "With --deadlock")->capture_default_str();
  app.add_flag("--without-confirmation", tangles.without_confirmation,
               "With --deadlock none: nodes believe what they hear, which must be noticed");
  app.add_flag("--no-faults", no_faults);
  app.add_flag("--until-complaint", options.until_complaint,
               "End with the first complaint; storms take turns with quiet times");
  CLI11_PARSE(app, argc, argv);
  options.faults = !no_faults;
  if (options.node.algorithm.empty()) options.node.algorithm = "nxr-bh";
  options.node.idle = std::chrono::milliseconds(idle_ms > 0             ? idle_ms
                                                : options.seed % 2 == 1 ? 50
                                                                        : 60'000);
  options.node.lock_delay = std::chrono::milliseconds(lock_delay_ms);
  if (options.node.directory.empty())
    options.node.directory = std::filesystem::temp_directory_path() /
                             fmt::format("turno-torture-{}-{}", options.node.algorithm, ::getpid());
  if (all_canaries || !canary.empty()) {
    if (seconds->empty()) options.seconds = 20 * options.slack;
    const auto status = look_for_canaries(canary, options);
    std::error_code ignored;
    std::filesystem::remove_all(options.node.directory, ignored);
    return status;
  }
  if (!tangles.mode.empty()) {
    const auto status = run_tangles(options, tangles);
    if (status == 0) std::filesystem::remove_all(options.node.directory);
    return status;
  }
  if (stopped_seconds > 0) {
    const auto status = tell(
        stop_one(options, std::chrono::milliseconds(std::llround(stopped_seconds * 1e3))), options);
    if (status == 0) std::filesystem::remove_all(options.node.directory);
    return status;
  }
  if (!commands.turno.empty()) {
    if (commands.all_kinds) commands.locks = 5;
    commands.self = std::filesystem::read_symlink("/proc/self/exe").string();
    const auto status = run_commands_once(options, commands);
    if (status == 0) std::filesystem::remove_all(options.node.directory);
    return status;
  }
  if (held_kill) held.change = Held::Change::kill;
  held.stop = std::chrono::milliseconds(held_stop_ms);
  const auto status = !directed.empty() ? play(directed, options)
                      : held.locks > 0  ? hold_once(options, held)
                                        : tell(torture(options), options);
  if (status == 0) std::filesystem::remove_all(options.node.directory);
  return status;
}

}  // namespace
}  // namespace turno::torture

int main(int argc, char** argv) { return turno::torture::run(argc, argv); }
