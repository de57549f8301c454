#include "commands.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <map>
#include <thread>

#include "cluster.h"
#include "core/random.h"

namespace turno::torture {

namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

constexpr std::array<const char*, 3> kinds = {"quick", "careful", "stubborn"};
volatile std::sig_atomic_t told_to_stop = 0;

// A wrapper and what was done to it.
struct Wrapper {
  Process process;
  bool disturbed = false;  // killed or told to end, so that any status will do
  std::string output;      // file
};

class Storm {
 public:
  Storm(const Options& options, const Commands& commands)
      : options_(options),
        commands_(commands),
        notes_(options.node.directory / "notes"),
        random_(options.seed),
        cluster_(options.node, *board_, options.slack) {}

  Report run() {
    for (std::uint32_t i = 0; i < options_.nodes; ++i) cluster_.start();
    if (!cluster_.settle()) {
      report_.complaints.emplace_back("the nodes did not come up");
      return std::move(report_);
    }
    const auto end = now_ns() + static_cast<std::int64_t>(options_.seconds * 1e9);
    while (now_ns() < end) {
      tick();
      if (commands_.rolling) {
        roll_on();
      } else if (options_.faults && random_.below(20) == 0) {
        disturb();
      }
      std::this_thread::sleep_for(5ms);
    }
    finish();
    judge();
    return std::move(report_);
  }

 private:
  void tick() {
    cluster_.tick();
    if (cluster_.living().size() < options_.nodes && now_ns() > replaced_ + ns(300ms)) replace();
    for (auto& wrapper : wrappers_) look_at(wrapper);
    std::erase_if(wrappers_, [](const Wrapper& wrapper) { return wrapper.process.ended; });
    while (!ending_ && wrappers_.size() < commands_.wrappers) wrappers_.push_back(start());
  }

  // When all are up for a while, the oldest one is told to leave; another will take its place.
  void roll_on() {
    const auto living = cluster_.living();
    if (living.size() < options_.nodes || now_ns() < replaced_ + ns(600ms)) return;
    cluster_.tell_to_leave(living.front());
    replace();
  }
  void replace() {
    replaced_ = now_ns();
    if (!ending_ && !cluster_.full()) cluster_.start();
  }
  static std::int64_t ns(Milliseconds time) { return std::chrono::nanoseconds(time).count(); }

  void disturb() {
    const auto living = cluster_.living();
    const auto node = living.empty() ? 0 : living[random_.below(living.size())];
    auto& wrapper = wrappers_[random_.below(wrappers_.size())];
    // The cluster is never without several nodes that have been there for a while.
    const bool may_go = living.size() == options_.nodes && now_ns() > replaced_ + ns(1000ms);
    switch (random_.below(7)) {
      case 0:
        if (may_go) cluster_.kill(node);
        break;
      case 1:
      case 2:
        if (may_go) cluster_.tell_to_leave(node);
        break;
      case 3:
        if (!living.empty())
          cluster_.pause(node, options_.scaled(Milliseconds(random_.below(700))));
        break;
      case 4:
        wrapper.disturbed = true;
        ::kill(wrapper.process.pid, SIGKILL);
        break;
      case 5:
        if (wrapper.process.stopped == 0)
          stop(wrapper.process, options_.scaled(Milliseconds(random_.below(1500))));
        break;
      default:
        wrapper.disturbed = true;
        ::kill(wrapper.process.pid, SIGTERM);
    }
    ++disturbances_;
  }

  // Of whatever kind it is, one command at a time runs under it.
  [[nodiscard]] std::vector<std::string> words_of_wrapper(std::uint64_t number_of_lock,
                                                          const std::string& lock,
                                                          const std::string& number) const {
    switch (commands_.all_kinds ? number_of_lock % 5 : 0) {
      case 1:
        return {commands_.turno, "semaphore", lock, "--permits", "1"};
      case 2:
        return {commands_.turno, "room", lock, "--group", number};
      case 3:
        return {commands_.turno, "reserve", "it:1/1", "--store", lock};
      case 4:
        return {commands_.turno, "elect", lock, "--value", number};
      default:
        return {commands_.turno, "lock", lock};
    }
  }

  Wrapper start() {
    const auto number_of_lock = random_.below(commands_.locks);
    const auto lock = "lock-" + std::to_string(number_of_lock);
    const auto time = std::to_string(20 + random_.below(400));
    const std::string kind = kinds[random_.below(kinds.size())];
    const auto number = std::to_string(++started_);
    std::vector<std::string> words;
    if (!commands_.without_lock) {
      words = words_of_wrapper(number_of_lock, lock, number);
      words.insert(words.end(), {"--dir", options_.node.directory.string()});
      if (random_.below(4) == 0) words.insert(words.end(), {"--ttl", "2s"});
      words.emplace_back("--");
    }
    words.insert(words.end(), {commands_.self, "--work", notes_.string(), lock, time, kind});
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    Wrapper wrapper{.output = (options_.node.directory / ("command-" + number)).string()};
    wrapper.process.pid = ::fork();
    if (wrapper.process.pid != 0) return wrapper;
    ::setsid();
    const int out = ::open(wrapper.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }

  void look_at(Wrapper& wrapper) {
    auto& process = wrapper.process;
    if (process.stopped != 0 && now_ns() >= process.resume_at) resume(process);
    const auto status = look(process);
    if (!status) return;
    // Its own, that of a command that was told to stop, or lost: never an error of Turno's.
    const bool fine = wrapper.disturbed || *status == 0 || *status == 123 || *status == 128 + 15;
    if (*status == 123) ++lost_;
    if (*status == 123 && commands_.rolling)
      report_.complaints.push_back("a lock was lost: " + said(wrapper));
    if (*status == 0) ++done_;
    if (!fine) report_.complaints.push_back(fmt::format("status {}: {}", *status, said(wrapper)));
    std::filesystem::remove(wrapper.output);
  }

  static std::string said(const Wrapper& wrapper) {
    std::ifstream in(wrapper.output);
    std::string line, all;
    while (std::getline(in, line)) all += (all.empty() ? "" : " / ") + line;
    return all;
  }

  // Everybody is left alone and served.
  void finish() {
    ending_ = true;
    for (auto& wrapper : wrappers_)
      if (wrapper.process.stopped != 0) resume(wrapper.process);
    cluster_.settle();
    const auto end = now_ns() + std::chrono::nanoseconds(options_.scaled(30s)).count();
    while (!wrappers_.empty() && now_ns() < end) {
      tick();
      std::this_thread::sleep_for(5ms);
    }
    for (auto& wrapper : wrappers_) {
      report_.complaints.push_back("a command was not served in the end: " + said(wrapper));
      torture::kill(wrapper.process);
    }
    cluster_.end();
  }

  void judge() {
    std::vector<Note> notes;
    std::ifstream in(notes_);
    Note note;
    while (in >> note.lock >> note.process >> note.at) notes.push_back(note);
    for (const auto& complaint : overlaps(notes)) report_.complaints.push_back(complaint);
    for (const auto& complaint : cluster_.complaints()) report_.complaints.push_back(complaint);
    if (done_ == 0) report_.complaints.emplace_back("no command ever ended by itself");
    const auto stall = static_cast<double>(longest_stall(notes)) / 1e6;
    const auto& counts = cluster_.counts();
    report_.summary = fmt::format(
        "{} commands, {} to their end, {} lost their lock; {} disturbances: of nodes {} kills, {} "
        "leaves, {} stops; longest stall {:.0f} ms",
        started_, done_, lost_, disturbances_, counts.kills, counts.leaves, counts.pauses, stall);
  }

  const Options options_;
  const Commands commands_;
  const std::filesystem::path notes_;
  Random random_;
  const decltype(Board::make()) board_ = Board::make();
  Cluster cluster_;
  std::vector<Wrapper> wrappers_;
  Report report_;
  bool ending_ = false;
  std::int64_t replaced_ = 0;  // when a node was started
  std::uint32_t started_ = 0, done_ = 0, lost_ = 0, disturbances_ = 0;
};

}  // namespace

Report run_commands(const Options& options, const Commands& commands) {
  std::filesystem::create_directories(options.node.directory);
  std::filesystem::permissions(options.node.directory, std::filesystem::perms::owner_all);
  return Storm(options, commands).run();
}

int work(const std::string& notes, const std::string& lock, std::uint32_t time_ms,
         const std::string& kind) {
  struct sigaction action {};
  action.sa_handler = [](int) { told_to_stop = 1; };
  ::sigaction(SIGTERM, &action, nullptr);
  const int out = ::open(notes.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const auto prefix = lock + " " + std::to_string(::getpid()) + " ";
  auto end = now_ns() + std::int64_t{time_ms} * 1'000'000;
  bool heard = false;
  while (now_ns() < end) {
    const auto line = prefix + std::to_string(now_ns()) + "\n";
    if (::write(out, line.data(), line.size()) < 0) return 1;
    if (told_to_stop != 0 && !heard) {
      heard = true;
      if (kind == "quick") return 128 + SIGTERM;
      end = now_ns() + (kind == "careful" ? 150'000'000 : 6'000'000'000);
    }
    std::this_thread::sleep_for(2ms);
  }
  return heard ? 128 + SIGTERM : 0;
}

namespace {

struct Run {
  std::int64_t from, to, process;
};

// By lock, in the order of their beginnings.
std::map<std::string, std::vector<Run>> runs_in(std::span<const Note> notes) {
  std::map<std::pair<std::string, std::int64_t>, Run> runs;  // by lock and process
  for (const auto& note : notes) {
    auto& run = runs.try_emplace({note.lock, note.process}, Run{note.at, note.at, note.process})
                    .first->second;
    run.from = std::min(run.from, note.at);
    run.to = std::max(run.to, note.at);
  }
  std::map<std::string, std::vector<Run>> by_lock;
  for (const auto& [key, run] : runs) by_lock[key.first].push_back(run);
  for (auto& [lock, all] : by_lock) std::ranges::sort(all, {}, &Run::from);
  return by_lock;
}

}  // namespace

std::int64_t longest_stall(std::span<const Note> notes) {
  std::int64_t longest = 0;
  for (const auto& [lock, all] : runs_in(notes))
    for (std::size_t i = 1; i < all.size(); ++i)
      longest = std::max(longest, all[i].from - all[i - 1].to);
  return longest;
}

std::vector<std::string> overlaps(std::span<const Note> notes) {
  std::vector<std::string> complaints;
  for (const auto& [lock, all] : runs_in(notes)) {
    Run last{0, 0, 0};
    for (const auto& run : all) {
      if (run.from <= last.to)
        complaints.push_back(fmt::format(
            "processes {} and {} ran under {} at once, for {:.1f} ms", last.process, run.process,
            lock, static_cast<double>(std::min(last.to, run.to) - run.from) / 1e6));
      if (run.to > last.to) last = run;
    }
  }
  return complaints;
}

}  // namespace turno::torture
