// Reservations planned by brokers: one broker a site, a control token among the brokers, and
// resource tokens that go from user to user without coming back. Ours
// (docs/algorithms/brokered.md).
//
// A process asks the broker of its site. A broker with the control token appends each request to
// the chains of the instances that let it start soonest, and tells the last of each chain whom to
// give the token afterwards. Nothing is acknowledged: tenures are numbered, so a node knows what an
// inquiry that comes early or late is about. All chains follow the order of planning: no deadlock.
// A request is overtaken a bounded number of times: no starvation.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: 0 if all is at hand, else
// 2, and about 2 for each holder asked; the control token visits brokers only.
#pragma once

#include "core/protocol.h"
#include "protocols/allocation/broker_message.h"
#include "protocols/allocation/chains.h"
#include "protocols/allocation/config.h"
#include "protocols/allocation/selection.h"
#include "protocols/parts/site_queue/site_queue.h"
#include "protocols/parts/site_queue/site_queue_invariant.h"

namespace turno::protocols {

struct Brokered {
  static constexpr Info info{.name = "brokered",
                             .title = "a broker a site plans chains of users for every instance",
                             .source = "ours",
                             .primitive = Primitive::reservation,
                             .sites = true,
                             .growing = true,
                             .low = "0 to 2 + 2k",
                             .high = "2 + 2k + control"};

  using Tenure = brokerage::Tenure;
  using Held = brokerage::Held;
  using Successor = brokerage::Successor;
  using Waiting = brokerage::Waiting;
  template <class T>
  using Some = brokerage::Some<T>;
  using Message = brokerage::Message;
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, inside };

  static constexpr std::array<std::string_view, 1> timers = {"dwell"};

  NodeId self, broker;
  const Setup* setup = nullptr;
  AllocationConfig config;
  std::uint64_t now = 0;  // a hint, told before each step
  // As a process.
  Phase phase = Phase::idle;
  bool planned = false;
  Some<Held> held;       // sorted
  Some<Tenure> awaited;  // sorted
  Some<Successor> owed;  // sorted
  // As the broker of its site.
  SiteQueue queue;  // of brokers, for the control token
  Some<Waiting> requests;
  Chains chains;                 // while the control token is here
  std::uint64_t here_since = 0;  // hints: when the control token came,
  std::uint64_t usual_wait = 0;  // and how long requests wait lately
  bool dwelling = false;         // the timer is armed

  static constexpr std::array<std::string_view, 11> labels = {
      "phase",    "planned", "held",       "awaited",    "owed",    "queue",
      "requests", "chains",  "here since", "usual wait", "dwelling"};
  [[nodiscard]] auto fields() const {
    return std::tie(phase, planned, held, awaited, owed, queue, requests, chains, here_since,
                    usual_wait, dwelling);
  }
  bool operator==(const Brokered&) const = default;

  // REQUIRES: the setup outlives the node.
  static Brokered resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    Brokered node;
    node.self = self;
    node.setup = &setup;
    node.config = setup.config<AllocationConfig>();
    node.broker = broker_of(setup, self);
    if (const auto* holding = holding_of(self, holdings)) {
      node.phase = Phase::inside;
      for (auto instance : holding->units)
        add(node.held, {{instance, 1}, Fence::at(setup.epoch), true});
    }
    if (self != node.broker) return node;
    node.queue = SiteQueue::start(self, broker_of(setup, setup.root()));
    node.queue.busy = node.queue.has;  // it leaves when its broker says so
    if (!node.queue.has) return node;
    node.chains.resize(setup.resources.type_of.size());
    const auto ends = node.driver_chooses() ? 0 : static_cast<std::uint64_t>(node.config.hold_ns);
    for (const auto& holding : holdings)
      for (auto instance : holding.units) node.chains[instance] = {holding.seat, 1, ends};
    return node;
  }

  void told_time(std::int64_t time_ns) { now = static_cast<std::uint64_t>(time_ns); }

  void request(const Demand& demand, Out& out) {
    const Needs needs(demand);
    if (lock_what_is_here(needs)) return enter(out);
    phase = Phase::waiting;
    if (self != broker) return out.send(broker, {.kind = Kind::request, .needs = needs});
    admit(self, needs, out);
  }

  void release(Out& out) {
    phase = Phase::idle;
    for (auto& token : held) token.locked = false;
    hand_over(out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return admit(from, message.needs, out);
      case Kind::ask:
        perform(queue.asked(message.ask), out);
        return consider_passing(out);
      case Kind::control:
        queue.arrived(message.baggage);
        chains = message.chains;
        here_since = driver_chooses() ? 0 : now;
        return plan_all(out);
      case Kind::plan:
        return on_plan(message, out);
      case Kind::inquiry:
        return on_inquiry(message.successors, out);
      case Kind::tokens:
        for (const auto& token : message.held) add(held, {token.tenure, token.fence, true});
        return enter_if_complete(out);
    }
  }

  void expire(std::uint8_t /*dwell*/, Out& out) {
    dwelling = false;
    consider_passing(out);
  }

  // If the driver chooses: which request is planned with which instances, or that the token is
  // passed.
  [[nodiscard]] std::uint32_t choices() const;
  void choose(std::uint32_t index, Out& out);

  // Could a node have sent it?
  static bool possible(const Setup& setup, const Message& message);
  static bool carries_token(const Message& message) { return message.kind == Kind::control; }
  static const SiteQueue::Ask* asks(const Message& message) {
    return message.kind == Kind::ask ? &message.ask : nullptr;
  }
  static Carries carries(const Message& message) {
    if (message.kind == Kind::ask) return Carries::request;
    return message.kind == Kind::control ? Carries::control : Carries::other;
  }
  static std::string_view broken_invariant(const Snapshot<Brokered>& world);

 private:
  static NodeId broker_of(const Setup& setup, NodeId node) {
    for (std::size_t i = 0; i < setup.size(); ++i)
      if (setup.sites.together(NodeId{i}, node)) return NodeId{i};
    return nobody;
  }
  [[nodiscard]] bool driver_chooses() const { return config.driver_chooses; }

  template <class T>
  static void add(Some<T>& sorted, const T& value) {
    const auto key = [](const T& v) {
      if constexpr (std::same_as<T, Tenure>)
        return v;
      else
        return v.tenure;
    };
    sorted.insert(std::lower_bound(sorted.begin(), sorted.end(), value,
                                   [&](const T& a, const T& b) { return key(a) < key(b); }),
                  value);
  }
  [[nodiscard]] Held* find(const Tenure& tenure) {
    const auto found = std::find_if(held.begin(), held.end(),
                                    [&](const Held& token) { return token.tenure == tenure; });
    return found == held.end() ? nullptr : &*found;
  }

  // ---- as a process

  // Enough is here and idle: no message at all.
  bool lock_what_is_here(const Needs& needs) {
    auto more = needs;
    auto after = held;
    for (auto& token : after) {
      const auto type = setup->resources.type_of[token.tenure.instance];
      if (more.of(type) == 0) continue;
      more.take_one(type);
      token.locked = true;
    }
    if (more.empty()) held = std::move(after);
    return more.empty();
  }

  void on_plan(const Message& plan, Out& out) {
    planned = true;
    for (const auto& tenure : plan.kept) {
      auto* token = find({tenure.instance, tenure.number - 1});
      if (token == nullptr) continue;  // no broker plans so
      token->tenure = tenure;
      token->locked = true;
    }
    for (const auto& token : plan.held) add(held, {token.tenure, token.fence, true});
    for (const auto& tenure : plan.awaited) add(awaited, tenure);
    enter_if_complete(out);
  }

  void enter_if_complete(Out& out) {
    if (phase != Phase::waiting || !planned) return;
    for (const auto& tenure : awaited)
      if (find(tenure) == nullptr) return;
    awaited.clear();
    planned = false;
    enter(out);
  }

  void enter(Out& out) {
    phase = Phase::inside;
    boost::container::small_vector<Unit, 4> units;
    for (auto& token : held) {
      if (!token.locked) continue;
      token.fence = token.fence.next();
      units.push_back({token.tenure.instance, token.fence});
    }
    out.grant(units);
  }

  // What is said about others is passed on to them: by a broker, for its site.
  void on_inquiry(const Some<Successor>& successors, Out& out) {
    auto left = successors;
    while (!left.empty()) {
      const auto holder = left.front().holder;
      Message inquiry{.kind = Kind::inquiry};
      const auto same = [&](const Successor& s) { return s.holder == holder; };
      std::copy_if(left.begin(), left.end(), std::back_inserter(inquiry.successors), same);
      left.erase(std::remove_if(left.begin(), left.end(), same), left.end());
      if (holder != self) {
        out.send(holder, inquiry);
        continue;
      }
      for (const auto& successor : inquiry.successors) add(owed, successor);
      hand_over(out);
    }
  }

  // Every idle token that has a successor: one message for each who gets some.
  void hand_over(Out& out) {
    Some<Successor> due;
    for (const auto& successor : owed) {
      const auto* token = find(successor.tenure);
      if (token != nullptr && !token->locked) due.push_back(successor);
    }
    while (!due.empty()) {
      const auto to = due.front().to;
      Message message{.kind = Kind::tokens};
      for (const auto& successor : due)
        if (successor.to == to) message.held.push_back(give_up(successor));
      due.erase(
          std::remove_if(due.begin(), due.end(), [&](const Successor& s) { return s.to == to; }),
          due.end());
      out.send(to, message);
    }
  }
  Held give_up(const Successor& successor) {
    const auto* token = find(successor.tenure);
    const Held given{{successor.tenure.instance, successor.tenure.number + 1}, token->fence};
    held.erase(held.begin() + (token - held.data()));
    owed.erase(std::find(owed.begin(), owed.end(), successor));
    return given;
  }

  // ---- as a broker

  void admit(NodeId node, const Needs& needs, Out& out) {
    requests.push_back({node, needs, 0, driver_chooses() ? 0 : now});
    if (queue.has) return plan_all(out);
    if (!queue.wanting) perform(queue.acquire(), out);
  }

  // What one turn of planning wants said.
  struct Letters {
    Some<Successor> successors;
    boost::container::small_vector<std::pair<NodeId, Message>, 2> plans;
  };

  void plan_all(Out& out) {
    if (driver_chooses()) return;
    Letters letters;
    while (!requests.empty()) {
      const Planning planning{*setup, config, chains, self, now};
      const auto [index, start] = soonest(planning);
      const auto& request = requests[index];
      usual_wait = (7 * usual_wait + (start - std::min(start, request.since))) / 8;
      commit(index, planning.choice(request.node, request.needs, start), start, letters);
    }
    send(letters, out);
    consider_passing(out);
  }

  // Which request next: one that was overtaken often enough, or else that which can start soonest.
  [[nodiscard]] std::pair<std::size_t, std::uint64_t> soonest(const Planning& planning) const {
    std::pair<std::size_t, std::uint64_t> best{0, ~std::uint64_t{0}};
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto start = planning.start(requests[i].node, requests[i].needs);
      if (requests[i].overtaken >= config.bypasses) return {i, start};
      if (start < best.second) best = {i, start};
    }
    return best;
  }

  void commit(std::size_t index, const Instances& chosen, std::uint64_t start, Letters& letters) {
    const auto node = requests[index].node;
    for (std::size_t older = 0; older < index; ++older) ++requests[older].overtaken;
    requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(index));
    Message plan{.kind = Kind::plan};
    for (auto instance : chosen) {
      auto& chain = chains[instance];
      const Tenure tenure{instance, chain.tenure + 1};
      if (chain.last == node) {
        plan.kept.push_back(tenure);
      } else if (chain.last == nobody) {
        plan.held.push_back({tenure, Fence::at(setup->epoch)});
      } else {
        plan.awaited.push_back(tenure);
        letters.successors.push_back({{instance, chain.tenure}, chain.last, node});
      }
      const auto hold = static_cast<std::uint64_t>(config.hold_ns);
      chain = {node, tenure.number, driver_chooses() ? 0 : start + hold};
    }
    letters.plans.emplace_back(node, std::move(plan));
  }

  void send(const Letters& letters, Out& out) {
    for (const auto& [node, plan] : letters.plans)
      node == self ? on_plan(plan, out) : out.send(node, plan);
    // To each site one letter; to the own site's processes one each.
    auto left = letters.successors;
    while (!left.empty()) {
      const auto to = broker_of(*setup, left.front().holder);
      Some<Successor> some;
      const auto same = [&](const Successor& s) { return setup->sites.together(s.holder, to); };
      std::copy_if(left.begin(), left.end(), std::back_inserter(some), same);
      left.erase(std::remove_if(left.begin(), left.end(), same), left.end());
      to == self ? on_inquiry(some, out)
                 : out.send(to, {.kind = Kind::inquiry, .successors = some});
    }
  }

  // The control token stays a while, so that requests that come soon need not wait for it.
  void consider_passing(Out& out) {
    if (driver_chooses() || !queue.has || queue.next == nobody) return;
    const auto share = usual_wait / std::max<std::uint64_t>(brokers(), 1);
    const auto away = static_cast<std::uint64_t>(config.remote_ns);
    const auto leaves = here_since + (share > away ? share - away : 0);
    if (now >= leaves) return pass(out);
    if (dwelling) return;
    dwelling = true;
    out.arm(0, static_cast<std::int64_t>(leaves - now));
  }
  [[nodiscard]] std::uint64_t brokers() const {
    return setup->sites.of.empty() ? 1 : setup->sites.of.back() + std::uint64_t{1};
  }

  void pass(Out& out) {
    for (auto& request : requests) ++request.overtaken;
    if (dwelling) out.disarm(0);
    dwelling = false;
    perform(queue.done(), out);
    if (!requests.empty()) perform(queue.acquire(), out);
  }

  void perform(const SiteQueue::Move& move, Out& out) {
    if (move.ask_to != nobody) out.send(move.ask_to, {.kind = Kind::ask, .ask = move.ask});
    if (move.token_to == nobody) return;
    out.send(move.token_to,
             {.kind = Kind::control, .baggage = queue.take_baggage(), .chains = chains});
    chains.clear();
    here_since = 0;
  }

  // ---- what the driver may choose

  // The requests that may be planned now: the first that was overtaken often enough, or any.
  [[nodiscard]] std::pair<std::size_t, std::size_t> plannable() const {
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (requests[i].overtaken >= config.bypasses) return {i, i + 1};
    return {0, requests.size()};
  }
  [[nodiscard]] bool may_pass() const {
    return queue.next != nobody &&
           std::all_of(requests.begin(), requests.end(),
                       [&](const Waiting& request) { return request.overtaken < config.bypasses; });
  }
  // Any instances will do.
  [[nodiscard]] Table anywhere() const { return Table(chains.size()); }
};

inline bool Brokered::possible(const Setup& setup, const Message& message) {
  const auto instances = setup.resources.type_of.size();
  const auto there = [&](const Tenure& tenure) { return tenure.instance < instances; };
  const auto& [kind, needs, ask, baggage, chains, kept, awaited, held, successors] = message;
  return (kind != Kind::control || chains.size() == instances) && exist(setup, needs) &&
         exists(setup, ask.origin) && std::all_of(kept.begin(), kept.end(), there) &&
         std::all_of(awaited.begin(), awaited.end(), there) &&
         std::all_of(held.begin(), held.end(),
                     [&](const Held& token) { return there(token.tenure); }) &&
         std::all_of(chains.begin(), chains.end(),
                     [&](const Chain& chain) { return exists(setup, chain.last); }) &&
         std::all_of(successors.begin(), successors.end(), [&](const Successor& each) {
           return there(each.tenure) && each.holder.index() < setup.size() &&
                  each.to.index() < setup.size();
         });
}

inline std::uint32_t Brokered::choices() const {
  if (!driver_chooses() || !queue.has) return 0;
  std::uint32_t count = may_pass() ? 1 : 0;
  const auto table = anywhere();
  const auto [first, last] = plannable();
  for (auto i = first; i < last; ++i)
    count += count_selections({*setup, self, requests[i].needs, table});
  return count;
}

inline void Brokered::choose(std::uint32_t index, Out& out) {
  if (may_pass()) {
    if (index == 0) return pass(out);
    --index;
  }
  const auto table = anywhere();
  const auto [first, last] = plannable();
  for (auto i = first; i < last; ++i) {
    const Choosing choosing{*setup, self, requests[i].needs, table};
    const auto count = count_selections(choosing);
    if (index < count) {
      Letters letters;
      commit(i, nth_selection(choosing, index), 0, letters);
      return send(letters, out);
    }
    index -= count;
  }
}

// Every token in one place; and while somebody is to hand it over, it knows to whom.
inline std::string_view Brokered::broken_invariant(const Snapshot<Brokered>& world) {
  if (const auto broken = broken_queue(world); !broken.empty()) return broken;
  std::size_t control_tokens = 0;  // not counted by the checker: a single broker never passes it on
  for (const auto& node : world.nodes) control_tokens += node.queue.has ? 1 : 0;
  for (const auto& flight : world.flights) control_tokens += carries_token(flight.message) ? 1 : 0;
  if (control_tokens != 1) return "there is not exactly one control token";
  boost::container::small_vector<std::uint32_t, 16> places(
      world.nodes.front().setup->resources.type_of.size());
  const auto not_yet_out = [&](const Chains& known) {
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i].last == nobody) ++places[i];
  };
  for (const auto& node : world.nodes) {
    not_yet_out(node.chains);
    for (const auto& token : node.held) {
      ++places[token.tenure.instance];
      if (token.locked && node.phase == Phase::idle) return "an idle node has reserved a token";
    }
    for (std::size_t i = 1; i < node.owed.size(); ++i)
      if (node.owed[i].tenure == node.owed[i - 1].tenure) return "a tenure has two successors";
  }
  for (const auto& flight : world.flights) {
    not_yet_out(flight.message.chains);
    for (const auto& token : flight.message.held) ++places[token.tenure.instance];
  }
  for (auto count : places) {
    if (count == 0) return "a resource token is lost";
    if (count > 1) return "a resource token is in two places";
  }
  return {};
}

}  // namespace turno::protocols
