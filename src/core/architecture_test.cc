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
#include <regex>
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

// What each room may include besides itself: no more than it does. ARCHITECTURE.md draws it.
const std::map<std::string, std::set<std::string>> allowed = {
    {"core", {}},
    {"protocols", {"core"}},
    {"properties", {"core"}},
    {"cluster", {"core"}},
    {"sim", {"core", "properties"}},
    {"check", {"core", "properties"}},
    {"catalogue", {"core", "protocols", "sim", "check"}},
    {"wire", {"core"}},
    {"net", {"core", "wire"}},
    {"field", {"core", "protocols", "properties", "sim", "wire", "net"}},
    {"lab", {"core", "sim"}},
    {"registry", {"core", "cluster"}},
    {"registry/embedded", {"core", "cluster", "registry"}},
    {"registry/etcd", {"core", "registry"}},
    {"table", {"core", "protocols", "cluster", "wire", "net"}},
    {"port", {"cluster", "net", "table"}},
    {"port/resp", {"core", "wire", "net", "port"}},
    {"port/http", {"core", "wire", "net", "port", "port/resp"}},
    {"node",
     {"cluster", "wire", "net", "registry", "registry/embedded", "table", "port", "port/resp",
      "port/http", "turno"}},
    {"client", {"core", "wire", "net", "turno"}},
    {"cli/frame", {"core"}},
    {"cli/process", {"net", "turno"}},
    {"cli/ui", {"core", "net", "port", "port/http", "cli/frame"}},
    {"cli/lab", {"core", "protocols", "sim", "check", "catalogue", "field", "cli/frame", "cli/ui"}},
    {"cli/experiments", {"core", "catalogue", "field", "lab", "cli/frame", "cli/lab"}},
    {"cli/cluster",
     {"core", "cluster", "net", "registry/embedded", "node", "client", "turno", "cli/frame",
      "cli/process", "cli/configuration"}},
    {"cli/configuration", {"cluster", "port", "cli/frame"}},
    {"cli/hold",
     {"core", "cluster", "net", "table", "client", "turno", "cli/frame", "cli/process",
      "cli/cluster"}},
    {"cli/demo", {"core", "cluster", "net", "turno", "cli/frame", "cli/cluster"}},
    {"cli/mpi", {"core", "field", "cli/lab", "cli/experiments"}},
    {"cli",
     {"catalogue", "lab", "table", "cli/frame", "cli/lab", "cli/experiments", "cli/cluster",
      "cli/mpi", "cli/ui"}},
};

// Rooms with rooms inside: a file of src/port/http belongs to port/http.
std::string room_of(const fs::path& file) {
  auto part = file.begin();
  const auto outer = part->string();
  const auto inner = std::next(part) == file.end() ? fs::path() : *std::next(part);
  const bool nested = outer == "registry" || outer == "port" || outer == "cli";
  const bool is_inside = !inner.empty() && !inner.has_extension();
  return nested && is_inside ? outer + "/" + inner.string() : outer;
}

bool is_source(const fs::path& path) {
  const auto extension = path.extension();
  return (extension == ".h" || extension == ".cc" || extension == ".in") &&
         !path.filename().string().ends_with("_test.cc") &&
         !path.filename().string().ends_with("_test.cc.in") &&
         !path.filename().string().ends_with("testing.h");
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
  std::map<std::string, std::set<std::string>> used;
};

Includes read_includes(const fs::path& source) {
  Includes found;
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    // Fuzzers are tests: they may know all algorithms.
    if (entry.path().parent_path().filename() == "fuzz") continue;
    ++found.files;
    const auto file = fs::relative(entry.path(), source);
    const auto room = room_of(file);
    std::ifstream in(entry.path());
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      const auto name = included_by(line);
      if (name.empty()) continue;
      ++found.lines;
      const auto other = name.find('/') == std::string::npos ? "(no room)" : room_of(name);
      const auto rule = allowed.find(room);
      found.used[room].insert(other);
      if (rule != allowed.end() && (other == room || rule->second.contains(other))) continue;
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

TEST(Includes, MayGoNoOtherWayThanTheyDo) {
  auto found = read_includes(fs::path(TURNO_SOURCE_DIR) / "src");
  for (const auto& [room, others] : allowed)
    for (const auto& other : others)
      EXPECT_TRUE(found.used[room].contains(other)) << room << " does not need " << other;
}

TEST(Rooms, AreNoDrawers) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TURNO_SOURCE_DIR) / "src")) {
    if (!entry.is_directory()) continue;
    const auto files = std::count_if(fs::directory_iterator(entry.path()), {},
                                     [](const auto& file) { return file.is_regular_file(); });
    EXPECT_LE(files, 32) << entry.path();
  }
}

TEST(Files, AreShortEnoughToRead) {
  for (const auto* folder : {"src", "include", "torture", "bench", "examples"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(TURNO_SOURCE_DIR) / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::ifstream in(entry.path());
      const auto lines = std::count(std::istreambuf_iterator<char>(in), {}, '\n');
      EXPECT_LE(lines, 600) << entry.path();
    }
}

// The links of a document to files of the project, from where it stands.
Strings broken_links(const fs::path& document, std::size_t& links) {
  Strings broken;
  std::ifstream in(document);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::regex link(R"(\]\(([^)\s#:]+)(#[^)\s]*)?\))");
  for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found) {
    ++links;
    if (!fs::exists(document.parent_path() / (*found)[1].str()))
      broken.push_back(document.filename().string() + ": " + (*found)[1].str());
  }
  return broken;
}

TEST(Documents, LinkToWhatIsThere) {
  const fs::path root = TURNO_SOURCE_DIR;
  std::vector<fs::path> documents;
  for (const auto& entry : fs::directory_iterator(root)) documents.push_back(entry.path());
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    documents.push_back(entry.path());
  std::size_t links = 0;
  std::erase_if(documents, [](const fs::path& path) { return path.extension() != ".md"; });
  for (const auto& document : documents) EXPECT_EQ(broken_links(document, links), Strings{});
  EXPECT_GT(links, 100U) << "the links were not understood";
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
  write("catalogue/entry.cc.in", "#include \"cli/frame/table.h\"\n");
  write("port/resp/session.cc", "#include \"port/http/http.h\"\n");
  write("sim/engine.cc", "#include \"check/world.h\"\n#include \"engine.h\"\n");
  write("attic/box.h", "#include \"core/queue.h\"\n");
  EXPECT_THAT(read_includes(folder).forbidden,
              ::testing::UnorderedElementsAre(
                  "protocols/mutex/bad.h:2: protocols may not include sim",
                  "catalogue/entry.cc.in:1: catalogue may not include cli/frame",
                  "port/resp/session.cc:1: port/resp may not include port/http",
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
      "__clang_call_terminate", "__stack_chk_fail", "__assert_fail", "std::terminate()", "abort",
      // std::any, in which a setup keeps the parameters of algorithms, compares types.
      "strcmp", "typeinfo for void"};
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
  EXPECT_THAT(found, Contains("turno::protocols::Central"));
  EXPECT_THAT(found, Contains("turno::protocols::as_published::Nxr"));
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
