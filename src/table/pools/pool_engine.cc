// The engines of semaphores and of rooms.
#include "cluster/pool.h"
#include "protocols/group/quorum_group.h"
#include "protocols/kmutex/k_out_of_m.h"
#include "table/pools/crowd_engine.h"
#include "table/pools/room_engine.h"

namespace turno::table {

namespace {

template <Protocol P>
class PoolEngineOf final : public CrowdEngineOf<P, cluster::Pool<P>> {
  using Common = typename CrowdEngineOf<P, cluster::Pool<P>>::Common;

  [[nodiscard]] std::vector<cluster::UserId> line(const Entry& entry) const override {
    const auto& line = Common::of(entry).crowd.line;
    return {line.begin(), line.end()};
  }
  [[nodiscard]] std::optional<PoolEngine::Kept> kept(const Entry& entry) const override {
    const auto* dead = Common::of(entry).crowd.find(cluster::the_dead);
    if (dead == nullptr) return {};
    return PoolEngine::Kept{.permits = dead->units};
  }
  [[nodiscard]] std::uint32_t most(const Entry& entry, std::string_view) const override {
    return Common::of(entry).permits;
  }
};

}  // namespace

std::unique_ptr<PoolEngine> make_pool_engine() {
  return std::make_unique<PoolEngineOf<protocols::KOutOfM>>();
}
std::unique_ptr<PoolEngine> make_room_engine() {
  return std::make_unique<RoomEngineOf<protocols::QuorumGroup>>();
}

}  // namespace turno::table
