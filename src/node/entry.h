// One named lock at one node: who of the node's own users has it and who waits, and the lock's part
// in the cluster.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "cluster/lock.h"
#include "core/fence.h"
#include "core/node_id.h"

namespace turno::node {

using Clock = std::chrono::steady_clock;

// To a few milliseconds, and cheap.
[[nodiscard]] Clock::time_point coarse_now();

// Who asks for locks: a client's connection, or a program with an embedded node. Lives longer than
// all it asks for.
struct Owner {
  std::uint64_t session = 0;
  std::string client;  // a name for people
};

// A place in the queue of a lock. Lives until it is settled or withdrawn.
class Waiter : public boost::intrusive::list_base_hook<> {
 public:
  enum class State : std::uint8_t { idle, waiting, granted, failed };

  explicit Waiter(const Owner& asker) : owner(&asker) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Granted, or failed because the node ends. Called with the table locked: it may take note of it
  // and wake somebody, no more. Not called if the lock is granted at once.
  virtual void settled() = 0;

  const Owner* owner;
  Clock::time_point since{};
  State state = State::idle;
  bool pins = false;  // the grant keeps a pointer to the entry, until LockTable::give_back
  Fence fence;        // of the grant

 protected:
  ~Waiter() = default;
};

struct Entry : boost::intrusive::list_base_hook<> {
  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  virtual ~Entry() = default;

  std::string name;
  NodeId home;
  std::uint64_t instance = 0;  // in which it takes part, numbered for the whole cluster; 0: none

  boost::intrusive::list<Waiter, boost::intrusive::constant_time_size<true>> waiters;
  const Owner* owner = nullptr;  // who has it
  Fence fence;                   // of that grant
  Clock::time_point held_since{};
  Clock::time_point turn_since{};  // when this node's turn began
  Clock::time_point touched{};     // at the home: when it was last heard of
  Fence turn;                      // with which the turn began
  std::uint32_t served = 0;        // users in this turn, after the first
  std::uint32_t pins = 0;          // those who keep a pointer to it
  bool asked = false;              // the cluster was asked for a turn
  std::int8_t eagerness = 0;       // how surely a user that leaves comes back; see release_locked
};

}  // namespace turno::node
