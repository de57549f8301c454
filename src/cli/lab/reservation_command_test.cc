// turno sim and turno check of reservations: their fields, their files, and what they answer to
// impossible wishes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/frame/command_testing.h"

namespace turno::testing {
namespace {

constexpr auto contract =
    "sim grid --sites 3 --nodes 48 --types 10 --instances 10 --demand half:1-5 --local 1ms "
    "--remote 500ms --hold 500ms --arrivals closed:500ms --entries-per-node 10 --preference 24 "
    "--seed 1 --json";

TEST(SimulatedReservation, ReportsSitesAndLogicalWaits) {
  const auto outcome = turno(contract);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const auto result = parsed(outcome);
  expect_fields(result, {"messages_local", "messages_remote", "preemptions", "wait_ms",
                         "wait_sum_ms", "wait_logical_ms"});
  EXPECT_EQ(result.at("entries"), 480);
  const auto& logical = result.at("wait_logical_ms").as_object();
  expect_fields(logical, {"control", "tokens", "total"});
  EXPECT_NEAR(logical.at("total").to_number<double>(),
              logical.at("control").to_number<double>() + logical.at("tokens").to_number<double>(),
              1e-6);
  EXPECT_FALSE(result.contains("variant"));
}

TEST(SimulatedReservation, SaysWhichPrintedReadingItIs) {
  const std::string printed =
      "sim grid --as-published patched --sites 2 --nodes 4 --arrivals closed:1s --entries 100";
  EXPECT_EQ(parsed(turno(printed + " --json")).at("variant"), "patched");
  EXPECT_NE(turno(printed).output.find("grid (patched)"), std::string::npos);
}

TEST(CheckedReservation, Holds) {
  const auto outcome =
      turno("check grid --sites 2,1 --types 2 --instances 1 --requests 1 --preference 1 --json");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(parsed(outcome).at("states"), 11608);
}

class DemandFile : public ::testing::Test {
 protected:
  ~DemandFile() override { std::filesystem::remove(path_); }

  // What turno says of a file with this content, for two nodes and two types of two instances.
  Outcome with(const std::string& content) const {
    std::ofstream(path_) << content;
    return turno(
        "sim central-allocator --nodes 2 --types 2 --instances 2 --entries 10 --json "
        "--demand " +
        path_);
  }
  std::string path_ =
      std::filesystem::temp_directory_path() / ("turno-demands-" + std::to_string(::getpid()));
};

TEST_F(DemandFile, IsReadLineByLine) {
  const auto outcome = with("# two nodes\n0 0:1 1:2\n* 1:1\n");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(parsed(outcome).at("entries"), 10);
}

TEST_F(DemandFile, IsRefusedWithTheLine) {
  struct Wrong {
    std::string content, answer;
  };
  const Wrong wrongs[] = {
      {"* 0:1\n0 0:9\n", "line 2: '0:9' asks for more than there are: type 0 has 2"},
      {"* 7:1\n", "line 1: there is no type 7; the types are 0 to 1"},
      {"\n\n* zero\n", "line 3: 'zero' is not TYPE:COUNT, as in 3:2"},
      {"9 0:1\n", "line 1: '9' is no node"},
      {"0 0:1\n", "has no line for node 1, and none for *"},
      {"* 0:1 0:1\n", "line 1: type 0 stands there twice"},
      {"* \x1b[2J:1\n", "line 1: '\\x1b[2J:1' is not TYPE:COUNT"},
  };
  for (const auto& wrong : wrongs) {
    const auto outcome = with(wrong.content);
    EXPECT_EQ(outcome.status, 64) << outcome.output;
    EXPECT_NE(outcome.output.find(wrong.answer), std::string::npos) << outcome.output;
  }
}

TEST(WrongReservation, IsRefusedWithAnExplanation) {
  struct Wrong {
    std::string arguments, answer;
  };
  const Wrong wrongs[] = {
      {"sim grid --nodes 3 --sites 5", "there are more sites (5) than nodes (3)"},
      {"sim grid --nodes 3 --sites 2,2", "--sites 2,2 has 4 nodes, --nodes says 3"},
      {"sim grid --types 2 --instances 2 --demand half:1-3", "more than there are"},
      {"sim grid --types 2 --demand set:1-3", "more than there are: 2 types"},
      {"sim grid --demand half:0-1", "two numbers from 1 on, the smaller first"},
      {"sim grid --demand .", "no file that can be read"},
      {"sim grid --sites 2 --delay 5ms", "--delay excludes --sites"},
      {"sim grid --entries 5 --entries-per-node 5 --arrivals closed:1s",
       "--entries excludes --entries-per-node"},
      {"sim grid --bypasses 3", "lets nobody overtake"},
      {"sim nxr --demand half:1-1", "nxr reserves no resources"},
      {"check grid --types 30", "say with --needs what is asked for"},
      {"check grid --instances 2000", "say with --needs what is asked for"},
      {"check grid --types 2 --needs 12", "more than there are: type 1 has 1"},
      {"check grid --holder 0", "is no lock: leave --holder away"},
  };
  for (const auto& wrong : wrongs) {
    const auto outcome = turno(wrong.arguments);
    EXPECT_EQ(outcome.status, 64) << wrong.arguments << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find(wrong.answer), std::string::npos) << outcome.output;
  }
}

}  // namespace
}  // namespace turno::testing
