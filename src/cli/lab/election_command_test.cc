// turno sim and turno check of what has no users: elections and detectors of deadlock.
#include <gtest/gtest.h>

#include <string>

#include "cli/frame/command_testing.h"

namespace turno::testing {
namespace {

TEST(SimulatedElection, ReportsHowLongItTook) {
  const auto result = parsed(turno("sim bully --nodes 5 --crash 3s:4 --json"));
  EXPECT_EQ(result.at("settlings"), 1);
  EXPECT_EQ(result.at("messages_per_settling").to_number<double>(), 19) << "N^2 - N - 1";
}

TEST(CheckedElection, CountsMessages) {
  const auto result = parsed(
      turno("check bully --nodes 4 --dead 3 --watchers 0 --channels fifo --count-messages --json"));
  EXPECT_EQ(result.at("messages_least"), 8);
  EXPECT_EQ(result.at("messages_most"), 11);
}

TEST(CheckedElection, SaysWhatItLookedAt) {
  const auto outcome = turno("check bully --nodes 3 --dead 2 --watchers 0 --asking --keep-sent");
  EXPECT_NE(outcome.output.find("watched by 0, asking, dead from the start: 2, what was sent"),
            std::string::npos)
      << outcome.output;
  EXPECT_NE(turno("check bully").output.find("an election needs --crashes"), std::string::npos);
}

TEST(SimulatedDetector, CountsWhoIsToldToGiveUp) {
  const auto result = parsed(turno("sim wait-for-graph --nodes 3 --waits 2 --seed 31 --json"));
  EXPECT_EQ(result.at("deadlocked"), result.at("messages_by_kind").at("abort"));
  EXPECT_EQ(result.at("deadlocked"), 1);
}

TEST(WhatHasNoUsers, RefusesOptionsAboutThem) {
  for (const auto* arguments :
       {"check wait-for-graph --forever", "check probes --forever", "check bully --requests 2",
        "check ring --holder 0", "sim bully --entries 5", "sim ring --arrivals closed:1s",
        "sim probes --hold 1s"}) {
    const auto outcome = turno(arguments);
    EXPECT_EQ(outcome.status, 64) << arguments << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find("has no users who ask"), std::string::npos) << outcome.output;
  }
}

}  // namespace
}  // namespace turno::testing
