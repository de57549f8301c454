// Options of detectors of deadlock: what their processes do.
#pragma once

#include <cstdint>
#include <optional>

#include "catalogue/catalogue.h"
#include "cli/frame/command.h"
#include "core/text/json.h"

namespace turno::cli {

struct DetectionOptions {
  std::optional<std::uint32_t> waits, resources;
  bool sets = false;

  void add_to(Command command);
  // Throws UsageError.
  void apply(const Algorithm& algorithm, Setup& setup) const;
  void describe(const Algorithm& algorithm, Json& json) const;
  [[nodiscard]] std::string text(const Algorithm& algorithm) const;
};

}  // namespace turno::cli
