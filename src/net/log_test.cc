#include "net/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "net/testing.h"

namespace turno::log {
namespace {

using ::testing::ContainsRegex;
using ::testing::MatchesRegex;

struct LogTest : testing::Test {
  ~LogTest() override {
    set_level(Level::warning);
    set_origin("");
  }
};

TEST_F(LogTest, OneLineWithTimeLevelAndOrigin) {
  net::LoggedLines lines;
  info("view {}: {} members", 3, 5);
  set_origin("n1");
  error("it is over");
  EXPECT_THAT(lines.take(),
              MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9]+Z info view 3: 5 "
                           "members\n[0-9T:.Z-]+ error n1: it is over\n"));
}

TEST_F(LogTest, OnlyWhatIsAskedFor) {
  net::LoggedLines lines;
  set_level(Level::info);
  debug("no");
  set_level(Level::error);
  warning("no");
  error("yes");
  set_level(Level::off);
  error("no");
  set_level(Level::debug);
  debug("yes");
  const auto text = lines.take();
  EXPECT_EQ(net::count_of(text, "yes"), 2U);
  EXPECT_EQ(net::count_of(text, "\n"), 2U);
}

TEST_F(LogTest, LevelsHaveNames) {
  EXPECT_EQ(level_named("debug"), Level::debug);
  EXPECT_EQ(level_named("off"), Level::off);
  EXPECT_EQ(level_named("loud"), std::nullopt);
  EXPECT_EQ(level_named(""), std::nullopt);
}

// What a client sent cannot look like a line of ours, or paint the terminal.
TEST_F(LogTest, QuotedTextForgesNothing) {
  net::LoggedLines lines;
  info("client {}", "x\n2026-01-01T00:00:00.000Z error all is lost\r\x1b[31m\x7f");
  const auto text = lines.take();
  EXPECT_EQ(net::count_of(text, "\n"), 1U);
  EXPECT_THAT(
      text, ContainsRegex("client x\\\\x0a2026-01-01T.* all is lost\\\\x0d\\\\x1b\\[31m\\\\x7f\n"));
}

TEST_F(LogTest, LinesOfThreadsDoNotMix) {
  net::LoggedLines lines;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) info("{}", std::string(100, 'x'));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(net::count_of(lines.take(), " info " + std::string(100, 'x') + "\n"), 400U);
}

TEST(Limiter, SaysSoManyInAPeriodAndThenHowManyItLeftOut) {
  using namespace std::chrono_literals;
  Limiter limiter(3, 10s);
  const Limiter::Clock::time_point start{1h};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.admit(start + 1s * i), "");
  for (int i = 0; i < 47'000; ++i) EXPECT_EQ(limiter.admit(start + 9s), std::nullopt);
  EXPECT_EQ(limiter.admit(start + 10s), " (and 47000 more like it)");
  EXPECT_EQ(limiter.admit(start + 11s), "");
  EXPECT_EQ(limiter.admit(start + 40s), "");
}

}  // namespace
}  // namespace turno::log
