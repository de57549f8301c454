// The manual's examples are run at real clusters, and every command has one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/manual/page_testing.h"
#include "cli/manual/terminal_testing.h"
#include "registry/registry_testing.h"

namespace turno::manual {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using Clock = std::chrono::steady_clock;

const std::vector<std::string> pages = {"cli.md", "clients.md"};

std::string text_of(const fs::path& file) {
  std::ifstream in(fs::path(TURNO_SOURCE_DIR) / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Block> blocks_in(const std::string& page) {
  return blocks_of(text_of(fs::path("docs") / page));
}

// Where somebody sits who tries what the manual says: alice, in a home of her own.
class Desk {
 public:
  Desk() { fs::create_directories(run()), fs::create_directories(state()); }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk() { shell("turno down --kill-after 1s"); }

  // Why the block is not as it stands on the page, or nothing. `patience`: until a command that
  // has ended will print no more.
  std::string differs(const Block& block, std::chrono::milliseconds patience = 10s) {
    return block.kind == Block::Kind::console ? differs_in_shell(block, patience)
                                              : differs_in_resp(block, patience);
  }
  // What a command prints.
  std::string shell(const std::string& command) {
    const auto terminal = bash();
    const Step step{.terminal = {}, .command = command};
    terminal->type(typed(step, {}));
    await(*terminal, 30s, [](const std::string& printed) { return has_ended(printed); });
    return shown(terminal->printed());
  }

 private:
  using Terminals = std::map<std::string, std::unique_ptr<Terminal>>;  // by their names

  static constexpr char end = '\1';  // printed when a command of the shell has ended

  [[nodiscard]] std::string run() const { return folder_.path() / "run"; }
  [[nodiscard]] std::string state() const { return folder_.path() / "state"; }
  [[nodiscard]] std::unique_ptr<Terminal> bash() const {
    const auto programs = fs::path(TURNO_BINARY).parent_path().string();
    auto terminal = std::make_unique<Terminal>(std::vector<std::string>{
        "env", "-C", run(), "-u", "TURNO_DIR", "-u", "TURNO_NODE_ADDRESS",
        "XDG_RUNTIME_DIR=" + run(), "XDG_STATE_HOME=" + state(),
        "TURNO_SYSTEM_RUNTIME=" + (folder_.path() / "none").string(),
        "PATH=" + programs + ":" + std::getenv("PATH"), "bash", "--norc", "--noprofile"});
    terminal->type(
        "say_that_it_has_ended() { local status=$?; printf '\\001'; return $status; }\n");
    return terminal;
  }
  [[nodiscard]] std::unique_ptr<Terminal> redis_cli(const std::string& name) const {
    const auto node = name.starts_with("node-") ? name : "node-1";
    return std::make_unique<Terminal>(std::vector<std::string>{
        "redis-cli", "--no-raw", "--show-pushes", "yes", "-s", run() + "/turno/" + node + ".sock"});
  }

  static std::string typed(const Step& step, const Bindings& bindings) {
    return with(bindings, step.command) + "\nsay_that_it_has_ended\n";
  }
  static bool has_ended(const std::string& printed) {
    return printed.find(end) != std::string::npos;
  }
  // As alice sees it.
  [[nodiscard]] std::string shown(std::string text) const {
    std::erase(text, end);
    for (const auto& [real, named] :
         {std::pair{run(), "/run/user/1000"}, std::pair{state(), "/home/alice/.local/state"}})
      for (auto at = text.find(real); at != std::string::npos; at = text.find(real))
        text.replace(at, real.size(), named);
    return text;
  }

  template <class Condition>
  static bool await(Terminal& terminal, Clock::duration time, const Condition& condition) {
    const auto deadline = Clock::now() + time;
    while (!condition(terminal.printed()))
      if (Clock::now() > deadline) return false;
    return true;
  }
  // Takes what the step prints. True: it is what the page says.
  bool prints(Terminal& terminal, const Step& step, Bindings& bindings, Clock::duration time) {
    const auto expected = generalized(step.expected);
    std::string before;  // what is still being printed is not yet what the page says
    const auto is_right = [&](const std::string& printed) {
      const bool rests = printed == std::exchange(before, printed);
      return rests && matches(expected, lines_of(shown(printed)), bindings);
    };
    const bool right = await(terminal, time, is_right);
    if (right) terminal.take();
    return right;
  }
  [[nodiscard]] std::string complain(const Step& step, Terminal& terminal) const {
    std::string text = "line " + std::to_string(step.line) + ": " + step.command + "\nexpected:\n";
    for (const auto& line : step.expected) text += "  " + line + "\n";
    text += "printed:\n";
    for (const auto& line : lines_of(shown(terminal.printed()))) text += "  " + line + "\n";
    return text;
  }

  std::string differs_in_shell(const Block& block, Clock::duration patience) {
    const auto terminal = bash();
    Bindings bindings;
    std::string trouble;
    for (const auto& step : block.steps) {
      terminal->type(typed(step, bindings));
      await(*terminal, 30s, has_ended);
      if (prints(*terminal, step, bindings, patience)) continue;
      trouble = complain(step, *terminal);
      break;
    }
    terminal->type("kill $(jobs -p) 2>/dev/null; wait; exit\n");
    return trouble;
  }
  std::string differs_in_resp(const Block& block, Clock::duration patience) {
    Terminals terminals;
    auto trouble = differs_in_resp(block, terminals, patience);
    for (const auto& [name, terminal] : terminals) {
      if (trouble.empty() && !terminal->printed().empty())
        trouble = complain({.line = block.steps.back().line, .command = name + "> at the end"},
                           *terminal);
      terminal->end();
    }
    return trouble;
  }
  std::string differs_in_resp(const Block& block, Terminals& terminals, Clock::duration patience) {
    Bindings bindings;
    for (const auto& step : block.steps) {
      auto& terminal = terminals[step.terminal];
      if (terminal == nullptr) terminal = redis_cli(step.terminal);
      if (!step.command.empty()) terminal->type(with(bindings, step.command) + "\n");
      // Who waits prints later, at a step without a command.
      if (step.expected.empty()) continue;
      if (!prints(*terminal, step, bindings, patience)) return complain(step, *terminal);
    }
    return {};
  }

  const registry::TemporaryDirectory folder_;
};

class Page : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }
};

TEST_P(Page, ShowsWhatHappens) {
  const auto blocks = blocks_in(GetParam());
  EXPECT_GT(blocks.size(), 5U) << "the examples were not found";
  Desk desk;
  EXPECT_THAT(desk.shell("turno up -n 3 --detach"), HasSubstr("3 nodes in /run/user/1000/turno"));
  for (const auto& block : blocks)
    EXPECT_EQ(block.alone ? Desk().differs(block) : desk.differs(block), "");
}

INSTANTIATE_TEST_SUITE_P(Manual, Page, ::testing::ValuesIn(pages), [](const auto& page) {
  return page.param.substr(0, page.param.find('.'));
});

// The words that stand where `word` says in the commands of the blocks of this kind.
std::set<std::string> words_used(Block::Kind kind, const std::regex& word) {
  std::set<std::string> used;
  for (const auto& page : pages)
    for (const auto& block : blocks_in(page))
      for (const auto& step : block.steps) {
        if (block.kind != kind) continue;
        for (std::sregex_iterator found(step.command.begin(), step.command.end(), word), end;
             found != end; ++found)
          used.insert((*found)[1]);
      }
  return used;
}

// What COMMAND DOCS says of each command, flat: its name, and four pairs. Those of Redis are
// explained there.
TEST(Manual, HasEveryCommandOfThePort) {
  Desk desk;
  desk.shell("turno up -n 1 --detach");
  const auto docs =
      lines_of(desk.shell("redis-cli -s $XDG_RUNTIME_DIR/turno/node-1.sock COMMAND DOCS"));
  ASSERT_EQ(docs.size() % 9, 0U);
  std::set<std::string> native;
  for (std::size_t i = 0; i < docs.size(); i += 9)
    if (docs[i + 6] == "turno") native.insert(docs[i]);
  EXPECT_THAT(native, IsSupersetOf({"LOCK", "PERMIT", "SESSION", "WHY"}));
  EXPECT_THAT(words_used(Block::Kind::resp, std::regex("^([A-Z]+)")), IsSupersetOf(native));
}

TEST(Manual, HasEveryCommandOfTheProgram) {
  std::set<std::string> commands;
  bool listed = false;
  for (const auto& line : lines_of(Desk().shell("turno --help"))) {
    std::smatch found;
    if (listed && std::regex_match(line, found, std::regex("  ([a-z]+) .*")) &&
        line.find("(turno-lab)") == std::string::npos)
      commands.insert(found[1]);
    listed = listed || line == "Subcommands:";
  }
  EXPECT_THAT(commands, IsSupersetOf({"lock", "semaphore", "why", "up", "ui"}));
  commands.erase("ui");  // scripts/test-web follows its page, in a browser
  EXPECT_THAT(words_used(Block::Kind::console, std::regex("\\bturno ([a-z]+)")),
              IsSupersetOf(commands));
}

// The page of the library names each class that a program makes or asks for, and an example that
// `make examples` runs uses it.
TEST(Manual, HasEveryClassOfTheLibrary) {
  const fs::path root = TURNO_SOURCE_DIR;
  std::set<std::string> classes;
  const std::regex declared("\nclass ([A-Za-z]+)[^;]*\\{");
  for (const auto& header : fs::directory_iterator(root / "include/turno")) {
    const auto text = text_of(header.path());
    for (std::sregex_iterator found(text.begin(), text.end(), declared), end; found != end; ++found)
      classes.insert((*found)[1]);
  }
  for (const auto* given : {"Service", "Observation"}) EXPECT_EQ(classes.erase(given), 1U);
  EXPECT_THAT(classes,
              IsSupersetOf({"Node", "Client", "Mutex", "SharedMutex", "Semaphore", "Room"}));
  const auto page = text_of("docs/library.md"), script = text_of("scripts/test-examples");
  std::string examples;
  for (const auto& example : fs::directory_iterator(root / "examples")) {
    const auto name = example.path().stem().string();
    if (example.path().extension() != ".cc" || name == "readme") continue;
    EXPECT_THAT(script, HasSubstr(name));
    examples += text_of(example.path());
  }
  for (const auto& each : classes) {
    EXPECT_THAT(page, HasSubstr("turno::" + each));
    EXPECT_THAT(examples, HasSubstr("turno::" + each));
  }
}

// ---- what finds a wrong page

TEST(Examples, AreComparedLineByLine) {
  const auto same = [](const Lines& expected, const Lines& actual) {
    Bindings bindings;
    return matches(generalized(expected), actual, bindings);
  };
  EXPECT_TRUE(same({"held for 1.3 s by 24917"}, {"held for 12 ms by 77"}));
  EXPECT_TRUE(same({"name    fence", "-----------"}, {"name       fence", "--------------"}));
  EXPECT_TRUE(same({"one", "...", "two"}, {"one", "and", "more", "two"}));
  EXPECT_TRUE(same({"1) \"held_ms\"", "2) (integer) 7"}, {"1) \"held_ms\"", "2) (integer) 31"}));
  EXPECT_FALSE(same({"2) (integer) 7"}, {"2) (integer) 31"}));
  EXPECT_FALSE(same({"1 client waits"}, {"2 clients wait"}));
  EXPECT_FALSE(same({"gpu:0"}, {"gpu:1"}));
  EXPECT_FALSE(same({"one"}, {}));
  EXPECT_FALSE(same({"one"}, {"one", "two"}));
  EXPECT_FALSE(same({"a.c"}, {"abc"}));
  EXPECT_TRUE(same({"#  session  for", "1       12  3 s"}, {"#  session  for", "1        7  9 s"}));
  EXPECT_FALSE(
      same({"#  session  for", "1       12  3 s"}, {"#  session  for", "2        7  9 s"}));
  EXPECT_TRUE(same({"node-1 and node-1"}, {"node-2 and node-2"}));
  EXPECT_FALSE(same({"node-1 and node-1"}, {"node-2 and node-3"}));
  // A fence that stands twice is one fence.
  EXPECT_TRUE(same({"390559366180864016", "390559366180864016"}, {"7001", "7001"}));
  EXPECT_FALSE(same({"390559366180864016", "390559366180864016"}, {"7001", "7002"}));
}

TEST(Examples, GiveCommandsWhatWasSeen) {
  Bindings bindings;
  EXPECT_TRUE(matches("(integer) 390559366180864016", "(integer) 7001", bindings));
  EXPECT_EQ(with(bindings, "UNLOCK build 390559366180864016 1000"), "UNLOCK build 7001 1000");
}

// Each wrong one is wrong at its first answer: then it does not matter how long that takes.
TEST(Examples, ThatAreWrongAreFound) {
  Desk desk;
  desk.shell("turno up -n 1 --detach");
  const auto differs = [&](const std::string& page, std::chrono::milliseconds patience) {
    const auto blocks = blocks_of(page);
    return blocks.size() == 1 ? desk.differs(blocks[0], patience) : "no block";
  };
  EXPECT_EQ(differs("```resp run\n> LOCK a\n(integer) 390559366180864016\n> UNLOCK a "
                    "390559366180864016\n(integer) 1\n```\n",
                    10s),
            "");
  EXPECT_EQ(differs("```console run\n$ turno members --names\nnode-1\n$ echo $?\n0\n```\n", 10s),
            "");
  EXPECT_THAT(differs("```resp run\n> UNLOCK a\n(integer) 1\n```\n", 300ms),
              HasSubstr("line 2: UNLOCK a"));
  EXPECT_THAT(differs("```resp run\n> UNLOCK a\n> PING\nPONG\n```\n", 300ms),
              HasSubstr("line 3: PING"));
  EXPECT_THAT(differs("```console run\n$ turno members --names\nnode-1\nnode-2\n```\n", 300ms),
              HasSubstr("line 2: turno members --names"));
  EXPECT_THAT(differs("```console run\n$ turno members --names\n```\n", 300ms),
              HasSubstr("printed:\n  node-1"));
}

}  // namespace
}  // namespace turno::manual
