// After Raynal, "A distributed solution to the k-out of-M resources allocation problem", 1991: a
// semaphore of which a node may hold several units, and ask for several at once.
//
// A node asks all others; each answers what it holds, unless a request of its own is older: then it
// answers when it has chosen. Who has all answers takes the smallest units that nobody holds. If
// there are too few it *watches* those that it knows to be in use: their holders tell it when they
// are freed. So units are chosen in the order of requests, (time, node), which is therefore a fence
// that grows over all units together, and nobody overtakes a request because it is large.
//
// A request may be a *try*: it is refused instead of waiting for units, its own or those of
// somebody older who waits for them and says so (busy). Who only tries needs a system in which
// everybody answers although it cannot help (Config::plain), or nobody may know that the oldest
// waits.
//
// Of a unit only the newest grant counts, whoever told of it: the older ones have ended. One watch
// is enough: who watches has all answers, so that nobody older waits.
//
// For recovery, nodes can remember what each of the others last asked for and was answered
// (Config::remember): then those who are left know which units one that died may have.
//
// Unlike the paper: units have names, and nobody is told of a release who has not asked for it.
//
// Assumes reliable channels, any order; no crashes. Messages per entry: 2(N-1), and if it must wait
// for units, one to each that holds some, and one for each of their releases until it has enough.
#pragma once

#include <boost/container/small_vector.hpp>

#include "core/clock/lamport_clock.h"
#include "core/container/facts.h"
#include "core/last_seen.h"
#include "core/protocol.h"
#include "protocols/parts/cost.h"

namespace turno::protocols {

struct KOutOfM {
  static constexpr Info info{
      .name = "k-out-of-m",
      .title = "ask everybody what is in use; the older request chooses first",
      .source = "Raynal 1991, changed",
      .primitive = Primitive::semaphore,
      .ordered = true,
      .growing = true,
      .low = "2(N-1)",
      .high = "2(N-1) + min(N-1,k) + 3 or less"};
  enum class Without : std::uint8_t {
    nothing,
    order,
    units,
    snapshot,
    overwrite,
    all_replies,
    clock,
    tie_reply,
    tie_silence,
    node_in_fence,
    stale_reply,
    stale_freed,
    freed,
    missed,
    first_watch,
    old_watch,
    early_watch,
    reexamine,
    own_release,
    withdraw_silent,
    last_deferred,
    first_deferred
  };
  static constexpr std::array departures = {
      Departure{"order", "answers although its own older request waits", "--nodes 2 --permits 1"},
      Departure{"units", "an answer does not say what is held", "--nodes 2 --permits 2"},
      Departure{"snapshot", "a late answer says what was held when the request came",
                "--nodes 2 --permits 2"},
      Departure{"overwrite", "of a unit counts what arrives last", "--permits 3 --counts 1,2,2"},
      Departure{"all-replies", "one answer may be missing", "--nodes 2 --permits 1"},
      Departure{"clock", "the clock does not follow requests", "--nodes 2 --permits 1"},
      Departure{"tie-reply", "of two requests with one time both are answered",
                "--nodes 2 --permits 1"},
      Departure{"tie-silence", "of two requests with one time none is answered",
                "--nodes 2 --permits 1"},
      Departure{"node-in-fence", "the fence is the time alone", "--nodes 2 --permits 2"},
      Departure{"stale-reply", "answers to an earlier request count",
                "--permits 2 --counts 11,1 --withdrawals 1"},
      Departure{"stale-freed", "a release counts whichever request and grant it speaks of",
                "--permits 2 --counts 111,111 --withdrawals 1"},
      Departure{"freed", "releases are not told", "--permits 2 --counts 11,1"},
      Departure{"missed", "a watch that comes after the release is not answered",
                "--permits 2 --counts 11,1"},
      Departure{"first-watch", "the first watch is kept, not the youngest",
                "--permits 2 --counts 111,111 --withdrawals 1"},
      Departure{"old-watch", "an older watch replaces a younger",
                "--permits 2 --counts 111,111 --withdrawals 1"},
      Departure{"early-watch", "watches before all have answered",
                "--permits 2 --counts 111,111 --withdrawals 1"},
      Departure{"reexamine", "a release does not answer those who wait for one",
                "--nodes 2 --permits 1"},
      Departure{"own-release", "a release does not help the node's own request",
                "--permits 2 --counts 12,1"},
      Departure{"withdraw-silent", "who withdraws does not answer those it kept waiting",
                "--permits 2 --counts 11,1 --withdrawals 1"},
      Departure{"last-deferred", "a request that was overtaken replaces the later one",
                "--permits 2 --counts 11,1 --withdrawals 1"},
      Departure{"first-deferred", "a later request does not replace the one withdrawn",
                "--permits 2 --counts 11,1 --withdrawals 1"},
  };

  struct Config {
    bool plain = false;     // an answer that cannot help is given too
    bool remember = false;  // requests say what their sender has, and everybody remembers that
    bool operator==(const Config&) const = default;
  };

  struct Message {
    enum class Kind : std::uint8_t {
      request,
      reply,  // no older request of mine waits; I hold these
      watch,  // I have all answers, and lack units; tell me when these of yours are freed
      freed,  // these grants have ended
      busy    // an older request waits for units: the try has failed
    };
    Kind kind = Kind::request;
    bool only_try = false;    // of a request
    std::uint32_t count = 0;  // of a request: how many units
    std::uint64_t time = 0;   // of the request
    Facts facts{};
    std::vector<std::uint32_t> held{};  // of a request, if it is remembered
    static constexpr std::array<std::string_view, 5> kinds = {"request", "reply", "watch", "freed",
                                                              "busy"};
    static constexpr std::array<std::string_view, 6> labels = {"kind", "try",   "count",
                                                               "time", "facts", "held"};
    [[nodiscard]] auto fields() const { return std::tie(kind, only_try, count, time, facts, held); }
    bool operator==(const Message&) const = default;
  };
  using Kind = Message::Kind;
  using Out = Effects<Message>;

  // A request that waits for this node's answer.
  struct Deferred {
    NodeId node;
    std::uint64_t time = 0;
    std::uint32_t count = 0;
    bool only_try = false;
    Facts snapshot{};  // of what was held then; only if that is what is answered
    [[nodiscard]] auto fields() const { return std::tie(node, time, count, only_try, snapshot); }
    bool operator==(const Deferred&) const = default;
  };
  // Who is told when these own units are released.
  struct Watch {
    std::uint64_t time = 0;  // 0: nobody
    NodeId node;
    Facts facts;
    [[nodiscard]] auto fields() const { return std::tie(time, node, facts); }
    bool operator==(const Watch&) const = default;
  };

  NodeId self;
  std::uint32_t nodes = 0, epoch = 0, permits = 1;
  bool plain = false, remember = false;
  Without without = Without::nothing;

  LamportClock clock;
  std::uint64_t time = 0;                                // of the own request; 0: there is none
  std::uint32_t want = 0;                                // how many units it asks for
  bool only_try = false;                                 // now or not at all
  NodeSet replied;                                       // who has answered it
  Facts heard;                                           // of others' units, since it was made
  bool watching = false;                                 // it has sent its watches
  Facts held;                                            // own units
  boost::container::small_vector<Deferred, 2> deferred;  // the latest of each node, by node
  Watch watch;
  AllLastSeen seen;  // of each node; empty: nothing is remembered

  static constexpr std::array<std::string_view, 11> labels = {
      "clock",    "time", "want",     "try",   "replied", "heard",
      "watching", "held", "deferred", "watch", "seen"};
  [[nodiscard]] auto fields() const {
    return std::tie(clock, time, want, only_try, replied, heard, watching, held, deferred, watch,
                    seen);
  }
  bool operator==(const KOutOfM&) const = default;

  static KOutOfM resume(const Setup& setup, NodeId self, std::span<const Holding> holdings) {
    KOutOfM node;
    node.self = self;
    node.nodes = static_cast<std::uint32_t>(setup.size());
    node.epoch = setup.epoch;
    node.permits = setup.permits;
    node.plain = setup.config<Config>().plain;
    node.remember = setup.config<Config>().remember;
    node.without = static_cast<Without>(setup.departure);
    // As if they were granted at time 0. Nobody has been told of them.
    if (const auto* holding = holding_of(self, holdings))
      for (auto unit : holding->units) node.held.set({.unit = unit, .grant = self.value});
    if (!node.remember) return node;
    node.seen.resize(setup.size());
    for (const auto& holding : holdings) {
      auto& seen = node.seen[holding.seat.index()];
      seen.held.assign(holding.units.begin(), holding.units.end());
      seen.most = static_cast<std::uint32_t>(seen.held.size());
    }
    return node;
  }

  // What this node remembers of those who are gone.
  [[nodiscard]] AllLastSeen last_seen(const NodeSet& gone) const {
    AllLastSeen found;
    if (remember) gone.for_each([&](NodeId node) { found.push_back(seen[node.index()]); });
    return found;
  }

  static double alone(const Setup& setup) { return 2 * (nodes_of(setup) - 1); }

  // REQUIRES: no request of this node waits.
  void request(Demand demand, Out& out) {
    TURNO_ASSERT(time == 0);
    time = clock.tick();
    want = demand.permits();
    only_try = demand.only_try;
    Message message{.kind = Kind::request, .only_try = only_try, .count = want, .time = time};
    if (remember)
      for (const auto& fact : held) message.held.push_back(fact.unit);
    out.broadcast(message);
    choose_if_allowed(out);
  }

  // Gives back all that is held, or these.
  void release(Out& out) {
    boost::container::small_vector<std::uint32_t, 4> all;
    for (const auto& fact : held) all.push_back(fact.unit);
    release(std::span<const std::uint32_t>(all.data(), all.size()), out);
  }
  void release(std::span<const std::uint32_t> units, Out& out) {
    Facts told;
    for (auto unit : units) {
      held.erase(unit);
      const auto* watched = watch.facts.find(unit);
      if (watched != nullptr) told.set(*watched);
      watch.facts.erase(unit);
    }
    if (!told.empty()) {
      if (without != Without::freed) tell_freed(watch.node, watch.time, told, out);
      if (watch.facts.empty()) watch = {};
    }
    if (without != Without::reexamine) answer_deferred(out);
    if (without != Without::own_release) choose_if_allowed(out);
  }

  void withdraw(Out& out) {
    if (time == 0) return;
    forget_request();
    if (without != Without::withdraw_silent) answer_deferred(out);
  }

  void receive(NodeId from, const Message& message, Out& out) {
    for (const auto& fact : message.facts) TURNO_ASSERT(fact.unit < permits);
    switch (message.kind) {
      case Kind::request:
        return receive_request(from, message, out);
      case Kind::reply:
        if (ignores(from, message)) return;
        replied.insert(from);
        for (const auto& fact : message.facts) learn(fact);
        return choose_if_allowed(out);
      case Kind::watch:
        return receive_watch(from, message, out);
      case Kind::freed:
        if (ignores(from, message)) return;
        for (auto fact : message.facts) {
          fact.freed = true;
          if (const auto* known = heard.find(fact.unit);
              known != nullptr && without == Without::stale_freed)
            fact.grant = known->grant;
          learn(fact);
        }
        return choose_if_allowed(out);
      case Kind::busy:
        if (!ignores(from, message) && only_try) refuse(out);
        return;
    }
  }

  // Times only grow: an answer to an earlier request will never be one to the present.
  [[nodiscard]] bool ignores(NodeId /*from*/, const Message& message) const {
    const bool answers =
        message.kind == Kind::reply || message.kind == Kind::freed || message.kind == Kind::busy;
    const bool stale = (without == Without::stale_reply && message.kind == Kind::reply) ||
                       (without == Without::stale_freed && message.kind == Kind::freed);
    return answers && message.time != time && !(stale && time != 0);
  }

  static std::string_view broken_invariant(const Snapshot<KOutOfM>& world) {
    if (world.nodes.front().remember && !is_remembered(world))
      return "somebody has a unit that the others would not keep for it if it were gone";
    if (!world.flights.empty()) return {};
    const KOutOfM* oldest = nullptr;
    std::size_t used = 0, kept = 0;
    for (const auto& node : world.nodes) {
      used += node.held.size();
      kept += node.deferred.size() + node.watch.facts.size();
      const bool older = oldest == nullptr || node.priority() < oldest->priority();
      if (node.time != 0 && older) oldest = &node;
    }
    if (oldest == nullptr)
      return kept > 0 && used == 0 ? "a request is kept that nobody waits for" : "";
    if (used == 0) return "somebody waits, and nothing is held or on its way";
    if (oldest->want <= oldest->permits - used) return "the oldest request waits for what is free";
    return {};
  }

 private:
  // Whoever of them were gone, the others know what they may have.
  static bool is_remembered(const Snapshot<KOutOfM>& world) {
    const auto size = world.nodes.size();
    TURNO_ASSERT(size < 16);
    for (std::uint32_t those = 1; those + 1 < 1U << size; ++those) {
      NodeSet gone;
      for (std::size_t i = 0; i < size; ++i)
        if ((those >> i & 1U) != 0) gone.insert(NodeId{i});
      std::vector<AllLastSeen> witnesses;
      for (const auto& node : world.nodes)
        if (!gone.contains(node.self)) witnesses.push_back(node.last_seen(gone));
      const auto perhaps = may_be_gone(witnesses, world.nodes.front().permits);
      for (const auto& node : world.nodes)
        for (const auto& fact : node.held)
          if (gone.contains(node.self) && !perhaps[fact.unit]) return false;
    }
    return true;
  }

  [[nodiscard]] Priority priority() const { return {time, self}; }

  void receive_request(NodeId from, const Message& message, Out& out) {
    TURNO_ASSERT(message.count > 0 && message.count <= permits && message.time > 0);
    if (without != Without::clock) clock.observe(message.time);
    if (watch.node == from && watch.time < message.time) watch = {};
    notice(from, message);
    const auto place = std::find_if(deferred.begin(), deferred.end(),
                                    [&](const Deferred& other) { return !(other.node < from); });
    // One that was withdrawn has been overtaken, or is overtaken.
    if (place != deferred.end() && place->node == from) {
      if (without == Without::first_deferred) return;
      if (place->time > message.time && without != Without::last_deferred) return;
      deferred.erase(place);
    }
    if (!blocks({message.time, from}, message.count))
      return answer(from, message.time, told(), out);
    // It waits for units itself, and nobody overtakes it.
    if (message.only_try && watching)
      return out.send(from, {.kind = Kind::busy, .time = message.time});
    Deferred later{from, message.time, message.count, message.only_try};
    if (without == Without::snapshot) later.snapshot = held;
    deferred.insert(std::find_if(deferred.begin(), deferred.end(),
                                 [&](const Deferred& other) { return from < other.node; }),
                    later);
  }

  void receive_watch(NodeId from, const Message& message, Out& out) {
    const bool older = Priority{message.time, from} < Priority{watch.time, watch.node};
    const bool second = watch.time != 0 && without == Without::first_watch;
    if (watch.time != 0 && older && without != Without::old_watch) return;
    Facts gone, left;
    for (const auto& fact : message.facts) (held.has(fact) ? left : gone).set(fact);
    if (!gone.empty() && without != Without::missed) tell_freed(from, message.time, gone, out);
    if (!left.empty() && !second) watch = {message.time, from, left};
  }

  // Whether this node's answer must wait: its own request is older, or it holds so much that the
  // answer cannot help.
  [[nodiscard]] bool blocks(Priority other, std::uint32_t count) const {
    bool mine_first = time != 0 && priority() < other;
    if (time != 0 && time == other.time) {
      if (without == Without::tie_reply) mine_first = false;
      if (without == Without::tie_silence) mine_first = true;
    }
    if (without == Without::order) mine_first = false;
    return mine_first || (!plain && count > permits - held.size());
  }
  void answer_deferred(Out& out) {
    for (auto other = deferred.begin(); other != deferred.end();) {
      if (blocks({other->time, other->node}, other->count)) {
        ++other;
        continue;
      }
      answer(other->node, other->time, without == Without::snapshot ? other->snapshot : told(),
             out);
      other = deferred.erase(other);
    }
  }
  void answer(NodeId node, std::uint64_t its_time, const Facts& facts, Out& out) {
    out.send(node, {.kind = Kind::reply, .time = its_time, .facts = facts});
    if (auto* last = remembered(node, its_time)) {
      last->answered = true;
      last->told = facts;
    }
  }
  void tell_freed(NodeId node, std::uint64_t its_time, const Facts& facts, Out& out) {
    out.send(node, {.kind = Kind::freed, .time = its_time, .facts = facts});
    auto* last = remembered(node, its_time);
    if (last == nullptr) return;
    for (auto fact : facts) {
      fact.freed = true;
      last->told.merge(fact);
    }
  }

  // A request came: all that is remembered of its node follows from its last one.
  void notice(NodeId from, const Message& message) {
    for (const auto unit : message.held) TURNO_ASSERT(unit < permits);
    if (!remember || seen[from.index()].time >= message.time) return;
    auto& last = seen[from.index()];
    const auto most = static_cast<std::uint32_t>(message.held.size() + message.count);
    last = {.time = message.time,
            .want = message.count,
            .held = message.held,
            .most = std::max(last.most, most)};
  }
  // What is remembered of a node, if this is its last request. Null: it is not.
  [[nodiscard]] LastSeen* remembered(NodeId node, std::uint64_t its_time) {
    return remember && seen[node.index()].time == its_time ? &seen[node.index()] : nullptr;
  }

  [[nodiscard]] Facts told() const { return without == Without::units ? Facts{} : held; }

  void learn(const Fact& fact) {
    if (without == Without::overwrite) return heard.set(fact);
    heard.merge(fact);
  }
  [[nodiscard]] bool is_used(std::uint32_t unit) const {
    const auto* known = heard.find(unit);
    return held.find(unit) != nullptr || (known != nullptr && !known->freed);
  }
  [[nodiscard]] std::size_t count_free() const {
    std::size_t used = held.size();
    for (const auto& fact : heard)
      if (!fact.freed && held.find(fact.unit) == nullptr) ++used;
    return permits - used;
  }

  void choose_if_allowed(Out& out) {
    if (time == 0) return;
    const auto answers = replied.size() + (without == Without::all_replies ? 1 : 0);
    const bool all = answers + 1 >= nodes;
    if (!all && without != Without::early_watch) return;
    if (count_free() < want) return only_try ? refuse(out) : send_watches(out);
    if (all) choose(out);
  }

  void choose(Out& out) {
    const auto grant = without == Without::node_in_fence ? time : time * nodes + self.value;
    boost::container::small_vector<Unit, 2> units;
    for (std::uint32_t unit = 0; units.size() < want; ++unit)
      if (!is_used(unit)) units.push_back({unit, Fence::at(epoch, grant)});
    for (const auto& unit : units) held.set({.unit = unit.number, .grant = grant});
    watch = {};
    forget_request();
    answer_deferred(out);
    out.grant(std::span<const Unit>(units.data(), units.size()));
  }

  void refuse(Out& out) {
    forget_request();
    answer_deferred(out);
    out.refuse(0);
  }

  void send_watches(Out& out) {
    if (watching) return;
    watching = true;
    for (auto other = deferred.begin(); other != deferred.end();) {
      if (!other->only_try) {
        ++other;
        continue;
      }
      out.send(other->node, {.kind = Kind::busy, .time = other->time});
      other = deferred.erase(other);
    }
    for (std::uint32_t i = 0; i < nodes; ++i) {
      Message message{.kind = Kind::watch, .time = time};
      for (const auto& fact : heard)
        if (!fact.freed && fact.grant % nodes == i) message.facts.set(fact);
      if (!message.facts.empty()) out.send(NodeId{i}, message);
    }
  }

  void forget_request() {
    time = 0;
    want = 0;
    only_try = false;
    watching = false;
    replied.clear();
    heard.clear();
  }
};

}  // namespace turno::protocols
