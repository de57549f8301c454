// The allocation of a grid as Vieira Neto's thesis (2008) prints it (its algorithms 7 to 12), flaw
// by flaw: each departure has one of them, and is otherwise as it should be
// (allocation/token_allocator.h). The queue for the control token is as_published/site_queue.h,
// patched. To be refuted by the checker.
//
// The simulator runs three of them too, since the published experiment cannot be understood
// without: patched, first-answer, and the baseline with the latter's flaw, flat-first-answer.
#pragma once

#include "core/protocol.h"
#include "protocols/allocation/config.h"
#include "protocols/allocation/preferences.h"
#include "protocols/allocation/tokens.h"
#include "protocols/as_published/site_queue.h"

namespace turno::protocols::as_published {

struct GridMessage {
  enum class Kind : std::uint8_t { request, preemption, control, inquiry, answer, payment };
  Kind kind = Kind::request;
  NodeId about;                 // request: of whom; preemption: of whom
  std::uint32_t preempted = 0;  // preemption, control: the count
  bool fresh = false;           // preemption: not one that is passed on
  Table table;                  // control
  Instances instances;          // inquiry
  Tokens tokens;                // answer, payment
  static constexpr std::array<std::string_view, 6> kinds = {"request", "preemption", "control",
                                                            "inquiry", "answer",     "payment"};
  static constexpr std::array<std::string_view, 7> labels = {
      "kind", "of", "preempted", "fresh", "places", "instances", "tokens"};
  [[nodiscard]] auto fields() const {
    return std::tie(kind, about, preempted, fresh, table, instances, tokens);
  }
  bool operator==(const GridMessage&) const = default;
};

struct Grid {
  static constexpr Info info{.name = "grid",
                             .title = "grid as printed",
                             .source = "Vieira Neto's thesis on grids",
                             .primitive = Primitive::reservation,
                             .sites = true};
  static constexpr bool simulated = true;
  enum class Flaw : std::uint8_t {
    stays_locked = 1,
    first_answer,
    any_payment,
    one_kind,
    enters_again,
    count_reset,
    patched,
    flat_first_answer
  };
  static constexpr std::array departures = {
      Departure{"stays-locked", "F1: tokens stay locked after use",
                "--nodes 2 --types 2 --requests 2 --channels fifo"},
      Departure{"first-answer", "F6: the control token is passed on after the first answer",
                "--nodes 3 --types 3 --needs 100,010/001,110 --requests 2 --channels fifo"},
      Departure{"any-payment", "F7: any payment lets a node in",
                "--nodes 3 --types 2 --channels fifo"},
      Departure{"one-kind", "F8: payments are counted as answers",
                "--nodes 3 --types 2 --requests 2"},
      Departure{"enters-again", "F9: a late answer lets a node in again", "--nodes 2"},
      Departure{"count-reset", "F10: a late answer is counted for the next request",
                "--nodes 2 --types 2 --requests 2"},
      Departure{"patched", "F4: the patched queue may send a request on for ever",
                "--sites 2,2,1 --channels fifo --forever"},
      Departure{"flat-first-answer", "F6 in the baseline, which knows no sites",
                "--nodes 3 --types 3 --needs 100,010/001,110 --requests 2 --channels fifo"},
  };

  using Message = GridMessage;
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  enum class Phase : std::uint8_t { idle, waiting, collecting, inside };
  struct Debt {
    std::uint32_t instance = 0;
    NodeId creditor;
    bool operator==(const Debt&) const = default;
    [[nodiscard]] auto fields() const { return std::tie(instance, creditor); }
  };

  NodeId self;
  const Setup* setup = nullptr;
  bool driver_chooses = false;
  Flaw flaw = Flaw::patched;
  SiteQueue queue;
  Phase phase = Phase::idle;
  Needs needs;
  Tokens idle, locked;
  Instances missing;
  boost::container::small_vector<Debt, 2> owed;
  std::uint32_t unanswered = 0;
  Table table;
  std::uint32_t round = 0;

  static constexpr std::array<std::string_view, 10> labels = {
      "queue",   "phase", "needs",      "idle",   "locked",
      "missing", "debts", "unanswered", "places", "round"};
  [[nodiscard]] auto fields() const {
    return std::tie(queue, phase, needs, idle, locked, missing, owed, unanswered, table, round);
  }
  bool operator==(const Grid&) const = default;

  static Grid resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    Grid node;
    node.self = self;
    node.setup = &setup;
    node.driver_chooses = setup.config<AllocationConfig>().driver_chooses;
    if (setup.departure > 0) node.flaw = static_cast<Flaw>(setup.departure);
    using Right = protocols::SiteQueue;
    node.queue = SiteQueue::like(node.is_flat() ? Right::start(self, setup.root())
                                                : Right::start(setup, self, setup.root()));
    node.queue.repairs = {true, true, true};
    if (node.queue.has) node.table = all_free(setup);
    return node;
  }

  void request(const Demand& demand, Out& out) {
    needs = Needs(demand);
    if (!driver_chooses) ++round;
    auto here = idle;
    here.add(locked);  // empty, but for F1
    if (here.cover(setup->resources, needs)) return use_what_is_here(here, out);
    phase = Phase::waiting;
    perform(queue.acquire(), out);
    if (queue.has) take(out);
  }

  void release(Out& out) {
    phase = Phase::idle;
    needs.clear();
    if (flaw != Flaw::stays_locked) {
      idle.add(locked);
      locked.clear();
    }
    pay(out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return perform(queue.asked(message.about), out);
      case Kind::preemption:
        return perform(queue.told_of_preemption(message.about, message.preempted), out);
      case Kind::control:
        queue.arrived(message.preempted);
        table = message.table;
        return take(out);
      case Kind::inquiry:
        return answer(from, message.instances, out);
      case Kind::answer:
      case Kind::payment:
        return collect(message, out);
    }
  }

  [[nodiscard]] bool has_token() const { return queue.has; }
  static bool carries_token(const Message& message) { return message.kind == Kind::control; }
  static Carries carries(const Message& message) {
    constexpr std::array what = {Carries::request, Carries::request, Carries::control,
                                 Carries::other,   Carries::answer,  Carries::payment};
    return what[static_cast<std::size_t>(message.kind)];
  }
  static bool preempts(const Message& message) { return message.fresh; }
  static std::string_view broken_invariant(const Snapshot<Grid>& world);

 private:
  [[nodiscard]] std::uint16_t type_of(std::uint32_t instance) const {
    return setup->resources.type_of[instance];
  }
  [[nodiscard]] bool is_flat() const { return flaw == Flaw::flat_first_answer; }
  [[nodiscard]] bool passes_early() const { return flaw == Flaw::first_answer || is_flat(); }

  void use_what_is_here(Tokens& here, Out& out) {
    locked.clear();
    idle = here;
    for (const auto& token : here) {
      const auto type = type_of(token.instance);
      if (locked.count(setup->resources, type) < needs.of(type))
        locked.add(idle.take(token.instance));
    }
    enter(out);
  }

  // Algorithms 7 and 8. What is here counts as its own, whatever the control token says.
  void take(Out& out) {
    phase = Phase::collecting;
    idle.add(locked);  // F1
    locked.clear();
    const auto chosen = select();
    const auto here = idle;
    for (const auto& token : here) {
      idle.take(token.instance);
      if (std::binary_search(chosen.begin(), chosen.end(), token.instance)) {
        locked.add(token);
      } else {
        table[token.instance] = {.holder = nobody, .fence = token.fence};  // promised or not
      }
    }
    for (auto instance : chosen) {
      if (locked.contains(instance)) continue;
      if (table[instance].holder == nobody) {
        locked.add({instance, table[instance].fence});
      } else {
        missing.push_back(instance);
      }
    }
    if (flaw == Flaw::count_reset) unanswered = 0;
    inquire(out);
    for (auto instance : chosen) table[instance] = {.holder = self};
    if (unanswered == 0) perform(queue.done(), out);
    if (missing.empty()) enter(out);
  }

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
        owed.push_back({instance, from});
      }
    }
    out.send(from, answer);
  }

  // Algorithm 11.
  void collect(const Message& message, Out& out) {
    const bool payment = message.kind == Kind::payment;
    locked.add(message.tokens);
    for (const auto& token : message.tokens)
      missing.erase(std::remove(missing.begin(), missing.end(), token.instance), missing.end());
    if (unanswered > 0 && (!payment || flaw == Flaw::one_kind)) --unanswered;
    if (queue.has && queue.busy && (unanswered == 0 || passes_early())) perform(queue.done(), out);
    const bool complete = missing.empty() || (payment && flaw == Flaw::any_payment);
    const bool again = flaw == Flaw::enters_again && phase == Phase::inside;
    if (complete && (phase == Phase::collecting || again)) enter(out);
  }

  void pay(Out& out) {
    auto debts = std::exchange(owed, {});
    while (!debts.empty()) {
      const auto creditor = debts.front().creditor;
      Message payment{.kind = Kind::payment};
      for (const auto& debt : debts)
        if (debt.creditor == creditor) payment.tokens.add(give_up(debt.instance));
      debts.erase(std::remove_if(debts.begin(), debts.end(),
                                 [&](const Debt& debt) { return debt.creditor == creditor; }),
                  debts.end());
      out.send(creditor, payment);
    }
  }
  // It pays even with what it no longer has.
  Token give_up(std::uint32_t instance) {
    if (idle.contains(instance)) return idle.take(instance);
    if (locked.contains(instance)) return locked.take(instance);
    return {instance, Fence::at(setup->epoch)};
  }

  void enter(Out& out) {
    phase = Phase::inside;
    if (locked.empty()) return;
    locked.use();
    out.grant(locked.units());
  }

  void perform(const SiteQueue::Moves& moves, Out& out) {
    for (const auto& move : moves) {
      Message message{.about = move.about, .preempted = move.preempted, .fresh = move.fresh};
      if (move.what == SiteQueue::Move::What::preemption) message.kind = Kind::preemption;
      if (move.what == SiteQueue::Move::What::token) {
        message.kind = Kind::control;
        message.table = std::exchange(table, {});
      }
      out.send(move.to, message);
    }
  }

  [[nodiscard]] Instances select() const;
};

// What is here counts as its own.
inline Instances Grid::select() const {
  auto seen = table;
  for (const auto& token : idle) seen[token.instance].holder = self;
  const Choosing choosing{*setup, self, needs, seen};
  if (is_flat()) return Scattered(choosing, round).select();
  return Nearest(choosing, {}, flaw != Flaw::patched).select();
}

inline std::string_view Grid::broken_invariant(const Snapshot<Grid>& world) {
  boost::container::small_vector<std::uint32_t, 16> places(
      world.nodes.front().setup->resources.type_of.size());
  const auto free_in = [&](const Table& known) {
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i].holder == nobody) ++places[i];
  };
  for (const auto& node : world.nodes) {
    free_in(node.table);
    for (const auto* tokens : {&node.idle, &node.locked})
      for (const auto& token : *tokens) ++places[token.instance];
  }
  for (const auto& flight : world.flights) {
    free_in(flight.message.table);
    for (const auto& token : flight.message.tokens) ++places[token.instance];
  }
  for (auto count : places)
    if (count > 1) return "a resource token is in two places";
  return {};
}

}  // namespace turno::protocols::as_published
