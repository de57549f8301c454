#include "lab/run_log.h"

#include <gtest/gtest.h>

namespace turno::lab {
namespace {

TEST(RunLog, ReadsWhatItWrote) {
  Measured measured{.values = {{"messages", 1.0 / 3}, {"entries", 5}},
                    .violation = "two\tinside\n"};
  measured.seconds = 0.25;
  const auto text = first_line("p") + log_line("sim nxr --seed 1", measured);
  const auto read = read_log(text, "p");
  ASSERT_EQ(read.size(), 1U);
  const auto& run = read.at("sim nxr --seed 1");
  EXPECT_EQ(run.values, measured.values) << "to the last bit";
  EXPECT_EQ(run.violation, "two inside ");
  EXPECT_DOUBLE_EQ(run.seconds, 0.25);
}

TEST(RunLog, LeavesOutWhatIsNotWhole) {
  const auto line = log_line("a", {.values = {{"messages", 12}}});
  const auto text = first_line("p") + line + log_line("b", {.values = {{"messages", 34}}});
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto read = read_log(text.substr(0, size), "p");
    EXPECT_FALSE(read.contains("b")) << size;
    EXPECT_EQ(read.contains("a"), size >= first_line("p").size() + line.size()) << size;
  }
  EXPECT_EQ(read_log(text, "p").size(), 2U);
}

TEST(RunLog, TakesNothingFromAnotherProgram) {
  EXPECT_TRUE(read_log(first_line("p") + log_line("a", {}), "q").empty());
}

}  // namespace
}  // namespace turno::lab
