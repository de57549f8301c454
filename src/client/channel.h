// What a session is made of: locks by their names, attempts to get them, places in the queues of
// nodes, what is held, and the connections to which all that belongs. Plain values under the mutex
// of the session (client/session.h), which has the rules.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "client/connection.h"
#include "net/address.h"
#include "turno/client.h"
#include "turno/error.h"
#include "turno/service.h"

namespace turno::client {

using Clock = std::chrono::steady_clock;

struct Attempt;
struct Channel;
struct Held;
struct Place;

// What is asked for: a lock, permits of a semaphore, to lead an election, to enter a room,
// resources of a store.
enum class Thing : std::uint8_t { lock, semaphore, election, room, store };
inline constexpr std::array<std::string_view, 5> thing_names = {"lock", "semaphore", "election",
                                                                "room", "store"};
inline std::string_view name(Thing thing) { return thing_names[static_cast<std::size_t>(thing)]; }
// Several grants of it may be had at once, and do not move to another node.
inline bool several_have(Thing thing) {
  return thing == Thing::semaphore || thing == Thing::room || thing == Thing::store;
}

// A lock, as long as somebody uses it.
struct Named {
  std::string name;
  Thing thing = Thing::lock;       // of a semaphore for one grant
  std::string key;                 // among all that are used
  std::size_t users = 0;           // who opened it, attempts and holds
  Held* held = nullptr;            // and not lost
  std::shared_ptr<Attempt> asked;  // whose turn it is: a node is to answer, or has to be found
  std::deque<std::shared_ptr<Attempt>> queued;
};

struct Held {
  Named* lock = nullptr;
  std::uint64_t fence = 0;
  std::shared_ptr<Channel> channel;         // where the node knows of it
  std::vector<std::uint32_t> permits = {};  // of a semaphore
  std::vector<Resource> resources = {};     // of a store
  std::atomic<bool> lost = false;
  std::string reason = {};  // why it was lost
  std::stop_source stop = {};
};

// So long after its deadline a request goes on at most: the node confirms that nothing is left
// behind, and says who holds it.
inline constexpr std::chrono::milliseconds longest_excess{500};

// One call of acquire().
struct Attempt {
  enum class State : std::uint8_t {
    queued,    // behind another one of this program
    stranded,  // it is its turn, and it stands in no queue of a node; its thread finds a node
    asked,     // it has a place
    done
  };

  Attempt(Named& lock_, const Request& request_) : lock(lock_), request(request_) {
    if (request.timeout) deadline = Clock::now() + *request.timeout;
  }
  [[nodiscard]] bool tries_once() const { return request.timeout == std::chrono::milliseconds(0); }

  Named& lock;  // valid until done
  const Request request;
  std::optional<Clock::time_point> deadline;
  State state = State::queued;
  std::vector<std::shared_ptr<Place>> places;  // one; two while it moves
  bool withdrawn = false;                      // nobody wants it any more
  bool perhaps_taken = false;                  // a node left without an answer
  int moves = 0;                               // how often it lost its place
  std::string moved_because;                   // the last time
  Held* held = nullptr;                        // when done; or else the error
  Error error;
  std::condition_variable ready;
};

// In the queue of a node, or on the way there: one LOCK command.
struct Place {
  std::shared_ptr<Attempt> attempt;  // none: given up, and what is granted is given back
  Channel* channel = nullptr;
  std::string name;  // of the lock
  Thing thing = Thing::lock;
  std::optional<std::int64_t> ticket;  // the node's number for it
  bool cancelling = false;             // CANCEL was sent
};

// What is held by a channel is being handed over to another.
struct Bequest {
  struct Release {
    std::string name;
    std::uint64_t fence = 0;
    Thing thing = Thing::lock;
    auto operator<=>(const Release&) const = default;
  };

  std::shared_ptr<Channel> heir;
  std::set<Release> released = {};  // meanwhile: who has them then is to be told
  bool refused = false;             // nothing was handed over
  // Whether it was handed over is not known since then: the heir has to be asked.
  std::optional<Clock::time_point> unknown_since = {};
  std::string reason = {};
};

// A connection to a node, and what belongs to it: for the node it is a session.
struct Channel {
  net::Address address;
  Client::Identity identity;

  std::unordered_set<std::shared_ptr<Place>> asking;                // without a ticket yet
  std::unordered_map<std::int64_t, std::shared_ptr<Place>> places;  // by ticket
  std::size_t holds = 0;                            // by this connection, also lost ones
  std::optional<Clock::time_point> asked_for_life;  // and no sign of it has come since
  int slow_questions = 0;                           // that the node may answer late
  bool over = false;                                // the connection has ended
  bool leaving = false;                             // the node said that it leaves
  std::optional<Bequest> bequest;

  // It has said something since it was asked for a sign of life.
  [[nodiscard]] bool is_alive() const {
    return !asked_for_life || connection->heard() >= *asked_for_life;
  }

  std::unique_ptr<Connection> connection;  // last: its thread uses all of the above
};

}  // namespace turno::client
