// The detector by hand, and for every crash set of small systems; sixteen nodes are in
// catalogue/explored/detector_test.cc.
#include "protocols/parts/detector/hypercube_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/parts/detector/rounds_testing.h"

namespace turno::protocols {
namespace {

using testing::DetectorRounds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr NodeId n0{0}, n1{1}, n2{2}, n3{3};

TEST(HypercubeDetector, TestsItsClustersOneAfterTheOther) {
  HypercubeDetector node(4, n0, Detector::hi_adsd);
  DetectorReport report;
  node.begin_round(report);
  EXPECT_THAT(report.tests, ElementsAre(n1));
  EXPECT_TRUE(node.waits());
  report = {};
  node.answer(n1, node.test(), {}, report);
  EXPECT_THAT(report.tests, ElementsAre(n2));
  report = {};
  node.answer(n2, node.test(), {}, report);
  EXPECT_THAT(report.tests, IsEmpty());
  EXPECT_FALSE(node.testing()) << "2 answers for its cluster";
}

TEST(HypercubeDetector, WhoIsSilentHasCrashedAndTheNextIsTested) {
  HypercubeDetector node(4, n0, Detector::hi_adsd);
  DetectorReport report;
  node.begin_round(report);
  node.answer(n1, node.test(), {}, report);
  report = {};
  node.expire(report);
  EXPECT_THAT(report.crashes, ElementsAre(n2));
  EXPECT_THAT(report.tests, ElementsAre(n3));
  report = {};
  node.expire(report);
  EXPECT_THAT(report.crashes, ElementsAre(n3));
  EXPECT_FALSE(node.testing());
  report = {};
  node.begin_round(report);
  node.answer(n1, node.test(), {}, report);
  report = {};
  node.expire(report);
  EXPECT_THAT(report.crashes, IsEmpty()) << "a crash is told once";
  EXPECT_THAT(report.tests, ElementsAre(n3)) << "the dead are tested all the same";
}

TEST(HypercubeDetector, LateAnswersAreIgnored) {
  HypercubeDetector node(4, n0, Detector::hi_adsd);
  DetectorReport report;
  node.begin_round(report);
  const auto first = node.test();
  node.expire(report);
  EXPECT_THAT(report.crashes, ElementsAre(n1));
  const auto before = node;
  report = {};
  node.answer(n1, first, {}, report);
  node.answer(n3, node.test(), {}, report);
  EXPECT_EQ(node, before) << "1 comes too late, 3 was not asked";
}

TEST(HypercubeDetector, ARunningRoundIsFinishedFirst) {
  HypercubeDetector node(4, n0, Detector::hi_adsd);
  DetectorReport report;
  node.begin_round(report);
  const auto before = node;
  report = {};
  node.begin_round(report);
  EXPECT_EQ(node, before);
  EXPECT_THAT(report.tests, IsEmpty());
}

TEST(HypercubeDetector, LearnsFromAnAnswerAboutThatClusterOnly) {
  EventCounters theirs;
  theirs.suspect(n1);
  theirs.suspect(n3);
  for (const auto rule : {Detector::hi_adsd, Detector::vcube}) {
    HypercubeDetector node(4, n0, rule);
    DetectorReport report;
    node.begin_round(report);
    node.answer(n1, node.test(), {}, report);
    report = {};
    node.answer(n2, node.test(), theirs, report);
    if (rule == Detector::hi_adsd) {
      EXPECT_THAT(report.crashes, ElementsAre(n3));
    } else {
      EXPECT_THAT(report.crashes, ElementsAre(n1, n3)) << "VCube learns about everybody";
    }
  }
}

TEST(HypercubeDetector, OfVCubeTestsThoseWhoseFirstTrustedNodeItIs) {
  HypercubeDetector node(4, n0, Detector::vcube);
  DetectorReport report;
  node.suspect(n1, report);
  report = {};
  node.begin_round(report);
  EXPECT_THAT(report.tests, ElementsAre(n1)) << "the dead are tested too";
  report = {};
  node.expire(report);
  EXPECT_THAT(report.tests, ElementsAre(n2, n3)) << "3 has nobody but 0: 1 is dead";
  node.answer(n3, node.test(), {}, report);
  EXPECT_TRUE(node.waits());
  node.answer(n2, node.test(), {}, report);
  EXPECT_FALSE(node.waits());
}

TEST(HypercubeDetector, IsAloneInPeace) {
  HypercubeDetector node(1, n0, Detector::hi_adsd);
  DetectorReport report;
  node.begin_round(report);
  EXPECT_FALSE(node.testing());
}

// All nodes know all crashes after log2 N rounds, whoever crashes.
TEST(DetectorRounds, OfHiAdsdAreAtMostLogN) {
  for (const std::size_t nodes : {2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    const int log = Hypercube(nodes).clusters();
    std::size_t tests = 0;
    for (std::uint32_t set = 1; set < (1U << nodes) - 1; ++set) {
      DetectorRounds system(nodes, Detector::hi_adsd);
      system.crash(set);
      const auto outcome = system.settle(log);
      tests = std::max(tests, outcome.tests);
      EXPECT_TRUE(system.complete()) << nodes << " nodes, crash set " << set;
    }
    if (nodes == 8) {
      EXPECT_EQ(tests, 24U);
    }
  }
}

TEST(DetectorRounds, OfVCubeAreAtMostThreeForEightNodes) {
  int rounds = 0;
  for (std::uint32_t set = 1; set < 255; ++set) {
    DetectorRounds system(8, Detector::vcube);
    system.crash(set);
    rounds = std::max(rounds, system.settle(8).rounds);
    EXPECT_TRUE(system.complete()) << "crash set " << set;
  }
  EXPECT_EQ(rounds, 3);
}

}  // namespace
}  // namespace turno::protocols
