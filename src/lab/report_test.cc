// What a report and the script of a figure must have in them; how they look is for eyes.
#include "lab/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/lab_testing.h"
#include "lab/plot.h"

namespace turno::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Report : public ::testing::Test {
 protected:
  Report() {
    read_.about = {"a < b & c"};
    reported_.results = results_of(read_, {}, finished_);
    reported_.pictures["costs"] = "<svg id=\"#1\">50%</svg>";
  }

  Experiment read_ = testing::experiment();
  Finished finished_ = testing::run_all(read_, {}, testing::twice_the_nodes);
  Reported reported_;
};

TEST_F(Report, HasEverythingInOneFile) {
  const auto html = report({&reported_, 1}, "by hand");
  EXPECT_THAT(html, HasSubstr("direction reproduced</span>"));
  EXPECT_THAT(html, HasSubstr("turno lab run small"));
  EXPECT_THAT(html, HasSubstr("turno sim central --nodes 2 --entries 100 --seed 1"));
  EXPECT_THAT(html, HasSubstr("✗ not met"));
  EXPECT_THAT(html, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(html, HasSubstr("src=\"data:image/svg+xml,%3csvg id=%22%231%22%3e50%25%3c/svg%3e\""));
  EXPECT_THAT(html, Not(HasSubstr("http"))) << "it needs nothing else";
}

TEST_F(Report, OfSeveralBeginsWithTheirVerdicts) {
  const std::vector<Reported> both = {reported_, reported_};
  EXPECT_THAT(report(both, ""), HasSubstr("<a href=\"#small\">small</a>"));
}

TEST_F(Report, ShowsBothVerdictsAndHowLateRealEventsWere) {
  auto read = testing::experiment("processes --scale 0.1\n" + std::string(testing::small) +
                                  "real curves one\nnumber real(one) ~ one within 1%: the same\n");
  const Mode mode{.real = true};
  auto finished = testing::run_all(read, mode, testing::twice_the_nodes);
  for (auto& [line, measured] : finished) {
    if (!line.starts_with("run ")) continue;
    measured.values["lag_ms"] = 0.25;
    measured.values["lag_p99_ms"] = 3;
    measured.values["lag_max_ms"] = 40;
  }
  std::vector<Reported> both(2);
  for (auto& one : both) one.results = results_of(read, mode, finished);
  EXPECT_EQ(both[0].results.verdicts(), "direction reproduced; on real processes: not reproduced");
  const auto html = report(both, "");
  const auto contents = html.substr(0, html.find("<h2"));
  EXPECT_THAT(contents, HasSubstr("direction reproduced</span> simulated, "));
  EXPECT_THAT(contents, HasSubstr("not reproduced</span> on real processes"));
  EXPECT_THAT(html, HasSubstr("<td class=\"real ci\">0.250, 3, 40</td>"));
  EXPECT_THAT(html,
              HasSubstr("events were late by 0.250 ms on average, 99 % by up to 3, at most 40"));
}

TEST_F(Report, DrawsWhatHasALabel) {
  const auto script = plot_script(reported_.results.figures[0], Picture::svg, "costs.svg");
  for (const auto* part :
       {"set output \"costs.svg\"", "set xlabel \"nodes\"", "set ylabel \"messages\"",
        "title \"printed\"", "title \"one\"", "$d1 << EOD\n2 4 0\n4 8 0\n8 16 0\nEOD\n"})
    EXPECT_THAT(script, HasSubstr(part));
  EXPECT_THAT(script, Not(HasSubstr("ratio")));
  EXPECT_THAT(script, HasSubstr("$d0 << EOD\n2 2 0\n\n8 16 0\nEOD\n"))
      << "a gap where nothing is printed";
}

TEST_F(Report, LeavesRoomForLongNames) {
  auto text = std::string(testing::small);
  EXPECT_THAT(plot_script(reported_.results.figures[0], Picture::png, ""), HasSubstr("maxcols 2"));
  text.replace(text.find("\"one\""), 5, "\"one that is called by more than thirty-six letters\"");
  text.replace(text.find("2 4 8"), 5, "a=2 b=4 c=8 d=8 e=8 f=8 g=8");
  text.replace(text.find("2 - 16"), 6, "2 - 16 - - - -");
  text.replace(text.find("quick points 2 8"), 16, "quick points a g");
  const auto read = testing::experiment(text);
  const auto finished = testing::run_all(read, {}, testing::twice_the_nodes);
  const auto script = plot_script(values_of(read, {}, finished)[0], Picture::png, "");
  EXPECT_THAT(script, HasSubstr("maxcols 1"));
  EXPECT_THAT(script, HasSubstr("rotate by -30"));
  EXPECT_THAT(script, HasSubstr("set xlabel \"\"")) << "the names of the points are there";
}

}  // namespace
}  // namespace turno::lab
