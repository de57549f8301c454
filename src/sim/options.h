// What to simulate, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/demand.h"
#include "core/random.h"
#include "core/setup.h"
#include "core/text/trace.h"
#include "sim/distribution.h"

namespace turno::sim {

struct Arrivals {
  // total: each arrival is a new process, for rooms
  enum class Kind : std::uint8_t { poisson, closed, total } kind = Kind::poisson;
  double rate = 0.5;   // requests per second: poisson of each node, total of all
  Distribution think;  // closed: from an exit to the next request

  // The time until the next one.
  Time draw(Random& random) const {
    if (kind == Kind::closed) return think.draw(random);
    return static_cast<Time>(random.exponential() * 1e9 / rate);
  }
  [[nodiscard]] std::string text() const;
};

// poisson:R, closed:THINK, total:R. Throws std::invalid_argument with what is allowed.
Arrivals parse_arrivals(std::string_view text);

// What becomes of an arrival at a node that already waits or is inside.
enum class Busy : std::uint8_t { lose, queue };

struct Crash {
  Time time = 0;
  NodeId node;
};

// What goes wrong, for protocols whose nodes may crash: the others ignore it.
struct Faults {
  std::vector<Crash> crashes;  // for good; what a node has sent still arrives
  // From a crash to the view without the dead; without views, until each node is told, unless the
  // protocol detects crashes itself.
  Distribution detect;
  std::vector<Crash> recoveries;  // when who is back
  Distribution adopt;             // from a view until a member knows it, each for itself
  Time retire_every = 0;          // the lock is taken for idle so often; 0: never
  std::uint64_t slow_one_in = 0;  // messages that take `slow` longer; 0: none
  Distribution slow;
};

// For nodes in sites: `delay` is then that within a site.
struct Sites {
  Distribution remote;            // between sites
  bool only_control_far = false;  // what is not about the control token takes `delay` everywhere
  bool deaf = false;              // who is inside reads no message
  bool printed_clocks = false;    // measures with those too: a vector in every message
};

struct Options {
  Setup setup;
  bool fifo = false;  // per pair of nodes
  Arrivals arrivals;
  Busy busy = Busy::lose;
  Distribution hold = Distribution::constant(10'000'000);
  Distribution delay = Distribution::uniform(0, 100'000'000);
  Sites sites;
  Faults faults;
  NodeSet requesters;                 // empty: everybody
  std::optional<Distribution> first;  // when each asks for the first time; none: as for the others
  std::function<Wish(NodeId, Random&)> wish;  // what a request asks for; empty: nothing
  std::uint64_t entries = 100'000;
  std::uint64_t sessions = 0;          // of rooms: ends the run, whatever the entries; 0: does not
  std::uint32_t entries_per_node = 0;  // if not 0: each asks so often, and all that follows is done
  Time until = 0;                      // ends the run, if entries do not; 0: never
  Time interval = 0;                   // counts entries by intervals of this length; 0: does not
  std::uint64_t seed = 1;
  std::function<void(const TraceStep&)> trace;          // called for every event
  bool trace_states = false;                            // its steps tell the state after them
  std::function<void(std::uint64_t entries)> progress;  // called now and then
};

// Latency that requests waited for, in ms per entry, by the clocks of cost_clocks.h.
struct LogicalWait {
  double control = 0, tokens = 0, critical_path = 0, printed_control = 0, printed_tokens = 0;
  bool measured = false;
};

struct Result {
  std::uint64_t entries = 0;
  std::uint64_t messages = 0;
  std::vector<std::pair<std::string, std::uint64_t>> messages_by_kind;
  std::uint64_t messages_local = 0, messages_remote = 0, preemptions = 0;  // if there are sites
  double wait_sum_ms = 0;  // of all waits of a node, on average
  LogicalWait logical;
  double wait_mean_ms = 0, wait_p50_ms = 0, wait_p99_ms = 0, wait_max_ms = 0;
  std::uint64_t inside_max = 0;
  std::uint64_t sessions = 0;  // of rooms
  double inside_mean = 0;      // of rooms: while somebody is inside
  std::uint64_t lost_arrivals = 0;
  double fairness = 1;  // Jain's index of the entries of each node
  double simulated_seconds = 0;
  std::uint64_t events = 0;
  double cpu_seconds = 0;
  std::uint64_t digest = 0;
  std::vector<std::uint64_t> entries_by_interval;
  std::vector<std::vector<std::uint64_t>> messages_by_interval;  // in each, by kind
  std::uint64_t waiting_at_end = 0;
  std::uint64_t suspicions = 0;  // of a dead node by a live one
  double detection_mean_ms = 0, detection_max_ms = 0;
  // Elections: from a crash or a return until all live nodes agree again.
  std::uint64_t settlings = 0;
  double settling_mean_ms = 0, settling_max_ms = 0;
  std::uint64_t deadlocked = 0;  // processes that declared a deadlock or were told of one
  std::string violation;         // empty: exclusion, fences and progress held

  [[nodiscard]] double messages_per_entry() const {
    return entries == 0 ? 0 : static_cast<double>(messages) / static_cast<double>(entries);
  }
  [[nodiscard]] double entries_per_second() const {
    return simulated_seconds > 0 ? static_cast<double>(entries) / simulated_seconds : 0;
  }
  [[nodiscard]] double events_per_second() const {
    return cpu_seconds > 0 ? static_cast<double>(events) / cpu_seconds : 0;
  }
};

}  // namespace turno::sim
