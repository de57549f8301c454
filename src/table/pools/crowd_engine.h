// The engine of what several may have at once: semaphores, rooms, stores.
#pragma once

#include <utility>
#include <vector>

#include "table/engine_of.h"

namespace turno::table {

template <Protocol P, class DeskOfKind>
class CrowdEngineOf : public CommonEngine<P, DeskOfKind, PoolEntry, PoolEngine> {
 protected:
  using Common = CommonEngine<P, DeskOfKind, PoolEntry, PoolEngine>;

 public:
  Engine::Result step(Entry& entry, Stage& stage, const cluster::DeskEvent& event) override {
    typename Common::Out out;
    auto& desk = Common::of(entry);
    desk.step(stage.context(entry), event, out);
    this->carry(entry, stage, out);
    admitted_ = std::move(out.admitted);
    refused_ = std::move(out.refused);
    return {.spot = out.spot,
            .done = out.done,
            .spoilt = out.spoilt,
            .instance = desk.part(),
            .lives = desk.home.lives(),
            .idle = desk.idle(stage.ledger, stage.rules)};
  }

  [[nodiscard]] std::span<const cluster::Admission> admitted() const override { return admitted_; }
  [[nodiscard]] std::span<const cluster::Refusal> refused() const override { return refused_; }

 private:
  std::vector<cluster::Admission> admitted_;
  std::vector<cluster::Refusal> refused_;
};

}  // namespace turno::table
