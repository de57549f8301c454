// turno run on the command line: what it prints, its trace, what it answers to impossible wishes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "cli/frame/command_testing.h"

namespace turno {
namespace {

namespace json = boost::json;

using testing::parsed;
using testing::turno;

constexpr auto small =
    " central --nodes 4 --arrivals closed:20ms --hold 2ms --delay 4ms --entries 20 ";

std::set<std::string> keys(const json::object& object) {
  std::set<std::string> keys;
  for (const auto& field : object) keys.emplace(field.key());
  return keys;
}

TEST(RunCommand, PrintsWhatSimPrintsAndHowItRan) {
  const auto simulated = parsed(turno(std::string("sim") + small + "--json"));
  const auto real = parsed(turno(std::string("run") + small + "--scale 0.5 --json"));
  auto fields = keys(simulated);
  fields.insert("real");
  EXPECT_EQ(keys(real), fields);
  EXPECT_EQ(real.at("entries"), 20);
  for (const auto* same : {"algorithm", "nodes", "arrivals", "hold", "delay", "seed"})
    EXPECT_EQ(real.at(same), simulated.at(same)) << same;
  const auto& how = real.at("real").as_object();
  EXPECT_EQ(keys(how), (std::set<std::string>{"processes", "scale", "seconds", "lag_ms"}));
  EXPECT_EQ(how.at("processes"), 4);
  EXPECT_EQ(how.at("scale"), 0.5);
  EXPECT_GT(how.at("seconds").to_number<double>(), 0);
  const auto& lag = how.at("lag_ms").as_object();
  EXPECT_GT(lag.at("mean").to_number<double>(), 0);
  EXPECT_GE(lag.at("max").to_number<double>(), lag.at("mean").to_number<double>());
}

TEST(RunCommand, LetsNodesShareProcesses) {
  const auto real = parsed(turno(std::string("run") + small + "--processes 2 --clocks --json"));
  EXPECT_EQ(real.at("real").at("processes"), 2);
  EXPECT_FALSE(real.contains("violation"));
}

// Of each event in a trace, the fields that it may have.
std::map<std::string, std::set<std::string>> shape(const std::string& command) {
  std::string name = std::filesystem::temp_directory_path() / "turno-trace-XXXXXX";
  ::close(::mkstemp(name.data()));
  const auto outcome = turno(command + " --trace " + name);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  std::map<std::string, std::set<std::string>> shape;
  std::ifstream in(name);
  for (std::string line; std::getline(in, line);) {
    const auto step = json::parse(line).as_object();
    const auto more = keys(step);
    auto& fields = shape[std::string(step.at("event").as_string())];
    fields.insert(more.begin(), more.end());
    for (const auto* list : {"sends", "takes"})
      if (step.contains(list) && !step.at(list).as_array().empty())
        for (const auto& key : keys(step.at(list).at(0).as_object()))
          fields.insert(std::string(list) + "." + key);
  }
  std::filesystem::remove(name);
  return shape;
}

TEST(RunCommand, WritesATraceOfTheSimulatorsFormat) {
  const auto simulated = shape(std::string("sim") + small),
             real = shape(std::string("run") + small);
  EXPECT_GE(simulated.size(), 3U) << "requests, messages, exits";
  EXPECT_EQ(real, simulated);
}

TEST(RunCommand, JudgesByVectorClocksToo) {
  const auto wrong = turno(
      "run k-out-of-m --nodes 5 --permits 1 --arrivals closed:exp:4ms --hold 1ms --delay "
      "uniform:0ms:2ms --entries 1000 --clocks --without all-replies");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.output.find("VIOLATED: "), std::string::npos) << wrong.output;
}

TEST(RunCommand, RefusesWhatProcessesCannotDo) {
  const std::map<std::string, std::string> wishes = {
      {"run zebra", "zebra"},
      {"run central --hosts 2", "there is no option '--hosts'"},
      {"run central --nodes 4 --processes 5", "there are 1 to 4 processes here, not 5"},
      {"run central --scale 0", "--scale is above 0"},
      {"run central --patience soon", "'soon' is not a length of time"},
      {"run central --without all-replies", "no rule of central can be taken away"},
      {"run bully --nodes 5 --processes 2 --crash 1s:4", "one process a node"},
      {"run quorum-group --arrivals total:1", "total arrivals are new processes without end"},
      {"run central --repeat 2 --trace -", "--trace and --open are for one run"},
      {"sim central --processes 2", "there is no option '--processes'"},
  };
  for (const auto& [command, answer] : wishes) {
    const auto outcome = turno(command);
    EXPECT_EQ(outcome.status, 64) << command << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find(answer), std::string::npos) << command << "\n" << outcome.output;
  }
}

}  // namespace
}  // namespace turno
