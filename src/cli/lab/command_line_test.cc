// The commands as a user runs them: what they print, the contract of their JSON, their exit status,
// and what they answer to impossible wishes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "catalogue/catalogue.h"
#include "cli/frame/command_testing.h"

namespace turno {
namespace {

namespace json = boost::json;

using testing::expect_fields;
using testing::Outcome;
using testing::parsed;
using testing::shell;
using testing::turno;

// A directory that is gone after the test.
class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "turno-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string& file) const { return path_ + "/" + file; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(CommandLine, HelpIsThereForEverything) {
  for (const auto* command :
       {"",      "algorithms", "sim",  "check", "compare",          "completion",
        "lock",  "up",         "down", "node",  "status",           "members",
        "locks", "waiters",    "why",  "demo",  "demo shared-file", "quorums",
        "lab",   "ui"}) {
    const auto help = turno(std::string(command) + " --help");
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_NE(help.output.find("turno"), std::string::npos);
    if (*command != '\0') {
      EXPECT_NE(help.output.find("Example"), std::string::npos) << command;
    }
  }
  EXPECT_EQ(turno("--version").output.substr(0, 6), "turno ");
  EXPECT_EQ(turno("-V").output, turno("--version").output);
  EXPECT_EQ(turno("version").output, turno("--version").output);
  EXPECT_EQ(turno("help lock").output, turno("lock --help").output);
  EXPECT_EQ(turno("help sim").output, turno("sim --help").output);
  EXPECT_EQ(turno("help").output, turno("--help").output);
}

// Who reads what a command prints must not take half of it for all.
TEST(CommandLine, WhatCannotBePrintedIsAnError) {
  for (const auto* command : {"--help", "--version", "help lock", "algorithms", "algorithms nxr",
                              "quorums 7", "completion bash", "check central"}) {
    const auto outcome =
        shell("(" + std::string(TURNO_BINARY) + " " + command + " 2>&1 >/dev/full)");
    EXPECT_EQ(outcome.status, 125) << command;
    EXPECT_NE(outcome.output.find("No space left on device"), std::string::npos) << command << "\n"
                                                                                 << outcome.output;
  }
  EXPECT_EQ(shell("(" + std::string(TURNO_BINARY) + " sim zebra >/dev/full 2>/dev/full)").status,
            64);
}

TEST(CommandLine, AlgorithmsCanBeListedOneByOne) {
  const auto one = turno("algorithms nxr").output;
  EXPECT_NE(one.find("turno check nxr --as-published"), std::string::npos) << one;
  EXPECT_EQ(one.find("maekawa"), std::string::npos);
  EXPECT_EQ(parsed(turno("algorithms nxr --json")).at("algorithms").as_array().size(), 1U);
}

TEST(CommandLine, SimKeepsItsContract) {
  const auto outcome = turno(
      "sim nxr --nodes 31 --topology binary-tree --arrivals poisson:0.5 --hold 10ms "
      "--delay uniform:0ms:100ms --entries 20000 --seed 1 --json");
  EXPECT_EQ(outcome.status, 0);
  const auto result = parsed(outcome);
  expect_fields(result, {"algorithm", "nodes", "topology", "seed", "entries", "messages",
                         "messages_per_entry", "messages_by_kind", "wait_ms", "inside_max",
                         "digest", "events", "events_per_second"});
  expect_fields(result.at("wait_ms").as_object(), {"mean", "p50", "p99", "max"});
  EXPECT_EQ(result.at("algorithm"), "nxr");
  EXPECT_EQ(result.at("nodes"), 31);
  EXPECT_EQ(result.at("entries"), 20000);
  EXPECT_EQ(result.at("inside_max"), 1);
  const auto& kinds = result.at("messages_by_kind").as_object();
  EXPECT_EQ(kinds.at("request").as_int64() + kinds.at("token").as_int64(),
            result.at("messages").as_int64());
  EXPECT_FALSE(result.contains("ci95"));
}

TEST(CommandLine, RepeatedSimulationsHaveConfidenceIntervals) {
  const auto result = parsed(turno("sim naimi-trehel --nodes 7 --entries 2000 --repeat 5 --json"));
  EXPECT_EQ(result.at("repeat"), 5);
  EXPECT_EQ(result.at("entries"), 10000);
  expect_fields(result.at("ci95").as_object(), {"messages_per_entry", "wait_ms"});
  EXPECT_GT(result.at("ci95").at("messages_per_entry").as_double(), 0);
}

TEST(CommandLine, CheckKeepsItsContract) {
  const auto outcome = turno(
      "check naimi-trehel --nodes 4 --requests 1 --topology line --channels unordered --json");
  EXPECT_EQ(outcome.status, 0);
  const auto result = parsed(outcome);
  expect_fields(result, {"algorithm", "nodes", "requests", "channels", "states", "transitions",
                         "depth", "verdict", "property", "seconds", "states_per_second"});
  EXPECT_EQ(result.at("verdict"), "holds");
  EXPECT_EQ(result.at("states"), 1446);
  EXPECT_EQ(result.at("channels"), "unordered");
}

TEST(CommandLine, CheckSaysByItsStatusHowItEnded) {
  EXPECT_EQ(turno("check central").status, 0);
  EXPECT_EQ(turno("check lamport --channels unordered --nodes 2").status, 1);
  EXPECT_EQ(turno("check nxr --nodes 5 --requests 2 --max-states 1000").status, 2);
  EXPECT_EQ(
      parsed(turno("check nxr --nodes 5 --requests 2 --max-states 1000 --json")).at("verdict"),
      "limit");
}

// What is found wrong before a limit is reached is reported, not swallowed.
TEST(CommandLine, ALimitDoesNotHideAViolation) {
  const auto outcome = turno(
      "check ricart-agrawala --as-published tie-reply --nodes 4 --max-states 1735000 "
      "--property exclusion");
  EXPECT_EQ(outcome.status, 1) << outcome.output;
}

// It says of a single property only that this one holds.
TEST(CommandLine, AFilterOnPropertiesPromisesNoMore) {
  const auto outcome =
      turno("check ricart-agrawala --as-published tie-silence --nodes 2 --property exclusion");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output.find("everybody served"), std::string::npos) << outcome.output;
}

TEST(CommandLine, AnEndlessRunOfARingIsNoFalseAlarm) {
  EXPECT_EQ(turno("check token-ring --nodes 4 --forever").status, 0);
}

// The list of what is refuted names a command for each: every one of them must refute.
TEST(CommandLine, EveryRefutationInTheListRefutes) {
  std::size_t count = 0;
  for (const auto& wrong : refutable()) {
    const auto command = "check " + std::string(wrong.algorithm->info.name) +
                         (wrong.published ? " --as-published " : " --without ") +
                         std::string(wrong.departure->name) + " " +
                         std::string(wrong.departure->example);
    const auto outcome = turno(command);
    EXPECT_EQ(outcome.status, 1) << command << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find("violated: "), std::string::npos);
    EXPECT_NE(turno("algorithms").output.find(command), std::string::npos) << command;
    ++count;
  }
  EXPECT_EQ(count, refutable().size());
}

TEST(CommandLine, AlgorithmsAreListed) {
  const auto list = parsed(turno("algorithms --json")).at("algorithms").as_array();
  EXPECT_EQ(list.size(), algorithms().size());
  for (const auto& entry : list)
    expect_fields(entry.as_object(), {"name", "title", "source", "channels", "variants"});
}

TEST(CommandLine, CheckOfAllTreesAddsThemUp) {
  const auto result = parsed(turno("check nxr --nodes 4 --topology all --json"));
  EXPECT_EQ(result.at("trees"), 4);
  std::int64_t sum = 0;
  for (const auto& states : result.at("states_by_tree").as_array()) sum += states.as_int64();
  EXPECT_EQ(result.at("states"), sum);
}

TEST(CommandLine, CompareMakesATableACsvAndJson) {
  const Scratch scratch;
  const auto outcome =
      turno("compare nxr dir --nodes 5 --entries 500 --check --csv " + (scratch / "t.csv"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("holds"), std::string::npos);
  const auto csv = contents(scratch / "t.csv");
  EXPECT_EQ(csv.substr(0, 18), "algorithm,topology");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const auto result =
      parsed(turno("compare --nodes 5 --entries 500 --json "
                   "--arrivals poisson:0.1 --arrivals poisson:2"));
  EXPECT_EQ(result.at("algorithms").as_array().size(), 14U);
  EXPECT_EQ(result.at("algorithms").as_array()[0].at("workloads").as_array().size(), 2U);
}

TEST(CommandLine, QuorumsAreListedBesideTheirLowerBound) {
  const auto result = parsed(turno("quorums 8 --json"));
  EXPECT_EQ(result.at("lower_bound"), 4);
  const auto& list = result.at("constructions").as_array();
  ASSERT_EQ(list.size(), 5U);
  EXPECT_EQ(list[0].at("construction"), "cyclic");
  EXPECT_EQ(list[0].at("largest"), 4);
  EXPECT_EQ(list[0].at("minimal"), true);
  EXPECT_EQ(list[1].at("possible"), false);
  EXPECT_EQ(list[1].at("possible_near"), (json::array{7, 13}));
  const auto fano = parsed(turno("quorums 7 --construction projective --json"));
  EXPECT_EQ(fano.at("constructions").as_array()[0].at("quorums").as_array()[2],
            (json::array{2, 3, 5}));
  EXPECT_NE(turno("quorums 13").output.find("no smaller ones"), std::string::npos);
}

TEST(CommandLine, RoomsKeepTheirContract) {
  const auto outcome = turno(
      "sim quorum-group --groups 7 --construction projective --door demand --arrivals total:0.1 "
      "--hold exp:5s --delay exp:1s --sessions 2000 --json");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const auto result = parsed(outcome);
  expect_fields(result, {"messages_per_entry", "messages_per_session", "processes_per_session",
                         "inside_mean", "inside_max", "recalls", "group_messages_per_session"});
  EXPECT_EQ(result.at("sessions"), 2000);
  EXPECT_EQ(result.at("groups"), 7);
  const auto explored = parsed(
      turno("check quorum-group --groups 3 --construction projective --visits 0,1,2 --json"));
  EXPECT_EQ(explored.at("verdict"), "holds");
  EXPECT_EQ(explored.at("acyclic"), true);
  EXPECT_EQ(explored.at("visits"), "0,1,2");
  const auto copies = turno("check quorum-group --groups 2 --visits 0,1 --duplicates 1");
  EXPECT_EQ(copies.status, 0) << copies.output;
}

struct Wish {
  const char* arguments;
  const char* answer;
};

TEST(CommandLine, ImpossibleWishesAreAnsweredWithWhatIsPossible) {
  const Wish wishes[] = {
      {"sim nxrr", "did you mean nxr"},
      {"check ricart", "did you mean ricart-agrawala"},
      {"sim zebra", "there are central, lamport"},
      {"chek nxr", "did you mean check"},
      {"sim raymond --topology ring", "allowed: line, star, radiating-star, binary-tree"},
      {"sim nxr --topology heap", "there is no topology 'heap'; there are line, star"},
      {"sim nxr --nodes 0", "a system has 1 to 10000000 nodes, not 0"},
      {"sim nxr --nodes -1", "nodes"},
      {"sim nxr --delay -3ms", "is negative"},
      {"sim nxr --hold 3parsec", "unknown unit 'parsec'"},
      {"sim nxr --arrivals poisson:0", "above 0"},
      {"sim nxr --entries 0", "--entries is 1 or more"},
      {"sim nxr --repeat 0", "--repeat is 1 or more"},
      {"sim nxr --busy hide", "--busy is lose or queue"},
      {"sim nxr --arrivals closed:1s --busy queue", "a closed user never asks twice"},
      {"sim nxr --quorums grid", "does not vote"},
      {"sim nxr --carry 2", "--carry is for nxr-b"},
      {"sim maekawa --quorums circle", "there are cyclic, projective, closed-form, grid, majority"},
      {"sim maekawa --nodes 8 --quorums projective", "for 8 nodes, but for 7 or 13"},
      {"quorums 8 --construction projective", "for 8 nodes, but for 7 or 13"},
      {"quorums 8 --construction circle", "there is no construction 'circle'; there are cyclic"},
      {"quorums 0", "for 1 to 10000 nodes, not 0"},
      {"check quorum-group --groups 4 --construction projective", "for 4 nodes, but for 3 or 7"},
      {"check quorum-group --visits 0,5", "the groups are 0 to 2"},
      {"check quorum-group --visits 0,x", "'x' in '0,x' is not a group number"},
      {"check quorum-group --capacity 1,2", "2 capacities for 3 groups"},
      {"check quorum-group --capacity 0", "1 or more, or - for any number"},
      {"check quorum-group --door ajar", "--door is demand, leader or closed, not 'ajar'"},
      {"check nxr --groups 3", "nxr has no rooms"},
      {"sim nxr --arrivals total:1", "total arrivals are for rooms"},
      {"sim quorum-group --arrivals total:0", "above 0, as in total:0.1"},
      {"sim quorum-group --arrivals total:1 --visitors 3", "leave --visitors away"},
      {"sim maekawa --nodes 2 --quorums 0,1", "share no node"},
      {"sim maekawa --nodes 3 --quorums 01,12", "give one for each node"},
      {"sim maekawa --nodes 2 --quorums 01,05", "the nodes are 0 to 1"},
      {"sim nxr --channels tin-cans", "fifo or unordered"},
      {"check nxr --nodes 17", "1 to 16 nodes"},
      {"check nxr --requests 0", "--requests is 1 to 1000"},
      {"check nxr --property beauty", "there is no property 'beauty'"},
      {"check nxr --as-published figure-3", "did you mean figure-2"},
      {"check central --as-published", "nothing is printed wrongly about central"},
      {"check nxr-bh --without stamps", "did you mean stamp-test"},
      {"check central --without anything", "no rule of central can be taken away"},
      {"check central --overlapping", "one request of a node at a time"},
      {"check nxr --requesters 0-9", "the nodes are 0 to 2"},
      {"check nxr --requesters 2-0", "goes backwards"},
      {"check dir --topology all", "does not run on trees"},
      {"check nxr --holder 0,1", "one --holder"},
      {"check lamport --forever", "--forever would not finish"},
      {"sim nxr --seed -1", "--seed: '-1' is less than 0"},
      {"quorums x", "'x' is no number"},
      {"up -n abc", "'abc' is no number that fits"},
      {"check nxr --memory 0", "more than 0 GiB"},
      {"algorithms nxrr", "did you mean nxr"},
      {"help zebra", "there is no command 'zebra'"},
      {"up -a bertier", "nodes do not run the algorithm 'bertier'"},
      {"node --client foo", "--client"},
      {"lock '' -- true", "it is empty"},
      {"completion tcsh", "bash, zsh, fish"},
      {"sim", "ALGORITHM is required"},
      {"sim nxr --colour red", "there is no option '--colour'"},
      {"status --jsn", "did you mean --json"},
      {"lock a --timout=3 -- true", "did you mean --timeout"},
      {"", "A subcommand is required"},
  };
  for (const auto& wish : wishes) {
    const auto outcome = turno(wish.arguments);
    EXPECT_EQ(outcome.status, 64) << wish.arguments << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find(wish.answer), std::string::npos) << wish.arguments << "\n"
                                                                   << outcome.output;
  }
}

TEST(Trace, OfASimulationIsOneLineAnEvent) {
  const Scratch scratch;
  const auto outcome =
      turno("sim nxr --nodes 3 --entries 20 --json --trace " + (scratch / "run.jsonl"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  std::istringstream lines(contents(scratch / "run.jsonl"));
  std::string line;
  std::int64_t last = 0, entries = 0;
  while (std::getline(lines, line)) {
    const auto step = json::parse(line).as_object();
    expect_fields(step, {"time_ns", "event", "node"});
    EXPECT_GE(step.at("time_ns").as_int64(), last);
    last = step.at("time_ns").as_int64();
    entries += step.contains("enters") ? 1 : 0;
  }
  EXPECT_EQ(entries, 20);
}

TEST(Trace, OfACounterexampleHasItsSteps) {
  const Scratch scratch;
  const auto outcome =
      turno("check lamport --channels unordered --nodes 2 --trace " + (scratch / "t"));
  EXPECT_EQ(outcome.status, 1);
  const auto text = contents(scratch / "t");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_EQ(turno("check lamport --channels unordered --nodes 2 --trace -").output, text);
}

TEST(Trace, SaysWhatItsLastStepBreaks) {
  const auto text = turno("check lamport --channels unordered --nodes 2 --trace -").output;
  const auto violates = text.find(",\"violates\":{\"property\":\"exclusion\"");
  EXPECT_NE(violates, std::string::npos) << text;
  EXPECT_GT(violates, text.rfind('\n', text.size() - 2)) << "the last step, and no other";
  const auto starving = turno("check nxr-b --without last-father --nodes 3 --forever --trace -");
  EXPECT_NE(starving.output.find("\"property\":\"starvation\""), std::string::npos)
      << starving.output;
  EXPECT_NE(starving.output.find("\"cycle_from\":"), std::string::npos);
  const auto run = turno("sim nxr --nodes 3 --entries 5 --trace -").output;
  EXPECT_EQ(run.find("violates"), std::string::npos);
}

TEST(Trace, TellsTheStatesIfAskedTo) {
  const std::string check = "check lamport --channels unordered --nodes 2 --trace -";
  EXPECT_EQ(turno(check).output.find("\"state\":"), std::string::npos);
  const auto count = [](const std::string& text) {
    const auto lines = std::count(text.begin(), text.end(), '\n');
    std::ptrdiff_t states = 0;
    for (auto at = text.find("\"state\":{"); at != std::string::npos;
         at = text.find("\"state\":{", at + 1))
      ++states;
    return std::pair(lines, states);
  };
  const auto [lines, states] = count(turno(check + " --states").output);
  EXPECT_EQ(lines, 4);
  EXPECT_EQ(states, 4);
  const auto run = count(turno("sim nxr --nodes 3 --entries 5 --states --trace -").output);
  EXPECT_EQ(run.first, run.second);
  EXPECT_NE(turno("sim nxr --nodes 3 --entries 5 --states --trace -").output.find("\"token\":true"),
            std::string::npos);
}

TEST(Trace, ThatCannotBeWrittenIsAnErrorAndLosesNothing) {
  auto outcome = turno("sim nxr --entries 1000 --trace /dev/full");
  EXPECT_EQ(outcome.status, 125);
  EXPECT_NE(outcome.output.find("No space left on device"), std::string::npos);
  outcome = turno("sim nxr --entries 10 --trace /no/such/directory/file");
  EXPECT_EQ(outcome.status, 125);
  EXPECT_NE(outcome.output.find("No such file or directory"), std::string::npos);
  outcome = turno("check lamport --channels unordered --nodes 2 --trace /dev/full");
  EXPECT_EQ(outcome.status, 125);
}

// A disk of 64 KiB: what was there before stays, and nothing half-written is left.
TEST(Trace, OnAFullDiskLeavesTheOldFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small disk";
  const Scratch scratch;
  const auto disk = scratch / "disk";
  std::filesystem::create_directory(disk);
  if (std::system(("mount -t tmpfs -o size=64k none " + disk + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "cannot mount here";
  std::ofstream(disk + "/run.jsonl") << "the old one\n";
  const auto outcome = turno("sim nxr --entries 10000 --trace " + disk + "/run.jsonl");
  EXPECT_EQ(outcome.status, 125) << outcome.output;
  EXPECT_NE(outcome.output.find("No space left on device"), std::string::npos);
  EXPECT_EQ(contents(disk + "/run.jsonl"), "the old one\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(disk), {}), 1);
  EXPECT_EQ(std::system(("umount " + disk).c_str()), 0);
}

TEST(TwoPrograms, TurnoAloneSaysWhatIsMissing) {
  const Scratch scratch;
  std::filesystem::copy(TURNO_BINARY, scratch / "turno");
  const auto alone = shell("PATH=/nowhere '" + (scratch / "turno") + "' sim nxr");
  EXPECT_EQ(alone.status, 125);
  EXPECT_NE(alone.output.find("'sim' is a command of the program turno-lab"), std::string::npos)
      << alone.output;
  EXPECT_EQ(shell("PATH=/nowhere '" + (scratch / "turno") + "' --version").status, 0);
  // Completion does without.
  const auto script = shell("PATH=/nowhere '" + (scratch / "turno") + "' completion bash");
  EXPECT_EQ(script.status, 0);
  EXPECT_NE(script.output.find("nxr-bh"), std::string::npos);
}

TEST(TwoPrograms, TheLabStandsAlone) {
  const auto lab = std::filesystem::path(TURNO_BINARY).parent_path() / "turno-lab";
  const auto help = shell(lab.string() + " --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("turno-lab check nxr"), std::string::npos) << help.output;
  EXPECT_EQ(shell(lab.string() + " quorums 7 --json").output, turno("quorums 7 --json").output);
  const auto wrong = shell(lab.string() + " sim no-such");
  EXPECT_EQ(wrong.status, 64);
  EXPECT_EQ(wrong.output.substr(0, 10), "turno-lab:") << wrong.output;
  EXPECT_EQ(turno("sim no-such").output.substr(0, 6), "turno:");
}

TEST(CommandLine, CompletionKnowsCommandsAndAlgorithms) {
  const auto script = turno("completion bash").output;
  EXPECT_NE(script.find("complete -o default -F _turno turno"), std::string::npos);
  EXPECT_NE(script.find("naimi-trehel"), std::string::npos);
  const Scratch scratch;
  std::ofstream(scratch / "c.bash") << script << R"(
COMP_WORDS=(turno check nxr-); COMP_CWORD=2; _turno; echo "${COMPREPLY[@]}"
COMP_WORDS=(turno sim --to); COMP_CWORD=2; _turno; echo "${COMPREPLY[@]}"
COMP_WORDS=(turno demo sh); COMP_CWORD=2; _turno; echo "${COMPREPLY[@]}"
COMP_WORDS=(turno lab nxr-w); COMP_CWORD=2; _turno; echo "${COMPREPLY[@]}"
COMP_WORDS=(turno up --de); COMP_CWORD=2; _turno; echo "${COMPREPLY[@]}"
COMP_WORDS=(turno up -a nxr-); COMP_CWORD=3; _turno; echo "${COMPREPLY[@]}"
COMP_WORDS=(turno up --dir nxr-); COMP_CWORD=3; _turno; echo "${COMPREPLY[@]}"
COMP_WORDS=(turno sim --delay ''); COMP_CWORD=3; _turno; echo "${COMPREPLY[@]}"
turno() {
  [ "$*" = "locks --names" ] && printf '%s\n' backup 'ba$(echo boo)' 'ba *' nightly
  [ "$*" = "members --names" ] && printf '%s\n' node-1 node-2 other
}
COMP_WORDS=(turno why ba); COMP_CWORD=2; _turno; printf '%s|' "${COMPREPLY[@]}"
COMP_WORDS=(turno drain no); COMP_CWORD=2; _turno; printf '%s|' "${COMPREPLY[@]}"
)";
  auto* pipe = ::popen(("bash " + (scratch / "c.bash")).c_str(), "r");
  std::array<char, 256> buffer{};
  const auto got = std::fread(buffer.data(), 1, buffer.size(), pipe);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(
      std::string(buffer.data(), got),
      "nxr-b nxr-bh\n--topology\nshared-file\nnxr-waits\n--detach --deadlock\nnxr-b nxr-bh\n\n\n"
      "backup|ba\\$\\(echo\\ boo\\)|ba\\ \\*|node-1|node-2|");
}

}  // namespace
}  // namespace turno
