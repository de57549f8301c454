#include "stopped/stopped.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cluster.h"
#include "core/random.h"
#include "speaker.h"

namespace turno::torture {

namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

constexpr std::uint32_t members = 4, stopped = 3;  // and one joins meanwhile
constexpr std::uint32_t held_names = 500;  // through a node that goes on, and as many through the
                                           // one that is stopped

enum class Kind : std::uint8_t { lock, permit, visit, resource, leadership };

void ask_for(Speaker& speaker, Kind kind, const std::string& name) {
  switch (kind) {
    case Kind::lock:
      return speaker.say({"LOCK", name, "TIMEOUT", "1", "ASYNC"});
    case Kind::permit:
      return speaker.say({"PERMIT", name, "OF", "3", "TIMEOUT", "1", "ASYNC"});
    case Kind::visit:
      return speaker.say({"ENTER", name, "readers", "TIMEOUT", "1", "ASYNC"});
    case Kind::resource:
      return speaker.say({"RESERVE", "gpu:1/2", "IN", name, "TIMEOUT", "1", "ASYNC"});
    case Kind::leadership:
      return speaker.say({"CAMPAIGN", name, "me", "TIMEOUT", "1", "ASYNC"});
  }
}
void give_back(Speaker& speaker, Kind kind, const std::string& name) {
  switch (kind) {
    case Kind::lock:
      return speaker.say({"UNLOCK", name});
    case Kind::permit:
      return speaker.say({"RELEASE", name});
    case Kind::visit:
      return speaker.say({"LEAVE", name});
    case Kind::resource:
      return speaker.say({"RETURN", "IN", name});
    case Kind::leadership:
      return speaker.say({"RESIGN", name});
  }
}

// The clients of one node: they ask for thousands of names that nobody used before, with hardly any
// patience; wait and try for what somebody has; and ask who has it.
class Load {
 public:
  Load(std::uint32_t node, const std::string& socket, std::uint64_t seed)
      : node_(node),
        random_(seed),
        speaker_(Speaker::connect(socket)),
        curious_(Speaker::connect(socket)) {}
  [[nodiscard]] bool connected() const { return speaker_ && curious_; }

  // What it still has or waits for in the end, its node takes back with the connection.
  void run(const std::atomic<bool>& goes_on) {
    say_hello();
    while (goes_on) {
      while (waits_.size() + expected_.size() < 500) ask();
      auto reply = speaker_->hear(1ms);
      for (; reply; reply = speaker_->hear(0ms))
        reply->kind == wire::Reply::Kind::push ? news(*reply) : answer(*reply);
      wonder();
    }
    speaker_.reset();
    curious_.reset();
  }

  std::uint64_t asked = 0, granted = 0, timeouts = 0, questions = 0, names = 0;
  std::string error;  // the last one

 private:
  struct Expected {  // an answer: of something that was asked for, or else of no interest
    bool asks = false;
    Kind kind = Kind::lock;
  };

  void say_hello() {
    speaker_->say({"HELLO", "3"});
    expected_.push_back({});
  }
  [[nodiscard]] std::string somebodys() {
    return fmt::format("{}-{}", random_.below(2) == 0 ? "held" : "away", random_.below(held_names));
  }

  void ask() {
    const auto dice = random_.below(20);
    auto kind = Kind::lock;
    if (dice < 2) {
      speaker_->say({"LOCK", somebodys(), "TIMEOUT", dice == 0 ? "0" : "50", "ASYNC"});
    } else {
      if (dice < 6) kind = static_cast<Kind>(dice - 1);
      ask_for(*speaker_, kind, fmt::format("fresh-{}-{}", node_, names++));
    }
    expected_.push_back({true, kind});
    ++asked;
  }
  // Answers come in the order of what was said.
  void answer(const wire::Reply& reply) {
    const auto expected = expected_.front();
    expected_.pop_front();
    if (reply.is_error()) {
      error = reply.text;
    } else if (expected.asks) {
      waits_.emplace(reply.integer, expected.kind);
    }
  }
  void news(const wire::Reply& push) {
    if (push.elements.size() < 3) return;
    const auto wait = waits_.find(push.elements[1].integer);
    if (wait == waits_.end()) return;
    const auto kind = wait->second;
    waits_.erase(wait);
    const auto& event = push.elements[0].text;
    if (event == "timeout") ++timeouts;
    if (event == "failed" || event == "refused") error = push.elements.back().text;
    if (event != "granted") return;
    ++granted;
    give_back(*speaker_, kind, push.elements[2].text);
    expected_.push_back({});
  }

  // One question at a time: all members are asked, also the one that is stopped.
  void wonder() {
    if (wonders_ && !curious_->hear(0ms)) return;
    questions += wonders_ ? 1 : 0;
    wonders_ = true;
    curious_->say({"WHO", somebodys()});
  }

  const std::uint32_t node_;
  Random random_;
  std::unique_ptr<Speaker> speaker_, curious_;
  std::deque<Expected> expected_;
  std::unordered_map<std::int64_t, Kind> waits_;  // by ticket
  bool wonders_ = false;
};

std::uint64_t resident_kib(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6));
  return 0;
}

class Experiment {
 public:
  Experiment(const Options& options, Milliseconds time)
      : options_(options), time_(time), cluster_(options.node, *board_, options.slack) {}

  Report run() {
    for (std::uint32_t i = 0; i < members; ++i) cluster_.start();
    if (!cluster_.settle()) return failed("the nodes did not come up");
    if (!take(0, "held") || !take(stopped, "away")) return failed("not all locks were granted");
    for (std::uint32_t node = 0; node < stopped; ++node) {
      loads_.push_back(std::make_unique<Load>(node, cluster_.socket(node), options_.seed + node));
      if (!loads_.back()->connected()) return failed("a node took no client");
    }
    std::vector<std::jthread> threads;
    for (auto& load : loads_) threads.emplace_back([&] { load->run(goes_on_); });
    watch(1s);  // what load alone needs
    for (auto& [node, memory] : memories_) memory.before = memory.most;
    cluster_.pause(stopped, 24h);
    watch(time_ / 3);
    cluster_.start();
    watch(time_ - time_ / 3);
    for (auto& [node, memory] : memories_) memory.meanwhile = memory.most;
    cluster_.resume(stopped);
    watch(options_.scaled(3s));
    goes_on_ = false;
    threads.clear();
    serve();
    watch(0ms);
    judge();
    holders_.clear();
    loads_.clear();
    cluster_.end();
    for (const auto& complaint : cluster_.complaints()) report_.complaints.push_back(complaint);
    return std::move(report_);
  }

 private:
  struct Memory {
    std::uint64_t before = 0, meanwhile = 0, most = 0;  // KiB
  };

  Report failed(std::string_view why) {
    report_.complaints.emplace_back(why);
    return std::move(report_);
  }

  // A client at this node takes all names of a kind, and keeps them.
  bool take(std::uint32_t node, const std::string& prefix) {
    auto holder = Speaker::connect(cluster_.socket(node));
    if (!holder) return false;
    for (std::uint32_t i = 0; i < held_names; ++i)
      holder->say({"LOCK", fmt::format("{}-{}", prefix, i)});
    for (std::uint32_t i = 0; i < held_names; ++i) {
      const auto reply = holder->hear(options_.scaled(10s));
      if (!reply || reply->kind != wire::Reply::Kind::integer) return false;
    }
    holders_.emplace_back(prefix, std::move(holder));
    return true;
  }

  void watch(Milliseconds time) {
    const auto end = now_ns() + std::chrono::nanoseconds(time).count();
    do {
      cluster_.tick();
      for (std::uint32_t node = 0; node <= members; ++node) {
        const auto pid = cluster_.pid(node);
        if (pid == 0) continue;
        auto& memory = memories_[node];
        memory.most = std::max(memory.most, resident_kib(pid));
      }
      std::this_thread::sleep_for(50ms);
    } while (now_ns() < end);
  }

  // Who held something has it still, and gives it back; then somebody at every node gets it, and
  // names that were asked for in vain.
  void serve() {
    for (auto& [prefix, holder] : holders_) {
      std::uint32_t kept = 0;
      for (std::uint32_t i = 0; i < held_names; ++i)
        holder->say({"UNLOCK", fmt::format("{}-{}", prefix, i)});
      for (std::uint32_t i = 0; i < held_names; ++i) {
        const auto reply = holder->hear(options_.scaled(10s));
        kept += reply && reply->integer == 1 ? 1U : 0U;
      }
      if (kept < held_names)
        complain("{} of {} locks {}-* were lost", held_names - kept, held_names, prefix);
    }
    Random random(options_.seed);
    for (const auto node : cluster_.living()) {
      auto client = Speaker::connect(cluster_.socket(node));
      for (std::uint32_t i = 0; i < 100 && client; ++i) {
        const auto& load = *loads_[random.below(stopped)];
        const auto name = i % 2 == 0
                              ? fmt::format("{}-{}", i % 4 == 0 ? "held" : "away", i)
                              : fmt::format("fresh-{}-{}", random.below(stopped),
                                            random.below(std::max<std::uint64_t>(1, load.names)));
        client->say({"LOCK", name});
        const auto lock = client->hear(options_.scaled(10s));
        if (!lock || lock->kind != wire::Reply::Kind::integer) {
          complain("at node {} nobody got {}", node, name);
          break;
        }
        client->say({"UNLOCK", name});
        client->hear(options_.scaled(10s));
      }
    }
    if (cluster_.living().size() != members + 1) complain("not all nodes are up in the end");
  }

  void judge() {
    std::uint64_t asked = 0, granted = 0, timeouts = 0, questions = 0;
    for (const auto& load : loads_) {
      asked += load->asked;
      granted += load->granted;
      timeouts += load->timeouts;
      questions += load->questions;
      if (!load->error.empty()) complain("somebody was told: {}", load->error);
      if (load->timeouts == 0) complain("at one node nobody waited in vain: nothing was tried");
    }
    report_.summary = fmt::format(
        "stopped for {:.1f} s: {} requests, {} granted, {} in vain, {} questions; MiB before, "
        "meanwhile, afterwards:",
        static_cast<double>(time_.count()) / 1e3, asked, granted, timeouts, questions);
    for (const auto& [node, memory] : memories_) {
      report_.summary +=
          fmt::format(" {}{} {} {} {}", node == stopped ? "*" : "n", node, memory.before / 1024,
                      memory.meanwhile / 1024, memory.most / 1024);
      // Nobody knows how much the one that joins would have needed.
      const auto grown = (memory.most - std::min(memory.most, memory.before)) / 1024;
      if (grown > stopped_bound_mib)
        complain("node {} grew by {} MiB; the bound is {}", node, grown, stopped_bound_mib);
    }
  }

  template <class... T>
  void complain(fmt::format_string<T...> text, T&&... values) {
    report_.complaints.push_back(fmt::format(text, std::forward<T>(values)...));
  }

  const Options options_;
  const Milliseconds time_;
  const decltype(Board::make()) board_ = Board::make();
  Cluster cluster_;
  std::vector<std::pair<std::string, std::unique_ptr<Speaker>>> holders_;
  std::vector<std::unique_ptr<Load>> loads_;
  std::map<std::uint32_t, Memory> memories_;
  std::atomic<bool> goes_on_{true};
  Report report_;
};

}  // namespace

Report stop_one(const Options& options, std::chrono::milliseconds time) {
  return Experiment(options, time).run();
}

}  // namespace turno::torture
