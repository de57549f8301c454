// What to explore, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/graph.h"
#include "core/container/node_set.h"
#include "core/holding.h"
#include "core/setup.h"
#include "core/text/trace.h"

namespace turno::check {

enum class Channels : std::uint8_t { fifo, unordered };

struct Progress {
  std::uint64_t states = 0;
  std::uint64_t waiting = 0;  // worlds found and not yet expanded
  std::uint32_t depth = 0;
};

// How much may go wrong. A fault may happen at any moment, and need not happen.
struct Faults {
  std::uint32_t crashes = 0;     // how many nodes may crash
  bool lost_with_sender = true;  // what a crashed node was sending may be lost, from any point on
  std::uint32_t recoveries = 0;  // how often one may come back
  std::uint32_t losses = 0;      // of messages
  std::uint32_t duplicates = 0;  // of messages
  std::uint32_t early_timeouts = 0;  // timers that expire although what they wait for is under way
  // Nodes taken for dead that are not. If the protocol has views, such a node is cut off, and its
  // user lives on.
  std::uint32_t false_suspicions = 0;
  std::uint32_t joins = 0;       // views: how many absent ones may join
  std::uint32_t retires = 0;     // views: how often the lock may be retired as idle
  std::uint32_t spoils = 0;      // views: how often a peer may send what cannot be
  std::uint32_t lapses = 0;      // views: how often the time to live of a grant may end
  std::uint32_t moves = 0;       // views: how many members may leave and bequeath what they have
  std::uint32_t expulsions = 0;  // views: how many members may be dropped that live, and act for
                                 // their users until their authority is over
};

// Views: the users of one member.
struct Users {
  std::uint8_t count = 1;
  bool try_only = false;       // they ask only to get in at once
  bool wait_too = false;       // or wait, as they like
  bool outlive_nodes = false;  // a node crashes, and its user may stay inside
};

struct Options {
  Setup setup;
  Users users;
  Channels channels = Channels::unordered;
  std::uint16_t requests = 1;     // of each requester, unless forever
  bool forever = false;           // requests without end; looks for starvation
  bool overlapping = false;       // a user may ask again before it has been served
  NodeSet requesters;             // empty: everybody
  std::vector<Holding> holdings;  // who is inside at the start, with what
  // Instead: several first worlds, explored together.
  std::vector<std::vector<Holding>> starts;
  NodeSet dead;  // who has crashed before the start, and nobody knows it yet
  // What each node asks for, one wish a request. Empty: `requests` times nothing in particular.
  std::vector<std::vector<Wish>> scripts;
  // What a request may ask for, one list a node (a single list: for all). Each request asks for any
  // of them; empty: see `scripts`.
  std::vector<std::vector<Wish>> menus;
  bool staying = false;           // who is inside need not leave, so nobody may wait for it
  std::uint32_t withdrawals = 0;  // how often a user may give up waiting
  Faults faults;
  bool count_messages = false;  // of the runs with the fewest and the most, without faults
  std::string property;         // look only at this property; empty: at all
  bool trace_states = false;    // the steps of a counterexample tell the state after them
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
  std::optional<Graph::Costs> messages;  // of a run, if they are counted and every run ends
  std::vector<TraceStep> trace;          // the shortest way to the violation
  std::size_t cycle_from = 0;            // starvation: the steps from here on repeat for ever
  std::uint64_t cycle_states = 0;        // starvation: the worlds in which it can go on
};

}  // namespace turno::check
