// Options of semaphores: permits, how many a request asks for, how requests travel, and how crashes
// are noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "cli/frame/command.h"
#include "core/text/json.h"

namespace turno::cli {

struct SemaphoreOptions {
  std::optional<std::uint32_t> permits;
  std::string threshold, ack_timeout, detector, detector_interval, detector_timeout;
  std::string counts;                  // check: what each node asks for, one after the other
  std::optional<std::uint32_t> count;  // sim: what each request asks for
  bool apart = false, plain = false;
  bool direct = false, counted = false, reply_acknowledges = false, lossy = false, queued = false;

  void add_to(Command command);
  void add_to_check(Command command);
  void add_to_sim(Command command);
  // Throw UsageError.
  void count_nodes(const Algorithm& algorithm, System& system) const;
  void apply(const Algorithm& algorithm, Setup& setup) const;
  void apply(const Algorithm& algorithm, check::Options& options) const;
  void apply(const Algorithm& algorithm, sim::Options& options) const;
  void describe(const Algorithm& algorithm, Json& json) const;
};

// The nodes notice crashes by themselves.
bool has_detector(const Setup& setup);

}  // namespace turno::cli
