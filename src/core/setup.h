// What all nodes of one lock know from the start: how many they are, in what shape, and the
// parameters of the algorithm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/container/node_set.h"
#include "core/node_id.h"

namespace turno {

// How a semaphore's nodes notice crashes. `told`: from outside (an agreed view, or the checker).
enum class Detector : std::uint8_t { told, hi_adsd, vcube };

// Of a semaphore.
struct SemaphoreSetup {
  std::uint32_t permits = 1;
  bool fixed_threshold = false;  // suspects still count as possible holders
  bool reply_acknowledges = false;
  bool direct = false;   // requests go straight to everybody, not along the tree
  bool counted = false;  // permits have no names: grants only count, as published
  bool lossy = false;    // links lose messages: who waits asks again
  bool queued = false;   // a request goes out when the one before is acknowledged, as published
  std::int64_t acknowledge_within_ns = 80'000'000;
  Detector detector = Detector::told;
  std::int64_t test_every_ns = 1'000'000'000, test_timeout_ns = 40'000'000;
  bool operator==(const SemaphoreSetup&) const = default;
};

// When a room that is in use lets others of its group in.
enum class Door : std::uint8_t { demand, leader, closed };

// Of a room: the first nodes are the groups' managers, the rest are processes.
struct RoomSetup {
  std::uint32_t groups = 0;
  Door door = Door::demand;
  std::vector<std::uint32_t> capacity;  // of each group; empty: unlimited
  bool duplicates = false;              // the network may deliver a message twice
  bool separate_fences = false;         // fences have a clock of their own
  // For the checker: how often a group may have a session while another group's request is known
  // to an arbiter of both. 0: not counted.
  std::uint32_t most_overtakings = 0;
  [[nodiscard]] std::uint32_t capacity_of(NodeId group) const {
    return group.index() < capacity.size() ? capacity[group.index()]
                                           : std::numeric_limits<std::uint32_t>::max();
  }
};

// Which instances of which resources there are. Instances are numbered through all types.
struct ResourceSetup {
  std::vector<std::uint16_t> type_of;  // of each instance
  bool open_choices = false;           // where the algorithm may choose, the driver does
  std::uint32_t bypasses = 12;         // how often a request may be overtaken by younger ones
  std::uint32_t frequent_after = 0;    // grid: requests of one type in a row; 0: not looked at
  std::int64_t hold_ns = 0;            // a hint: how long somebody stays inside
  [[nodiscard]] std::uint16_t types() const {
    std::uint16_t most = 0;
    for (auto type : type_of) most = std::max<std::uint16_t>(most, type + 1);
    return most;
  }
};

// Which nodes are near to each other.
struct SiteSetup {
  std::vector<std::uint16_t> of;  // of each node; empty: all are in one site
  std::uint32_t preference = 0;   // how often a site may prefer its own in a row
  // Hints: how long a message takes.
  std::int64_t local_ns = 0, remote_ns = 0;
  [[nodiscard]] std::uint16_t at(NodeId node) const {
    return of.empty() ? std::uint16_t{0} : of[node.index()];
  }
  [[nodiscard]] bool together(NodeId a, NodeId b) const { return at(a) == at(b); }
};

// How long the nodes of an election wait, and how they notice that the coordinator is gone.
struct Patience {
  std::int64_t answer_within_ns = 500'000'000;    // to one question
  std::int64_t finish_within_ns = 5'000'000'000;  // from there to the result
  // So often a node asks its coordinator whether it is there. 0: it is told, as the checker does.
  std::int64_t ask_every_ns = 0;
  bool operator==(const Patience&) const = default;
};

struct ElectionSetup {
  Patience patience;
  NodeSet watchers;  // who notices; empty: everybody
};

// Of a detector of deadlocks: what its processes do by themselves.
struct DetectionSetup {
  std::uint32_t waits = 1;      // how often each process blocks
  bool sets = false;            // on any set of others; otherwise on one
  std::uint32_t resources = 0;  // that there are to take; 0: one for each process
};

// How the checker and the simulator drive a desk (cluster/recovering.h).
struct DeskSetup {
  std::uint8_t users = 1;     // of each member
  std::uint8_t in_a_row = 1;  // of them in one turn
  bool eager = false;         // a member asks ahead for a user that will come back
  bool collective = true;     // who has nothing says so for all things at once
  bool tries = false;         // users only try
  bool waits = false;         // or wait, as they like
  bool delay = false;         // clients outlive their node, and notice that it is dead
  bool forgetful = false;     // a desk that is idle is thrown away, and made anew when it is needed
};

struct Setup {
  static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

  std::vector<NodeId> father;                // a rooted tree; the root is its own father
  std::vector<std::vector<NodeId>> quorums;  // of each node; empty unless the algorithm votes
  std::uint32_t carry = unlimited;           // nxr-b: claims that a token may carry
  std::int64_t pause_ns = 0;                 // token-ring: that an idle token rests in each lap
  std::uint32_t epoch = 1;                   // of the view: the high bits of every fence
  SemaphoreSetup semaphore{};
  RoomSetup room{};
  ResourceSetup resources{};
  SiteSetup sites{};
  ElectionSetup election{};
  DetectionSetup detection{};
  std::uint8_t departure = 0;  // 0: the algorithm; k: its k-th departure, to be refuted

  // For recovery: the setup of a view with so many members and this one as its root, and who is
  // not a member of the first view. The answer lives as long as this or any copy of it.
  std::function<const Setup&(std::uint32_t epoch, std::size_t members, NodeId root)> arrange;
  NodeSet absent;
  DeskSetup desk{};

  [[nodiscard]] std::size_t size() const { return father.size(); }
  [[nodiscard]] NodeId root() const {
    for (std::size_t i = 0; i < father.size(); ++i)
      if (father[i] == NodeId{i}) return NodeId{i};
    return nobody;
  }
};

}  // namespace turno
