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

// What is known of one thing. Of a lock or an election at most one of the first four is there, and
// of what several may have none: who has some of it, or is kept some, is among the holders.
struct ThingFindings {
  const NodeSighting* holder = nullptr;
  const NodeSighting* kept = nullptr;     // for the dead
  const NodeSighting* leaving = nullptr;  // nobody has it before this node has left
  const NodeSighting* noted = nullptr;    // a silent member may have it, as its home was told
  std::vector<const NodeSighting*> holders;
  std::vector<const NodeSighting*> waiters;  // the longest wait first

  [[nodiscard]] bool is_free() const {
    return holder == nullptr && kept == nullptr && leaving == nullptr && noted == nullptr &&
           holders.empty();
  }
  // Of the holders: how many permits or resources they have, or how many are inside a room.
  [[nodiscard]] std::size_t in_use() const;
};

// Of one name and one kind. What was found must live as long as the result.
[[nodiscard]] ThingFindings put_in_order(std::span<const NodeSighting> found,
                                         Thing thing = Thing::lock);
// Of all names and kinds.
using ByName = std::map<std::pair<std::string_view, Thing>, ThingFindings>;
[[nodiscard]] ByName put_in_order(const Findings& findings);

// What somebody waits for, as RESERVE takes it: "gpu:2 licence:1".
[[nodiscard]] std::string claims_of(std::span<const Resource> wanted);

// "node-1 (pid 123, stopped) did not answer: `kill -CONT 123` lets it go on, ...", of all.
[[nodiscard]] std::string describe_silent(std::span<const SilentMember> silent);

// Members that have said nothing for a while, and for how long.
struct QuietMember {
  SilentMember member;
  std::chrono::milliseconds quiet_for{};
};
[[nodiscard]] std::vector<QuietMember> quiet_members(const Host& host);

}  // namespace turno::port
