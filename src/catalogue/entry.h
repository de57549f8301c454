// One algorithm with the simulator and the checker. The templates are instantiated in the sources
// that CMake makes from algorithm.cc.in, one for each algorithm.
#pragma once

#include <string_view>
#include <vector>

#include "catalogue/catalogue.h"
#include "check/explorer.h"
#include "core/assert.h"
#include "sim/autonomous.h"
#include "sim/simulation.h"

namespace turno {

// In the order of the list.
std::vector<Algorithm> describe_all();

template <Protocol P>
check::Result run_check(const check::Options& options) {
  return check::Explorer<P>(options).run();
}

template <Protocol P>
sim::Result run_simulation(const sim::Options& options) {
  if constexpr (has_users(P::info.primitive)) {
    return sim::Simulation<P>(options).run();
  } else {
    return sim::Autonomous<P>(options).run();
  }
}

// What is as published is simulated only if it says so.
template <Protocol P, Algorithm::Kind kind>
Algorithm entry(std::string_view name) {
  TURNO_ASSERT(name == P::info.name);
  Algorithm algorithm{.info = P::info,
                      .kind = kind,
                      .abilities = {.crashes = Mortal<P>,
                                    .suspicions = Suspecting<P>,
                                    .recoveries = Recoverable<P>,
                                    .timers = HasTimers<P>,
                                    .withdrawals = Withdrawable<P>,
                                    .parts = Divisible<P>},
                      .check = run_check<P>};
  if constexpr (kind != Algorithm::Kind::published || requires { P::simulated; })
    algorithm.simulate = run_simulation<P>;
  if constexpr (requires { P::alone(Setup{}); }) algorithm.alone = P::alone;
  if constexpr (requires { P::departures; }) algorithm.departures = P::departures;
  return algorithm;
}

}  // namespace turno
