#include "run.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "cluster.h"
#include "core/random.h"
#include "judge.h"
#include "observers.h"

namespace turno::torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// A member takes a turn for up to 16 of its users, and a change of the view may put a waiter behind
// all others again.
constexpr std::uint64_t most_overtakings = 2000;
constexpr std::uint32_t hot_locks = 3;
constexpr std::size_t fewest_nodes = 3, most_nodes = 7;

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options), random_(options.seed), cluster_(options.node, board_, options.slack) {
    if (options.things.elections) observers_.emplace(cluster_, hot_elections());
  }
  ~Run() {
    for (auto& client : clients_)
      if (!client.process.ended) kill(client.process);
  }

  Report go() {
    for (std::uint32_t i = 0; i < options_.nodes; ++i) cluster_.start();
    if (!cluster_.settle() || !cluster_.meet()) complain("the cluster did not come up");
    for (std::uint32_t i = 0; i < options_.clients; ++i) start_client_of(i);
    const auto end = now_ns() + static_cast<std::int64_t>(options_.seconds * 1e9);
    do {
      storm(std::min(end, options_.until_complaint ? now_ns() + 1'500'000'000 : end));
      calm_down();
      if (options_.until_complaint) observe(longest_wait() + 500ms);
    } while (now_ns() < end && !over_);
    if (!over_) last_round();
    return conclude();
  }

 private:
  struct ClientProcess {
    Process process;
    std::uint32_t records;  // where it writes
    std::uint32_t part;
  };

  // Served again within two seconds, and the lock delay of a crash.
  [[nodiscard]] milliseconds longest_wait() const { return options_.scaled(2s); }

  [[nodiscard]] std::vector<std::string> hot_elections() const {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < std::min(options_.locks, hot_locks); ++i)
      names.push_back("torture-" + std::to_string(i));
    return names;
  }

  // Every client process writes to records of its own.
  void start_client_of(std::uint32_t part) {
    if (next_client_ == Board::most_clients) return;
    const ClientOptions options{.number = next_client_++,
                                .seed = random_.below(1'000'000),
                                .locks = options_.locks,
                                .hot_locks = hot_locks,
                                .things = options_.things,
                                .part = part,
                                .parts = options_.clients,
                                .last_patience = longest_wait() + options_.node.lock_delay};
    clients_.push_back({start_client(board_, options), options.number, part});
  }

  // ---- what is done to them

  void storm(std::int64_t end) {
    auto next = now_ns();
    while (now_ns() < end && !over_) {
      tick();
      if (options_.faults && now_ns() >= next) {
        disturb();
        next = now_ns() + static_cast<std::int64_t>(5 + random_.below(100)) * 1'000'000;
      }
    }
  }
  // Nothing is disturbed.
  void observe(milliseconds time) { storm_free(now_ns() + std::chrono::nanoseconds(time).count()); }
  void storm_free(std::int64_t end) {
    while (now_ns() < end && !over_) tick();
  }
  void tick() {
    std::this_thread::sleep_for(2ms);
    cluster_.tick();
    if (observers_) observers_->tick();
    for (auto& client : clients_)
      if (client.process.stopped != 0 && now_ns() >= client.process.resume_at) wake(client);
    if (options_.until_complaint && now_ns() >= next_look_) {
      next_look_ = now_ns() + 200'000'000;
      over_ = !cluster_.complaints().empty() || !judge(story()).violations.empty() ||
              !wrong_news().empty();
    }
  }
  void calm_down() {
    for (auto& client : clients_)
      if (client.process.stopped != 0) wake(client);
    if (!cluster_.settle()) complain("the cluster did not settle");
  }

  void disturb() {
    const auto living = cluster_.living();
    if (living.size() < fewest_nodes) return join();
    const auto node = living[random_.below(living.size())];
    switch (random_.below(12)) {
      case 0:
      case 1:
        return pause_client(clients_[random_.below(clients_.size())], some_time());
      case 2:
      case 3:
        return cluster_.pause(node, some_time());
      case 4:
        return kill_client();
      case 5:
        return black_out(node);
      case 6:
      case 7:
        return cluster_.cut(node, random_);
      case 8:
        // The view changes while a member is stopped, or connections are cut.
        cluster_.pause(node, some_time());
        return change_view();
      case 9:
        cluster_.cut(node, random_);
        return change_view();
      default:
        return change_view();
    }
  }
  // Mostly short; sometimes longer than the lock delay.
  milliseconds some_time() {
    return milliseconds(5 + random_.below(random_.below(8) == 0 ? 600 : 95));
  }
  void join() {
    if (!cluster_.full()) cluster_.start();
  }
  void change_view() {
    const auto living = cluster_.living();
    const auto node = living[random_.below(living.size())];
    const auto what = random_.below(3);
    if (living.size() >= most_nodes || (what != 0 && living.size() > fewest_nodes))
      return what == 1 ? cluster_.kill(node) : cluster_.tell_to_leave(node);
    join();
  }
  // A node is killed while its clients cannot notice it: for them there is the lock delay.
  void black_out(std::uint32_t node) {
    for (auto& client : clients_)
      if (board_.clients[client.records].node == node)
        pause_client(client, options_.node.lock_delay * 3 / 4);
    std::this_thread::sleep_for(2ms);
    cluster_.kill(node);
  }

  void pause_client(ClientProcess& client, milliseconds time) {
    if (client.process.stopped != 0) return;
    stop(client.process, time);
    ++client_pauses_;
  }
  void wake(ClientProcess& client) {
    auto done = resume(client.process);
    done.client = client.records;
    client_stops_.push_back(done);
  }
  void kill_client() {
    const auto victim = random_.below(clients_.size());
    auto client = clients_[victim];
    const auto killed = now_ns();
    if (client.process.stopped != 0)
      client_stops_.push_back({client.process.stopped, killed, client.records});
    kill(client.process);
    ++killed_clients_;
    // What it held when it was killed, it held at least until then.
    auto& records = board_.clients[client.records];
    for (std::uint32_t i = 0; i < records.count; ++i)
      if (records.holds[i].ended == 0) records.holds[i].ended = killed;
    records.waits_since = 0;
    clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(victim));
    start_client_of(client.part);
  }

  // When all is quiet, every lock can be had.
  void last_round() {
    board_.phase = Board::Phase::last_round;
    const auto locks = static_cast<int>(options_.locks / options_.clients + 4);
    const auto deadline =
        now_ns() +
        std::chrono::nanoseconds((longest_wait() + options_.node.lock_delay) * locks).count();
    std::size_t failed = 0;
    for (auto& client : clients_) {
      const auto left = std::chrono::nanoseconds(std::max<std::int64_t>(0, deadline - now_ns()));
      if (end_of(client.process, std::chrono::duration_cast<milliseconds>(left) + 5s) == 0)
        continue;
      ++failed;
      last_error_ = board_.clients[client.records].last_error;
    }
    if (failed > 0) complain(fmt::format("{} clients were not served: {}", failed, last_error_));
    if (observers_ && failed == 0) lead_last();
    cluster_.end();
  }
  // Its exit status, while all others are looked after.
  int end_of(Process& process, milliseconds patience) {
    const auto end = now_ns() + std::chrono::nanoseconds(patience).count();
    std::optional<int> status;
    while (!(status = look(process)) && now_ns() < end) tick();
    return status ? *status : wait(process, 0ms);
  }
  // When all have led, somebody else leads each election that is observed, and resigns.
  void lead_last() {
    const auto speaker = Speaker::connect(cluster_.socket(cluster_.living().front()));
    if (!speaker) return complain("a node took no client");
    std::uint32_t election = 0;
    for (const auto& name : hot_elections()) {
      speaker->say({"CAMPAIGN", name, "last"});
      const auto term = speaker->hear(longest_wait());
      if (!term || term->kind != wire::Reply::Kind::integer)
        return complain("nobody could lead in the end");
      const auto all_know = [&](bool leads) {
        const auto end = now_ns() + std::chrono::nanoseconds(longest_wait()).count();
        const auto known = [&] {
          return observers_->all_know(election, static_cast<std::uint64_t>(term->integer), leads);
        };
        while (!known() && now_ns() < end) tick();
        if (!known())
          complain(fmt::format("lock {}: not all observers know {} of term {}", election,
                               leads ? "the leader" : "the end", term->integer));
      };
      all_know(true);
      speaker->say({"RESIGN", name});
      if (!speaker->hear(longest_wait())) return complain("nobody could resign in the end");
      all_know(false);
      ++election;
    }
  }

  // ---- what came of it

  Story story() {
    Story story;
    story.nodes = cluster_.fates();
    story.stops = cluster_.stops();
    story.stops.insert(story.stops.end(), client_stops_.begin(), client_stops_.end());
    story.permits = options_.things.units();
    story.rooms = options_.things.groups > 0;
    story.move = options_.things.move();
    story.lock_delay = std::chrono::nanoseconds(options_.node.lock_delay).count();
    story.longest_wait = std::chrono::nanoseconds(longest_wait()).count();
    story.most_overtakings = most_overtakings;
    const auto now = now_ns();
    for (const auto& client : clients_)
      if (client.process.stopped != 0)
        story.stops.push_back({client.process.stopped, now, client.records});
    for (std::uint32_t i = 0; i < next_client_; ++i) {
      const auto& client = board_.clients[i];
      const auto holds = client.count.load(std::memory_order_acquire);
      story.holds.insert(story.holds.end(), client.holds, client.holds + holds);
      const auto waits = client.wait_count.load(std::memory_order_acquire);
      story.waits.insert(story.waits.end(), client.waits, client.waits + waits);
      const auto since = client.waits_since.load();
      const auto wanted = client.wanted.load();
      if (since != 0 && since == client.waits_since.load())
        story.waits.push_back({i, wanted, client.node, since, now});
    }
    return story;
  }

  std::vector<std::string> wrong_news() {
    return observers_ ? judge_news(observers_->news(), story().holds) : std::vector<std::string>();
  }

  Report conclude() {
    std::uint64_t timeouts = 0, cancelled = 0, lost = 0, renewed = 0, disconnected = 0, errors = 0;
    for (std::uint32_t i = 0; i < next_client_; ++i) {
      auto& client = board_.clients[i];
      timeouts += client.timeouts;
      cancelled += client.cancelled;
      lost += client.lost;
      renewed += client.renewed;
      disconnected += client.disconnected;
      errors += client.errors;
      if (client.errors > 0) last_error_ = client.last_error;
    }
    const auto verdict = judge(story());
    for (const auto& violation : verdict.violations) complain(violation);
    for (const auto& wrong : wrong_news()) complain(wrong);
    for (const auto& complaint : cluster_.complaints()) complain(complaint);
    if (verdict.hand_overs == 0) complain("no lock ever changed hands");
    if (errors > 0) complain(fmt::format("{} errors, the last: {}", errors, last_error_));
    const auto& did = cluster_.counts();
    report_.summary = fmt::format(
        "{} holds, {} hand-overs, {} timeouts, {} cancelled, {} lost, {} renewed, {} disconnected; "
        "{} joins, {} leaves, {} kills, {} pauses, {} cuts; {} pauses and {} kills of clients; "
        "longest wait {:.3f} s, of it counted {:.3f} s; most overtakings {}; "
        "overlaps at a leave {}, up to {:.1f} ms",
        verdict.holds, verdict.hand_overs, timeouts, cancelled, lost, renewed, disconnected,
        did.joins, did.leaves, did.kills, did.pauses, did.cuts, client_pauses_, killed_clients_,
        static_cast<double>(verdict.longest_wait) / 1e9,
        static_cast<double>(verdict.longest_counted) / 1e9, verdict.most_overtakings,
        verdict.overlaps_at_leave, static_cast<double>(verdict.longest_at_leave) / 1e6);
    if (options_.things.groups > 0)
      report_.summary += fmt::format("; together at most {}", verdict.most_together);
    if (options_.things.elections)
      report_.summary +=
          fmt::format("; {} successors of the dead, after at most {:.3f} s", verdict.successions,
                      static_cast<double>(verdict.longest_succession) / 1e9);
    if (observers_) report_.summary += fmt::format("; {} news", observers_->news().size());
    if (options_.things.groups > 0 && verdict.most_together < 2)
      complain("nobody was ever inside together with others");
    if (observers_ && observers_->news().empty()) complain("no observer was told anything");
    return std::move(report_);
  }

  void complain(const std::string& what) { report_.complaints.push_back(what); }

  const Options options_;
  Random random_;
  const std::unique_ptr<Board, Board::Unmap> memory_ = Board::make();
  Board& board_ = *memory_;
  Cluster cluster_;
  std::optional<Observers> observers_;
  std::vector<ClientProcess> clients_;
  std::vector<Stop> client_stops_;
  std::uint32_t next_client_ = 0;
  std::uint32_t client_pauses_ = 0, killed_clients_ = 0;
  std::int64_t next_look_ = 0;
  bool over_ = false;
  std::string last_error_;
  Report report_;
};

}  // namespace

Report torture(const Options& options) { return Run(options).go(); }

}  // namespace turno::torture
