// What the policies that prevent deadlocks have in common: sessions that hold resources, one unit
// of each. A deadlock needs four things at once (Coffman, Elphick, Shoshani 1971): exclusion,
// holding while waiting, no preemption, and a circular wait. Each policy takes one of them away.
//
//   collective.h   nobody waits while it holds something
//   ordered.h      nobody waits for something that comes before what it holds
//   preemption.h   whoever waits can lose what it holds
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace turno::protocols {

using SessionId = std::uint32_t;
using ResourceId = std::uint32_t;

// What becomes of those who cannot have it now. Only turns are free of starvation; retrying is what
// textbooks describe, kept to show that.
enum class Waiting : std::uint8_t {
  in_turn,  // they queue
  retry     // they are turned away, and come again
};

// Who holds what.
class Possessions {
 public:
  explicit Possessions(std::size_t resources) : holder_(resources) {}

  [[nodiscard]] bool free(ResourceId resource) const { return !holder_[resource]; }
  [[nodiscard]] bool all_free(const std::vector<ResourceId>& wanted) const {
    return std::all_of(wanted.begin(), wanted.end(), [&](ResourceId r) { return free(r); });
  }
  [[nodiscard]] std::optional<SessionId> holder(ResourceId resource) const {
    return holder_[resource];
  }
  [[nodiscard]] std::vector<ResourceId> of(SessionId session) const {
    std::vector<ResourceId> held;
    for (ResourceId r = 0; r < holder_.size(); ++r)
      if (holder_[r] == session) held.push_back(r);
    return held;
  }
  void give(SessionId session, ResourceId resource) { holder_[resource] = session; }
  void take_back(ResourceId resource) { holder_[resource].reset(); }
  void take_back_all(SessionId session) {
    for (auto& holder : holder_)
      if (holder == session) holder.reset();
  }

  auto operator<=>(const Possessions&) const = default;

 private:
  std::vector<std::optional<SessionId>> holder_;  // of each resource
};

}  // namespace turno::protocols
