// Holds docs/promises.md to its word: each row names tests, and they are there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace turno {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::IsEmpty;
using Strings = std::vector<std::string>;

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What the one or two groups of the pattern match, with a dot between.
Strings all_matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  Strings found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.push_back((*at)[1].str() + (at->size() > 2 ? "." + (*at)[2].str() : ""));
  return found;
}

// "Suite.Name" of every test, and the suites.
std::set<std::string> tests_below(const fs::path& folder) {
  std::set<std::string> tests;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (!name.ends_with("_test.cc") && !name.ends_with("_test.cc.in")) continue;
    for (const auto& test :
         all_matches(contents(entry.path()), R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))"))
      tests.insert(test);
  }
  return tests;
}

// The cells of a row, without what is around them; none: it is no row.
Strings cells_of(const std::string& line) {
  Strings cells;
  if (!line.starts_with("|")) return cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
  return cells;
}

// What a document says of tests, and what is wrong with that.
struct Said {
  Strings tests;  // by name, as Suite.Name or torture.NAME
  Strings bare;   // rows that name none
};

Said read_promises(const std::string& text) {
  Said said;
  const std::string name = R"(`(\w+\.[\w-]+)`)";
  std::istringstream lines(text);
  bool of_tests = false;  // the last column of this table is that of tests
  for (std::string line; std::getline(lines, line);) {
    const auto cells = cells_of(line);
    if (cells.empty()) of_tests = false;
    for (const auto& test : all_matches(cells.empty() ? line : cells.back(), name))
      if (test.starts_with("torture.") || std::isupper(static_cast<unsigned char>(test[0])) != 0)
        said.tests.push_back(test);
    if (!cells.empty() && cells.back().find("---") != std::string::npos) continue;
    if (of_tests && all_matches(cells.back(), name).empty()) said.bare.push_back(line);
    if (!cells.empty() && cells.back() == " test ") of_tests = true;
  }
  return said;
}

TEST(Promises, AreEachTested) {
  const fs::path root = TURNO_SOURCE_DIR;
  const auto said = read_promises(contents(root / "docs/promises.md"));
  const auto tests = tests_below(root / "src");
  const auto tortures = contents(root / "torture/CMakeLists.txt");
  EXPECT_GT(tests.size(), 500U) << "the tests were not found";
  EXPECT_GT(said.tests.size(), 40U) << "the document was not understood";
  EXPECT_THAT(said.bare, IsEmpty());
  for (const auto& test : said.tests) {
    if (!test.starts_with("torture.")) {
      EXPECT_THAT(tests, Contains(test));
      continue;
    }
    // As in "add_test(NAME torture.commands-${run}", of a list of runs.
    const auto dash = test.rfind('-');
    EXPECT_NE(tortures.find(test.substr(0, dash + 1) + "$"), std::string::npos) << test;
    EXPECT_TRUE(std::regex_search(tortures, std::regex("\\b" + test.substr(dash + 1) + "\\b")))
        << test;
  }
}

TEST(Promises, ThatNobodyTestsAreFound) {
  const auto said = read_promises(
      "| what | test |\n| --- | --- |\n| a | `Suite.Name`, canary `x` |\n| b | see above |\n\n"
      "`Other.Name`, `node.example`\n| what | else |\n| --- | --- |\n| a | b |\n");
  EXPECT_EQ(said.tests, (Strings{"Suite.Name", "Other.Name"}));
  EXPECT_EQ(said.bare, Strings{"| b | see above |"});
}

}  // namespace
}  // namespace turno
