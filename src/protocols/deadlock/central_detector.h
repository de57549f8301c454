// A central detector of deadlocks (lecture slides, PUCRS), which confirms what it finds.
//
// Every site reports to the detector who waits there for whom, and when a wait is over. The
// detector's picture is late, so a cycle in it may never have existed: the slides' false deadlock.
// Therefore every wait has numbers, of its request and of the grant that it waits behind. Before
// the detector believes in a cycle it asks each process on it whether it still waits by that
// request, and still holds by that grant what the one before it waits for. If all do, there was a
// moment at which all did, and then it is true for ever. The member with the highest number gives
// up. (To ask the sites is not enough: a release may be on its way to one.)
//
// Each node but the last is a site with one process and one resource; the last is the detector.
// Processes take resources one at a time and give them back, as the driver chooses.
//
// Assumes reliable channels that keep order; no crashes. Messages: two a wait (it is there, it is
// over), two more for each wait on a cycle found, and one to the victim.
#pragma once

#include <algorithm>
#include <string>

#include "core/container/queue.h"
#include "core/protocol.h"
#include "core/text/describe.h"
#include "protocols/deadlock/waits.h"

namespace turno::protocols {

struct CentralDetector {
  static constexpr Info info{.name = "wait-for-graph",
                             .title = "sites report waits; a detector finds and confirms a cycle",
                             .source = "lecture slides, PUCRS, corrected",
                             .primitive = Primitive::detection,
                             .fifo = true,
                             .low = "2 a wait",
                             .high = "2 a wait, 2 a wait on a cycle"};
  enum class Rule : std::uint8_t { none, confirmation, numbers, questions, processes };
  static constexpr std::array departures = {
      Departure{"confirmation", "a late report makes a cycle that never was",
                "--nodes 3 --waits 2"},
      Departure{"numbers", "a wait is taken for another one between the same two",
                "--nodes 3 --waits 3"},
      Departure{"questions", "everybody sends its late reports, and is asked nothing",
                "--nodes 3 --waits 3"},
      Departure{"processes", "the sites are asked, and a release is on its way to one",
                "--nodes 3 --waits 2"}};

  struct Config {
    std::uint32_t waits = 1;      // how often each process waits
    std::uint32_t resources = 0;  // that there are to take; 0: one for each process
  };

  struct Message {
    enum class Kind : std::uint8_t {
      request,
      grant,
      release,
      cancel,
      waits,
      over,
      confirm,
      confirmed,
      denied,
      abort
    } kind = Kind::request;
    std::uint32_t number = 0;  // of a request
    TakenResource holding;     // in a grant
    Wait wait;                 // in a denial, the one that is over
    Wait before;               // in a question: the one for what the process holds
    static constexpr std::array<std::string_view, 10> kinds = {
        "request", "grant",   "release",   "cancel", "waits",
        "over",    "confirm", "confirmed", "denied", "abort"};
    static constexpr std::array<std::string_view, 5> labels = {"kind", "number", "holding", "wait",
                                                               "before"};
    [[nodiscard]] auto fields() const { return std::tie(kind, number, holding, wait, before); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;
  struct Asker {
    NodeId process;
    std::uint32_t request = 0;
    [[nodiscard]] auto fields() const { return std::tie(process, request); }
    bool operator==(const Asker&) const = default;
  };

  NodeId self, detector;
  std::uint32_t resources = 0;
  Rule without = Rule::none;
  // Of the process.
  std::uint32_t left = 0;  // how often it may still ask
  std::uint32_t asked = 0;
  NodeId wants;                                            // whose resource it waits for
  boost::container::small_vector<TakenResource, 2> holds;  // sorted
  // Of the site.
  Asker holder;  // of the resource
  std::uint32_t granted = 0;
  Queue<Asker, 2> queue;
  // Of the detector.
  KnownWaits known;
  KnownWaits::Cycle doubtful;  // the cycle that it asks about
  std::uint32_t answers = 0;   // still to come
  bool denied = false;
  Wait victim;  // until its wait is over

  static constexpr std::array<std::string_view, 12> labels = {
      "left",  "asked", "wants",    "holds",   "holder", "granted",
      "queue", "known", "doubtful", "answers", "denied", "victim"};
  [[nodiscard]] auto fields() const {
    return std::tie(left, asked, wants, holds, holder, granted, queue, known, doubtful, answers,
                    denied, victim);
  }
  bool operator==(const CentralDetector&) const = default;

  static CentralDetector resume(const Setup& setup, NodeId self, std::span<const Holding>) {
    CentralDetector node;
    node.self = self;
    node.detector = NodeId{setup.size() - 1};
    node.resources = static_cast<std::uint32_t>(setup.size() - 1);
    const auto config = setup.config<Config>();
    if (config.resources > 0) node.resources = std::min(node.resources, config.resources);
    node.without = static_cast<Rule>(setup.departure);
    if (self != node.detector) node.left = config.waits;
    return node;
  }

  // It tells a process that it is in a deadlock.
  static bool declares(const Message& message) { return message.kind == Kind::abort; }

  // Takes one resource: the type of the need is its site. REQUIRES: it waits for none.
  void request(Demand demand, Out& out) { take(NodeId{demand.needs.front().type}, out); }
  void release(Out& out) { give_back_all(out); }

  void receive(NodeId from, const Message& message, Out& out) {
    switch (message.kind) {
      case Kind::request:
        return on_request({from, message.number}, out);
      case Kind::grant:
        return on_grant(message.number, message.holding);
      case Kind::release:
        return on_release(out);
      case Kind::cancel:
        return on_cancel({from, message.number}, out);
      case Kind::waits:
        return on_report(message.wait, true, out);
      case Kind::over:
        return on_report(message.wait, false, out);
      case Kind::confirm:
        return out.send(from, answer_to(message));
      case Kind::denied:
        denied = true;
        known.end(message.wait);  // the site will say so too
        return on_answer(out);
      case Kind::confirmed:
        return on_answer(out);
      case Kind::abort:
        return on_abort(message.number, out);
    }
  }

  // A process that does not wait gives back one of its resources, or takes one more.
  [[nodiscard]] std::uint32_t choices() const {
    if (wants != nobody || self == detector) return 0;
    const auto held = static_cast<std::uint32_t>(holds.size());
    return held + (left > 0 ? resources - held : 0);
  }
  void choose(std::uint32_t choice, Out& out) {
    if (choice < holds.size()) return give_back(holds[choice].site, out);
    --left;
    take(not_held(choice), out);
  }
  [[nodiscard]] std::string choice_name(std::uint32_t choice) const {
    return choice < holds.size() ? "give back " + describe(holds[choice].site)
                                 : "take " + describe(not_held(choice));
  }

  static std::string_view broken_invariant(const Snapshot<CentralDetector>& world);
  static std::string_view unmet_goal(const Snapshot<CentralDetector>& world);

 private:
  // ---- the process

  [[nodiscard]] auto held_from(NodeId site) const {
    return std::find_if(holds.begin(), holds.end(),
                        [&](const TakenResource& held) { return held.site == site; });
  }
  [[nodiscard]] NodeId not_held(std::uint32_t choice) const {
    auto index = choice - static_cast<std::uint32_t>(holds.size());
    std::uint32_t r = 0;
    while (held_from(NodeId{r}) != holds.end() || index-- > 0) ++r;
    return NodeId{r};
  }

  void take(NodeId site, Out& out) {
    wants = site;
    send(site, {.kind = Kind::request, .number = ++asked}, out);
  }
  void on_grant(std::uint32_t number, const TakenResource& holding) {
    if (wants != holding.site || number != asked) return;  // it has given up
    holds.insert(std::lower_bound(holds.begin(), holds.end(), holding), holding);
    wants = nobody;
  }
  void give_back(NodeId site, Out& out) {
    holds.erase(held_from(site));
    send(site, {.kind = Kind::release}, out);
  }
  void give_back_all(Out& out) {
    while (!holds.empty()) give_back(holds.front().site, out);
  }
  void on_abort(std::uint32_t number, Out& out) {
    if (wants == nobody || number != asked) return;
    const auto site = std::exchange(wants, nobody);
    give_back_all(out);
    send(site, {.kind = Kind::cancel, .number = number}, out);
  }
  [[nodiscard]] Message answer_to(const Message& question) const {
    const auto& wait = question.wait;
    const auto& before = question.before;
    const Message yes{.kind = Kind::confirmed};
    if (without == Rule::questions) return yes;  // late reports come before this answer
    if (without == Rule::processes)
      return waits_here(wait) ? yes : Message{.kind = Kind::denied, .wait = wait};
    const bool names_only = without == Rule::numbers;
    if (wants != wait.held.site || (asked != wait.request && !names_only))
      return {.kind = Kind::denied, .wait = wait};
    const auto held = held_from(before.held.site);
    if (held == holds.end() || (*held != before.held && !names_only))
      return {.kind = Kind::denied, .wait = before};
    return yes;
  }

  // ---- the site

  void on_request(const Asker& asker, Out& out) {
    if (holder.process == nobody) return give_to(asker, out);
    queue.push(asker);
    report(Kind::waits, asker, out);
  }
  void on_release(Out& out) {
    for (const auto& asker : queue) report(Kind::over, asker, out);
    holder = {};
    if (queue.empty()) return;
    give_to(queue.pop(), out);
    for (const auto& asker : queue) report(Kind::waits, asker, out);
  }
  void on_cancel(const Asker& asker, Out& out) {
    if (asker == holder) return on_release(out);
    report(Kind::over, asker, out);
    const auto before = std::exchange(queue, {});
    for (const auto& other : before)
      if (other != asker) queue.push(other);
  }
  void give_to(const Asker& asker, Out& out) {
    holder = asker;
    ++granted;
    send(asker.process, {.kind = Kind::grant, .number = asker.request, .holding = {self, granted}},
         out);
  }
  [[nodiscard]] Wait wait_of(const Asker& asker) const {
    return {asker.process, holder.process, asker.request, {self, granted}};
  }
  [[nodiscard]] bool waits_here(const Wait& wait) const {
    return std::any_of(queue.begin(), queue.end(),
                       [&](const Asker& asker) { return wait_of(asker) == wait; });
  }
  void report(Kind kind, const Asker& asker, Out& out) {
    out.send(detector, {.kind = kind, .wait = wait_of(asker)});
  }

  // ---- the detector, which looks at one cycle at a time

  void on_report(const Wait& wait, bool begins, Out& out) {
    begins ? known.begin(wait) : known.end(wait);
    if (wait == victim) victim = {};
    if (answers == 0 && victim.waiter == nobody) look(out);
  }
  void look(Out& out) {
    doubtful = known.cycle();
    if (doubtful.empty()) return;
    if (without == Rule::confirmation) return resolve(out);
    if (without == Rule::questions) return ask_everybody(out);
    answers = static_cast<std::uint32_t>(doubtful.size());
    auto before = doubtful.back();
    for (const auto& wait : doubtful) {
      const auto whom = without == Rule::processes ? wait.held.site : wait.waiter;
      out.send(whom, {.kind = Kind::confirm, .wait = wait, .before = before});
      before = wait;
    }
  }
  void ask_everybody(Out& out) {
    answers = static_cast<std::uint32_t>(detector.index());
    for (std::size_t i = 0; i < detector.index(); ++i) out.send(NodeId{i}, {.kind = Kind::confirm});
  }
  void on_answer(Out& out) {
    if (--answers > 0) return;
    if (without == Rule::questions)
      denied = !std::all_of(doubtful.begin(), doubtful.end(),
                            [&](const Wait& wait) { return known.has_such(wait); });
    std::exchange(denied, false) ? look(out) : resolve(out);
  }
  void resolve(Out& out) {
    victim = *std::max_element(doubtful.begin(), doubtful.end());
    doubtful.clear();
    out.send(victim.waiter, {.kind = Kind::abort, .number = victim.request});
  }

  // A message to itself is a call.
  void send(NodeId to, const Message& message, Out& out) {
    if (to == self) return receive(self, message, out);
    out.send(to, message);
  }
};

// Who is told to give up is in a deadlock. What has been given back does not count, though the site
// may not know yet.
inline std::string_view CentralDetector::broken_invariant(const Snapshot<CentralDetector>& world) {
  const auto flight =
      std::find_if(world.flights.begin(), world.flights.end(),
                   [](const auto& other) { return other.message.kind == Kind::abort; });
  if (flight == world.flights.end()) return {};
  WaitForGraph graph;
  for (const auto& site : world.nodes) {
    if (site.holder.process == nobody) continue;
    const auto& process = world.nodes[site.holder.process.index()];
    const bool holds = process.held_from(site.self) != process.holds.end() ||
                       process.wants == site.self;  // the grant is on its way
    for (const auto& asker : site.queue)
      if (holds) graph.add(asker.process, site.holder.process);
  }
  return graph.on_cycle(flight->to) ? "" : "a process is to give up, but is not in a deadlock";
}

inline std::string_view CentralDetector::unmet_goal(const Snapshot<CentralDetector>& world) {
  const bool waits = std::any_of(world.nodes.begin(), world.nodes.end(),
                                 [](const auto& node) { return node.wants != nobody; });
  return waits ? "a process waits for ever" : "";
}

}  // namespace turno::protocols
