// A discrete-event simulation of one protocol: nodes, users, and a network with random delays. One
// seed draws everything, so the same options give the same run, event by event.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/container/queue.h"
#include "core/text/describe.h"
#include "properties/monitor.h"
#include "sim/costs.h"
#include "sim/engine.h"
#include "sim/session_count.h"

namespace turno::sim {

struct Nothing {};  // what costs nothing where it is not needed

template <Protocol P>
struct SimulationEvent {
  enum class What : std::uint8_t {
    arrival,
    leave,
    deliver,
    crash,
    detect,
    adopt,
    retire,
    suspect,
    expire,
    recover
  };
  What what = What::arrival;
  std::uint8_t timer = 0;
  NodeId node;
  NodeId from;  // of a message; who is suspected; of a timer, which setting of it
  typename P::Message message;
  [[no_unique_address]] std::conditional_t<Costed<P>, Cost, Nothing> cost{};
};

template <Protocol P>
class Simulation : private Engine<P, SimulationEvent<P>> {
  using Event = SimulationEvent<P>;
  using What = typename Event::What;
  using Base = Engine<P, Event>;
  using typename Base::InputKind;
  using typename Base::Message;

 public:
  explicit Simulation(const Options& options) : Base(options), users_(options.setup.size()) {
    if (options.busy == Busy::queue) backlog_.resize(options.setup.size());
    if (options.wish) wishes_.resize(options.setup.size());
    if (options.sites.deaf) unread_.resize(options.setup.size());
    if constexpr (Costed<P>)
      if (network_.sited()) costs_.emplace(options.setup.size(), options.sites.printed_clocks);
    monitor_.begin(options.setup);
    if constexpr (P::info.ordered) monitor_.expect_order();
    if constexpr (KnowsSuspects) suspects_.resize(nodes_.size());
  }

  Result run() {
    return this->measured([this] {
      start();
      while (!finished() && advance()) {
      }
      if constexpr (HasViews<P>) serve_the_last();
      return summary();
    });
  }

 private:
  using Base::events_;
  using Base::network_;
  using Base::nodes_;
  using Base::now_;
  using Base::options_;
  using Base::out_;
  using Base::queue_;
  using Base::random_;
  using Base::schedule;

  // It says whom it suspects, so that the time until then can be measured.
  static constexpr bool KnowsSuspects = requires(const P& node) {
    { node.suspects() } -> std::convertible_to<NodeSet>;
  };
  struct Client {
    bool busy = false;  // waits or is inside
    bool waiting = false, inside = false, dead = false;
    Time since = 0;  // when it asked
    std::uint32_t entries = 0;
  };

  [[nodiscard]] bool finished() const {
    if (options_.sessions > 0)
      return sessions_.sessions() >= options_.sessions && !sessions_.open();
    if (options_.entries_per_node == 0) return tally_.entries() >= options_.entries;
    return tally_.entries() >= options_.entries_per_node * nodes_.size() && queue_.empty();
  }

  // One event. False: nothing more will happen, or nothing good.
  bool advance() {
    if (!violation_.empty()) return false;
    if (options_.until > 0 && queue_.empty()) return end_at(options_.until);
    const auto patience = 10'000'000 + 100 * nodes_.size();  // events without an entry
    if (queue_.empty() || events_ - events_at_entry_ > patience) {
      complain("nobody gets in any more");
      return false;
    }
    return Base::advance([this](Event& event) { happen(event); }) || end_at(options_.until);
  }

  bool end_at(Time time) {
    now_ = time;
    return false;
  }

  void complain(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  void start() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      feed(NodeId{i}, {.kind = InputKind::start});
      if (asks(NodeId{i}))
        schedule(options_.first ? options_.first->draw(random_) : options_.arrivals.draw(random_),
                 {.what = What::arrival, .node = NodeId{i}});
    }
    if (open_system()) schedule(options_.arrivals.draw(random_), {.what = What::arrival});
    if constexpr (HasViews<P>) start_views();
    if constexpr (Mortal<P>) start_faults();
  }

  [[nodiscard]] bool asks(NodeId node) const {
    if (open_system()) return false;
    return options_.requesters.empty() || options_.requesters.contains(node);
  }

  void happen(Event& event) {
    switch (event.what) {
      case What::arrival:
        return arrive(event.node);
      case What::leave:
        return leave(event.node);
      case What::deliver:
        return deliver(event);
      case What::expire:
        if constexpr (HasTimers<P>) return expire(event);
        return;
      case What::crash:
        if constexpr (Mortal<P>) return crash(event);
        return;
      case What::suspect:
        if (!users_[event.node.index()].dead)
          feed(event.node, {.kind = InputKind::suspect, .from = event.from});
        return;
      case What::recover:
        if constexpr (Recoverable<P>) return recover(event.node);
        return;
      case What::detect:
      case What::adopt:
      case What::retire:
        if constexpr (HasViews<P>) change(event);
    }
  }

  void deliver(Event& event) {
    if constexpr (HasViews<P>) {
      // Of a later view than this node knows: not before it knows it.
      if (!nodes_[event.node.index()].ready(event.message))
        return early_[event.node.index()].push_back(std::move(event));
    }
    if (users_[event.node.index()].dead) return;
    if (options_.sites.deaf && users_[event.node.index()].inside)
      return unread_[event.node.index()].push_back(std::move(event));
    if constexpr (Costed<P>)
      if (costs_) costs_->received(event.node, P::carries(event.message), event.cost);
    feed(event.node,
         {.kind = InputKind::receive, .from = event.from, .message = std::move(event.message)});
  }

  void arrive(NodeId node) {
    if (open_system()) return arrive_anew();
    if constexpr (HasViews<P>)
      if (ending_ || !nodes_[node.index()].present()) return;
    auto& client = users_[node.index()];
    if (client.dead) return;
    if (options_.arrivals.kind == Arrivals::Kind::poisson)
      schedule(options_.arrivals.draw(random_), {.what = What::arrival, .node = node});
    if (!client.busy) {
      request(node, now_);
    } else if (options_.busy == Busy::queue) {
      backlog_[node.index()].push(now_);
    } else {
      tally_.lose_arrival();
    }
  }

  void request(NodeId node, Time since) {
    auto& client = users_[node.index()];
    client.busy = client.waiting = true;
    client.since = since;
    if (options_.wish) wishes_[node.index()] = options_.wish(node, random_);
    if constexpr (Costed<P>)
      if (costs_) costs_->asked(node);
    feed(node, {.kind = InputKind::request, .demand = demand_of(node)});
  }

  void leave(NodeId node) {
    if constexpr (HasViews<P>)
      if (!nodes_[node.index()].present()) return;
    if (users_[node.index()].dead) return;
    monitor_.leave(node);
    if constexpr (rooms) sessions_.leave(now_);
    users_[node.index()].inside = false;
    const bool more = options_.busy == Busy::queue && !backlog_[node.index()].empty();
    if constexpr (P::info.overlap == Overlap::before_leaving) {
      if (more) request(node, backlog_[node.index()].pop());
      if (!more) users_[node.index()].busy = false;
      feed(node, {.kind = InputKind::release});
    } else {
      users_[node.index()].busy = false;
      feed(node, {.kind = InputKind::release});
      if (more) request(node, backlog_[node.index()].pop());
    }
    if (options_.sites.deaf) read_what_came(node);
    if (options_.arrivals.kind == Arrivals::Kind::closed && may_ask_again(node))
      schedule(options_.arrivals.draw(random_), {.what = What::arrival, .node = node});
    if (open_system()) idle_.push(node);
  }

  // ---- arrivals from outside, if it is a room: each is a new process

  static constexpr bool rooms = P::info.primitive == Primitive::room;
  [[nodiscard]] bool open_system() const {
    return rooms && options_.arrivals.kind == Arrivals::Kind::total;
  }

  void arrive_anew() {
    schedule(options_.arrivals.draw(random_), {.what = What::arrival});
    // One that is done, with nothing on its way, is as good as new.
    if (!idle_.empty() && quiet_from_[idle_.front().index()] <= now_)
      return request(idle_.pop(), now_);
    const auto fresh = this->add_node();
    users_.emplace_back();
    if (options_.wish) wishes_.emplace_back();
    request(fresh, now_);
  }

  void note_last_message(NodeId from, Time at) {
    if (quiet_from_.size() < nodes_.size()) quiet_from_.resize(nodes_.size());
    quiet_from_[from.index()] = std::max(quiet_from_[from.index()], at);
  }

  [[nodiscard]] bool may_ask_again(NodeId node) const {
    return options_.entries_per_node == 0 ||
           users_[node.index()].entries < options_.entries_per_node;
  }
  void read_what_came(NodeId node) {
    auto events = std::exchange(unread_[node.index()], {});
    for (auto& event : events) deliver(event);
  }

  void feed(NodeId node, const Input<Message>& input) {
    this->run_step(node, input);
    this->trace(node, input, [&](TraceStep& step) {
      if (input.kind == InputKind::request && options_.wish) step.wish = wishes_[node.index()];
    });
    if constexpr (HasTimers<P>)
      this->set_timers(node, [&](std::uint8_t timer, std::uint32_t setting) {
        return Event{.what = What::expire, .timer = timer, .node = node, .from = NodeId{setting}};
      });
    if constexpr (KnowsSuspects) note_suspicions(node);
    this->for_each_sent(node, [&](NodeId to, const Message& message) { send(node, to, message); });
    if (out_.granted()) enter(node, *out_.granted());
  }

  void send(NodeId from, NodeId to, const Message& message) {
    const auto delay = network_.delay(from, to, is_exempt(message), random_);
    if constexpr (requires { P::preempts(message); })
      if (P::preempts(message)) tally_.preempt();
    auto at = now_ + delay;
    if constexpr (HasViews<P>) at += delay_of_the_slow();
    at = network_.arrival(from, to, at);
    if (open_system()) note_last_message(from, at);
    Event event{.what = What::deliver, .node = to, .from = from, .message = message};
    if constexpr (Costed<P>)
      if (costs_) event.cost = costs_->sent(from, P::carries(message), delay);
    queue_.push(at, std::move(event));
  }

  // Not about the control token, in a network in which only that takes long between sites.
  [[nodiscard]] bool is_exempt([[maybe_unused]] const Message& message) const {
    if constexpr (Costed<P>) {
      const auto what = P::carries(message);
      return options_.sites.only_control_far && what != Carries::request &&
             what != Carries::control;
    }
    return false;
  }

  void enter(NodeId node, Fence fence) {
    auto& client = users_[node.index()];
    const auto complaint =
        monitor_.enter(options_.setup, {node, demand_of(node), fence, out_.units()});
    if (complaint) complain(complaint.text);
    if constexpr (rooms) sessions_.enter(now_, fence);
    tally_.enter(now_, client.since, monitor_.inside(), options_.interval);
    client.waiting = false;
    client.inside = true;
    if constexpr (Costed<P>)
      if (costs_) costs_->entered(node);
    ++client.entries;
    events_at_entry_ = events_;
    schedule(options_.hold.draw(random_), {.what = What::leave, .node = node});
    if (options_.progress && tally_.entries() % 65536 == 0) options_.progress(tally_.entries());
  }

  [[nodiscard]] Demand demand_of(NodeId node) const {
    return options_.wish ? wishes_[node.index()].demand() : Demand{};
  }

  void expire(const Event& event) {
    if (users_[event.node.index()].dead) return;
    if (!this->is_last_setting(event.node, event.timer, event.from.value)) return;
    feed(event.node, {.kind = InputKind::expire, .number = event.timer});
  }

  // ---- faults, if nodes may crash

  void start_faults() {
    crashes_left_ = options_.faults.crashes.size();
    crashed_at_.resize(nodes_.size());
    for (const auto& [time, node] : options_.faults.crashes)
      schedule(time, {.what = What::crash, .node = node});
    for (const auto& [time, node] : options_.faults.recoveries)
      schedule(time, {.what = What::recover, .node = node});
  }

  // The user dies with its node. The dead are not inside. What else happens at the same moment
  // happens before.
  void crash(Event& event) {
    const auto node = event.node;
    auto& client = users_[node.index()];
    if (event.from == nobody) {
      event.from = node;
      return schedule(0, std::move(event));
    }
    if (client.inside) monitor_.leave(node);
    client = {.dead = !HasViews<P>, .entries = client.entries};
    feed(node, {.kind = InputKind::crash});
    crashed_at_[node.index()] = now_;
    --crashes_left_;
    if constexpr (HasViews<P>)
      schedule(options_.faults.detect.draw(random_), {.what = What::detect, .node = node});
    this->stop_timers(node);
    if constexpr (Suspecting<P>)
      if (!detects_crashes(node)) tell_everybody(node);
  }

  [[nodiscard]] bool detects_crashes([[maybe_unused]] NodeId node) const {
    if constexpr (requires(const P& state) { state.detects_crashes(); })
      return nodes_[node.index()].detects_crashes();
    return false;
  }
  void tell_everybody(NodeId dead) {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!users_[i].dead)
        schedule(options_.faults.detect.draw(random_),
                 {.what = What::suspect, .node = NodeId{i}, .from = dead});
  }

  void recover(NodeId node) {
    if (!users_[node.index()].dead) return;
    users_[node.index()].dead = false;
    feed(node, {.kind = InputKind::recover});
    if (asks(node))
      schedule(options_.arrivals.draw(random_), {.what = What::arrival, .node = node});
  }

  // How long it took this node to suspect each of the dead.
  void note_suspicions(NodeId node) {
    const NodeSet& now = nodes_[node.index()].suspects();
    auto& before = suspects_[node.index()];
    if (now == before) return;
    now.for_each([&](NodeId other) {
      if (!before.contains(other) && users_[other.index()].dead)
        tally_.suspect(now_ - crashed_at_[other.index()]);
    });
    before = now;
  }

  // ---- views, if the protocol has them

  void start_views() {
    early_.resize(nodes_.size());
    view_.epoch = options_.setup.epoch;
    view_.members = living();
    if (options_.faults.retire_every > 0)
      schedule(options_.faults.retire_every, {.what = What::retire});
  }

  void change(const Event& event) {
    if (event.what == What::detect) detect();
    if (event.what == What::adopt) adopt(event.node);
    if (event.what == What::retire && !ending_) retire();
  }

  // A view is without all that are dead by then.
  void detect() {
    auto members = living();
    if (members == view_.members) return;
    ++view_.epoch;
    view_.members = std::move(members);
    view_.members.for_each([&](NodeId node) {
      schedule(options_.faults.adopt.draw(random_), {.what = What::adopt, .node = node});
    });
  }

  void adopt(NodeId node) {
    const auto& state = nodes_[node.index()];
    if (!state.present() || state.epoch == view_.epoch) return;
    feed(node, {.kind = InputKind::view, .view = &view_});
    auto waiting = std::exchange(early_[node.index()], {});
    for (auto& event : waiting) deliver(event);
  }

  // Wherever somebody takes itself for the lock's home.
  void retire() {
    schedule(options_.faults.retire_every, {.what = What::retire});
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].retirable()) feed(NodeId{i}, {.kind = InputKind::retire});
  }

  [[nodiscard]] NodeSet living() const {
    NodeSet members;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].present()) members.insert(NodeId{i});
    return members;
  }

  Time delay_of_the_slow() {
    const auto& faults = options_.faults;
    const bool slow = faults.slow_one_in > 0 && random_.below(faults.slow_one_in) == 0;
    return slow ? faults.slow.draw(random_) : 0;
  }

  // Nobody asks any more; whoever lives and waits must still be served.
  void serve_the_last() {
    ending_ = true;
    events_at_entry_ = events_;
    const auto waits = [](const Client& client) { return client.waiting; };
    while ((crashes_left_ > 0 || std::any_of(users_.begin(), users_.end(), waits)) && advance()) {
    }
  }

  [[nodiscard]] Result summary() const {
    Result result;
    tally_.write(result, nodes_.size());
    result.messages_local = network_.local();
    result.messages_remote = network_.remote();
    if constexpr (Costed<P>)
      if (costs_) result.logical = costs_->mean();
    result.sessions = sessions_.sessions();
    result.inside_mean = sessions_.inside_mean();
    result.violation = violation_;
    double sum = 0, squares = 0, askers = 0;
    for (std::size_t i = 0; i < users_.size(); ++i) {
      const auto& client = users_[i];
      if (client.waiting) ++result.waiting_at_end;
      askers += asks(NodeId{i}) ? 1 : 0;
      sum += client.entries;
      squares += static_cast<double>(client.entries) * client.entries;
    }
    if (squares > 0 && askers > 0) result.fairness = sum * sum / (squares * askers);
    return result;
  }

  std::vector<Client> users_;
  std::vector<Wish> wishes_;             // of each node, the last
  std::vector<Queue<Time, 1>> backlog_;  // when each waiting arrival came
  Monitor<P::info.primitive> monitor_;
  std::string violation_;
  Tally tally_;
  SessionCount sessions_;
  Queue<NodeId> idle_;            // processes that may arrive again
  std::vector<Time> quiet_from_;  // when the last message of each process arrives
  std::uint64_t events_at_entry_ = 0;
  std::vector<std::vector<Event>> unread_;  // at each node that is inside and deaf
  std::optional<std::conditional_t<Costed<P>, Costs, Nothing>> costs_;

  std::vector<NodeSet> suspects_;  // of each node, as last seen
  std::vector<Time> crashed_at_;
  ViewChange view_;                        // as the registry has it
  std::vector<std::vector<Event>> early_;  // at each node, of views that it does not know
  std::size_t crashes_left_ = 0;
  bool ending_ = false;
};

}  // namespace turno::sim
