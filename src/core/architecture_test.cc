// Holds the architecture: which room may include which, and that the protocols can do no I/O, tell
// no time and draw no random number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace turno {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

// What each room may include. The command line may include everything.
const std::map<std::string, std::set<std::string>> allowed = {
    {"core", {"core"}},
    {"protocols", {"core", "protocols"}},
    {"properties", {"core", "properties"}},
    {"sim", {"core", "properties", "sim"}},
    {"check", {"core", "properties", "check"}},
    {"catalogue", {"core", "properties", "protocols", "sim", "check", "catalogue"}},
    {"wire", {"core", "wire"}},
    {"net", {"core", "wire", "net"}},
    {"cluster", {"core", "wire", "net", "cluster"}},
    {"node", {"core", "protocols", "wire", "net", "cluster", "node", "turno"}},
    {"client", {"core", "wire", "net", "client", "turno"}},
    {"cli",
     {"core", "properties", "protocols", "sim", "check", "catalogue", "wire", "net", "cluster",
      "node", "client", "cli", "turno"}},
};

bool is_source(const fs::path& path) {
  const auto extension = path.extension();
  return (extension == ".h" || extension == ".cc" || extension == ".in") &&
         !path.filename().string().ends_with("_test.cc");
}

// The file that a line includes by its name in quotes, or nothing.
std::string included_by(const std::string& line) {
  std::istringstream in(line);
  std::string directive, file;
  if (!(in >> directive)) return {};
  if (directive == "#") in >> directive, directive.insert(0, "#");
  if (directive != "#include" || !(in >> file) || !file.starts_with('"')) return {};
  return file.substr(1, file.find('"', 1) - 1);
}

struct Includes {
  std::size_t files = 0, lines = 0;
  Strings forbidden;
};

Includes read_includes(const fs::path& source) {
  Includes found;
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    // Fuzzers are tests: they may know all algorithms.
    if (entry.path().parent_path().filename() == "fuzz") continue;
    ++found.files;
    const auto file = fs::relative(entry.path(), source);
    const auto room = file.begin()->string();
    std::ifstream in(entry.path());
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      const auto name = included_by(line);
      if (name.empty()) continue;
      ++found.lines;
      const auto slash = name.find('/');
      const auto other = slash == std::string::npos ? "(no room)" : name.substr(0, slash);
      const auto rule = allowed.find(room);
      if (rule != allowed.end() && rule->second.contains(other)) continue;
      found.forbidden.push_back(file.string() + ":" + std::to_string(number) + ": " + room +
                                " may not include " + other);
    }
  }
  return found;
}

TEST(Includes, GoOnlyTheWayTheyMay) {
  const auto found = read_includes(fs::path(TURNO_SOURCE_DIR) / "src");
  EXPECT_EQ(found.forbidden, Strings{});
  EXPECT_GT(found.files, 50U) << "the sources were not found";
  EXPECT_GT(found.lines, 100U) << "the includes were not understood";
}

TEST(Includes, ThatGoTheWrongWayAreFound) {
  const auto folder = fs::temp_directory_path() / "turno_architecture_test";
  fs::remove_all(folder);
  const auto write = [&](const fs::path& name, const std::string& text) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  };
  write("protocols/mutex/good.h", "#include <vector>\n#include \"core/queue.h\"\n");
  write("protocols/mutex/bad.h", "// a story\n#  include \"sim/simulation.h\"\n");
  write("protocols/mutex/bad_test.cc", "#include \"sim/simulation.h\"\n");
  write("catalogue/shard.cc.in", "#include \"cli/table.h\"\n");
  write("sim/engine.cc", "#include \"check/world.h\"\n#include \"engine.h\"\n");
  write("attic/box.h", "#include \"core/queue.h\"\n");
  EXPECT_THAT(
      read_includes(folder).forbidden,
      ::testing::UnorderedElementsAre("protocols/mutex/bad.h:2: protocols may not include sim",
                                      "catalogue/shard.cc.in:1: catalogue may not include cli",
                                      "sim/engine.cc:1: sim may not include check",
                                      "sim/engine.cc:2: sim may not include (no room)",
                                      "attic/box.h:1: attic may not include core"));
  fs::remove_all(folder);
}

// The lines of `nm` about an object.
Strings symbols(const std::string& options, const std::string& object) {
  const auto command = "nm --demangle " + options + " '" + object + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const auto count = fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), count);
  Strings lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Memory, and the ways in which a program that is wrong ends. Nothing else is needed for computing.
bool may_be_needed(const std::string& symbol) {
  static const std::set<std::string> names = {
      "memcpy", "memmove", "memset", "memcmp", "memchr", "bcmp", "strlen", "__popcountdi2",
      // Throwing, unwinding, ending.
      "__cxa_allocate_exception", "__cxa_free_exception", "__cxa_throw", "__cxa_begin_catch",
      "__cxa_end_catch", "__cxa_rethrow", "__gxx_personality_v0", "_Unwind_Resume",
      "__clang_call_terminate", "__stack_chk_fail", "__assert_fail", "std::terminate()", "abort"};
  static const Strings beginnings = {
      "operator new", "operator delete", "turno::assertion_failed(", "boost::assertion_failed",
      "std::__throw_", "boost::container::throw_",
      "std::exception::", "std::length_error::", "std::out_of_range::", "std::bad_alloc::",
      "typeinfo for std::", "vtable for std::", "vtable for __cxxabiv1::",
      // What position-independent code needs.
      "_GLOBAL_OFFSET_TABLE_", "__dso_handle"};
  return names.contains(symbol) ||
         std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& beginning) { return symbol.starts_with(beginning); });
}

struct Needs {
  Strings all, forbidden;
};

Needs needs_of(const std::string& object) {
  Needs needs;
  for (const auto& line : symbols("--undefined-only", object)) {
    const auto kind = line.find_first_not_of(' ');  // "U name"
    if (kind == std::string::npos || kind + 2 >= line.size()) continue;
    needs.all.push_back(line.substr(kind + 2));
    if (!may_be_needed(needs.all.back())) needs.forbidden.push_back(needs.all.back());
  }
  return needs;
}

Strings objects(const std::string& joined) {
  Strings result;
  std::istringstream in(joined);
  for (std::string object; std::getline(in, object, ':');) result.push_back(object);
  return result;
}

// What an object defines may be needed by the others: "0000 T name".
std::set<std::string> defined_by(const Strings& objects) {
  std::set<std::string> names;
  for (const auto& object : objects)
    for (const auto& line : symbols("--defined-only --extern-only", object)) {
      const auto kind = line.find(' ');
      if (kind != std::string::npos && kind + 3 < line.size()) names.insert(line.substr(kind + 3));
    }
  return names;
}

TEST(Purity, ProtocolsNeedNothingThatActsOrKnowsTheWorld) {
  const auto all = objects(TURNO_PURE_OBJECTS);
  ASSERT_GE(all.size(), 2U);
  const auto pure = defined_by(all);
  for (const auto& object : all) {
    auto needs = needs_of(object);
    std::erase_if(needs.forbidden, [&](const auto& name) { return pure.contains(name); });
    EXPECT_EQ(needs.forbidden, Strings{}) << object;
    EXPECT_THAT(needs.all, Contains(HasSubstr("operator new"))) << object << " was not read";
  }
}

TEST(Purity, IsReadFromEveryProtocol) {
  std::set<std::string> found;
  const std::string before = "::live<";
  for (const auto& object : objects(TURNO_PURE_OBJECTS))
    for (const auto& line : symbols("--defined-only", object)) {
      const auto at = line.find(before);
      if (at == std::string::npos) continue;
      const auto type = at + before.size();
      found.insert(line.substr(type, line.find(">(", type) - type));
    }
  EXPECT_THAT(found, Contains("turno::Central"));
  EXPECT_THAT(found, Contains("turno::as_published::Nxr"));
  EXPECT_GE(found.size(), 17U);
}

TEST(Purity, OfWhatPrintsOrLooksAtTheClockIsDenied) {
  const auto all = objects(TURNO_IMPURE_OBJECTS);
  ASSERT_EQ(all.size(), 1U);
  const auto needs = needs_of(all[0]);
  EXPECT_THAT(needs.forbidden, Contains("time"));
  EXPECT_THAT(needs.forbidden, Contains(HasSubstr("printf")));
}

}  // namespace
}  // namespace turno
