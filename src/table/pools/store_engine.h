// The engine of stores, with one algorithm.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cluster/store.h"
#include "table/pools/crowd_engine.h"

namespace turno::table {

template <Protocol P>
class StoreEngineOf final : public CrowdEngineOf<P, cluster::Store<P>> {
  using Common = typename CrowdEngineOf<P, cluster::Store<P>>::Common;

  [[nodiscard]] std::vector<cluster::UserId> line(const Entry& entry) const override {
    std::vector<cluster::UserId> users;
    for (const auto& wish : Common::of(entry).line)
      if (wish.user != cluster::no_user) users.push_back(wish.user);
    return users;
  }
  [[nodiscard]] std::optional<PoolEngine::Kept> kept(const Entry& entry) const override {
    PoolEngine::Kept kept;
    for (const auto& holder : Common::of(entry).holders)
      if (holder.user == cluster::the_dead)
        kept.resources.insert(kept.resources.end(), holder.resources.begin(),
                              holder.resources.end());
    if (kept.resources.empty()) return {};
    return kept;
  }
  // Of a type.
  [[nodiscard]] std::uint32_t most(const Entry& entry, std::string_view type) const override {
    const auto* known = find(Common::of(entry).terms.groups, type);
    return known == nullptr ? 0 : known->capacity;
  }
};

}  // namespace turno::table
