// turno lab as a user runs it. The quick experiments are a regression: they must come out as their
// files say.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "cli/frame/command_testing.h"

namespace turno {
namespace {

namespace fs = std::filesystem;

using testing::Outcome;
using testing::shell;

class Lab : public ::testing::Test {
 protected:
  Lab() {
    std::string name = fs::temp_directory_path() / "turno-lab-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~Lab() override { fs::remove_all(folder_); }

  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return shell("cd '" + folder_.string() + "' && " + TURNO_BINARY + " lab " + arguments);
  }
  [[nodiscard]] std::string read(const fs::path& file) const {
    std::ifstream in(folder_ / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const fs::path& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
  }
  [[nodiscard]] fs::path latest(const std::string& name) const {
    return folder_ / "results" / name / "latest";
  }

  fs::path folder_;
};

bool has(const Outcome& outcome, const std::string& text) {
  return outcome.output.find(text) != std::string::npos;
}

TEST_F(Lab, ComesOutAsTheExperimentsExpect) {
  const auto all = run("all --quick --no-figures");
  EXPECT_EQ(all.status, 0) << all.output;
  EXPECT_TRUE(has(all, "nxr-sizes                reproduced\n")) << all.output;
  EXPECT_TRUE(has(all, "grid-5.3                 direction reproduced\n")) << all.output;
  EXPECT_TRUE(has(all, "nxr-messages             not reproduced\n")) << all.output;
  const auto report = read("results/report.html");
  for (const auto* part : {"id=\"robust-k\"", "3007", "<b>Why:</b>", "turno lab run election"})
    EXPECT_NE(report.find(part), std::string::npos) << part;
  EXPECT_FALSE(fs::exists(folder_ / "results/unfinished"));
}

TEST_F(Lab, NoticesAWrongAlgorithm) {
  EXPECT_TRUE(has(run("run nxr-sizes --quick --no-figures"), "simulated: reproduced"));
  const auto another = run("run nxr-sizes --quick --no-figures --replace nxr=raymond");
  EXPECT_EQ(another.status, 1);
  EXPECT_TRUE(has(another, "simulated: not reproduced")) << another.output;
  const auto departure = run("run simulated-and-real --quick --no-figures --without all-replies");
  EXPECT_EQ(departure.status, 1);
  EXPECT_TRUE(has(departure, "simulated: not reproduced")) << departure.output;
  EXPECT_TRUE(has(departure, "VIOLATED")) << departure.output;
}

// One wrong algorithm for every experiment. A verdict that is "not reproduced" as it is must show
// more claims that are not met than before.
TEST_F(Lab, HasNoVerdictThatAWrongAlgorithmDoesNotTurn) {
  const std::map<std::string, std::string> wrong = {
      {"detectors", "--without everybody-initiates"},
      {"election", "--replace bully=ring"},
      {"grid-5.1", "--replace bouabdallah-laforest=central-allocator"},
      {"grid-5.2", "--replace bouabdallah-laforest=central-allocator"},
      {"grid-5.3", "--replace bouabdallah-laforest=central-allocator"},
      {"grid-5.4", "--replace bouabdallah-laforest=central-allocator"},
      {"grid-5.5", "--replace bouabdallah-laforest=central-allocator"},
      {"grid-5.6", "--replace bouabdallah-laforest=central-allocator"},
      {"grid-5.7", "--replace bouabdallah-laforest=central-allocator"},
      {"grid-logical", "--replace bouabdallah-laforest=central-allocator"},
      {"locks-load", "--replace nxr-bh=raymond"},
      {"locks-size", "--replace maekawa=suzuki-kasami"},
      {"nxr-messages", "--replace nxr=raymond"},
      {"nxr-sizes", "--replace nxr=raymond"},
      {"nxr-waits", "--replace nxr=raymond"},
      {"robust-k", "--without order"},
      {"simulated-and-real", "--without all-replies"},
  };
  const auto list = testing::parsed(run("list --json"));
  for (const auto& one : list.at("experiments").as_array()) {
    const std::string name(one.at("name").as_string());
    const auto how = wrong.find(name);
    Outcome outcome;
    if (how != wrong.end()) {
      outcome = run("run " + name + " --quick --no-figures " + how->second);
    } else {
      // No other algorithm has rooms: the same with quorums that are larger than they need be.
      ASSERT_EQ(name, "quorum-group") << "nothing turns its verdict";
      auto text = run("show " + name).output;
      const std::string small = "--construction projective";
      for (auto at = text.find(small); at != std::string::npos; at = text.find(small))
        text.replace(at, small.size(), "--construction majority");
      write("wrong.experiment", text);
      outcome = run("run wrong.experiment --quick --no-figures");
    }
    EXPECT_EQ(outcome.status, 1) << name << outcome.output;
    EXPECT_TRUE(has(outcome, "simulated: not reproduced")) << outcome.output;
    EXPECT_TRUE(has(outcome, "CHANGED: this was met before") || has(outcome, "VIOLATED"))
        << outcome.output;
  }
}

TEST_F(Lab, GoesOnWhereItWas) {
  ASSERT_EQ(run("run election --quick --no-figures").status, 0);
  const auto results = fs::read_symlink(latest("election"));
  const auto log = read(latest("election") / "runs.log"),
             csv = read(latest("election") / "runs.csv");
  // As if it had been killed while it wrote.
  write(latest("election") / "runs.log", log.substr(0, log.size() / 2));
  fs::remove(latest("election") / "result.json");
  const auto again = run("run election --quick --no-figures");
  EXPECT_EQ(again.status, 0);
  EXPECT_TRUE(has(again, "runs are there already")) << again.output;
  EXPECT_EQ(fs::read_symlink(latest("election")), results);
  EXPECT_EQ(read(latest("election") / "runs.csv"), csv);
  // What is finished begins anew, and comes out the same.
  ASSERT_EQ(run("run election --quick --no-figures --jobs 1").status, 0);
  EXPECT_NE(fs::read_symlink(latest("election")), results);
  EXPECT_EQ(read(latest("election") / "runs.csv"), csv);
}

// Starts `turno lab` in the folder and kills it with SIGKILL as soon as the file has so many lines.
void kill_in_the_middle(const fs::path& folder, const std::string& arguments, const fs::path& file,
                        std::ptrdiff_t lines) {
  const auto child = ::fork();
  if (child == 0) {
    if (::chdir(folder.c_str()) != 0) ::_exit(1);
    const auto line = "exec " TURNO_BINARY "-lab lab " + arguments + " > killed.log 2>&1";
    ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  const auto enough = [&] {
    std::ifstream in(folder / file);
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n') >= lines;
  };
  while (!enough() && ::waitpid(child, &status, WNOHANG) == 0) ::usleep(200);
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it was over before it could be killed";
}

TEST_F(Lab, GoesOnAfterItWasKilled) {
  const std::string what = "run nxr-sizes --quick --no-figures --jobs 1 --results ";
  ASSERT_NO_FATAL_FAILURE(
      kill_in_the_middle(folder_, what + "killed", "killed/nxr-sizes/latest/runs.log", 4));
  EXPECT_FALSE(fs::exists(folder_ / "killed/nxr-sizes/latest/result.json"));
  const auto again = run(what + "killed");
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_TRUE(has(again, "runs are there already")) << again.output;
  EXPECT_EQ(run(what + "whole").status, 0);
  for (const auto* file : {"runs.csv", "low.csv", "high.csv"}) {
    const auto csv = read(fs::path("whole/nxr-sizes/latest") / file);
    EXPECT_GT(csv.size(), 50U) << file;
    EXPECT_EQ(read(fs::path("killed/nxr-sizes/latest") / file), csv) << file;
  }
}

TEST_F(Lab, GoesOnWithAllAfterItWasKilled) {
  const std::string what = "all --quick --no-figures --results ";
  ASSERT_NO_FATAL_FAILURE(
      kill_in_the_middle(folder_, what + "killed", "killed/grid-5.3/latest/runs.log", 3));
  EXPECT_TRUE(fs::exists(folder_ / "killed/unfinished"));
  const auto done = fs::read_symlink(folder_ / "killed/election/latest");
  const auto again = run(what + "killed");
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(fs::read_symlink(folder_ / "killed/election/latest"), done) << "it began anew";
  EXPECT_EQ(run(what + "whole").status, 0);
  std::size_t compared = 0;
  for (const auto& one : fs::directory_iterator(folder_ / "whole")) {
    if (!one.is_directory()) continue;
    ++compared;
    const auto name = one.path().filename();
    EXPECT_EQ(read("killed" / name / "latest/runs.csv"), read("whole" / name / "latest/runs.csv"))
        << name;
  }
  EXPECT_GE(compared, 18U);
}

constexpr auto own = R"(experiment own
title  Mine
let quick entries = 30
let entries = 60
processes --scale 0.2
figure messages: Messages
x   nodes: 2 3
y   messages of an entry
curve it "central" = messages_per_entry of central --nodes {x} --arrivals poisson:20 --delay 2ms --entries {entries}
real curves it
number it ~ 3 * (x - 1) / x within 25%: 3(N-1)/N
number real(it) ~ it within 25%: as simulated
)";

TEST_F(Lab, RunsAFileOfOnesOwnOnRealProcesses) {
  write("own.experiment", own);
  const auto outcome = run("run own.experiment --quick --real --no-figures --json");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const auto result = testing::parsed(outcome);
  testing::expect_fields(result, {"experiment", "command", "program", "compiler", "machine",
                                  "seeds", "simulated", "real", "figures", "text"});
  EXPECT_EQ(result.at("simulated").at("verdict"), "reproduced");
  EXPECT_EQ(result.at("real").at("verdict"), "reproduced");
  const auto& curve = result.at("figures").at(0).at("curves").at(0);
  EXPECT_EQ(curve.at("real_mean").as_array().size(), 2U);
  EXPECT_EQ(
      read(latest("own") / "messages.csv").substr(0, 95),
      "nodes,it,it_ci95,it_real,it_real_ci95,it_real_lag_ms,it_real_lag_p99_ms,it_real_lag_max_ms\n"
      "2,1.");
  // How late the processes were woken.
  for (const auto* part : {"real_lag_ms", "real_lag_p99_ms", "real_lag_max_ms"})
    for (const auto& lag : curve.at(part).as_array()) EXPECT_GT(lag.to_number<double>(), 0) << part;
  const auto& commands = curve.at("real_commands").as_array();
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_TRUE(commands[0].as_string().starts_with("run central --nodes 2 "));
  EXPECT_NE(read(latest("own") / "runs.csv").find("lag_p99_ms"), std::string::npos);
  const auto report = read(latest("own") / "report.html");
  EXPECT_NE(report.find("late, ms"), std::string::npos);
  EXPECT_NE(report.find("events were late by"), std::string::npos);
}

TEST_F(Lab, NoticesAWrongAlgorithmOnRealProcesses) {
  write("wrong.experiment", R"(experiment wrong
title  k-out-of-m
processes --scale 0.5 --patience 5s
figure messages: Messages
x   nodes: 5
y   messages of an entry
curve it "k-out-of-m" = messages_per_entry of k-out-of-m --permits 1 --nodes {x} --arrivals closed:exp:4ms --hold 1ms \
      --delay uniform:0ms:2ms --entries 1000
real curves it
number it > 7: it asks everybody, and all answer
)");
  const std::string what = "run ./wrong.experiment --real --no-figures";
  EXPECT_TRUE(has(run(what), "on real processes: reproduced"));
  const auto wrong = run(what + " --without all-replies");
  EXPECT_EQ(wrong.status, 1);
  const auto real = wrong.output.substr(wrong.output.find("on real processes: "));
  EXPECT_TRUE(real.starts_with("on real processes: not reproduced\n    VIOLATED: "))
      << wrong.output;
}

TEST_F(Lab, DrawsOrSaysWhatIsMissing) {
  write("own.experiment", own);
  const auto without = shell("cd '" + folder_.string() + "' && PATH=/nowhere " + TURNO_BINARY +
                             "-lab lab run own.experiment --quick");
  EXPECT_EQ(without.status, 0);
  EXPECT_TRUE(has(without, "apt-get install gnuplot-nox")) << without.output;
  // A gnuplot that only says where it was called.
  write("gnuplot", "#!/bin/sh\nfor kind in svg png; do echo drawn > messages.$kind; done\n");
  fs::permissions(folder_ / "gnuplot", fs::perms::owner_all);
  const auto with = shell("cd '" + folder_.string() + "' && PATH=" + folder_.string() + ":$PATH " +
                          TURNO_BINARY + " lab run own.experiment --quick");
  EXPECT_EQ(with.status, 0) << with.output;
  EXPECT_EQ(read(latest("own") / "messages.svg"), "drawn\n");
  EXPECT_NE(read(latest("own") / "report.html").find("data:image/svg+xml,drawn"),
            std::string::npos);
}

TEST_F(Lab, RefusesWhatItCannotDo) {
  write("wrong.experiment", std::string(own) + "curve other = messages of central --nodse 3\n");
  const struct {
    std::string arguments, answer;
  } wishes[] = {
      {"", "list, show NAME, run NAME or all"},
      {"run zebra", "there is no experiment 'zebra'"},
      {"run grid-5.33", "did you mean grid-5.1"},
      {"run none.experiment", "there is no file none.experiment"},
      {"run grid-logical --real", "has nothing for real processes"},
      {"run quorum-group --without zebra", "there is no rule 'zebra'"},
      {"run quorum-group --replace nxr", "--replace is as in --replace nxr=raymond"},
      {"run quorum-group --replace nxr=raymond", "runs no algorithm that this is about"},
      {"run wrong.experiment", "there is no option '--nodse'"},
  };
  for (const auto& wish : wishes) {
    const auto outcome = run(wish.arguments);
    EXPECT_EQ(outcome.status, 64) << wish.arguments << "\n" << outcome.output;
    EXPECT_TRUE(has(outcome, wish.answer)) << wish.arguments << "\n" << outcome.output;
  }
}

TEST_F(Lab, ListsAndShows) {
  EXPECT_TRUE(has(run("list"), "grid-5.7"));
  EXPECT_GE(testing::parsed(run("list --json")).at("experiments").as_array().size(), 16U);
  const auto text = run("show nxr-sizes").output;
  write("mine.experiment", text);
  EXPECT_EQ(run("show mine.experiment").output, text);
  EXPECT_TRUE(has(run("show nxr-sizes --quick --commands"),
                  "turno sim nxr --arrivals poisson:0.01 --nodes 3 "));
}

}  // namespace
}  // namespace turno
