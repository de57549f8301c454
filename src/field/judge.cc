#include "field/judge.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/fields.h"
#include "properties/monitor.h"
#include "sim/costs.h"
#include "sim/histogram.h"
#include "sim/session_count.h"
#include "sim/tally.h"

namespace turno::field {

namespace {

// A monitor whose kind is known when the program runs.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual Complaint enter(const Setup& setup, const Entry& entry) = 0;
  virtual void leave(NodeId node) = 0;
  [[nodiscard]] virtual std::size_t inside() const = 0;
};

template <Primitive primitive>
class WatchOf final : public Watch {
 public:
  WatchOf(const Setup& setup, [[maybe_unused]] bool ordered) {
    monitor_.begin(setup);
    if constexpr (requires { monitor_.expect_order(); })
      if (ordered) monitor_.expect_order();
  }
  Complaint enter(const Setup& setup, const Entry& entry) override {
    return monitor_.enter(setup, entry);
  }
  void leave(NodeId node) override { monitor_.leave(node); }
  [[nodiscard]] std::size_t inside() const override { return monitor_.inside(); }

 private:
  Monitor<primitive> monitor_;
};

std::unique_ptr<Watch> watch(const Info& info, const Setup& setup) {
  switch (info.primitive) {
    case Primitive::lock:
      return std::make_unique<WatchOf<Primitive::lock>>(setup, info.ordered);
    case Primitive::semaphore:
      return std::make_unique<WatchOf<Primitive::semaphore>>(setup, info.ordered);
    case Primitive::room:
      return std::make_unique<WatchOf<Primitive::room>>(setup, info.ordered);
    case Primitive::reservation:
      return std::make_unique<WatchOf<Primitive::reservation>>(setup, info.ordered);
    default:
      return std::make_unique<WatchOf<Primitive::election>>(setup, info.ordered);
  }
}

class Judge {
 public:
  Judge(const Cast& cast, const sim::Options& options)
      : cast_(cast),
        options_(options),
        monitor_(watch(cast.info, options.setup)),
        users_(options.setup.size()),
        sent_(cast.kinds.size(), options.interval) {
    if (cast.assemble != nullptr) assembly_ = cast.assemble(options.setup);
    if (cast.costed && sited()) costs_.emplace(users_.size(), options.sites.printed_clocks);
  }

  Verdict of(const std::vector<Record>& records) {
    bool in_time = true;
    for (const auto& record : records) {
      if (finished() || !violation_.empty()) break;
      in_time = options_.until == 0 || record.time <= options_.until;
      if (!in_time) break;
      now_ = record.time;
      see(record);
    }
    Verdict verdict{.finished = finished()};
    if (options_.until > 0 && !verdict.finished && violation_.empty()) now_ = options_.until;
    write(verdict);
    return verdict;
  }

 private:
  struct User {
    bool waiting = false, inside = false, dead = false;
    Time since = 0, crashed = 0;
    std::uint32_t entries = 0;
    std::uint64_t sent = 0;
    Wish wish;
  };

  [[nodiscard]] bool sited() const { return !options_.setup.sites.of.empty(); }
  [[nodiscard]] bool rooms() const { return cast_.info.primitive == Primitive::room; }
  [[nodiscard]] bool finished() const {
    if (!has_users(cast_.info.primitive)) return false;
    if (options_.sessions > 0)
      return sessions_.sessions() >= options_.sessions && !sessions_.open();
    // With so many entries of each node, what follows belongs to the run.
    return options_.entries_per_node == 0 && tally_.entries() >= options_.entries;
  }

  void complain(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  void see(const Record& record) {
    ++events_;
    digest_.add(static_cast<std::uint64_t>(record.time) ^ (std::uint64_t{record.node.value} << 40) ^
                static_cast<std::uint64_t>(record.kind));
    if (record.lost) return tally_.lose_arrival();
    lags_.add(record.lag);
    if (options_.trace) trace(record);
    auto& user = users_[record.node.index()];
    switch (record.kind) {
      case EventKind::request:
        ask(record, user);
        break;
      case EventKind::release:
        leave(record.node, user);
        break;
      case EventKind::crash:
        crash(record.node, user);
        break;
      case EventKind::recover:
        user.dead = false;
        if (assembly_) assembly_->recover(record.node, now_);
        break;
      case EventKind::receive:
        receive(record);
        break;
      default:
        break;
    }
    for (const auto& sent : record.sends) send(record.node, user, sent);
    for (const auto other : record.suspicions)
      if (users_[other.index()].dead) tally_.suspect(now_ - users_[other.index()].crashed);
    if (assembly_ && !record.state.empty()) assembly_->set(record.node, record.state, now_);
    if (record.fence) enter(record, user);
  }

  void ask(const Record& record, User& user) {
    user.waiting = true;
    user.since = record.since;
    user.wish = record.wish;
    if (costs_) costs_->asked(record.node);
  }

  void enter(const Record& record, User& user) {
    const auto complaint = monitor_->enter(
        options_.setup, {record.node, user.wish.demand(), *record.fence, record.units});
    if (complaint) complain(complaint.text);
    if (rooms()) sessions_.enter(now_, *record.fence);
    tally_.enter(now_, user.since, monitor_->inside(), options_.interval);
    user.waiting = false;
    user.inside = true;
    ++user.entries;
    if (costs_) costs_->entered(record.node);
  }

  void leave(NodeId node, User& user) {
    monitor_->leave(node);
    if (rooms()) sessions_.leave(now_);
    user.inside = false;
  }

  // The dead are not inside.
  void crash(NodeId node, User& user) {
    if (user.inside) monitor_->leave(node);
    user = {.dead = true, .crashed = now_, .entries = user.entries};
    if (assembly_) assembly_->crash(node, now_);
  }

  void send(NodeId from, User& user, const Record::Sent& sent) {
    sent_.add(sent.kind, now_);
    if (sent.preempts) tally_.preempt();
    if (sent.declares) ++declared_;
    if (sent.to.index() >= users_.size()) return complain("a message is sent to nobody");
    if (sited()) ++(options_.setup.sites.together(from, sent.to) ? local_ : remote_);
    if (costs_)
      travelling_[{from, ++user.sent}] = {sent.carries,
                                          costs_->sent(from, sent.carries, sent.delay)};
  }

  void receive(const Record& record) {
    if (!costs_) return;
    const auto found = travelling_.find({record.from, record.message});
    if (found == travelling_.end()) return;
    costs_->received(record.node, found->second.first, found->second.second);
    travelling_.erase(found);
  }

  void trace(const Record& record) const {
    if (record.kind == EventKind::start && record.sends.empty()) return;
    TraceStep step{.time_ns = record.time, .kind = record.kind, .node = record.node};
    if (record.kind == EventKind::request) step.wish = record.wish;
    if (record.kind == EventKind::suspect) step.about = record.from;
    if (record.kind == EventKind::expire) step.detail = cast_.timers[record.number];
    if (record.kind == EventKind::choose) step.detail = record.choice;
    if (record.kind == EventKind::receive)
      step.takes.push_back(cast_.trace(record.from, record.node, record.bytes));
    if (record.kind == EventKind::bounce)
      step.takes.push_back(cast_.trace(record.node, record.from, record.bytes));
    for (const auto& sent : record.sends)
      if (sent.to.index() < users_.size())
        step.sends.push_back(cast_.trace(record.node, sent.to, sent.bytes));
    step.entered = record.fence.has_value();
    if (step.entered) step.fence = *record.fence;
    step.units = record.units;
    options_.trace(step);
  }

  void write(Verdict& verdict) const {
    constexpr double ms = 1e6;
    auto& result = verdict.result;
    tally_.write(result, users_.size());
    sent_.write(result, cast_.kinds);
    result.messages_local = local_;
    result.messages_remote = remote_;
    if (costs_) result.logical = costs_->mean();
    result.sessions = sessions_.sessions();
    result.inside_mean = sessions_.inside_mean();
    result.violation = violation_;
    result.simulated_seconds = static_cast<double>(now_) / 1e9;
    result.events = events_;
    result.digest = digest_.value();
    result.deadlocked = declared_;
    if (assembly_) {
      const auto& times = assembly_->settlings();
      result.settlings = times.count();
      result.settling_mean_ms = times.mean() / ms;
      result.settling_max_ms = static_cast<double>(times.max()) / ms;
      result.deadlocked += assembly_->deadlocked();
      if (violation_.empty()) result.violation = assembly_->wrong();
    }
    write_fairness(result);
    verdict.lag_mean_ms = lags_.mean() / ms;
    verdict.lag_p99_ms = static_cast<double>(lags_.quantile(0.99)) / ms;
    verdict.lag_max_ms = static_cast<double>(lags_.max()) / ms;
  }

  void write_fairness(sim::Result& result) const {
    double sum = 0, squares = 0, askers = 0;
    for (std::size_t i = 0; i < users_.size(); ++i) {
      if (users_[i].waiting) ++result.waiting_at_end;
      const bool asks = options_.requesters.empty() || options_.requesters.contains(NodeId{i});
      askers += asks ? 1 : 0;
      sum += users_[i].entries;
      squares += static_cast<double>(users_[i].entries) * users_[i].entries;
    }
    if (squares > 0 && askers > 0) result.fairness = sum * sum / (squares * askers);
  }

  const Cast& cast_;
  const sim::Options& options_;
  std::unique_ptr<Watch> monitor_;
  std::unique_ptr<Assembly> assembly_;
  std::vector<User> users_;
  sim::MessageCount sent_;
  std::optional<sim::Costs> costs_;
  std::map<std::pair<NodeId, std::uint64_t>, std::pair<Carries, sim::Cost>> travelling_;
  sim::Tally tally_;
  sim::SessionCount sessions_;
  sim::Histogram lags_;
  std::uint64_t events_ = 0, local_ = 0, remote_ = 0, declared_ = 0;
  Digest digest_;
  Time now_ = 0;
  std::string violation_;
};

}  // namespace

Verdict judge(const Cast& cast, const sim::Options& options, std::vector<Record> records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.time < b.time; });
  return Judge(cast, options).of(records);
}

}  // namespace turno::field
