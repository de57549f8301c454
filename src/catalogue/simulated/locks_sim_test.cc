// Every lock in the simulator: alone, in pairs and in crowds.
#include <gtest/gtest.h>

#include <string>

#include "catalogue/catalogue.h"
#include "catalogue/system.h"

namespace turno {
namespace {

TEST(SimulatedLocks, ServeEverybody) {
  int seen = 0;
  for (const auto& algorithm : algorithms()) {
    if (algorithm.info.primitive != Primitive::lock || algorithm.simulate == nullptr) continue;
    if (algorithm.kind == Algorithm::Kind::published) continue;
    ++seen;
    for (const std::size_t nodes : {1UL, 2UL, 5UL, 70UL}) {
      for (const auto busy : {sim::Busy::lose, sim::Busy::queue}) {
        sim::Options options;
        options.setup = make_setup(algorithm.info, {.nodes = nodes});
        options.fifo = algorithm.info.fifo;
        options.entries = 300;
        options.busy = busy;
        options.arrivals.rate = 2;
        const auto result = algorithm.simulate(options);
        EXPECT_EQ(result.violation, "") << algorithm.info.name << " " << nodes;
        EXPECT_EQ(result.entries, 300U) << algorithm.info.name << " " << nodes;
        EXPECT_EQ(result.inside_max, 1U);
        if (nodes == 1) {
          EXPECT_EQ(result.messages, 0U) << algorithm.info.name;
        }
      }
    }
  }
  EXPECT_GT(seen, 13);
}

}  // namespace
}  // namespace turno
