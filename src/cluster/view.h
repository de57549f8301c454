// Views: who is a member, and what the members agreed on. Only a registry makes them, so all nodes
// see the same sequence of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_id.h"

namespace turno::cluster {

inline constexpr std::size_t most_members = 128;
inline constexpr std::size_t longest_node_name = 64;

struct Member {
  std::uint64_t id = 0;  // of one start of a node: 63 random bits, never 0, never used again
  std::string name;
  std::string peer_address;
  std::string client_address;
  std::string client_socket;
  std::string http_address;
  std::int64_t pid = 0;

  bool operator==(const Member&) const = default;
};

// What is wrong with the name of a node, or nothing. Files are named after nodes.
[[nodiscard]] std::string wrong_with_name(std::string_view name);

// A number for a new member, or a key. Never 0, below 2^63.
[[nodiscard]] std::uint64_t random_id();

// A moment that the processes of one machine can compare, until it is booted again. The clock
// stands still while the machine is suspended, as its processes do.
struct Moment {
  std::string boot;     // which start of the machine; empty: not known
  std::int64_t ns = 0;  // of its monotonic clock

  [[nodiscard]] static Moment now();
  bool operator==(const Moment&) const = default;
};

// A member that died rather than left.
struct Casualty {
  std::uint64_t id = 0;
  std::string name;
  std::int64_t pid = 0;
  std::uint32_t epoch = 0;  // the first without it
  std::int64_t at_ms = 0;   // when that was noticed, since 1970

  bool operator==(const Casualty&) const = default;
};
inline constexpr std::size_t most_casualties = 16;

struct View {
  std::uint32_t epoch = 0;
  // Epochs count the views of one registry. For fences something is added that was fixed when the
  // first member joined: the clock, so that fences grow also if the registry was lost.
  std::uint64_t fences_from = 0;
  std::vector<Member> members;  // in the order of joining; NodeIds are positions in it

  // Of the whole cluster, fixed by the first member.
  std::string algorithm;   // of locks
  std::string allocator;   // of reservations
  std::uint32_t wire = 0;  // the version of what members say to each other
  std::uint64_t key = 0;   // what peers must present
  std::int64_t lock_delay_ms = 0;
  std::int64_t idle_ms = 0;

  // Somebody died rather than left between the view before and this one.
  bool crashed = false;
  // The last epoch that began with `crashed`, or 0. Who may have missed a view in between asks
  // crashed_since(the last epoch it has seen).
  std::uint32_t last_crash = 0;
  std::optional<Moment> crash_moment;  // when that one was noticed, if it is known
  // The last epoch that began without a member that may still act for its users, or 0, and for how
  // long after the proof of its membership a member may do so. 0: only the certainly dead are
  // dropped.
  std::uint32_t last_unproven = 0;
  std::int64_t authority_ms = 0;
  std::vector<Casualty> casualties;  // the last of them, the latest last; for people

  // How much of the lock delay is left. In doubt all of it: if the moment is not known or lies in
  // the future. Nothing if the machine was booted since: who held a lock then runs no more.
  [[nodiscard]] std::chrono::nanoseconds remaining_delay(const Moment& now) const;

  [[nodiscard]] std::size_t size() const { return members.size(); }
  [[nodiscard]] bool crashed_since(std::uint32_t seen) const { return last_crash > seen; }

  // The position of a member, or nobody.
  [[nodiscard]] NodeId index_of(std::uint64_t id) const {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].id == id) return NodeId(i);
    }
    return nobody;
  }
  [[nodiscard]] const Member* find(std::uint64_t id) const {
    const auto index = index_of(id);
    return index == nobody ? nullptr : &members[index.index()];
  }
  [[nodiscard]] const Member* find(std::string_view name) const {
    for (const auto& member : members) {
      if (member.name == name) return &member;
    }
    return nullptr;
  }

  bool operator==(const View&) const = default;
};

}  // namespace turno::cluster
