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
#include "core/trace.h"
#include "sim/distribution.h"

namespace turno::sim {

struct Arrivals {
  enum class Kind : std::uint8_t { poisson, closed } kind = Kind::poisson;
  double rate = 0.5;   // poisson: requests per second and node
  Distribution think;  // closed: from an exit to the next request

  [[nodiscard]] std::string text() const;
};

// poisson:R, closed:THINK. Throws std::invalid_argument with what is allowed.
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

struct Options {
  Setup setup;
  bool fifo = false;  // per pair of nodes
  Arrivals arrivals;
  Busy busy = Busy::lose;
  Distribution hold = Distribution::constant(10'000'000);
  Distribution delay = Distribution::uniform(0, 100'000'000);
  Faults faults;
  NodeSet requesters;         // empty: everybody
  std::optional<Time> first;  // when everybody asks for the first time; nothing: as for the others
  std::function<Wish(NodeId, Random&)> wish;  // what a request asks for; empty: nothing
  std::uint64_t entries = 100'000;
  Time until = 0;     // ends the run, if entries do not; 0: never
  Time interval = 0;  // counts entries by intervals of this length; 0: does not
  std::uint64_t seed = 1;
  std::function<void(const TraceStep&)> trace;          // called for every event
  std::function<void(std::uint64_t entries)> progress;  // called now and then
};

struct Result {
  std::uint64_t entries = 0;
  std::uint64_t messages = 0;
  std::vector<std::pair<std::string, std::uint64_t>> messages_by_kind;
  double wait_mean_ms = 0, wait_p50_ms = 0, wait_p99_ms = 0, wait_max_ms = 0;
  std::uint64_t inside_max = 0;
  std::uint64_t lost_arrivals = 0;
  double fairness = 1;  // Jain's index of the entries of each node
  double simulated_seconds = 0;
  std::uint64_t events = 0;
  double cpu_seconds = 0;
  std::uint64_t digest = 0;
  std::vector<std::uint64_t> entries_by_interval;
  std::uint64_t waiting_at_end = 0;
  std::uint64_t suspicions = 0;  // of a dead node by a live one
  double detection_mean_ms = 0, detection_max_ms = 0;
  std::string violation;  // empty: exclusion, fences and progress held

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
