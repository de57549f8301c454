// What a member says of one of its sessions: what it has, and what it waits for.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace turno::cluster {

// Of any kind: locks, semaphores and so on have names of their own. Who uses this numbers the
// kinds.
struct NamedThing {
  std::uint8_t kind = 0;
  std::string name;
  std::string part{};  // of what has parts, each of which is had by itself: a type of a store
  auto operator<=>(const NamedThing&) const = default;
};

// A session among all that a cluster ever has.
struct Party {
  std::uint64_t member = 0, session = 0;
  auto operator<=>(const Party&) const = default;
};

// Some of a thing, or a place in it, that a session has by one grant.
struct Possession {
  NamedThing thing;
  std::uint64_t number = 0;  // no other grant to this session has it
  std::uint32_t units = 1;
  std::string group{};  // of a room
  bool operator==(const Possession&) const = default;
};

// What a wait is for. It cannot be had while others of another group are in the thing, nor while
// there are too few units left of the `most` that may be given out. A lock is one unit of one.
struct Need {
  static constexpr auto unlimited = std::numeric_limits<std::uint32_t>::max();

  NamedThing thing;
  std::uint32_t units = 1;
  std::uint32_t most = 1;
  std::string group{};
  bool operator==(const Need&) const = default;
};

struct PendingWait {
  std::uint64_t number = 0;   // no other wait of this session has it
  std::vector<Need> needs{};  // all at once
  // Another task of the session has what this one waits for, and will give it back.
  bool another_task = false;
  bool may_be_aborted = false;
  std::uint64_t waiting_ms = 0;  // so far
  bool operator==(const PendingWait&) const = default;
};

// A session that waits for several things goes on when it gets the first of them. It `has` what the
// member was asked about, and of everything that it waits for.
struct Testimony {
  Party party;
  std::uint64_t born = 0;   // when the session began, by the clock of its member
  std::uint64_t asked = 0;  // how often it has asked for anything
  std::string client{}, from{};
  std::vector<Possession> has{};
  std::vector<PendingWait> waits{};
  bool operator==(const Testimony&) const = default;
};

// Of one member; what is more is left out, and deadlocks in it are not found.
inline constexpr std::size_t most_testimonies = 1000;
// A session that has more waits is told of as if it had none: one of so many may well end.
inline constexpr std::size_t most_pending_waits = 16;

// What members are asked: which of their sessions have one of these things? Those that wait for
// nothing are left out, unless everybody is to be told of.
struct Summons {
  std::vector<NamedThing> things;
  bool everybody = false;
  bool operator==(const Summons&) const = default;
};

// What is said to the member of a session that is in a knot, and whose wait should end.
struct Verdict {
  Party party;
  std::uint64_t wait = 0;
  std::string text;  // the circle in words
  bool operator==(const Verdict&) const = default;
};

}  // namespace turno::cluster
