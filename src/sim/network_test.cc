#include "sim/network.h"

#include <gtest/gtest.h>

#include "core/node_ids_testing.h"

namespace turno::sim {
namespace {

// Here a and b are in one site, c in another.

Options two_sites() {
  Options options;
  options.setup.sites.of = {0, 0, 1};
  options.delay = Distribution::constant(1);
  options.sites.remote = Distribution::constant(500);
  return options;
}

TEST(Network, TakesLongerBetweenSitesAndCountsBoth) {
  const auto options = two_sites();
  Network network(options);
  Random random(1);
  EXPECT_EQ(network.delay(a, b, false, random), 1);
  EXPECT_EQ(network.delay(a, c, false, random), 500);
  EXPECT_EQ(network.delay(c, b, true, random), 1) << "exempt";
  EXPECT_EQ(network.local(), 1U);
  EXPECT_EQ(network.remote(), 2U);
}

TEST(Network, WithoutSitesCountsNoWays) {
  Options options;
  options.delay = Distribution::constant(7);
  Network network(options);
  Random random(1);
  EXPECT_EQ(network.delay(a, b, false, random), 7);
  EXPECT_EQ(network.local() + network.remote(), 0U);
}

TEST(Network, KeepsOrderOnlyIfChannelsDoAndOnlyWithinOne) {
  Options options;
  options.fifo = true;
  Network ordered(options);
  EXPECT_EQ(ordered.arrival(a, b, 9), 9);
  EXPECT_EQ(ordered.arrival(a, b, 5), 9);
  EXPECT_EQ(ordered.arrival(b, a, 5), 5);
  EXPECT_EQ(ordered.arrival(a, b, 12), 12);
  options.fifo = false;
  Network unordered(options);
  EXPECT_EQ(unordered.arrival(a, b, 9), 9);
  EXPECT_EQ(unordered.arrival(a, b, 5), 5);
}

}  // namespace
}  // namespace turno::sim
