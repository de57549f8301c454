// Options of semaphores: permits, how requests travel, and how crashes are noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "catalogue/catalogue.h"
#include "cli/frame/command.h"
#include "core/text/json.h"

namespace turno::cli {

struct SemaphoreOptions {
  std::optional<std::uint32_t> permits;
  std::string threshold, ack_timeout, detector, detector_interval, detector_timeout;
  bool direct = false, counted = false, reply_acknowledges = false, lossy = false, queued = false;

  void add_to(Command command);
  // Throws UsageError.
  void apply(const Algorithm& algorithm, Setup& setup) const;
  void describe(const Algorithm& algorithm, Json& json) const;
};

// The nodes notice crashes by themselves.
bool has_detector(const Setup& setup);

}  // namespace turno::cli
