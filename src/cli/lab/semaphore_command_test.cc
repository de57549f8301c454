// turno sim and turno check of semaphores: the paper's experiment, the fields that only they have,
// and what they answer to impossible wishes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cli/frame/command_testing.h"

namespace turno {
namespace {

using testing::expect_fields;
using ::testing::HasSubstr;
using testing::parsed;
using testing::turno;

const std::string experiment =
    " --nodes 16 --permits 5 --requesters 0-4 --arrivals closed:100ms --first 900ms --hold 800ms "
    "--delay constant:10ms --crash-every 5s --crash-order 15..1 --until 100.7s --json";
const std::string detector =
    " --ack-timeout 80ms --detector hi-adsd --detector-interval 1s --detector-timeout 40ms";

TEST(SimulatedSemaphore, RunsThePapersExperiment) {
  const auto outcome = turno("sim robust-k" + experiment + detector);
  EXPECT_EQ(outcome.status, 0);
  const auto result = parsed(outcome);
  expect_fields(result, {"permits", "messages_by_kind", "entries_by_interval", "detector"});
  const auto& kinds = result.at("messages_by_kind").as_object();
  expect_fields(kinds, {"tree", "ack", "reply", "ping", "pong"});
  const auto& noticed = result.at("detector").as_object();
  EXPECT_EQ(noticed.at("tests"), 5100) << "as published";
  EXPECT_EQ(noticed.at("replies"), 2348) << "as published";
  EXPECT_EQ(noticed.at("suspicions"), 120);
  EXPECT_EQ(noticed.at("latency_ms").at("max").to_number<double>(), 2080);
  EXPECT_EQ(result.at("inside_max"), 5);
  const auto& entries = result.at("entries_by_interval").as_array();
  ASSERT_EQ(entries.size(), 21U);
  EXPECT_GT(entries.at(19).as_int64(), 4) << "one node is left, and gets in";
  EXPECT_FALSE(result.contains("violation"));
}

TEST(SimulatedSemaphore, CountedSendsWhatIsKnown) {
  const auto result = parsed(turno("sim robust-k --counted" + experiment + detector));
  const auto& kinds = result.at("messages_by_kind").as_object();
  EXPECT_EQ(kinds.at("tree"), 3324);
  EXPECT_EQ(kinds.at("reply"), 3084);
  EXPECT_EQ(kinds.at("ack"), 3088);
  EXPECT_EQ(kinds.at("taken"), 0);
  EXPECT_EQ(result.at("entries"), 394);
}

// The baseline serves fewer and fewer, and after the fifth crash nobody.
TEST(SimulatedSemaphore, BaselineIsStoppedByTheFifthCrash) {
  const auto outcome = turno("sim raymond-k" + experiment);
  EXPECT_EQ(outcome.status, 0);
  const auto result = parsed(outcome);
  EXPECT_EQ(result.at("messages_by_kind").at("request"), 1425) << "as published";
  EXPECT_EQ(boost::json::serialize(result.at("entries_by_interval")), "[25,24,18,12,8,3]");
}

TEST(SimulatedSemaphore, WithVCubeTestsLess) {
  auto options = experiment + detector;
  options.replace(options.find("hi-adsd"), 7, "vcube");
  const auto noticed = parsed(turno("sim robust-k" + options)).at("detector").as_object();
  EXPECT_EQ(noticed.at("tests"), 3490);
  EXPECT_EQ(noticed.at("suspicions"), 120);
}

TEST(CheckedSemaphore, SaysWhatWasExplored) {
  const auto outcome = turno("check robust-k --nodes 3 --permits 2 --crashes 2 --direct --json");
  EXPECT_EQ(outcome.status, 0);
  const auto result = parsed(outcome);
  EXPECT_EQ(result.at("verdict"), "holds");
  EXPECT_EQ(result.at("permits"), 2);
  EXPECT_EQ(result.at("crashes"), 2);
  EXPECT_EQ(result.at("direct"), true);
  EXPECT_EQ(result.at("states"), 101590);
}

TEST(CheckedSemaphore, NamesTheSlotInACounterexample) {
  const auto outcome =
      turno("check robust-k --nodes 2 --direct --false-suspicions 1 --property exclusion");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("2 permits are in use at once, of 1"));
  EXPECT_THAT(outcome.output, HasSubstr("1 suspects 0, enters (unit 0 fence 3)"));
}

TEST(CheckedSemaphore, RefutesWhatIsPrinted) {
  const auto outcome = turno("check robust-k --as-published adjusted-first --nodes 3 --crashes 1");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("The shortest way there, 13 steps"));
}

TEST(ImpossibleSemaphore, IsRefused) {
  const std::pair<std::string, std::string> wishes[] = {
      {"sim robust-k --nodes 16 --permits 0", "--permits is 1 to the number of nodes, here 16"},
      {"sim robust-k --nodes 16 --permits 17", "--permits is 1 to the number of nodes, here 16"},
      {"check raymond-k --nodes 3 --permits 4", "--permits is 1 to the number of nodes, here 3"},
      {"sim robust-k --nodes 16 --crash 5s:16", "node 16 in '16' does not exist"},
      {"sim robust-k --nodes 16 --crash 5s:3,6s:3", "node 3 cannot crash at 6s"},
      {"sim robust-k --nodes 1", "robust-k is for 2 nodes or more"},
      {"sim robust-k --detector gossip", "there are told, hi-adsd, vcube"},
      {"sim robust-k --detector-timeout 0ms", "--detector-timeout is a time above 0"},
      {"sim robust-k --threshold low", "--threshold is live or fixed"},
      {"sim robust-k --direct --queued", "--queued is for requests along the tree"},
      {"sim raymond-k --detector hi-adsd", "raymond-k has no detector and no tree"},
      {"sim nxr --permits 2", "nxr is not a semaphore"},
      {"sim nxr --counted", "for robust-k, not for nxr"},
      {"check robust-k --detector vcube", "the checker has no clock"},
      {"check raymond-k --false-suspicions 1", "raymond-k suspects nobody"},
  };
  for (const auto& [arguments, answer] : wishes) {
    const auto outcome = turno(arguments);
    EXPECT_EQ(outcome.status, 64) << arguments;
    EXPECT_THAT(outcome.output, HasSubstr(answer)) << arguments;
  }
}

}  // namespace
}  // namespace turno
