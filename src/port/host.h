// What a port may know and ask of the node that it serves. In the loop's thread, but for the locks.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/process_state.h"
#include "cluster/view.h"
#include "cluster/waits/pursuit.h"
#include "net/loop.h"
#include "net/peers.h"
#include "port/declarations.h"
#include "table/bequests.h"
#include "table/elections/election_table.h"
#include "table/pools/pool_table.h"

namespace turno::port {

using cluster::Claim;
using cluster::Resource;
using table::Clock;
using table::ElectionTable;
using table::Leaders;
using table::Leadership;
using table::LockTable;
using table::Owner;
using table::PoolTable;
using table::Sighting;
using table::Statistics;
using table::Thing;

// What a member said about who holds and who waits. What was noted is told of a silent member only:
// `node` is that member then, and `sighting.client` the one that says so.
struct NodeSighting {
  std::string node;
  Sighting sighting;
};

// A member that did not answer in time.
struct SilentMember {
  std::string name;
  std::int64_t pid = 0;
  cluster::ProcessState state{};
};

// What is known of who holds and who waits.
struct Findings {
  std::vector<NodeSighting> found;
  std::vector<SilentMember> silent;  // they may hold what nobody else does
  std::vector<std::string> cut;      // members that had more to tell than they may
  std::uint64_t waiting = 0;         // of one thing: all who wait, also those who were not told of

  [[nodiscard]] bool complete() const { return silent.empty(); }
};

// After so long a member that says nothing is not well. It is pinged every second.
inline constexpr std::chrono::seconds silent_after{3};

// Knows the sessions of this node, and tells of them to find deadlocks.
class Witness {
 public:
  [[nodiscard]] virtual std::vector<cluster::Testimony> testify(
      const cluster::Summons& summons) = 0;
  // A wait of this node's session is in a knot.
  virtual void hear(const cluster::Verdict& verdict) = 0;

 protected:
  ~Witness() = default;
};

class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  [[nodiscard]] virtual net::Loop& loop() = 0;
  [[nodiscard]] virtual LockTable& locks() = 0;
  [[nodiscard]] virtual PoolTable& semaphores() = 0;
  [[nodiscard]] virtual ElectionTable& elections() = 0;
  [[nodiscard]] virtual PoolTable& rooms() = 0;
  [[nodiscard]] virtual PoolTable& stores() = 0;
  // All of these, in the order of Thing.
  using Tables = std::array<table::Table*, table::thing_names.size()>;
  [[nodiscard]] virtual Tables tables() const = 0;
  // Members that have not reported to each of them yet.
  [[nodiscard]] NodeSet unreported() const {
    NodeSet all;
    for (auto* table : tables())
      table->unreported().for_each([&](NodeId member) { all.insert(member); });
    return all;
  }
  // All have reported, so that everything can be served.
  [[nodiscard]] bool ready() const {
    const auto all = tables();
    return std::all_of(all.begin(), all.end(), [](auto* table) { return table->ready(); });
  }
  // Frames of peers that made no sense, and were for none of these.
  [[nodiscard]] virtual std::uint64_t strange_frames() const = 0;
  // Of things of which one session at a time has the whole. REQUIRES: !table::several_have(thing)
  [[nodiscard]] LockTable& locks_of(Thing thing) {
    if (thing == Thing::election) return elections();
    return locks();
  }
  // Of the others.
  [[nodiscard]] PoolTable& pools(Thing thing) {
    if (thing == Thing::store) return stores();
    return thing == Thing::semaphore ? semaphores() : rooms();
  }
  // What this node has been told of things before anybody uses them.
  [[nodiscard]] virtual const Declarations& declarations() const = 0;
  // Who leads, as far as this node has heard. Who observes is told of every change.
  [[nodiscard]] virtual const Leaders& leaders() const = 0;
  [[nodiscard]] virtual std::uint64_t next_session() = 0;

  [[nodiscard]] virtual const cluster::Member& self() const = 0;
  [[nodiscard]] virtual const cluster::View& view() const = 0;
  [[nodiscard]] virtual std::uint64_t view_changes() const = 0;
  [[nodiscard]] virtual const net::Peers& peers() const = 0;
  [[nodiscard]] virtual Clock::time_point started() const = 0;
  // The end of a lock delay is waited for.
  [[nodiscard]] virtual bool delayed() const = 0;

  // What the cluster's first member chose.
  [[nodiscard]] virtual const std::string& algorithm() const = 0;  // of locks
  [[nodiscard]] virtual const std::string& allocator() const = 0;  // of reservations
  [[nodiscard]] virtual std::chrono::milliseconds lock_delay() const = 0;
  [[nodiscard]] virtual std::chrono::milliseconds idle() const = 0;

  // This node leaves: it gives nothing out any more.
  [[nodiscard]] virtual bool draining() const = 0;
  virtual void drain(std::string_view reason) = 0;
  // Tells a member what a session has that moves there. `refusal` is empty if it was taken, and
  // else says why it surely was not.
  using Taken = std::function<void(std::string_view refusal)>;
  virtual void bequeath(std::string_view member, table::Will will, Taken taken) = 0;

  // Asks all members who holds and who waits (for all locks if the name is empty).
  using Answer = std::function<void(Findings)>;
  virtual void ask(std::string_view name, Answer answer) = 0;

  // Asks all members about their sessions. The answer has what was said in time.
  using Heard = std::function<void(std::vector<cluster::Testimony>)>;
  virtual void summon(cluster::Summons summons, Heard heard) = 0;
  // Tells the member of that session.
  virtual void pass(const cluster::Verdict& verdict) = 0;
  // For tests: a rule of finding deadlocks that is left out.
  [[nodiscard]] virtual cluster::Tangle::Without missing_rule() const { return {}; }

  // Why the registry cannot be written, so that the members stay as they are, though some may be
  // dead; empty if it can.
  [[nodiscard]] virtual std::string registry_trouble() const = 0;
};

}  // namespace turno::port
