// The detector for every crash set of sixteen nodes, and for crashes in two waves of eight: too
// much for the unoptimised tests beside it.
#include <gtest/gtest.h>

#include <algorithm>

#include "protocols/parts/detector/rounds_testing.h"

namespace turno {

using namespace protocols;
namespace {

using testing::DetectorRounds;

struct Most {
  int rounds = 0;
  std::size_t tests = 0;
};

Most over_all_crash_sets(std::size_t nodes, Detector rule) {
  Most most;
  for (std::uint32_t set = 1; set < (1U << nodes) - 1; ++set) {
    DetectorRounds system(nodes, rule);
    system.crash(set);
    const auto outcome = system.settle(20);
    most.rounds = std::max(most.rounds, outcome.rounds);
    most.tests = std::max(most.tests, outcome.tests);
    if (!system.complete()) ADD_FAILURE() << "crash set " << set;
  }
  return most;
}

TEST(Detector, OfSixteenNodesIsCompleteAfterLogNRounds) {
  const auto most = over_all_crash_sets(16, Detector::hi_adsd);
  EXPECT_EQ(most.rounds, 4);
  EXPECT_EQ(most.tests, 88U);
}

TEST(Detector, OfVCubeNeedsFewerTests) {
  const auto most = over_all_crash_sets(16, Detector::vcube);
  EXPECT_EQ(most.rounds, 4);
  EXPECT_EQ(most.tests, 63U);
}

// Some crash, a round goes by, some more crash.
TEST(Detector, CatchesUpWithASecondWaveOfCrashes) {
  for (const auto rule : {Detector::hi_adsd, Detector::vcube}) {
    int rounds = 0;
    for (std::uint32_t first = 1; first < 255; ++first) {
      for (std::uint32_t both = first + 1; both < 255; ++both) {
        if ((both & first) != first) continue;
        DetectorRounds system(8, rule);
        system.crash(first);
        system.round();
        system.crash(both);
        rounds = std::max(rounds, system.settle(20).rounds);
        if (!system.complete() || !system.accurate()) ADD_FAILURE() << first << ", " << both;
      }
    }
    EXPECT_EQ(rounds, 3);
  }
}

}  // namespace
}  // namespace turno
