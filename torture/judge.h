// Judges a run from the clients' own records, and from what the torture itself did to whom and
// when. Nothing that a node says about itself is asked for.
//
//   - Exclusion: no client is granted a lock while another believes to hold it. A client believes
//     it from its grant to its release, or to its knowledge of the loss. RENEW that answers 1 is
//     belief.
//   - Fences of a lock only grow.
//   - Of a semaphore the same holds for each permit, of a store for each instance of each type, and
//     there are no others than it has: so there are never more inside than may be.
//   - Of a room: users of one group only, never more than its capacity, and with one fence while
//   they
//     are together; that of a later group is larger, and in a group of one each has a larger one.
//   - Patience: nobody that lives waits for long, not counted what the torture excuses.
//   - Fairness: nobody that lives is overtaken very often while it waits.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace turno::torture {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint32_t no_client = std::numeric_limits<std::uint32_t>::max();

// One hold of one lock, or of one permit of a semaphore, in nanoseconds of one clock for all
// processes. `granted` is taken after the lock was granted, `ended` before it was released (or when
// its loss was noticed, or before the client was killed): if these overlap, the holds themselves
// did.
struct Hold {
  std::uint32_t client = 0;
  std::uint32_t lock = 0;  // or the semaphore
  std::uint32_t group = 0,
                capacity = 0;  // of a room: with which, how many of it (0: all) may be inside
  std::uint32_t permit = 0;  // of a semaphore; of a store the instance, numbered through all types
  std::uint64_t fence = 0;
  std::int64_t asked = 0, granted = 0;
  std::int64_t ended = 0;  // 0: not yet
  // With a time to live: a careful client counts from when it asked, or asked to renew, and does
  // not trust it longer.
  std::int64_t expires = never;
  std::uint32_t node = 0;  // through which it was asked for
};

// A wait that was not granted: given up, or still going on.
struct Wait {
  std::uint32_t client = 0, lock = 0, node = 0;
  std::int64_t asked = 0, ended = 0;
};

// What was done to a node: before these moments it surely lived, and had not been told to leave.
struct Fate {
  std::int64_t killed = never;
  std::int64_t told_to_leave = never;
};

// A process was stopped (SIGSTOP).
struct Stop {
  std::int64_t from = 0, to = 0;
  std::uint32_t client = no_client;  // none: it was a node
};

struct Story {
  std::vector<Hold> holds;
  std::vector<Wait> waits;
  std::vector<Fate> nodes;  // by Hold::node; those that are not here live
  std::vector<Stop> stops;
  std::uint32_t permits = 1;  // that each semaphore has; a lock is one permit
  bool rooms = false;
  // Clients take what they have along when their node leaves. Otherwise it is kept for them until
  // the lock delay is over.
  bool move = true;
  // For so long after its node was killed, a client's lock is kept for it.
  std::int64_t lock_delay = 0;
  // Of a wait, not counted the time in which anybody was stopped, or a lock delay went on.
  std::int64_t longest_wait = never;
  // How often others may be granted a lock while one waits for it, not counted the time in which
  // a node or the one that waits was stopped.
  std::uint64_t most_overtakings = std::numeric_limits<std::uint64_t>::max();
};

struct Verdict {
  std::vector<std::string> violations;
  std::uint64_t holds = 0;
  std::uint64_t hand_overs = 0;  // between different clients; in a room, if not together
  // Of locks that were held through a node when it was killed, and waited for: until the next had
  // them.
  std::uint64_t successions = 0;
  std::int64_t longest_succession = 0;
  std::uint64_t most_together = 0;   // inside a room at once
  std::int64_t longest_wait = 0;     // with what is excused
  std::int64_t longest_counted = 0;  // without
  std::uint64_t most_overtakings = 0;
  // Whose node leaves in good order moves to another one. If one was killed since, it may have been
  // that one, so an overlap is no proof: how many there were, and how long at most.
  std::uint64_t overlaps_at_leave = 0;
  std::int64_t longest_at_leave = 0;
};

Verdict judge(Story story);

}  // namespace turno::torture
