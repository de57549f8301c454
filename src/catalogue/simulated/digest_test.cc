// The same seed gives the same run: twice in one program, and with every compiler. The digests
// cover every event's time, node and kind. catalogue_test is built by g++, digest_test by clang.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "catalogue/simulated/digest_testing.h"
#include "core/random.h"
#include "core/topology.h"
#include "protocols/parts/quorum/constructions.h"

namespace turno {

using namespace protocols;

sim::Options testing::digest_options(const Info& info, std::uint64_t seed) {
  sim::Options options;
  Random random(seed);
  options.setup.father = fathers(Topology::random_tree, 13, random);
  if (info.voting) options.setup.quorums = quorums(QuorumConstruction::cyclic, 13);
  options.fifo = info.fifo;
  options.hold = sim::Distribution::exponential(5'000'000);
  options.entries = 2'000;
  options.seed = seed;
  return options;
}

namespace {

TEST(Digest, IsTheSameOnEveryCompiler) {
  const std::vector<std::uint64_t> golden = {
      0x32aac507e110a460, 0x5b002dac5a64455b, 0x0dbc02414850e661, 0x985dad38ad06f643,
      0x018e0667faf1cbd0, 0x152ccce2fdf61ab1, 0x53be4c955f7d0958, 0x2739ebe8d180fede,
      0xbabeba08d4e6e028, 0xb1fdca21eb7be86e, 0x4e797f957ed37c86, 0x21b4e8cfac7b17fb,
      0x2c0d4bd6ff34703c, 0x41a7169e2d964b35,
  };
  EXPECT_EQ(testing::digests(42), golden);
}

TEST(Digest, IsTheSameTwiceAndAnotherForAnotherSeed) {
  const auto once = testing::digests(1);
  EXPECT_EQ(once, testing::digests(1));
  const auto other = testing::digests(2);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NE(once[i], other[i]);
}

}  // namespace
}  // namespace turno
