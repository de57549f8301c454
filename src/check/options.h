// What to explore, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_set.h"
#include "core/setup.h"
#include "core/trace.h"

namespace turno::check {

enum class Channels : std::uint8_t { fifo, unordered };

struct Progress {
  std::uint64_t states = 0;
  std::uint64_t waiting = 0;  // worlds found and not yet expanded
  std::uint32_t depth = 0;
};

struct Options {
  Setup setup;
  Channels channels = Channels::unordered;
  std::uint16_t requests = 1;     // of each requester, unless forever
  bool forever = false;           // requests without end; looks for starvation
  bool overlapping = false;       // a user may ask again before it has been served
  NodeSet requesters;             // empty: everybody
  std::vector<NodeId> holders;    // who is inside at the start
  std::uint32_t crashes = 0;      // how many nodes may crash, if the protocol has views
  std::uint32_t joins = 0;        // how many absent ones may join
  std::uint32_t retires = 0;      // how often the lock may be retired as idle
  bool false_suspicions = false;  // who is taken for dead is cut off, but its user lives on
  std::string property;           // look only at this property; empty: at all
  std::uint64_t max_states = 1'000'000'000;
  std::uint64_t max_bytes = std::uint64_t{8} << 30;
  std::function<void(const Progress&)> progress;  // called now and then
};

enum class Verdict : std::uint8_t { holds, violated, limit };
inline std::string_view name(Verdict verdict) {
  constexpr std::string_view names[] = {"holds", "violated", "limit"};
  return names[static_cast<std::size_t>(verdict)];
}

struct Result {
  Verdict verdict = Verdict::holds;
  std::string property;     // what is violated, or which limit was reached
  std::string explanation;  // in words
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint32_t depth = 0;
  bool acyclic = false;  // every run ends
  double cpu_seconds = 0;
  std::uint64_t bytes = 0;
  std::vector<TraceStep> trace;    // the shortest way to the violation
  std::size_t cycle_from = 0;      // starvation: the steps from here on repeat for ever
  std::uint64_t cycle_states = 0;  // starvation: the worlds in which it can go on
};

}  // namespace turno::check
