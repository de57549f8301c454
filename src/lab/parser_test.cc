// What an experiment says, and what is answered to one that is wrong.
#include <gtest/gtest.h>

#include "core/usage_error.h"
#include "lab/lab_testing.h"
#include "lab/shelf.h"

namespace turno::lab {
namespace {

using testing::experiment;
using testing::small;

TEST(Parser, ReadsAnExperiment) {
  const auto read = experiment();
  EXPECT_EQ(read.name, "small");
  EXPECT_EQ(read.seeds, (std::array<std::uint64_t, 3>{2, 1, 1}));
  ASSERT_EQ(read.figures.size(), 1U);
  const auto& figure = read.figures[0];
  ASSERT_EQ(figure.points.size(), 3U);
  EXPECT_DOUBLE_EQ(figure.points[2].x, 8);
  EXPECT_FALSE(figure.categories);
  ASSERT_EQ(figure.curves.size(), 5U);
  EXPECT_EQ(figure.find("ratio")->kind, Curve::Kind::derived);
  EXPECT_EQ(figure.find("line")->kind, Curve::Kind::fit);
  ASSERT_EQ(figure.claims.size(), 3U);
  EXPECT_DOUBLE_EQ(figure.claims[0].tolerance, 0.1);
}

TEST(Parser, FillsInWhatBelongsToAPoint) {
  auto read = experiment();
  const Point point{.label = "4", .text = "4", .x = 4};
  EXPECT_EQ(read.expand("a {x} {x / 2} {entries}", point, Scale::full), "a 4 2 100");
  EXPECT_EQ(read.expand("{entries}", point, Scale::quick), "7");
  EXPECT_THROW((void)read.expand("{nobody}", point, Scale::full), UsageError);
  EXPECT_THROW((void)read.expand("{x", point, Scale::full), UsageError);
  read.words[0]["loop"] = "{loop}";
  EXPECT_THROW((void)read.expand("{loop}", point, Scale::full), UsageError);
}

TEST(Parser, TakesCategoriesWithOtherWordsInCommands) {
  const auto read = experiment(
      "experiment e\ntitle t\nfigure f: F\nx kind: two_words=tree b\ny y\n"
      "curve c \"k = 3\" = messages.{x} of nxr\n");
  const auto& figure = read.figures[0];
  EXPECT_TRUE(figure.categories);
  EXPECT_EQ(figure.points[0].label, "two words");
  EXPECT_EQ(figure.points[0].text, "tree");
  EXPECT_DOUBLE_EQ(figure.points[1].x, 2);
  EXPECT_EQ(figure.curves[0].label, "k = 3");
}

std::string complaint(const std::string& text) {
  try {
    experiment(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(Parser, SaysWhereTheMistakeIs) {
  const std::string head = "experiment e\ntitle t\nfigure f: F\nx n: 1 2\ny y\n";
  const std::string curve = "curve c = messages of nxr\n";
  const auto at = [&](const std::string& more) { return complaint(head + curve + more); };
  EXPECT_EQ(at(""), "none");
  EXPECT_EQ(at("curve c = entries of nxr"), "small.experiment, line 7: there is a curve c already");
  EXPECT_EQ(at("paper p: 1"), "small.experiment, line 7: there are 2 points and 1 numbers");
  EXPECT_EQ(at("paper p: 1 z"), "small.experiment, line 7: 'z' is no number");
  EXPECT_EQ(at("number c ~ d within 1%: no"),
            "small.experiment, line 7: there is no curve d above");
  EXPECT_EQ(
      at("direction c ~ 1: no"),
      "small.experiment, line 7: near what is said with a tolerance, as in 'a ~ b within 10%'");
  EXPECT_EQ(at("direction c 1: no"), "small.experiment, line 7: a claim has one of < > ~");
  EXPECT_EQ(at("direction c < 1 where y > 2: no"),
            "small.experiment, line 7: where is as in 'where x >= 2 and x < 9'");
  EXPECT_EQ(at("because it is so"), "small.experiment, line 7: there is no claim above");
  EXPECT_EQ(at("quick points 3"), "small.experiment, line 7: there is no point 3");
  EXPECT_EQ(at("real curves d"), "small.experiment, line 7: there is no measured curve d above");
  EXPECT_EQ(at("fit g = d to x"), "small.experiment, line 7: there is no curve d above");
  EXPECT_NE(at("curv d = 1").find("line 7: there is no line 'curv'; there are experiment, title"),
            std::string::npos);
  EXPECT_NE(at("real curves c").find("no line 'processes' says how"), std::string::npos);
  EXPECT_NE(at("curve d = {oops} of nxr").find("line 7"), std::string::npos);
  EXPECT_EQ(complaint("title t\n"),
            "small.experiment, line 1: the line 'experiment NAME' is missing");
  EXPECT_EQ(complaint("experiment e\ntitle t\ny z\n"),
            "small.experiment, line 3: 'y' belongs into a figure");
  EXPECT_EQ(complaint("experiment e\ntitle t\nfigure f: F\ny z\n" + curve),
            "small.experiment, line 3: the figure f has no line 'x'");
}

TEST(Shelf, HasTheExperimentsThatItNames) {
  EXPECT_GE(shelf().size(), 16U);
  for (const auto& one : shelf()) {
    const auto read = parse_experiment(std::string(one.name), std::string(one.text));
    EXPECT_EQ(read.name, one.name) << "a file is called as its experiment";
    EXPECT_FALSE(read.source.empty()) << one.name;
    for (const auto& figure : read.figures) EXPECT_FALSE(figure.claims.empty()) << one.name;
    EXPECT_FALSE(all_tasks(read, {.quick = true}).empty());
  }
}

}  // namespace
}  // namespace turno::lab
