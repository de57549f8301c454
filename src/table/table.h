// All things of one kind at a node, by name: a desk each, made on first use and forgotten when
// idle. What the desks decide is done here and in the table of each kind: users are told, messages
// become frames. No rule of its own.
//
// Thread safety: every call from any thread. One mutex guards everything; nobody makes a system
// call while it is held: what needs one is put off until it is unlocked. What comes from the
// network comes from one thread.
#pragma once

#include <array>
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
    kept,    // by the home, for members that died: their clients may still use it
    noted,   // by the home: a member has said that it is held there, or is about to be
    leaving  // it moves away from a member that leaves, or has moved and was let go of: nobody else
             // has it before that member is gone
  };

  std::string lock;
  std::string client;  // kept: for whom
  // noted: the member's position in the view; leaving: its id, 0 is who says it.
  std::uint64_t session = 0;
  Kind kind = Kind::waits;
  Fence fence;                      // if it holds
  std::chrono::milliseconds age{};  // since when; kept: until it is free
  std::string from = {};            // where the client is
  Thing thing = Thing::lock;
  std::vector<std::uint32_t> permits = {};  // of a semaphore, if it holds or they are kept
  std::string value = {};                   // of a leader
  std::string group = {};                   // of a room
  // Of a store: what it has; if it waits, as many of each type as the number says.
  std::vector<cluster::Resource> resources = {};
  std::uint32_t count = 0;  // of a semaphore, if it waits: of how many permits

  [[nodiscard]] bool is(Kind other) const { return kind == other; }
};

struct Sightings {
  std::vector<Sighting> list;
  std::uint64_t waiting = 0;  // of one thing: all that wait here, also those not in the list
  bool cut = false;           // there are more than were to be told
};

class Table {
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
  using Lost =
      std::function<void(const Owner&, Thing, const std::string& name, Fence, std::string_view)>;
  // tick() is to be called at this time. Called with the table unlocked, from any thread.
  using Wake = std::function<void(Clock::time_point)>;

  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  virtual ~Table();

  static constexpr std::size_t longest_name = cluster::longest_name;
  [[nodiscard]] Thing thing() const { return thing_; }

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
  // Retires things of this home that nobody has used since then. How many it was. One that somebody
  // keeps is born again at once: the next time it has `idle` longer, then three, seven times that.
  std::size_t retire_idle(Clock::time_point since, std::size_t most,
                          std::chrono::milliseconds idle = {});
  static constexpr std::size_t most_in_vain = 6;  // 2^6 times as rarely
  // Does what is due.
  void tick();
  // Nobody keeps anything and nobody waits any more: the node ends.
  void end(std::string_view reason);

  // Of one thing, or of all if the name is empty: first the holders, then those who wait, then what
  // was noted.
  [[nodiscard]] Sightings sightings(std::string_view name, std::size_t most);
  // Of one thing, only the holders.
  [[nodiscard]] std::vector<Sighting> holders(std::string_view name, std::size_t most);
  // It has not been settled yet.
  [[nodiscard]] bool waits(const Waiter& waiter);
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

 protected:
  // The table, locked; when this ends, what was put off is done.
  class Locked;
  using Event = cluster::DeskEvent;
  using Result = Engine::Result;

  Table(Thing thing, std::unique_ptr<Engine> engine, Options options, Lost lost, Wake wake);

  // All REQUIRE that the mutex is held, here and below.

  // ---- what the table of each kind does

  // Tells users what came of a step.
  virtual void tell_users(Entry& entry, const Result& result) = 0;
  // All users of the entry: they wait for nothing and have nothing any more.
  virtual void end_users(Entry& entry, std::string_view reason) = 0;
  virtual void sight_holders(const Entry& entry, std::size_t most, Sightings& found) const = 0;
  virtual void sight_waiters(const Entry& entry, std::size_t most, Sightings& found) const = 0;
  virtual void sight_notes(const Entry&, std::size_t, Sightings&) const {}
  // What an algorithm of this kind wants to know beside who the members are.
  virtual void arrange(Setup&) const {}
  // Of a member that has left: an owner that was there is here now.
  [[nodiscard]] virtual bool inherits_from_gone(const Entry&, const cluster::View&) const {
    return false;
  }
  virtual void come_into(Entry&, bool /*inside*/) {}
  virtual void note_held(Entry&) {}
  virtual void before_forgetting(Entry&) {}
  virtual void tick_users() {}

  // ---- for them

  Entry& find_or_make(std::string_view name);
  Entry* find(std::string_view name);
  void tell_lost(const Owner& owner, const std::string& name, Fence fence, std::string_view reason);
  // `used`: somebody uses it, so that it is not idle.
  void step(Entry& entry, const Event& event, bool used = true);
  void carry_out(Entry& entry, const Result& result, bool used);
  void settle(Waiter& waiter, Waiter::State state);
  void note_fence(Fence fence);
  void keep_indices(Entry& entry, const Result& result, bool used);
  // The same as long as the table stays locked.
  [[nodiscard]] Clock::time_point now() {
    if (now_ == Clock::time_point{}) now_ = coarse_now();
    return now_;
  }
  void due(Clock::time_point at);
  [[nodiscard]] Sighting kept(std::string_view name) const;
  static void note(Sightings& found, std::size_t most, Sighting sighting);
  static std::chrono::milliseconds since(Clock::time_point then);

  std::mutex mutex_;
  std::atomic<bool> network_waits_{false};
  Afterwards afterwards_;
  const std::unique_ptr<Engine> engine_;
  const Options options_;
  Stage stage_;
  bool ended_ = false;
  Statistics statistics_;

 private:
  void unlock_and_catch_up();  // with what was put off
  void note_spoilt(const Entry& entry);
  void touch(Entry& entry, bool lives, bool used);
  void unlink_home(Entry& entry);
  void set_alarms(std::uint64_t instance);
  void forget(Entry& entry);
  void shrink();
  bool receive_named(NodeId from, NoteKind kind, const wire::Frame& frame);
  bool receive_numbered(NodeId from, NoteKind kind, const wire::Frame& frame);
  bool receive_stray(NodeId from, NoteKind kind, const wire::Frame& frame);
  bool keep_foundling(NodeId from, const wire::Frame& frame);
  void adopt_foundling(Entry& entry, std::uint64_t instance);
  void drop_foundling(std::uint64_t instance);
  void send(NodeId to, std::uint64_t instance, NoteKind kind);
  void receive_reported(NodeId from);
  [[nodiscard]] bool was_home_of(std::string_view name) const;

  const Thing thing_;
  const Lost lost_;
  const Wake wake_;
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
  // That may be retired, by how often it was in vain; the least recently used first.
  std::array<boost::intrusive::list<Entry, boost::intrusive::base_hook<HomeHook>>, most_in_vain + 1>
      homes_;
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
  log::Limiter spoilt_lines_;
};

}  // namespace turno::table
