// Options of rooms: groups, their processes, when the door is open, who visits what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "cli/frame/command.h"
#include "core/text/json.h"

namespace turno::cli {

struct RoomOptions {
  std::optional<std::uint64_t> groups, visitors, sessions;
  std::optional<std::uint32_t> overtakings;
  std::string door, capacity, visits;
  bool separate_fences = false;

  void add_to(Command command);
  void add_to_check(Command command);
  void add_to_sim(Command command);

  // How many nodes there are follows from groups and processes. Throws UsageError.
  // `open`: the processes come from outside.
  void count_nodes(const Algorithm& algorithm, System& system, bool open = false) const;
  void apply(const Algorithm& algorithm, Setup& setup) const;
  // Who asks for what. Throw UsageError.
  void apply(const Algorithm& algorithm, check::Options& options) const;
  void apply(const Algorithm& algorithm, sim::Options& options) const;
  void describe(const Algorithm& algorithm, Json& json) const;
  // "3 groups, demand door, visits 0,1,2"
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] bool given() const;
};

}  // namespace turno::cli
