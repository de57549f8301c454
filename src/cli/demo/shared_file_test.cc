// The file of the demonstration: what is right is accepted, and every corruption is refused.
#include "cli/demo/shared_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace turno::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Expectation two_of_two{.start = 100, .processes = 2, .operations = 2};

// Processes take turns as listed; each is right.
std::string file_of(std::int64_t start, const std::vector<std::size_t>& processes) {
  auto text = std::to_string(start) + "\n";
  std::vector<std::size_t> turns(200, 0);
  auto value = start;
  std::uint64_t fence = 0;
  for (const auto process : processes) {
    const auto result = operation_of(process).apply(value);
    text += text_of({result, value, process, ++turns[process], fence += 3}) + "\n";
    value = result;
  }
  return text;
}

std::string replaced(std::string text, const std::string& old, const std::string& fresh) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), fresh);
}

std::string first_violation(const std::string& file, const Expectation& expected = two_of_two) {
  const auto verdict = verify(file, expected);
  if (verdict.violations.empty()) return "";
  const auto& [line, what] = verdict.violations.front();
  return std::to_string(line) + ": " + what;
}

TEST(Operation, OfTwoProcessesNeverAgree) {
  for (std::int64_t value = 0; value < Operation::modulus; value += 7) {
    std::set<std::int64_t> results;
    for (std::size_t process = 1; process <= 128; ++process)
      results.insert(operation_of(process).apply(value));
    EXPECT_EQ(results.size(), 128U) << value;
    EXPECT_GE(*results.begin(), 0);
    EXPECT_LT(*results.rbegin(), Operation::modulus);
  }
}

TEST(Operation, OrderMatters) {
  const auto one = operation_of(1), two = operation_of(2);
  EXPECT_NE(one.apply(two.apply(100)), two.apply(one.apply(100)));
}

TEST(Record, IsReadAsItWasWritten) {
  for (const Record& record : {Record{307, 100, 1, 1, 5}, Record{0, 9972, 128, 1000, 0},
                               Record{1, 2, 3, 4, ~std::uint64_t{0}}})
    EXPECT_EQ(parse_record(text_of(record)), record);
  EXPECT_EQ(text_of({307, 100, 1, 1, 5}),
            "307 = (3 * 100 + 7) mod 9973, process 1, turn 1, fence 5");
}

TEST(Record, RefusesWhatNobodyWrites) {
  const std::string good = text_of({307, 100, 1, 1, 5});
  for (const std::string& bad :
       {std::string(), std::string("307"), good + " ", " " + good, good + "0, 1",
        replaced(good, "+ 7", "+ 8"), replaced(good, "3 *", "4 *"), replaced(good, "9973", "9974"),
        replaced(good, "process 1", "process 0"), replaced(good, "307", "9973"),
        replaced(good, "307", "-307"), replaced(good, "fence 5", "fence 0"),
        replaced(good, "fence 5", "fence 99999999999999999999"), replaced(good, " = ", " : "),
        replaced(good, "turn 1", "turn 01"), good + good, std::string(3, '\0')})
    EXPECT_FALSE(parse_record(bad)) << bad;
}

TEST(LastValue, IsThatOfTheLastLine) {
  EXPECT_EQ(last_value("100\n"), 100);
  EXPECT_EQ(last_value(file_of(100, {1})), 307);
  for (const auto* bad : {"", "\n", "100", "x\n", "100\nx\n", "100\n\n", "-1\n", "10000\n"})
    EXPECT_FALSE(last_value(bad)) << bad;
}

TEST(SharedFile, IsAcceptedIfAllTookTurns) {
  for (const auto& order :
       std::vector<std::vector<std::size_t>>{{1, 2, 1, 2}, {1, 1, 2, 2}, {2, 1, 1, 2}}) {
    const auto verdict = verify(file_of(100, order), two_of_two);
    EXPECT_THAT(verdict.violations, IsEmpty());
    EXPECT_EQ(verdict.records.size(), 4U);
  }
}

TEST(SharedFile, ThatIsCorruptIsRefused) {
  const auto good = file_of(100, {1, 2, 1, 2});
  EXPECT_EQ(first_violation(""), "0: the file is empty");
  EXPECT_THAT(first_violation(replaced(good, "100\n", "101\n")), HasSubstr("1: it began with 100"));
  EXPECT_THAT(first_violation(good.substr(4)), HasSubstr("1: it began with 100"));
  EXPECT_THAT(first_violation(good.substr(0, good.size() - 1)), HasSubstr("5: the last line"));
  EXPECT_THAT(first_violation(good.substr(0, good.size() - 9)), HasSubstr("5: "));
  EXPECT_THAT(first_violation(good + "garbage\n"), HasSubstr("6: 'garbage' is not what"));
  EXPECT_THAT(first_violation(replaced(good, "fence 6", "fence 3")),
              HasSubstr("3: the fence 3 is not larger than 3"));
  EXPECT_THAT(first_violation(replaced(good, "307 = (", "308 = (")),
              HasSubstr("2: process 1 wrote 308, but (3 * 100 + 7) mod 9973 is 307"));
  EXPECT_THAT(first_violation(replaced(good, ", fence 3", "")), HasSubstr("2: the fence 0"));
  EXPECT_EQ(first_violation(file_of(100, {1, 2, 1})), "0: process 2 did 1 of its 2 operations");
  EXPECT_THAT(first_violation(file_of(100, {1, 2, 1, 2, 2})), HasSubstr("did 3 of its 2"));
  EXPECT_THAT(first_violation(file_of(100, {1, 2, 3, 1, 2})),
              HasSubstr("4: there is no process 3"));
  EXPECT_THAT(first_violation(replaced(good, "process 1, turn 2", "process 1, turn 1")),
              HasSubstr("4: process 1 did its turn 1 after its turn 1"));
}

TEST(SharedFile, ALostUpdateIsExplained) {
  const auto file =
      "100\n" + text_of({307, 100, 1, 1, 0}) + "\n" + text_of({314, 100, 2, 1, 0}) + "\n";
  EXPECT_EQ(first_violation(file, {.start = 100, .processes = 2, .operations = 1, .locked = false}),
            "3: process 2 had read 100, but the line before says 307: process 1 wrote that after "
            "process 2 had read and before it wrote");
}

}  // namespace
}  // namespace turno::cli
