// The engine of rooms, with one algorithm.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cluster/room.h"
#include "table/pools/crowd_engine.h"

namespace turno::table {

template <Protocol P>
class RoomEngineOf final : public CrowdEngineOf<P, cluster::Room<P>> {
  using Common = typename CrowdEngineOf<P, cluster::Room<P>>::Common;

  [[nodiscard]] std::vector<cluster::UserId> line(const Entry& entry) const override {
    std::vector<cluster::UserId> users;
    for (const auto& wish : Common::of(entry).line) users.push_back(wish.user);
    return users;
  }
  [[nodiscard]] std::optional<PoolEngine::Kept> kept(const Entry& entry) const override {
    for (const auto& guest : Common::of(entry).guests)
      if (guest.user == cluster::the_dead) return PoolEngine::Kept{};
    return {};
  }
  [[nodiscard]] std::uint32_t most(const Entry& entry, std::string_view group) const override {
    for (const auto& known : Common::of(entry).terms.groups)
      if (known.name == group) return known.capacity;
    return 0;
  }
};

}  // namespace turno::table
