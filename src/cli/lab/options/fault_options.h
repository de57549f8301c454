// Options that say what may go wrong (turno check), and what does (turno sim).
#pragma once

#include <cstdint>
#include <string>

#include "catalogue/catalogue.h"
#include "check/options.h"
#include "cli/frame/command.h"
#include "core/text/json.h"
#include "sim/options.h"

namespace turno::cli {

struct FaultBudget {
  std::uint32_t crashes = 0, recoveries = 0, losses = 0, duplicates = 0, early_timeouts = 0,
                false_suspicions = 0, withdrawals = 0;
  bool keep_sent = false, staying = false;
  std::string dead;

  void add_to(Command command);
  // Throws UsageError.
  void apply(const Algorithm& algorithm, std::uint64_t nodes, check::Options& options) const;
  void describe(Json& json) const;
  [[nodiscard]] std::string text() const;  // ", 2 crashes, 1 loss", or nothing
};

struct Calamities {
  std::string crash, recover, crash_every, crash_order;

  void add_to(Command command);
  // Throws UsageError.
  void apply(const Algorithm& algorithm, std::uint64_t nodes, sim::Options& options) const;
};

}  // namespace turno::cli
