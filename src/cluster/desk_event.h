// What goes into a step of a desk, and what comes out.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/note.h"
#include "cluster/turn.h"
#include "core/container/node_set.h"
#include "core/effects.h"
#include "core/fence.h"
#include "core/node_id.h"

namespace turno::cluster {

// What a desk is told.
struct DeskEvent {
  enum class Kind : std::uint8_t {
    ask,         // a user wants in
    attempt,     // a user wants in if nobody else is in the way: it enters or is refused
    leave,       // the user inside leaves, or its time to live is over
    withdraw,    // a user does not want to wait any more
    linger,      // the user inside has been there for a while
    bequeath,    // the user inside moves to another member, which has it once this one is gone
    reclaim,     // that one did not want it
    inherit,     // a user of another member moves here, with the fence that it has there; or not
    receive,     // a message came
    adopt,       // there is a new view
    retire,      // at the home: nobody seems to use it
    delay_over,  // whoever the dead served knows it by now
    expire,      // a timer of the algorithm
    spoil,       // a message came that makes no sense
    resize       // somebody says that there are so many permits of a semaphore from now on
  };
  Kind kind = Kind::ask;
  UserId user = no_user;
  Line::Spot spot = Line::nowhere;  // withdraw: where it stands, if that is known
  std::uint32_t count = 1;          // ask, attempt: how many permits of a semaphore
  // And how many there are, if the user says so; of a room: how many of the group may be inside.
  std::uint32_t permits = 0;
  bool by_default = false;                 // so many unless somebody has said otherwise
  std::string_view group{};                // of a room
  std::span<const Claim> claims{};         // ask: of a store
  std::span<const std::uint32_t> units{};  // leave: these; empty: all that the user has
  Fence fence;                             // leave, bequeath, reclaim, inherit: of the grant
  bool tired = false;                      // leave: the turn has been long enough
  NodeId from;                             // receive
  const Note* note = nullptr;        // receive: what came; of the algorithm, a whole DeskMessage
  const NodeSet* gone = nullptr;     // adopt: who is no longer a member, by its number before
  const NodeSet* missing = nullptr;  // adopt: at the home, who has to report
  bool inherits = false;             // adopt: the member that the heir comes from is gone
  std::uint8_t timer = 0;
};

// What a step wants done: messages, alarms of the algorithm, and who goes in (Effects::granted).
template <class Message>
struct Outcome : Effects<Message> {
  UserId user = no_user;            // who goes in
  Line::Spot spot = Line::nowhere;  // where the user that asked stands now
  bool done = true;                 // false: there was nobody to leave or to withdraw
  // Not beside `user` and `done`: compilers would copy two at once, and wait for what was just
  // written.
  UserId refused = no_user;    // whose attempt has failed
  bool spoilt = false;         // a message could not be, and the instance ends for it
  UserId inherited = no_user;  // who is inside here now, and was so at another member before
};

// Who goes in with which permits of a semaphore; into a room with number 0; with which resources.
struct Admission {
  UserId user = no_user;
  boost::container::small_vector<Unit, 2> units{};
  std::vector<Resource> resources{};  // of a store
  bool operator==(const Admission&) const = default;
};
// Who does not get in, and why.
struct Refusal {
  enum class Reason : std::uint8_t {
    busy,         // it only tried
    too_many,     // it asks for more permits than there are; of a room: there are too many groups
    contradicts,  // it says that there are more or fewer permits (places in the group) than there
                  // are
    unknown,      // nobody has said how many there are
    full          // of a store: there are too many types for another
  };
  UserId user = no_user;
  Reason reason = Reason::busy;
  // Of a store: which type it is about, and how many instances of it there are.
  std::string type{};
  std::uint32_t instances = 0;
  bool operator==(const Refusal&) const = default;
};

// The same for desks of semaphores, rooms and stores, where several may go in at once.
template <class Message>
struct PoolOutcome : Effects<Message> {
  std::vector<Admission> admitted;
  std::vector<Refusal> refused;
  Line::Spot spot = Line::nowhere;
  bool done = true;
  bool spoilt = false;
};

}  // namespace turno::cluster
