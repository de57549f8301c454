#include "commands.h"

#include <gtest/gtest.h>

namespace turno::torture {
namespace {

TEST(Overlaps, AreOfOneLockAndDifferentProcesses) {
  const std::vector<Note> after = {{"a", 1, 10}, {"a", 1, 20}, {"a", 2, 21}, {"a", 2, 30}};
  EXPECT_TRUE(overlaps(after).empty());
  const std::vector<Note> other = {{"a", 1, 10}, {"b", 2, 15}, {"a", 1, 20}};
  EXPECT_TRUE(overlaps(other).empty());
  const std::vector<Note> within = {{"a", 1, 10}, {"a", 2, 15}, {"a", 2, 16}, {"a", 1, 20}};
  EXPECT_EQ(overlaps(within).size(), 1U);
  const std::vector<Note> long_one = {{"a", 1, 10}, {"a", 1, 90}, {"a", 2, 20},
                                      {"a", 2, 30}, {"a", 3, 50}, {"a", 3, 60}};
  EXPECT_EQ(overlaps(long_one).size(), 2U) << "the first ran beside both";
}

TEST(Stall, IsTheLongestPauseOfOneLock) {
  const std::vector<Note> notes = {{"a", 1, 10}, {"a", 1, 20}, {"b", 2, 22},
                                   {"b", 2, 23}, {"a", 3, 27}, {"b", 4, 26}};
  EXPECT_EQ(longest_stall(notes), 7);
}

}  // namespace
}  // namespace turno::torture
