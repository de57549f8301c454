// The engine of semaphores.
#include "cluster/pool.h"
#include "protocols/kmutex/k_out_of_m.h"
#include "table/engine_of.h"

namespace turno::table {

namespace {

template <Protocol P>
class PoolEngineOf final : public CommonEngine<P, cluster::Pool<P>, PoolEntry, PoolEngine> {
  using Common = CommonEngine<P, cluster::Pool<P>, PoolEntry, PoolEngine>;

 public:
  Engine::Result step(Entry& entry, Stage& stage, const cluster::DeskEvent& event) override {
    typename Common::Out out;
    auto& pool = Common::of(entry);
    pool.step(stage.context(entry), event, out);
    this->carry(entry, stage, out);
    admitted_ = std::move(out.admitted);
    refused_ = std::move(out.refused);
    return {.spot = out.spot,
            .done = out.done,
            .spoilt = out.spoilt,
            .instance = pool.part(),
            .lives = pool.home.lives(),
            .idle = pool.idle(stage.ledger, stage.rules)};
  }

  [[nodiscard]] std::span<const cluster::Admission> admitted() const override { return admitted_; }
  [[nodiscard]] std::span<const cluster::Refusal> refused() const override { return refused_; }
  [[nodiscard]] const cluster::Crowd& crowd(const Entry& entry) const override {
    return Common::of(entry).crowd;
  }
  [[nodiscard]] std::uint32_t permits(const Entry& entry) const override {
    return Common::of(entry).permits;
  }

 private:
  std::vector<cluster::Admission> admitted_;
  std::vector<cluster::Refusal> refused_;
};

}  // namespace

std::unique_ptr<PoolEngine> make_pool_engine() {
  return std::make_unique<PoolEngineOf<protocols::KOutOfM>>();
}

}  // namespace turno::table
