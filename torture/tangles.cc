#include "tangles.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cluster.h"
#include "core/random.h"
#include "speaker.h"

namespace turno::torture {

namespace {

using namespace std::chrono_literals;

std::int64_t ns(std::chrono::nanoseconds time) { return time.count(); }

struct Counts {
  std::uint64_t rounds = 0, deadlocks = 0, timeouts = 0, ends = 0;
  std::int64_t longest_wait = 0;
};

// What sessions have or may have, and what they wait for. It knows more than is so: a thing is
// claimed from when it is asked for until it is given back. So where these claims make no circle
// there is none.
class Claims {
 public:
  explicit Claims(std::size_t sessions) : waits_(sessions) {}

  // Whether others, whom this session would wait for, wait for this session.
  [[nodiscard]] bool would_close_a_circle(std::uint32_t session, std::uint32_t thing) const {
    std::vector<bool> seen(waits_.size(), false);
    std::vector<std::uint32_t> open{thing};
    while (!open.empty()) {
      const auto claimed = by_thing_.find(open.back());
      open.pop_back();
      if (claimed == by_thing_.end()) continue;
      for (const auto other : claimed->second) {
        if (other == session) return true;
        if (seen[other] || !waits_[other]) continue;
        seen[other] = true;
        open.push_back(*waits_[other]);
      }
    }
    return false;
  }
  void ask(std::uint32_t session, std::uint32_t thing) {
    by_thing_[thing].insert(session);
    waits_[session] = thing;
  }
  void settled(std::uint32_t session) { waits_[session].reset(); }
  void give_back(std::uint32_t session, const std::vector<std::uint32_t>& things) {
    for (const auto thing : things) by_thing_[thing].erase(session);
  }

 private:
  std::map<std::uint32_t, std::set<std::uint32_t>> by_thing_;
  std::vector<std::optional<std::uint32_t>> waits_;  // by session
};

// One session: takes two to four things, holds them for a moment, gives them back.
class Session {
 public:
  Session(const Tangles& tangles, Claims& claims, std::uint32_t number, std::string socket,
          std::uint64_t seed)
      : tangles_(tangles),
        claims_(claims),
        number_(number),
        socket_(std::move(socket)),
        random_(seed) {}

  [[nodiscard]] bool connect() { return (speaker_ = Speaker::connect(socket_)) != nullptr; }

  // Does what can be done now. Why it should not be so, or nothing.
  std::string live(bool goes_on, Counts& counts) {
    while (const auto reply = speaker_->hear(0ms)) {
      auto complaint = state_ == State::waits ? settled(*reply, counts) : given_back(*reply);
      if (!complaint.empty()) return complaint;
    }
    if (state_ == State::waits) {
      // What a session that ends still has its node may know a moment longer.
      if (!tangles_.kept_apart() && random_.below(20'000) == 0) return hang_up(counts);
      return {};
    }
    if (now_ns() < until_) return {};
    if (state_ == State::holds) {
      ++counts.rounds;
      give_back();
    } else if (state_ == State::idle && goes_on) {
      begin();
    }
    return {};
  }
  [[nodiscard]] bool is_idle() const { return state_ == State::idle; }
  [[nodiscard]] std::string describe() const {
    return fmt::format("a session at {} {}", socket_,
                       state_ == State::waits
                           ? fmt::format("waits for {} for {:.1f} s", wanted_[taken_],
                                         static_cast<double>(now_ns() - since_) / 1e9)
                           : "does not go on");
  }

 private:
  enum class State : std::uint8_t { idle, waits, holds, gives_back };

  // Of each seven things three are locks, the others one of each kind.
  enum class Kind : std::uint8_t { lock, semaphore, room, store, election };
  static Kind kind_of(std::uint32_t thing) {
    const auto place = thing % 7;
    return place < 3 ? Kind::lock : static_cast<Kind>(place - 2);
  }
  static std::string name_of(std::uint32_t thing) { return fmt::format("t-{:05}", thing); }

  void rest(std::chrono::microseconds longest) {
    until_ =
        now_ns() +
        ns(std::chrono::microseconds(random_.below(static_cast<std::uint64_t>(longest.count()))));
  }

  void begin() {
    wanted_.clear();
    for (auto count = 2 + random_.below(3); wanted_.size() < count;) {
      const auto thing = static_cast<std::uint32_t>(random_.below(tangles_.things));
      if (std::ranges::find(wanted_, thing) == wanted_.end()) wanted_.push_back(thing);
    }
    // Who was refused takes them in order the next time.
    if (std::exchange(refused_, false)) std::ranges::sort(wanted_);
    taken_ = 0;
    ask();
  }

  void ask() {
    const auto thing = wanted_[taken_];
    if (tangles_.kept_apart() && claims_.would_close_a_circle(number_, thing)) return give_back();
    claims_.ask(number_, thing);
    const auto name = name_of(thing);
    const auto patience = std::to_string(random_.below(8) == 0 ? 300 : 600'000);
    switch (kind_of(thing)) {
      case Kind::lock:
        speaker_->say({"LOCK", name, "TIMEOUT", patience});
        break;
      case Kind::semaphore:
        speaker_->say({"PERMIT", name, "OF", "2", "TIMEOUT", patience});
        break;
      case Kind::room:
        speaker_->say({"ENTER", name, random_.below(2) == 0 ? "r" : "w", "TIMEOUT", patience});
        break;
      case Kind::store:
        speaker_->say({"RESERVE", "disk:1/2", "IN", name, "TIMEOUT", patience});
        break;
      case Kind::election:
        speaker_->say({"CAMPAIGN", name, "me", "TIMEOUT", patience});
        break;
    }
    state_ = State::waits;
    since_ = now_ns();
  }

  std::string settled(const wire::Reply& reply, Counts& counts) {
    counts.longest_wait = std::max(counts.longest_wait, now_ns() - since_);
    claims_.settled(number_);
    if (reply.kind == wire::Reply::Kind::null) {
      ++counts.timeouts;
      give_back();
    } else if (!reply.is_error()) {
      if (++taken_ < wanted_.size()) {
        ask();
      } else {
        state_ = State::holds;
        rest(3ms);
      }
    } else if (reply.text.starts_with("DEADLOCK")) {
      ++counts.deadlocks;
      refused_ = tangles_.mode == "ordered";
      give_back();
      if (tangles_.kept_apart()) return "who cannot be in a deadlock was told: " + reply.text;
    } else {
      give_back();
      return "a session was told: " + reply.text;
    }
    return {};
  }

  void give_back() {
    for (std::size_t i = 0; i < taken_; ++i) {
      const auto name = name_of(wanted_[i]);
      switch (kind_of(wanted_[i])) {
        case Kind::lock:
          speaker_->say({"UNLOCK", name});
          break;
        case Kind::semaphore:
          speaker_->say({"RELEASE", name});
          break;
        case Kind::room:
          speaker_->say({"LEAVE", name});
          break;
        case Kind::store:
          speaker_->say({"RETURN", "IN", name});
          break;
        case Kind::election:
          speaker_->say({"RESIGN", name});
          break;
      }
    }
    awaited_ = std::exchange(taken_, 0);
    state_ = State::gives_back;
    rest(20ms);
    if (awaited_ == 0) given_all_back();
  }
  std::string given_back(const wire::Reply& reply) {
    if (reply.kind != wire::Reply::Kind::integer || reply.integer != 1 || awaited_ == 0)
      return "what it held was not there to be given back: " + reply.text;
    if (--awaited_ == 0) given_all_back();
    return {};
  }
  void given_all_back() {
    claims_.give_back(number_, wanted_);
    state_ = State::idle;
  }

  std::string hang_up(Counts& counts) {
    ++counts.ends;
    taken_ = awaited_ = 0;
    claims_.settled(number_);
    given_all_back();
    return connect() ? "" : "the node at " + socket_ + " takes no client";
  }

  const Tangles& tangles_;
  Claims& claims_;
  const std::uint32_t number_;
  const std::string socket_;
  Random random_;
  std::unique_ptr<Speaker> speaker_;
  State state_ = State::idle;
  std::vector<std::uint32_t> wanted_;
  std::size_t taken_ = 0, awaited_ = 0;
  std::int64_t until_ = 0, since_ = 0;
  bool refused_ = false;
};

// Where rumours are to be told from deadlocks, all nodes are some milliseconds apart, and now and
// then one of them is stopped: so what is heard in one pursuit is of different moments.
NodeOptions nodes_of(NodeOptions node, const Tangles& tangles, std::uint32_t count) {
  node.deadlock = tangles.kept_apart() ? "abort" : tangles.mode;
  if (!tangles.kept_apart()) return node;
  if (tangles.without_confirmation) node.missing_rule = "confirmation";
  for (std::uint32_t from = 0; from < count; ++from)
    for (std::uint32_t to = 0; to < count; ++to)
      if (from != to) node.lines.push_back({fmt::format("n{}", from), fmt::format("n{}", to), 5ms});
  return node;
}

}  // namespace

Report tangle(const Options& options, const Tangles& tangles) {
  Report report;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto board = Board::make();
  Cluster cluster(nodes_of(options.node, tangles, options.nodes), *board, options.slack);
  std::filesystem::create_directories(options.node.directory);
  for (std::uint32_t i = 0; i < options.nodes; ++i) cluster.start();
  if (!cluster.settle()) return {.summary = {}, .complaints = {"the nodes did not come up"}};
  Claims claims(tangles.sessions);
  std::vector<std::unique_ptr<Session>> sessions;
  for (std::uint32_t i = 0; i < tangles.sessions; ++i) {
    sessions.push_back(std::make_unique<Session>(
        tangles, claims, i, cluster.socket(i % options.nodes), options.seed * 1'000'003 + i));
    if (!sessions.back()->connect())
      return {.summary = {}, .complaints = {"a node took no client"}};
  }
  Counts counts;
  Random random(options.seed);
  auto next_stop = now_ns();
  const auto end = now_ns() + static_cast<std::int64_t>(options.seconds * 1e9);
  const auto last = end + ns(options.scaled(30s));
  const auto all_idle = [&] {
    return std::ranges::all_of(sessions, [](const auto& each) { return each->is_idle(); });
  };
  while (now_ns() < end || (!all_idle() && now_ns() < last)) {
    cluster.tick();
    if (tangles.kept_apart() && now_ns() > next_stop && now_ns() < end) {
      next_stop = now_ns() + ns(std::chrono::milliseconds(100 + random.below(300)));
      cluster.pause(static_cast<std::uint32_t>(random.below(options.nodes)),
                    std::chrono::milliseconds(50 + random.below(350)));
    }
    for (auto& session : sessions)
      if (auto complaint = session->live(now_ns() < end, counts); !complaint.empty())
        report.complaints.push_back(std::move(complaint));
    if (!report.complaints.empty() && (options.until_complaint || report.complaints.size() > 100))
      break;
    std::this_thread::sleep_for(200us);
  }
  if (report.complaints.empty())
    for (const auto& session : sessions)
      if (!session->is_idle()) report.complaints.push_back(session->describe());
  sessions.clear();
  cluster.end();
  for (const auto& complaint : cluster.complaints()) report.complaints.push_back(complaint);
  if (counts.rounds == 0) report.complaints.emplace_back("nobody ever had what it wanted");
  if (!tangles.kept_apart() && counts.deadlocks == 0)
    report.complaints.emplace_back("there was no deadlock and no refusal: nothing was tried");
  report.summary = fmt::format(
      "{} sessions, {} things: {} rounds, {} told of a deadlock, {} not in time, {} ended while "
      "they waited; the longest wait {:.1f} s",
      tangles.sessions, tangles.things, counts.rounds, counts.deadlocks, counts.timeouts,
      counts.ends, static_cast<double>(counts.longest_wait) / 1e9);
  return report;
}

}  // namespace turno::torture
