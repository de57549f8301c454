#include "lab/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/lab_testing.h"
#include "lab/shelf.h"
#include "lab/tables.h"

namespace turno::lab {
namespace {

using testing::experiment;
using testing::run_all;
using testing::small;
using testing::twice_the_nodes;

TEST(Tasks, AreEachOnceAndBeginWithTheFirstSeed) {
  const auto tasks = all_tasks(experiment(), {});
  ASSERT_EQ(tasks.size(), 12U) << "two curves, three points, two seeds";
  EXPECT_EQ(tasks[0].line(), "sim central --nodes 2 --entries 100 --seed 1");
  EXPECT_TRUE(tasks[5].line().ends_with("--seed 1"));
  EXPECT_TRUE(tasks[6].line().ends_with("--seed 2"));
  EXPECT_EQ(all_tasks(experiment(), {.quick = true}).size(), 4U);
}

TEST(Tasks, CanBeSabotaged) {
  Mode mode;
  mode.sabotage = {.without = "rule", .without_it = {"raymond"}, .by = {{"nxr", "raymond"}}};
  std::vector<std::string> lines;
  for (const auto& task : all_tasks(experiment(), mode)) lines.push_back(task.line());
  EXPECT_NE(std::ranges::find(lines, "sim raymond --nodes 8 --entries 100 --without rule --seed 1"),
            lines.end());
  EXPECT_NE(std::ranges::find(lines, "sim central --nodes 8 --entries 100 --seed 1"), lines.end());
}

// `--quick --real` runs something for every figure that has real curves.
TEST(Tasks, AreRealToo) {
  const auto text =
      std::string("processes --scale 0.1\n") + small + "real curves one\nreal points 4\n";
  const auto lines = [](const Experiment& read, const Mode& mode) {
    std::vector<std::string> lines;
    for (const auto& task : all_tasks(read, mode)) lines.push_back(task.line());
    return lines;
  };
  const auto quick = lines(experiment(text), {.quick = true, .real = true});
  EXPECT_NE(std::ranges::find(quick, "run central --nodes 4 --entries 100 --scale 0.1 --seed 1"),
            quick.end());
  EXPECT_NE(std::ranges::find(quick, "sim central --nodes 4 --entries 7 --seed 1"), quick.end())
      << "to compare it with";
  EXPECT_EQ(lines(experiment(text), {.quick = true}), lines(experiment(), {.quick = true}));
  for (const auto& shelved : shelf()) {
    const auto read = parse_experiment(std::string(shelved.name), std::string(shelved.text));
    for (const auto& figure : read.figures) {
      if (std::ranges::none_of(figure.curves, &Curve::real)) continue;
      auto alone = read;
      alone.figures = {figure};
      const auto tasks = all_tasks(alone, {.quick = true, .real = true});
      EXPECT_TRUE(std::ranges::any_of(tasks, &Task::real)) << read.name << ", " << figure.name;
    }
  }
}

Judgement judged(const std::string& text, const Mode& mode = {}) {
  static Experiment read;
  read = experiment(text);
  const auto finished = run_all(read, mode, twice_the_nodes);
  static std::vector<FigureValues> values;
  values = values_of(read, mode, finished);
  return judge(values, finished, false);
}

// In the text, that what is printed at 2 nodes is 4: then everything is as printed.
std::string with(const std::string& from, const std::string& to) {
  std::string text = small;
  return text.replace(text.find(from), from.size(), to);
}

TEST(Verdict, IsReproducedIfEveryClaimIsMet) {
  const auto judgement = judged(with("2 - 16", "4 - 16"));
  EXPECT_EQ(judgement.verdict, Verdict::reproduced);
  EXPECT_TRUE(judgement.expected());
  ASSERT_EQ(judgement.findings.size(), 3U);
  EXPECT_EQ(judgement.findings[0].of, 2U) << "nothing is printed of the point between";
}

TEST(Verdict, IsADirectionIfOnlyNumbersAreMissed) {
  const auto judgement = judged(small);
  EXPECT_EQ(judgement.verdict, Verdict::direction);
  EXPECT_FALSE(judgement.expected());
  EXPECT_EQ(judgement.findings[0].met, 1U);
  EXPECT_EQ(judgement.findings[0].detail, "2 (nodes): 4 and 2 (+100.0 %)");
}

TEST(Verdict, IsNotReproducedIfADirectionIsMissed) {
  EXPECT_EQ(judged(with("other < one", "other > one")).verdict, Verdict::not_reproduced);
}

TEST(Verdict, IsNotReproducedIfNothingButNumbersIsClaimedAndMissed) {
  EXPECT_EQ(judged(with("direction other < one: the other is cheaper", "# nothing")).verdict,
            Verdict::not_reproduced);
}

TEST(Verdict, ExpectsWhatHasAReasonNotToBeMet) {
  const auto text = with(": as printed\n", ": as printed\nbecause a misprint\n");
  const auto judgement = judged(text);
  EXPECT_TRUE(judgement.expected());
  EXPECT_EQ(judgement.verdict, Verdict::direction) << "a reason changes no verdict";
  // Whoever mends it must take the reason away.
  auto mended = text;
  mended.replace(mended.find("2 - 16"), 6, "4 - 16");
  EXPECT_FALSE(judged(mended).expected());
}

TEST(Verdict, IsNotReproducedIfARunIsViolated) {
  const auto read = experiment(with("2 - 16", "4 - 16"));
  auto finished = run_all(read, {}, twice_the_nodes);
  finished.begin()->second.violation = "two nodes are inside at once";
  const auto judgement = judge(values_of(read, {}, finished), finished, false);
  EXPECT_EQ(judgement.verdict, Verdict::not_reproduced);
  EXPECT_FALSE(judgement.expected());
  EXPECT_NE(judgement.violation.find("two nodes are inside at once"), std::string::npos);
}

TEST(Verdict, ComparesRealNumbersOnlyIfThereAreAny) {
  const auto text = with(
      "number line.r2",
      "real points 8\nreal curves one\nnumber real(one) ~ one within 5%: the same\nnumber line.r2");
  const auto read = experiment("processes --scale 0.1\n" + text);
  const Mode mode{.real = true};
  const auto off = [](const std::string& line) {
    return twice_the_nodes(line) * (line.starts_with("run ") ? 1.5 : 1);
  };
  const auto finished = run_all(read, mode, off);
  const auto values = values_of(read, mode, finished);
  const auto simulated = judge(values, finished, false), real = judge(values, finished, true);
  const auto same = [](const Finding& finding) { return finding.claim->text == "the same"; };
  EXPECT_FALSE(std::ranges::find_if(simulated.findings, same)->judged());
  const auto found = *std::ranges::find_if(real.findings, same);
  EXPECT_EQ(found.of, 1U);
  EXPECT_EQ(found.met, 0U);
  EXPECT_EQ(real.verdict, Verdict::not_reproduced);
}

TEST(Values, FitALine) {
  const auto read = experiment();
  const auto finished = run_all(read, {}, twice_the_nodes);
  const auto values = values_of(read, {}, finished);
  const auto* line = values[0].find("line");
  ASSERT_NE(line, nullptr);
  EXPECT_NEAR(line->a, 0, 1e-9);
  EXPECT_NEAR(line->b, 2, 1e-9);
  EXPECT_NEAR(line->r2, 1, 1e-9);
}

TEST(Tables, AreTheSameForTheSameRuns) {
  const auto read = experiment();
  const auto finished = run_all(read, {}, twice_the_nodes);
  const auto values = values_of(read, {}, finished);
  EXPECT_EQ(csv(values[0]),
            "nodes,printed,one,one_ci95,other,other_ci95,ratio,line\n"
            "2,2,4,0,3,0,0.75,4\n4,,8,0,7,0,0.875,8\n8,16,16,0,15,0,0.9375,16\n");
  auto later = finished;
  for (auto& [line, measured] : later) measured.seconds = 9;
  EXPECT_EQ(runs_csv(read, {}, finished), runs_csv(read, {}, later));
}

}  // namespace
}  // namespace turno::lab
