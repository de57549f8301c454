// All the locks of a node, by name: created on first use, forgotten when idle. Several users of the
// node queue for one lock fairly; the node takes one turn in the cluster for up to sixteen of them.
//
// Thread safety: every call from any thread. One mutex guards everything; a step takes well under a
// microsecond. What comes from the network comes from one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/rendezvous.h"
#include "cluster/view.h"
#include "node/engine.h"
#include "node/entry.h"
#include "node/statistics.h"

namespace turno::node {

// Who holds or waits, for people.
struct Sighting {
  std::string lock;
  std::string client;
  std::uint64_t session = 0;
  bool holds = false;
  Fence fence;                      // if it holds
  std::chrono::milliseconds age{};  // how long it holds or waits
  std::uint64_t waiting = 0;        // if it holds: how many wait behind it at its node
};

class LockTable {
 public:
  struct Options {
    std::chrono::milliseconds longest_turn{10};  // of a node while it has waiters of its own
  };
  using Links = std::vector<std::shared_ptr<net::Link>>;
  // A grant was taken away. Called with the table locked.
  using Lost = std::function<void(const Owner&, const std::string& lock, Fence, std::string_view)>;

  LockTable(std::unique_ptr<Engine> engine, Options options, Lost lost);
  ~LockTable();
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  static constexpr std::size_t longest_name = 512;

  // An entry that stays until it is closed.
  Entry& open(std::string_view name);
  void close(Entry& entry);

  // True: granted at once. False: the waiter will be settled, or has failed if the node has ended.
  bool acquire(Entry& entry, Waiter& waiter);
  bool acquire(std::string_view name, Waiter& waiter);
  // True: withdrawn. False: too late, it is settled.
  bool withdraw(std::string_view name, Waiter& waiter);
  bool withdraw(Entry& entry, Waiter& waiter);
  // False: this owner does not hold it (with this fence, if it is given).
  bool release(std::string_view name, const Owner& owner, Fence fence = {});
  // For waiters that pin: ends the grant, also if the lock was lost meanwhile.
  void give_back(Entry& entry, Fence fence);
  // Takes the lock away from whoever holds it with this fence.
  bool take_back(std::string_view name, Fence fence, std::string_view reason);
  [[nodiscard]] bool holds(Entry& entry, Fence fence);
  [[nodiscard]] bool holds(std::string_view name, const Owner& owner);

  // From the network. `links` are those to the members of the view, by position.
  void adopt(const cluster::View& view, NodeId self, Links links, bool delayed);
  void end_delay();
  // False: the frame makes no sense.
  bool receive(NodeId from, const wire::Frame& frame);
  // Retires locks of this home that nobody has heard of since then. How many it was.
  std::size_t retire_idle(Clock::time_point since, std::size_t most);
  // Nobody keeps anything and nobody waits any more: the node ends.
  void end(std::string_view reason);

  [[nodiscard]] std::vector<Sighting> sightings(std::string_view name, std::size_t most);
  [[nodiscard]] std::size_t size();
  // The counts of fences come near their end: a new epoch is needed.
  [[nodiscard]] bool worn() const { return worn_.load(std::memory_order_relaxed); }
  [[nodiscard]] const Engine& engine() const { return *engine_; }
  [[nodiscard]] Statistics& statistics() { return statistics_; }
  [[nodiscard]] bool ready();          // every member of the view has reported
  [[nodiscard]] NodeSet unreported();  // members that have not

  std::mutex& mutex() { return mutex_; }  // for waiters that sleep on it

 private:
  struct Orphan {
    NodeId from;
    std::string inner;
  };

  // All REQUIRE that the mutex is held.
  Entry& find_or_make(std::string_view name);
  Entry* find(std::string_view name);
  bool acquire_locked(Entry& entry, Waiter& waiter);
  bool withdraw_locked(Entry& entry, Waiter& waiter);
  void release_locked(Entry& entry);
  void begin_turn(Entry& entry, Fence fence);
  void serve(Entry& entry);
  void pass_on(Entry& entry);
  void after(Entry& entry, const Engine::Granted& granted);
  void settle(Entry& entry);
  void touch(Entry& entry);
  void forget(Entry& entry);
  void shrink();
  void sight(const Entry& entry, std::size_t most, std::vector<Sighting>& found) const;
  bool receive_about(NodeId from, const wire::Frame& frame, Note& note);
  bool receive_named(NodeId from, const wire::Frame& frame, Note& note);
  void receive_reported(NodeId from);
  void adopt_orphans(Entry& entry);
  void keep_orphan(NodeId from, const wire::Frame& frame);
  void send(NodeId to, std::uint64_t instance, FrameKind kind);

  // What comes from the network goes first: a thread that locks and unlocks in a tight loop would
  // else keep it out, and others in the cluster would not get their turn.
  class NetworkGuard {
   public:
    explicit NetworkGuard(LockTable& table) : table_(table) {
      table_.network_waits_.store(true, std::memory_order_relaxed);
      table_.mutex_.lock();
      table_.network_waits_.store(false, std::memory_order_relaxed);
    }
    NetworkGuard(const NetworkGuard&) = delete;
    NetworkGuard& operator=(const NetworkGuard&) = delete;
    ~NetworkGuard() { table_.mutex_.unlock(); }

   private:
    LockTable& table_;
  };
  void let_network_go_first() {
    while (network_waits_.load(std::memory_order_relaxed)) std::this_thread::yield();
  }

  std::mutex mutex_;
  std::atomic<bool> network_waits_{false};
  const std::unique_ptr<Engine> engine_;
  const Options options_;
  const Lost lost_;
  Stage stage_;
  cluster::Rendezvous rendezvous_;
  NodeSet unreported_;  // members that may still have something to report to this node
  struct SameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return static_cast<std::size_t>(cluster::hash_of_name(name));
    }
  };
  boost::unordered_flat_map<std::string_view, std::unique_ptr<Entry>, SameHash, std::equal_to<>>
      entries_;  // by their own names
  boost::unordered_flat_map<std::uint64_t, Entry*> instances_;
  boost::unordered_flat_map<std::uint64_t, std::vector<Orphan>> orphans_;  // by instance
  boost::intrusive::list<Entry> homes_;  // that may be retired; the least recently heard of first
  std::atomic<bool> worn_{false};
  bool ended_ = false;
  Statistics statistics_;
};

}  // namespace turno::node
