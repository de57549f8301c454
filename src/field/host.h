// The nodes of one process with their users: who asks when, what expires, which message is due. It
// knows real time and real messages only through its Medium, so that sockets and MPI are two of
// them.
//
// A message is stamped by its sender with the time at which it is due and sent at once; the
// receiver keeps it until then. So what a process has sent arrives although the process is killed.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "core/container/queue.h"
#include "core/random.h"
#include "field/actor.h"
#include "field/record.h"
#include "sim/network.h"
#include "sim/options.h"

namespace turno::field {

// A message on its way. All times are of the run, before they are scaled.
struct Envelope {
  NodeId from, to;
  Time due = 0;
  std::uint64_t number = 0;  // of all that its sender has sent
  VectorClock clock;         // if there is one
  std::string bytes;
};

// What surrounds a host.
class Medium {
 public:
  virtual Time now() = 0;
  virtual void send(const Envelope& envelope) = 0;  // to a node elsewhere
  virtual void write(const Record& record) = 0;
  // Somebody got in.
  virtual void entered(Fence fence) = 0;
  // So many more things are going to happen at this node.
  virtual void expect(NodeId at, int more) = 0;
  // It has been taken from what waits here.
  virtual void delivered(const Envelope& /*envelope*/) {}
  // What a crash would leave of this node has changed.
  virtual void keep(NodeId /*node*/, const std::string& /*stable*/) {}

 protected:
  ~Medium() = default;
};

// How a run is spread and written down.
struct Layout {
  std::size_t hosts = 1;  // node i lives at host i modulo this
  bool clocks = false;    // messages carry vector clocks
  [[nodiscard]] std::size_t host_of(NodeId node) const { return node.index() % hosts; }
};

class Host {
 public:
  // `life`: how often these nodes have come back.
  Host(const Cast& cast, const sim::Options& options, const Layout& layout, std::size_t self,
       Medium& medium, std::uint64_t life = 0);

  void start();
  // Instead of start(): the only node is back, with what it kept.
  void recover(std::string_view stable);

  void take(Envelope envelope);                    // a message came in
  void bounce(Envelope envelope);                  // and one did not arrive
  void learn_of_crash(NodeId dead, Time crashed);  // from a detector

  // Does all that is due.
  void work();
  // When there is something to do again.
  [[nodiscard]] Time next() const;

 private:
  enum class What : std::uint8_t { arrival, leave, deliver, expire, suspect, bounce, choose };
  struct Event {
    Time time = 0;
    std::uint64_t order = 0;
    What what = What::arrival;
    std::uint32_t seat = 0;
    std::uint32_t number = 0, setting = 0;  // of a timer
    NodeId about;                           // who is suspected
    std::shared_ptr<Envelope> envelope;
    bool operator>(const Event& other) const {
      return std::pair(time, order) > std::pair(other.time, other.order);
    }
  };
  struct Seat {
    NodeId id;
    std::unique_ptr<Actor> actor;
    Random random;
    bool busy = false, inside = false, choosing = false;
    std::uint32_t entries = 0;
    std::uint64_t sent = 0;  // messages
    Wish wish;
    Queue<Time, 1> backlog;
    std::vector<Event> unread;  // while it is inside and deaf
    std::vector<std::uint32_t> settings;
    NodeSet suspects;
    std::string state, stable;
    VectorClock clock;
  };

  void schedule(Time at, Event event);
  void happen(Event& event);
  void arrive(Seat& seat, Time at);
  void request(Seat& seat, Time since);
  void leave(Seat& seat);
  void deliver(Seat& seat, Event& event);
  void choose(Seat& seat);
  void think(Seat& seat);
  void feed(Seat& seat, const Stimulus& stimulus, Record record);
  void perform(Seat& seat, Record& record);
  void send(Seat& seat, Response::Send& send, Record& record);
  void note_changes(Seat& seat, Record& record);
  [[nodiscard]] bool asks(NodeId node) const;
  [[nodiscard]] Time first_arrival(Seat& seat) const;
  [[nodiscard]] Seat& seat_of(NodeId node) { return seats_[node.index() / layout_.hosts]; }
  [[nodiscard]] std::uint32_t place_of(const Seat& seat) const {
    return static_cast<std::uint32_t>(seat.id.index() / layout_.hosts);
  }

  const Cast& cast_;
  const sim::Options& options_;
  Layout layout_;
  std::size_t self_;
  Medium& medium_;
  sim::Network network_;
  std::vector<Seat> seats_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::uint64_t order_ = 0;
  Time lag_ = 0;  // of the event at hand
  Response response_;
};

}  // namespace turno::field
