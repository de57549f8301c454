// Bouabdallah and Laforest, "A distributed token-based algorithm for the dynamic resource
// allocation problem", 2000, with several instances of a type, for any rule that chooses among
// them.
//
// Each instance has a token. One control token says where each of them is or will be. Who needs
// some fetches the control token, takes from it what is free, gives back what it does not need, and
// asks the others (inquiry), who answer at once with what they do not use (answer) and later with
// the rest (payment). The control token moves on when all have answered. So requests are ordered by
// the control token, and a token is handed from one to the next in that order: no deadlock.
//
// The control token is queued for as in SiteQueue. Assumes reliable channels, any order; no
// crashes. Rules of the algorithm that printed versions lack are marked F1 and so on, as in
// docs/algorithms/grid.md.
#pragma once

#include "core/protocol.h"
#include "protocols/allocation/config.h"
#include "protocols/allocation/preferences.h"
#include "protocols/allocation/tokens.h"
#include "protocols/parts/site_queue/site_queue.h"
#include "protocols/parts/site_queue/site_queue_invariant.h"

namespace turno::protocols {

struct TokenMessage {
  enum class Kind : std::uint8_t { request, control, inquiry, answer, payment };
  Kind kind = Kind::request;
  SiteQueue::Ask ask{};          // request
  SiteQueue::Baggage baggage{};  // control
  Table table;                   // control
  FrequentUsers frequent;        // control, grid
  Instances instances;           // inquiry
  Tokens tokens;                 // answer, payment
  static constexpr std::array<std::string_view, 5> kinds = {"request", "control", "inquiry",
                                                            "answer", "payment"};
  static constexpr std::array<std::string_view, 7> labels = {
      "kind", "of", "carrying", "places", "frequent", "instances", "tokens"};
  [[nodiscard]] auto fields() const {
    return std::tie(kind, ask, baggage, table, frequent, instances, tokens);
  }
  bool operator==(const TokenMessage&) const = default;
};

template <class Rules>
struct TokenAllocator {
  static constexpr Info info = Rules::info;
  using Message = TokenMessage;
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, choosing, collecting, inside };
  struct Debt {
    std::uint32_t instance = 0;
    NodeId creditor;
    bool operator==(const Debt&) const = default;
    [[nodiscard]] auto fields() const { return std::tie(instance, creditor); }
  };

  NodeId self;
  const Setup* setup = nullptr;
  AllocationConfig config;
  SiteQueue queue;  // for the control token
  Phase phase = Phase::idle;
  Needs needs;
  Tokens idle, locked;                           // what is here: not in use, and reserved
  Instances missing;                             // asked for and not yet here
  boost::container::small_vector<Debt, 2> owed;  // sorted; after use they go to whoever asked
  std::uint32_t unanswered = 0;                  // inquiries. Grows and falls, never reset: F10
  Table table;                                   // while the control token is here
  FrequentUsers frequent;                        // while the control token is here
  boost::container::small_vector<std::uint32_t, 2> in_a_row;  // own requests of each type
  std::uint32_t round = 0;  // of own requests, to scatter the choice

  static constexpr std::array<std::string_view, 12> labels = {
      "queue", "phase",      "needs",  "idle",     "locked",   "missing",
      "debts", "unanswered", "places", "frequent", "in a row", "round"};
  [[nodiscard]] auto fields() const {
    return std::tie(queue, phase, needs, idle, locked, missing, owed, unanswered, table, frequent,
                    in_a_row, round);
  }
  bool operator==(const TokenAllocator&) const = default;

  // REQUIRES: the setup outlives the node.
  static TokenAllocator resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    TokenAllocator node;
    node.self = self;
    node.setup = &setup;
    node.config = setup.config<AllocationConfig>();
    node.queue = Rules::knows_sites ? SiteQueue::start(setup, self, setup.root())
                                    : SiteQueue::start(self, setup.root());
    if (node.queue.has) {
      node.table = all_free(setup);
      for (const auto& holding : holdings)
        for (auto instance : holding.units) node.table[instance] = {.holder = holding.seat};
    }
    if (const auto* holding = holding_of(self, holdings)) {
      node.phase = Phase::inside;
      node.needs = Needs({.needs = needs_of(setup, *holding)});
      node.locked = tokens_of(setup, *holding);
    }
    return node;
  }

  void request(const Demand& demand, Out& out) {
    needs = Needs(demand);
    Rules::count_request(*this);
    if (idle.cover(setup->resources, needs)) return use_what_is_here(out);
    phase = Phase::waiting;
    perform(queue.acquire(), out);
    if (queue.has) decide(out);
  }

  void release(Out& out) {
    phase = Phase::idle;
    needs.clear();
    idle.add(locked);  // unlocked, or nobody would ever get them: F1
    locked.clear();
    pay(out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return perform(queue.asked(message.ask), out);
      case Kind::control:
        queue.arrived(message.baggage);
        table = message.table;
        frequent = message.frequent;
        return decide(out);
      case Kind::inquiry:
        return answer(from, message.instances, out);
      case Kind::answer:
        --unanswered;
        collect(message.tokens, out);
        // Only now, or it could overtake an inquiry: F6. An answer is no payment: F8.
        if (unanswered == 0 && queue.in_use() && phase != Phase::choosing)
          perform(queue.done(), out);
        return;
      case Kind::payment:
        return collect(message.tokens, out);
    }
  }

  // What the checker decides instead of the algorithm.
  [[nodiscard]] std::uint32_t choices() const {
    return phase == Phase::choosing ? count_selections(choosing()) : 0;
  }
  void choose(std::uint32_t index, Out& out) { take(nth_selection(choosing(), index), out); }

  [[nodiscard]] bool has_token() const { return queue.has; }
  // Could a node have sent it?
  static bool possible(const Setup& setup, const Message& message) {
    const auto& [deferred, preferred] = message.baggage;
    const bool whole =
        message.kind != Kind::control || message.table.size() == setup.resources.type_of.size();
    return whole && exists(setup, message.ask.origin) && exist(setup, message.instances) &&
           exist(setup, message.tokens) && message.frequent.size() <= setup.resources.types() &&
           std::all_of(deferred.begin(), deferred.end(),
                       [&](NodeId node) { return exists(setup, node); }) &&
           std::all_of(message.table.begin(), message.table.end(),
                       [&](const Place& place) { return exists(setup, place.holder); });
  }
  static bool carries_token(const Message& message) { return message.kind == Kind::control; }
  static const SiteQueue::Ask* asks(const Message& message) {
    return message.kind == Kind::request ? &message.ask : nullptr;
  }
  static Carries carries(const Message& message) {
    constexpr std::array what = {Carries::request, Carries::control, Carries::other,
                                 Carries::answer, Carries::payment};
    return what[static_cast<std::size_t>(message.kind)];
  }
  // Served before somebody of another site who asked earlier.
  static bool preempts(const Message& message) {
    return message.kind == Kind::control && message.baggage.preferred > 0;
  }
  static std::string_view broken_invariant(const Snapshot<TokenAllocator>& world);

  [[nodiscard]] Choosing choosing() const { return {*setup, self, needs, table}; }

 private:
  // Enough is here and idle: no message at all.
  void use_what_is_here(Out& out) {
    for (std::size_t type = 0; type < needs.types(); ++type)
      for (auto more = needs.of(type); more > 0; --more) lock_one_of(type);
    enter(out);
  }
  void lock_one_of(std::size_t type) {
    for (const auto& token : idle) {
      if (setup->resources.type_of[token.instance] != type) continue;
      locked.add(idle.take(token.instance));
      return;
    }
  }

  // The control token is here.
  void decide(Out& out) {
    Rules::note_frequent_use(*this);
    if (config.driver_chooses && count_selections(choosing()) > 1) {
      phase = Phase::choosing;
      return;
    }
    take(Rules::select(*this), out);
  }

  void take(const Instances& chosen, Out& out) {
    phase = Phase::collecting;
    give_back_all_but(chosen);
    for (auto instance : chosen) {
      auto& place = table[instance];
      if (place.holder == nobody) {
        locked.add({instance, place.fence});
      } else if (place.holder == self) {
        locked.add(idle.take(instance));
      } else {
        missing.push_back(instance);
      }
    }
    inquire(out);
    for (auto instance : chosen) table[instance] = {.holder = self};
    if (unanswered == 0) perform(queue.done(), out);  // it need not wait for the user to leave: F13
    if (missing.empty()) enter(out);
  }
  void give_back_all_but(const Instances& chosen) {
    const auto here = idle;
    for (const auto& token : here) {
      if (std::binary_search(chosen.begin(), chosen.end(), token.instance)) continue;
      table[token.instance] = {.holder = nobody, .fence = token.fence};
      idle.take(token.instance);
    }
  }
  // One inquiry for each who holds some of what is missing.
  void inquire(Out& out) {
    auto left = missing;
    while (!left.empty()) {
      const auto holder = table[left.front()].holder;
      Message inquiry{.kind = Kind::inquiry};
      const auto of_holder = [&](std::uint32_t i) { return table[i].holder == holder; };
      std::copy_if(left.begin(), left.end(), std::back_inserter(inquiry.instances), of_holder);
      left.erase(std::remove_if(left.begin(), left.end(), of_holder), left.end());
      out.send(holder, inquiry);
      ++unanswered;
    }
  }

  void answer(NodeId from, const Instances& instances, Out& out) {
    Message answer{.kind = Kind::answer};
    for (auto instance : instances) {
      if (idle.contains(instance)) {
        answer.tokens.add(idle.take(instance));
      } else {
        const Debt debt{instance, from};
        owed.insert(
            std::lower_bound(owed.begin(), owed.end(), debt,
                             [](const Debt& a, const Debt& b) { return a.instance < b.instance; }),
            debt);
      }
    }
    out.send(from, answer);
  }

  void collect(const Tokens& tokens, Out& out) {
    locked.add(tokens);
    for (const auto& token : tokens)
      missing.erase(std::remove(missing.begin(), missing.end(), token.instance), missing.end());
    // All of them (F7), and not if it is inside already (F9).
    if (phase == Phase::collecting && missing.empty()) enter(out);
  }

  // One payment for each creditor.
  void pay(Out& out) {
    while (!owed.empty()) {
      const auto creditor = owed.front().creditor;
      Message payment{.kind = Kind::payment};
      for (const auto& debt : owed)
        if (debt.creditor == creditor) payment.tokens.add(idle.take(debt.instance));
      owed.erase(std::remove_if(owed.begin(), owed.end(),
                                [&](const Debt& debt) { return debt.creditor == creditor; }),
                 owed.end());
      out.send(creditor, payment);
    }
  }

  void enter(Out& out) {
    phase = Phase::inside;
    locked.use();
    out.grant(locked.units());
  }

  void perform(const SiteQueue::Move& move, Out& out) {
    if (move.ask_to != nobody) out.send(move.ask_to, {.kind = Kind::request, .ask = move.ask});
    if (move.token_to == nobody) return;
    out.send(move.token_to, {.kind = Kind::control,
                             .baggage = queue.take_baggage(),
                             .table = table,
                             .frequent = frequent});
    table.clear();
    frequent.clear();
  }
};

// Every token in one place, and nothing reserved or promised out of turn.
template <class Rules>
std::string_view TokenAllocator<Rules>::broken_invariant(const Snapshot<TokenAllocator>& world) {
  if (const auto broken = broken_queue(world); !broken.empty()) return broken;
  const auto instances = world.nodes.front().setup->resources.type_of.size();
  boost::container::small_vector<std::uint32_t, 16> places(instances);
  const auto free_in = [&](const Table& known) {
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i].holder == nobody) ++places[i];
  };
  for (const auto& node : world.nodes) {
    free_in(node.table);
    for (const auto* tokens : {&node.idle, &node.locked})
      for (const auto& token : *tokens) ++places[token.instance];
    const bool resting = node.phase == Phase::idle || node.phase == Phase::waiting;
    if (resting && !(node.locked.empty() && node.missing.empty()))
      return "a token is reserved for nobody";
    for (const auto& debt : node.owed) {
      const bool awaited =
          std::binary_search(node.missing.begin(), node.missing.end(), debt.instance);
      if (!awaited && !node.locked.contains(debt.instance))
        return "a token is promised by a node that neither uses it nor waits for it";
    }
    for (std::size_t i = 1; i < node.owed.size(); ++i)
      if (node.owed[i].instance == node.owed[i - 1].instance) return "a token is promised twice";
  }
  for (const auto& flight : world.flights) {
    free_in(flight.message.table);
    for (const auto& token : flight.message.tokens) ++places[token.instance];
  }
  for (auto count : places) {
    if (count == 0) return "a resource token is lost";
    if (count > 1) return "a resource token is in two places";
  }
  return {};
}

}  // namespace turno::protocols
