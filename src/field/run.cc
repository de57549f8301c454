#include "field/run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/usage_error.h"
#include "field/board.h"
#include "field/causality.h"
#include "field/clock.h"
#include "field/mesh.h"
#include "field/process.h"

namespace turno::field {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

net::Fd memory_file(const char* name) {
  net::Fd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) fail("memfd_create");
  return file;
}

std::string content(const net::Fd& file) {
  std::string bytes(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const auto count =
        ::pread(file.get(), bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (count <= 0) fail("reading records");
    got += static_cast<std::size_t>(count);
  }
  return bytes;
}

// The parent of a run. It never runs a node itself, so that each child is born with fresh ones.
class Run {
 public:
  Run(const Cast& cast, const sim::Options& options, const Plan& plan)
      : cast_(cast), options_(options), plan_(plan) {
    const auto nodes = options.setup.size();
    layout_.clocks = plan.clocks;
    layout_.hosts = plan.processes > 0 ? plan.processes : std::min(nodes, Plan::most_alone);
    refuse_impossible();
    children_.resize(layout_.hosts);
    for (const auto& crash : options.faults.crashes) moments_.push_back({crash, true});
    for (const auto& back : options.faults.recoveries) moments_.push_back({back, false});
    std::stable_sort(moments_.begin(), moments_.end(),
                     [](const Moment& a, const Moment& b) { return a.what.time < b.what.time; });
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { kill_all(); }

  Outcome go() {
    const auto began = monotonic_ns();
    for (std::size_t host = 0; host < children_.size(); ++host) {
      children_[host].records = memory_file("turno-records");
      children_[host].stable = memory_file("turno-stable");
      bear(host);
    }
    while (board_->ready < children_.size()) {
      look_after_children();
      if (!trouble_.empty()) throw std::runtime_error(trouble_);
      sleep_ns(200'000);
    }
    clock_ = {.start_ns = monotonic_ns() + 5'000'000, .scale = plan_.scale};
    board_->start_ns = clock_.start_ns;
    last_progress_ = clock_.start_ns;
    while (!over()) wait();
    const auto ended = clock_.now();
    kill_all();
    Outcome outcome;
    auto records = all_records();
    if (plan_.clocks) note(unordered_entries(cast_.info.primitive, options_.setup, records));
    static_cast<Verdict&>(outcome) = judge(cast_, options_, std::move(records));
    auto& result = outcome.result;
    const bool complete = outcome.finished || options_.until > 0 || quiet_;
    if (result.violation.empty()) result.violation = trouble_;
    if (result.violation.empty() && has_users(cast_.info.primitive) && lacks_entries(outcome))
      result.violation = "nobody gets in any more";
    if (result.violation.empty() && !complete)
      result.violation = "the run was not over within its limit of real time";
    if (!outcome.finished && options_.until == 0)
      result.simulated_seconds = std::max(result.simulated_seconds, seconds_of_quiet(ended));
    outcome.processes = children_.size();
    outcome.real_seconds = static_cast<double>(monotonic_ns() - began) / 1e9;
    return outcome;
  }

 private:
  struct Child {
    pid_t pid = 0;  // 0: it is dead
    net::Fd records, stable;
    net::Fd news;  // our end of its pipe
    std::uint64_t lives = 0;
  };
  struct Moment {
    sim::Crash what;
    bool crash = true;
  };

  void refuse_impossible() const {
    const auto nodes = options_.setup.size();
    if (!(plan_.scale > 0)) throw UsageError("--scale is above 0");
    if (layout_.hosts > nodes || layout_.hosts > Board::most_hosts)
      throw UsageError("there are 1 to " + std::to_string(std::min(nodes, Board::most_hosts)) +
                       " processes here, not " + std::to_string(layout_.hosts));
    if (options_.arrivals.kind == sim::Arrivals::Kind::total)
      throw UsageError("total arrivals are new processes without end: use poisson or closed");
    const bool faults = !options_.faults.crashes.empty() || !options_.faults.recoveries.empty();
    if (faults && layout_.hosts < nodes)
      throw UsageError("nodes that share a process would crash together: one process a node");
  }

  // A child has no descriptors of the others, so that it sees when one of them is gone.
  void bear(std::size_t host) {
    auto& child = children_[host];
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) fail("pipe");
    net::Fd news(pipe[0]);
    child.news.reset(pipe[1]);
    const auto parent = ::getpid();
    const auto pid = ::fork();
    if (pid < 0) fail("fork");
    if (pid > 0) {
      child.pid = pid;
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::signal(SIGPIPE, SIG_IGN);
    for (auto& other : children_) other.news.reset();
    Life life{.host = host,
              .news = std::move(news),
              .records = child.records.get(),
              .stable = child.stable.get(),
              .number = child.lives};
    try {
      live(cast_, options_, layout_, plan_.scale, *board_, std::move(life));
    } catch (const std::exception& error) {
      ::fprintf(stderr, "turno run: node %zu: %s\n", host, error.what());
      ::_exit(1);
    }
  }

  // ---- while it runs

  void wait() {
    auto patience = std::int64_t{1'000'000};
    if (next_ < moments_.size())
      patience = std::min(patience, clock_.real_until(moments_[next_].what.time));
    if (options_.until > 0) patience = std::min(patience, clock_.real_until(options_.until));
    sleep_ns(std::max<std::int64_t>(patience, 10'000));
    while (next_ < moments_.size() && moments_[next_].what.time <= clock_.now()) {
      const auto& moment = moments_[next_++];
      moment.crash ? crash(moment.what.node) : recover(moment.what.node);
    }
    if (++rounds_ % 16 == 0) {
      look_after_children();
      if (options_.progress) options_.progress(board_->entries);
    }
  }

  [[nodiscard]] bool over() {
    if (!trouble_.empty()) return true;
    if (has_users(cast_.info.primitive) && has_enough()) return true;
    if (options_.until > 0 && clock_.now() > options_.until) return true;
    const auto now = monotonic_ns();
    if (board_->entries != entries_) {
      entries_ = board_->entries;
      last_progress_ = now;
    }
    if (next_ == moments_.size() && is_quiet()) return quiet_ = true;
    if (has_users(cast_.info.primitive) && options_.until == 0 &&
        now - last_progress_ > plan_.patience_ns)
      return true;
    return now - clock_.start_ns > plan_.limit_ns;
  }

  [[nodiscard]] bool has_enough() const {
    // One session more, so that those before it have ended.
    if (options_.sessions > 0) return board_->sessions > options_.sessions;
    return options_.entries_per_node == 0 && board_->entries >= options_.entries;
  }

  // Nothing is going to happen, and nothing happened since that was seen the last time.
  [[nodiscard]] bool is_quiet() {
    std::uint64_t steps = 0;
    for (std::size_t host = 0; host < children_.size(); ++host) {
      if (children_[host].pid == 0) continue;
      const auto& cell = board_->cells[host];
      if (cell.steps == 0 || cell.pending != 0) return quiet_steps_ = 0, false;
      steps += cell.steps;
    }
    return std::exchange(quiet_steps_, steps + 1) == steps + 1;
  }

  void look_after_children() {
    for (std::size_t host = 0; host < children_.size(); ++host) {
      auto& child = children_[host];
      int status = 0;
      if (child.pid == 0 || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
      child.pid = 0;
      note("the process of node " + std::to_string(host) + " ended by itself" +
           (WIFSIGNALED(status) ? std::string(", ") + ::strsignal(WTERMSIG(status)) : ""));
    }
  }

  void note(const std::string& trouble) {
    if (trouble_.empty()) trouble_ = trouble;
  }

  // ---- faults

  void crash(NodeId node) {
    auto& child = children_[node.index()];
    if (child.pid == 0) return;
    kill_one(child);
    const auto now = clock_.now();
    own_.push_back({.time = now, .node = node, .kind = EventKind::crash});
    if (!cast_.suspecting) return;
    for (const auto& other : children_)
      if (other.pid != 0) tell_of_crash(other.news, node, now);
  }

  void recover(NodeId node) {
    auto& child = children_[node.index()];
    if (child.pid != 0) return;
    ++child.lives;
    board_->cells[node.index()].pending = 0;
    board_->cells[node.index()].port = 0;
    board_->cells[node.index()].steps = 0;
    bear(node.index());
  }

  static void kill_one(Child& child) {
    ::kill(child.pid, SIGKILL);
    while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    child.pid = 0;
  }
  void kill_all() {
    for (const auto& child : children_)
      if (child.pid != 0) ::kill(child.pid, SIGKILL);
    for (auto& child : children_)
      if (child.pid != 0) kill_one(child);
  }

  // ---- afterwards

  std::vector<Record> all_records() {
    std::vector<Record> all;
    for (const auto& child : children_) {
      auto records = read_records(content(child.records));
      std::move(records.begin(), records.end(), std::back_inserter(all));
    }
    std::move(own_.begin(), own_.end(), std::back_inserter(all));
    return all;
  }

  [[nodiscard]] bool lacks_entries(const Outcome& outcome) const {
    if (outcome.finished || options_.until > 0) return false;
    if (options_.entries_per_node == 0) return true;
    return outcome.result.entries < options_.entries_per_node * options_.setup.size();
  }
  [[nodiscard]] double seconds_of_quiet(Time ended) const {
    return quiet_ ? 0 : static_cast<double>(ended) / 1e9;
  }

  const Cast& cast_;
  const sim::Options& options_;
  const Plan& plan_;
  Layout layout_;
  SharedBoard board_;
  std::vector<Child> children_;
  std::vector<Moment> moments_;
  std::size_t next_ = 0;  // of them
  std::vector<Record> own_;
  RunClock clock_;
  std::uint64_t entries_ = 0, rounds_ = 0, quiet_steps_ = 0;
  std::int64_t last_progress_ = 0;
  bool quiet_ = false;
  std::string trouble_;
};

}  // namespace

Outcome run(const Cast& cast, const sim::Options& options, const Plan& plan) {
  return Run(cast, options, plan).go();
}

}  // namespace turno::field
