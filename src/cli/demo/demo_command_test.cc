// turno demo shared-file with real nodes and real processes, for every algorithm; and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "cli/demo/shared_file.h"
#include "cli/frame/command_testing.h"
#include "registry/registry_testing.h"
#include "table/engine.h"

namespace turno::cli {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using ::turno::testing::parsed;

::turno::testing::Outcome demo(const std::string& arguments) {
  return ::turno::testing::turno("demo " + arguments);
}

TEST(DemoSharedFile, IsVerified) {
  const auto outcome = demo("shared-file --seed 5");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("Process 1 to 5 each append 5 lines"),
                                    HasSubstr("5 nodes, algorithm nxr-bh. Seed 5."),
                                    HasSubstr("node-5"), HasSubstr("Verified: 25 operations"),
                                    Not(HasSubstr("wrong")), Not(HasSubstr("\x1b"))));
}

TEST(DemoSharedFile, IsCorruptWithoutALock) {
  const auto outcome = demo("shared-file --without-lock");
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("They take no turns"), HasSubstr("<- wrong"), HasSubstr("Corrupt: "),
                    HasSubstr("but the line before says"), HasSubstr("what a lock prevents")));
  const auto result = parsed(demo("shared-file --without-lock --json"));
  EXPECT_EQ(result.at("verified"), false);
  EXPECT_FALSE(result.at("violations").as_array().empty());
  EXPECT_FALSE(result.contains("algorithm"));
}

TEST(DemoSharedFile, WorksWithEveryAlgorithm) {
  for (const auto& name : table::engine_names()) {
    const auto outcome = demo("shared-file -p 3 -o 2 --hold 1ms --json -a " + std::string(name));
    EXPECT_EQ(outcome.status, 0) << name << "\n" << outcome.output;
    const auto result = parsed(outcome);
    EXPECT_EQ(result.at("verified"), true) << name;
    EXPECT_EQ(result.at("algorithm"), json::value(name));
    const auto& lines = result.at("lines").as_array();
    EXPECT_EQ(lines.size(), 6U);
    for (const auto* field :
         {"line", "process", "turn", "node", "read", "operation", "wrote", "fence"})
      EXPECT_TRUE(lines.front().as_object().contains(field)) << field;
  }
}

TEST(DemoSharedFile, UsesARunningClusterAndLeavesTheFile) {
  const registry::TemporaryDirectory folder;
  const std::string directory = folder.path() / "cluster", file = folder.path() / "file";
  const auto turno = [](const std::string& arguments) {
    return std::system((TURNO_BINARY " " + arguments + " >/dev/null").c_str());
  };
  ASSERT_EQ(turno("up -n 2 --detach -a maekawa --dir " + directory), 0);
  auto outcome = demo("shared-file -p 3 --json --dir " + directory + " --file " + file);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const auto result = parsed(outcome);
  EXPECT_EQ(result.at("nodes"), 2);
  EXPECT_EQ(result.at("algorithm"), "maekawa");
  EXPECT_EQ(result.at("file"), json::value(file));
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  const Expectation expected{
      .start = result.at("start").as_int64(), .processes = 3, .operations = 5};
  EXPECT_THAT(verify(text.str(), expected).violations, IsEmpty());

  outcome = demo("shared-file --dir " + directory + " --file " + file);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.output, HasSubstr("File exists"));
  outcome = demo("shared-file --dir " + directory + " -a nxr");
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.output, HasSubstr("runs maekawa, not nxr"));
  EXPECT_EQ(turno("down --dir " + directory), 0);
  outcome = demo("shared-file --dir " + directory);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.output, HasSubstr("no node runs in " + directory));
}

TEST(DemoSharedFile, RefusesNonsense) {
  EXPECT_THAT(demo("").output, HasSubstr("turno demo shared-file"));
  for (const auto* arguments :
       {"", "shared-fil", "shared-file -p 0", "shared-file -p 129", "shared-file -o 0",
        "shared-file -a zebra", "shared-file --hold x", "shared-file --without-lock -a nxr"})
    EXPECT_EQ(demo(arguments).status, 64) << arguments;
  EXPECT_THAT(demo("--help").output,
              AllOf(HasSubstr("shared-file"), Not(HasSubstr("shared-file-process"))));
}

}  // namespace
}  // namespace turno::cli
