// One algorithm, for all the locks of a node: what is left of it when its type is forgotten. The
// only place where the node meets the templates.
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/crowd.h"
#include "cluster/desk.h"
#include "core/protocol.h"
#include "net/link.h"
#include "table/desk_frames.h"
#include "table/engine_names.h"
#include "table/entry.h"

namespace turno::table {

[[nodiscard]] inline Primitive primitive_of(Thing thing) {
  constexpr Primitive primitives[] = {Primitive::lock, Primitive::semaphore, Primitive::lock,
                                      Primitive::room, Primitive::reservation};
  return primitives[static_cast<std::size_t>(thing)];
}

// One view, as the engines need it.
struct Stage {
  Thing thing = Thing::lock;
  std::uint32_t epoch = 0;
  std::uint64_t fences_from = 0;
  NodeId self;
  std::vector<Setup> setups;                      // by home
  std::vector<std::shared_ptr<net::Link>> links;  // by member; none to itself
  cluster::Ledger ledger;
  cluster::Rules rules;
  // Those that want to be written to when the table is unlocked.
  boost::container::small_vector<std::shared_ptr<net::Link>, 4> waiting_links;
  std::vector<Alarm> alarms;  // of the step just made, if its algorithm has timers
  std::vector<std::vector<NodeId>> (*quorums)(std::size_t voters) = nullptr;

  [[nodiscard]] std::size_t size() const { return setups.size(); }
  [[nodiscard]] cluster::Context context(const Entry& entry) {
    return {&setups[entry.home.index()], self,   entry.home, &ledger, rules, fences_from,
            primitive_of(thing),         quorums};
  }
};

class Engine {
 public:
  // What came of a step, and how the desk stands after it.
  struct Result {
    cluster::UserId user = cluster::no_user;  // who goes in
    Fence granted;                            // to it
    cluster::Line::Spot spot = cluster::Line::nowhere;
    bool done = true;                            // false: there was nobody to leave or to withdraw
    bool spoilt = false;                         // a peer sent what cannot be
    cluster::UserId refused = cluster::no_user;  // who tried in vain
    bool inherited = false;                      // who moved here is inside here now

    Fence began;  // of this node's turn
    cluster::Instance instance = 0;
    bool lives = false;  // at the home: there is an instance
    bool idle = false;   // nothing would be lost without the desk
  };

  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  [[nodiscard]] virtual const Info& info() const = 0;
  // Its wrong versions: Setup::departure counts them from 1.
  [[nodiscard]] virtual std::span<const Departure> departures() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Entry> make_entry() const = 0;

  // A step of the desk. Its messages go to the links.
  virtual Result step(Entry& entry, Stage& stage, const cluster::DeskEvent& event) = 0;
  // How it stands.
  virtual Result look(const Entry& entry, const Stage& stage) const = 0;
  // A message for the desk. Nothing: it makes no sense, and nothing was done.
  virtual std::optional<Result> receive(Entry& entry, Stage& stage, NodeId from, NoteKind kind,
                                        cluster::Instance instance, wire::Reader& body) = 0;
  virtual void begin_home(Entry& entry, const Stage& stage, bool was_its_home) = 0;
  virtual void take_orphans(Entry& entry, Entry& foundling) = 0;

  [[nodiscard]] virtual const cluster::Home& home(const Entry& entry) const = 0;
  [[nodiscard]] virtual std::size_t orphans(const Entry& entry) const = 0;

  // Messages of the algorithm sent so far, by kind.
  struct Count {
    std::string_view kind;
    std::uint64_t count;
  };
  [[nodiscard]] virtual std::vector<Count> messages() const = 0;
  // Messages that open, recover and forget locks: the same for every algorithm.
  [[nodiscard]] virtual std::vector<Count> control() const = 0;
  [[nodiscard]] std::uint64_t control_messages() const {
    std::uint64_t sum = 0;
    for (const auto& each : control()) sum += each.count;
    return sum;
  }
};

// Of locks.
class LockEngine : public Engine {
 public:
  [[nodiscard]] virtual const cluster::Turn& turn(const Entry& entry) const = 0;
};

// Of semaphores, of rooms, or of stores. Of a result it has what concerns no single user; the users
// are here.
class PoolEngine : public Engine {
 public:
  // Of the last step.
  [[nodiscard]] virtual std::span<const cluster::Admission> admitted() const = 0;
  [[nodiscard]] virtual std::span<const cluster::Refusal> refused() const = 0;

  // Who waits, first come first.
  [[nodiscard]] virtual std::vector<cluster::UserId> line(const Entry& entry) const = 0;
  // What the home keeps for members that died. Nothing: it keeps nothing.
  struct Kept {
    cluster::Crowd::Units permits{};             // of a semaphore
    std::vector<cluster::Resource> resources{};  // of a store
  };
  [[nodiscard]] virtual std::optional<Kept> kept(const Entry& entry) const = 0;
  // How many permits there are, or how many of a room's group may be inside; 0: this node has not
  // been told.
  [[nodiscard]] virtual std::uint32_t most(const Entry& entry, std::string_view group) const = 0;
};

// What a kind of control message is called beside those of the algorithms.
[[nodiscard]] inline std::string control_kind(std::string_view kind) {
  return "control-" + std::string(kind);
}

// Nothing: there is no such lock algorithm.
std::unique_ptr<LockEngine> make_engine(std::string_view algorithm);
std::unique_ptr<PoolEngine> make_pool_engine();
std::unique_ptr<PoolEngine> make_room_engine();
// Nothing: there is no such algorithm of reservations.
std::unique_ptr<PoolEngine> make_store_engine(std::string_view algorithm);

}  // namespace turno::table
