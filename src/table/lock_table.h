// All the locks of a node, by name: a desk each (cluster/desk.h), made on first use and forgotten
// when idle. What the desks decide is done here: users are told, messages become frames. No rule of
// its own.
//
// Thread safety: every call from any thread. One mutex guards everything; nobody makes a system
// call while it is held: what needs one is put off until it is unlocked. What comes from the
// network comes from one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/rendezvous.h"
#include "cluster/view.h"
#include "net/log.h"
#include "table/bequests.h"
#include "table/engine.h"
#include "table/entry.h"
#include "table/statistics.h"

namespace turno::table {

// Who holds or waits, for people.
struct Sighting {
  enum class Kind : std::uint8_t {
    waits,
    holds,
    kept,  // by the home, for members that died: their clients may still use it
    noted  // by the home: a member has said that it is held there, or is about to be
  };

  std::string lock;
  std::string client;         // kept: for whom
  std::uint64_t session = 0;  // noted: the member's position in the view
  Kind kind = Kind::waits;
  Fence fence;                      // if it holds
  std::chrono::milliseconds age{};  // since when; kept: until it is free
  std::string from = {};            // where the client is

  [[nodiscard]] bool is(Kind other) const { return kind == other; }
};

struct Sightings {
  std::vector<Sighting> list;
  std::uint64_t waiting = 0;  // of one thing: all that wait here, also those not in the list
  bool cut = false;           // there are more than were to be told
};

class LockTable {
 public:
  struct Options {
    std::chrono::milliseconds longest_turn{10};  // of a node while it has waiters of its own
    std::chrono::milliseconds linger{20};  // after which a lock's home is told that it is held
    std::chrono::milliseconds pause{10};   // of a token that circulates for nobody, in each round
    cluster::Rules rules{};
    std::uint8_t departure = 0;  // of the algorithm: a wrong version, for tests that must notice it
  };
  using Links = std::vector<std::shared_ptr<net::Link>>;
  // A grant was taken away. Called with the table unlocked, in the thread that took it away.
  using Lost = std::function<void(const Owner&, const std::string& lock, Fence, std::string_view)>;
  // tick() is to be called at this time. Called with the table unlocked, from any thread.
  using Wake = std::function<void(Clock::time_point)>;

  LockTable(std::unique_ptr<Engine> engine, Options options, Lost lost, Wake wake = {});
  ~LockTable();
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  static constexpr std::size_t longest_name = 512;

  // An entry that stays until it is closed.
  Entry& open(std::string_view name);
  void close(Entry& entry);

  // What the waiter's state says when these return: granted or refused at once; waiting, and it
  // will be settled; or failed if the node has ended. True: granted.
  bool acquire(Entry& entry, Waiter& waiter);
  bool acquire(std::string_view name, Waiter& waiter);
  // The same for one that only tries: it is refused as soon as somebody is in the way.
  bool attempt(Entry& entry, Waiter& waiter);
  bool attempt(std::string_view name, Waiter& waiter);
  // True: withdrawn. False: too late, it is settled.
  bool withdraw(std::string_view name, Waiter& waiter);
  bool withdraw(Entry& entry, Waiter& waiter);
  // False: this owner does not hold it (with this fence, if it is given).
  bool release(std::string_view name, const Owner& owner, Fence fence = {});
  // For waiters that pin: ends the grant, also if the lock was lost meanwhile.
  void give_back(Entry& entry, Fence fence);
  // Takes the lock away from whoever holds it with this fence.
  bool take_back(std::string_view name, Fence fence, std::string_view reason);
  // An owner that moves to another node, because this one leaves: its lock stays as it is until
  // this node is gone, and its owner lets go of it there. Since when it has it; nothing: it does
  // not hold it so.
  std::optional<Clock::time_point> bequeath(std::string_view name, const Owner& owner, Fence fence);
  // The other node did not want it.
  void reclaim(std::string_view name, const Owner& owner, Fence fence);
  // What the owner holds at that member, it holds here once that one is gone. False: cannot be.
  bool inherit(const Bequest& bequest, const Owner& owner, std::uint64_t member);
  // And the member that it comes from is not gone yet.
  [[nodiscard]] bool inherits(std::string_view name, const Owner& owner);
  // It stays where it is after all.
  void disinherit(std::string_view name, const Owner& owner);

  [[nodiscard]] bool holds(Entry& entry, Fence fence);
  [[nodiscard]] bool holds(std::string_view name, const Owner& owner, Fence fence = {});

  // From the network. `links` are those to the members of the view, by position. `delayed`: since
  // somebody crashed, and until end_delay(), clients of the dead may not know it yet; `dead` says
  // who it was, for people.
  struct Delay {
    bool delayed = false;
    std::string dead;
    Clock::time_point until{};
  };
  void adopt(const cluster::View& view, NodeId self, Links links, const Delay& delay);
  void end_delay();
  // False: the frame makes no sense.
  bool receive(NodeId from, const wire::Frame& frame);
  // Retires locks of this home that nobody has used since then. How many it was.
  std::size_t retire_idle(Clock::time_point since, std::size_t most);
  // Does what is due.
  void tick();
  // Nobody keeps anything and nobody waits any more: the node ends.
  void end(std::string_view reason);

  // Of one thing, or of all if the name is empty: first the holders, then those who wait, then what
  // was noted.
  [[nodiscard]] Sightings sightings(std::string_view name, std::size_t most);
  [[nodiscard]] std::size_t size();
  [[nodiscard]] std::size_t foundlings();  // instances of which only messages are known
  // The counts of fences come near their end: a new epoch is needed. Looked at after every tick();
  // `wake` asks for one when it becomes so.
  [[nodiscard]] bool worn() const { return worn_.load(std::memory_order_relaxed); }
  [[nodiscard]] const Engine& engine() const { return *engine_; }
  [[nodiscard]] Statistics& statistics() { return statistics_; }
  [[nodiscard]] bool ready();          // every member of the view has reported
  [[nodiscard]] NodeSet unreported();  // members that have not

  std::mutex& mutex() { return mutex_; }  // for waiters that sleep on it

 private:
  // The table, locked; when this ends, what was put off is done.
  class Locked;
  using Event = cluster::DeskEvent;
  using Result = Engine::Result;

  // All REQUIRE that the mutex is held.
  void unlock_and_catch_up();  // with what was put off
  Entry& find_or_make(std::string_view name);
  Entry* find(std::string_view name);
  bool join_line(Entry& entry, Waiter& waiter, Event::Kind kind);
  bool withdraw_locked(Entry& entry, Waiter& waiter);
  void leave(Entry& entry);
  void tell_lost(const Owner& owner, const std::string& name, Fence fence, std::string_view reason);
  // `used`: somebody uses it, so that it is not idle.
  void step(Entry& entry, const Event& event, bool used = true);
  void carry_out(Entry& entry, const Result& result, bool used);
  void note_spoilt(const Entry& entry);
  void let_in(Entry& entry, const Result& result);
  Entry* find_inherited(std::string_view name, const Owner& owner, Fence fence);
  void let_go_of_inherited(Entry& entry);
  void come_into(Entry& entry, bool inside);
  void wear_out();
  void settle(Waiter& waiter, Waiter::State state);
  void keep_indices(Entry& entry, const Result& result, bool used);
  void touch(Entry& entry, bool lives, bool used);
  // The same as long as the table stays locked.
  [[nodiscard]] Clock::time_point now() {
    if (now_ == Clock::time_point{}) now_ = coarse_now();
    return now_;
  }
  void watch(Entry& entry);
  void set_alarms(std::uint64_t instance);
  void due(Clock::time_point at);
  void forget(Entry& entry);
  void shrink();
  void sight_kept(std::string_view name, std::size_t most, Sightings& found) const;
  [[nodiscard]] bool is_kept(const Entry& entry) const;
  void sight_holder(const Entry& entry, std::size_t most, Sightings& found) const;
  void sight_waiters(const Entry& entry, std::size_t most, Sightings& found) const;
  void sight_notes(const Entry& entry, std::size_t most, Sightings& found) const;
  bool receive_named(NodeId from, NoteKind kind, const wire::Frame& frame);
  bool receive_numbered(NodeId from, NoteKind kind, const wire::Frame& frame);
  bool receive_stray(NodeId from, NoteKind kind, const wire::Frame& frame);
  bool keep_foundling(NodeId from, const wire::Frame& frame);
  void adopt_foundling(Entry& entry, std::uint64_t instance);
  void drop_foundling(std::uint64_t instance);
  void send(NodeId to, std::uint64_t instance, NoteKind kind);
  void receive_reported(NodeId from);
  [[nodiscard]] bool was_home_of(std::string_view name) const;

  std::mutex mutex_;
  std::atomic<bool> network_waits_{false};
  Afterwards afterwards_;
  const std::unique_ptr<Engine> engine_;
  const Options options_;
  const Lost lost_;
  const Wake wake_;
  Stage stage_;
  Delay delay_;
  cluster::Rendezvous rendezvous_;
  cluster::Rendezvous former_rendezvous_;  // of the view before
  NodeId former_self_;                     // this node's number in it; nobody: there was none

  struct SameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return static_cast<std::size_t>(cluster::hash_of_name(name));
    }
  };
  boost::unordered_flat_map<std::string_view, std::unique_ptr<Entry>, SameHash, std::equal_to<>>
      entries_;  // by their own names
  boost::unordered_flat_map<std::uint64_t, Entry*> instances_;
  // Desks for messages of instances that this node has not been told of, by instance.
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Entry>> foundlings_;
  std::size_t orphans_ = 0;  // messages that they keep
  boost::intrusive::list<Entry, boost::intrusive::base_hook<HomeHook>>
      homes_;  // that may be retired; the least recently used first
  boost::intrusive::list<Entry, boost::intrusive::base_hook<WatchHook>>
      watched_;  // whose home may have to be told that they are held; the oldest first
  struct Due {
    std::uint64_t instance;
    std::uint8_t timer;
    auto operator<=>(const Due&) const = default;
  };
  std::map<Due, Clock::time_point> alarms_;  // of algorithms
  Clock::time_point next_tick_ = Clock::time_point::max();
  Clock::time_point now_;  // see now()
  std::atomic<bool> worn_{false};
  std::uint64_t worn_count_ = most_count / 2;  // from which count on a new epoch is asked for
  bool ended_ = false;
  const Owner moved_{0, "moves to another node"};  // who has what was bequeathed
  Statistics statistics_;
  log::Limiter spoilt_lines_;
};

}  // namespace turno::table
