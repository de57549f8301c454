// Options of reservations and of sites: which resources there are, who asks for what, which nodes
// are near to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "cli/frame/command.h"
#include "core/text/json.h"

namespace turno::cli {

struct ReservationOptions {
  std::string sites;
  std::optional<std::uint32_t> preference, frequent, bypasses;
  std::optional<std::uint64_t> types;
  std::string instances;
  // Of the checker.
  std::string needs;
  bool as_it_chooses = false;
  // Of the simulator.
  std::string demand, local, remote, latency_on;
  bool deaf = false, printed_clocks = false;
  std::optional<std::uint32_t> entries_per_node;

  void add_to(Command command);
  void add_to_check(Command command);
  void add_to_sim(Command command);

  // The sizes of sites say how many nodes there are. Throws UsageError.
  void count_nodes(System& system, bool nodes_given) const;
  // Throw UsageError.
  void apply(const Algorithm& algorithm, check::Options& options) const;
  void apply(const Algorithm& algorithm, sim::Options& options) const;
  void describe(const Algorithm& algorithm, Json& json) const;

 private:
  void apply(const Algorithm& algorithm, Setup& setup, const std::string& default_instances) const;
};

// What a run in sites or of reservations says beyond others.
void add_reservations(const std::vector<sim::Result>& results, const sim::Options& options,
                      Json& json);
std::string reservations_text(const std::vector<sim::Result>& results, const sim::Options& options);

}  // namespace turno::cli
