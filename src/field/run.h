// `turno run`: a protocol on real processes, as the papers' authors ran it. One process a node with
// sockets between them, real timers, kills for crashes; no desk and no views around it.
#pragma once

#include <cstdint>

#include "field/actor.h"
#include "field/judge.h"
#include "sim/options.h"

namespace turno::field {

struct Plan {
  double scale = 1;           // of all times: 0.1 is ten times faster
  std::size_t processes = 0;  // 0: one a node, up to most_alone
  bool clocks = false;        // messages carry vector clocks, and these are judged too
  // Of real time: without an entry although somebody waits; and for the whole run.
  std::int64_t patience_ns = 30'000'000'000, limit_ns = 600'000'000'000;

  static constexpr std::size_t most_alone = 64;
};

struct Outcome : Verdict {
  std::size_t processes = 0;
  double real_seconds = 0;
};

// Throws UsageError for what real processes cannot do.
Outcome run(const Cast& cast, const sim::Options& options, const Plan& plan);

}  // namespace turno::field
