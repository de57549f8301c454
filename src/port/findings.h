// What members said about one lock, put in order for whoever tells people.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "port/host.h"

namespace turno::port {

// The kind of thing that is called so, if several are: the first that somebody has or wants of
// locks, semaphores, elections, rooms and stores. Nothing: nobody was found.
[[nodiscard]] std::optional<Thing> thing_found(const Findings& findings);
// What is of that kind, and who waits for it.
[[nodiscard]] Findings only(Findings findings, Thing thing);

// At most one of the first three is there.
struct LockFindings {
  const NodeSighting* holder = nullptr;
  const NodeSighting* kept = nullptr;        // for the dead
  const NodeSighting* noted = nullptr;       // a silent member may have it, as its home was told
  std::vector<const NodeSighting*> waiters;  // the longest wait first

  [[nodiscard]] bool is_free() const {
    return holder == nullptr && kept == nullptr && noted == nullptr;
  }
};

// All `found` are of one name; those of locks are looked at, or of elections. They must live as
// long as the result.
[[nodiscard]] LockFindings put_in_order(std::span<const NodeSighting> found,
                                        Thing thing = Thing::lock);
// Locks and elections, by their names.
using ByName = std::map<std::pair<std::string_view, Thing>, LockFindings>;
[[nodiscard]] ByName put_in_order(const Findings& findings);

// "node-1 (pid 123, stopped) did not answer: `kill -CONT 123` lets it go on, ...", of all.
[[nodiscard]] std::string describe_silent(std::span<const SilentMember> silent);

// Members that have said nothing for a while, and for how long.
struct QuietMember {
  SilentMember member;
  std::chrono::milliseconds quiet_for{};
};
[[nodiscard]] std::vector<QuietMember> quiet_members(const Host& host);

}  // namespace turno::port
