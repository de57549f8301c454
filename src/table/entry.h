// One named thing at one node: its desk, and who of the node's own users has it.
#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/desk_event.h"
#include "cluster/line.h"
#include "core/fence.h"
#include "core/node_id.h"
#include "table/desk_frames.h"
#include "table/pools/permit_grants.h"

namespace turno::table {

using Clock = std::chrono::steady_clock;

// To a few milliseconds, and cheap.
[[nodiscard]] Clock::time_point coarse_now();

// Who asks for locks: a client's connection, or a program with an embedded node. Lives longer than
// all it asks for.
struct Owner {
  std::uint64_t session = 0;
  std::string client;  // a name for people
  std::string from;    // where it is: an address, or "unix:pid=7,user=alice"
};

// What is put off until the table is unlocked: system calls, above all.
class Afterwards {
 public:
  void add(std::function<void()> work) { works_.push_back(std::move(work)); }
  [[nodiscard]] bool empty() const { return works_.empty(); }
  void run() {
    for (auto& work : works_) work();
  }

 private:
  boost::container::small_vector<std::function<void()>, 2> works_;
};

// A place in the line for a lock. Lives until it is settled or withdrawn.
class Waiter {
 public:
  // refused: it only tried. failed: it was withdrawn, or the node ends.
  enum class State : std::uint8_t { idle, waiting, granted, refused, failed };

  explicit Waiter(const Owner& asker) : owner(&asker) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Granted, refused or failed. Called with the table locked: it may take note of it, and wake
  // somebody afterwards. By then this waiter may be gone. Not called if the lock is granted or
  // refused at once.
  virtual void settled(Afterwards& afterwards) = 0;

  // What it says of itself, should it lead an election.
  [[nodiscard]] virtual std::string_view value() const { return {}; }

  [[nodiscard]] cluster::UserId id() const { return reinterpret_cast<std::uintptr_t>(this); }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): to the desk a user is a number, and this one's is it
  static Waiter& of(cluster::UserId id) { return *reinterpret_cast<Waiter*>(id); }

  const Owner* owner;
  Clock::time_point since{};
  State state = State::idle;
  bool pins = false;  // the grant keeps a pointer to the entry, until LockTable::give_back
  Fence fence;        // of the grant
  cluster::Line::Spot spot = cluster::Line::nowhere;

 protected:
  ~Waiter() = default;
};

// The same for permits of a semaphore, for a room, or for resources of a store.
class PermitWaiter : public Waiter {
 public:
  using Waiter::Waiter;

  std::uint32_t count = 1;  // how many it wants
  // How many there are, or how many of its group may be inside, as it says; 0: it does not say.
  std::uint32_t permits = 0;
  bool by_default = false;             // so many of a semaphore unless somebody has resized it
  bool resizes = false;                // it wants none, but that there are so many
  std::string group;                   // of a room
  std::vector<cluster::Claim> claims;  // of a store
  // When it is settled: what it got (the fence is that of each), or why it did not.
  boost::container::small_vector<std::uint32_t, 1> units;
  cluster::Refusal::Reason reason = cluster::Refusal::Reason::busy;
  std::vector<cluster::Resource> resources{};
  std::uint32_t known_permits = 0;  // how many there are, or may be inside
  std::string refused_type{};       // of a store: of which there are so many

  cluster::UserId number = cluster::no_user;  // what the desk knows it by

 protected:
  ~PermitWaiter() = default;
};

// One that moved here from another member, which leaves.
struct Inheritance {
  const Owner* owner = nullptr;  // none: it has let go meanwhile
  Fence fence;
  std::uint64_t member = 0;  // that it comes from
};

struct HomeTag;
struct WatchTag;
using HomeHook = boost::intrusive::list_base_hook<boost::intrusive::tag<HomeTag>>;
using WatchHook = boost::intrusive::list_base_hook<boost::intrusive::tag<WatchTag>>;

struct Entry : HomeHook, WatchHook {
  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  virtual ~Entry() = default;

  Thing thing = Thing::lock;
  std::string name;  // empty: messages of it came before it was known what it is
  NodeId home;
  std::uint64_t instance = 0;  // in which it takes part, numbered for the whole cluster; 0: none

  const Owner* owner = nullptr;  // who has it
  Fence fence;                   // of that grant
  Fence turn;                    // with which this node's turn began
  Clock::time_point held_since{};
  Clock::time_point turn_since{};  // when this node's turn began
  Clock::time_point touched{};     // at the home: when somebody last used it, as far as it knows
  Clock::time_point noted{};       // at the home: when a member last said that it holds it
  std::uint8_t in_vain = 0;        // at the home: retirements while somebody had it, in a row
  std::uint32_t waiting = 0;       // users in the desk's line
  std::uint32_t pins = 0;          // those who keep a pointer to it
  std::unique_ptr<Inheritance> inheritance;  // mostly none
};

struct PoolEntry : Entry {
  PermitGrants grants;
  boost::unordered_flat_map<cluster::UserId, PermitWaiter*> waiters;
};

}  // namespace turno::table
