#include "lab/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace turno::lab {

namespace {

constexpr auto style = R"(
body { font: 16px/1.5 system-ui, 'DejaVu Sans', sans-serif; color: #222; max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.7rem } h2 { margin-top: 3.5rem; border-top: 2px solid #ddd; padding-top: 1rem }
h3 { margin-top: 2rem }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums;
  font-size: 0.88rem }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #e4e4e4; text-align: right;
  vertical-align: top }
th { background: #f6f6f6; font-weight: 600 } th:first-child, td:first-child, .text { text-align: left }
.paper { background: #fbf6ea } .real { background: #eef6ee } .ci { color: #777; font-size: 0.85em }
.scroll { overflow-x: auto }
.verdict { border-radius: 0.8rem; padding: 0.1rem 0.7rem; color: white; white-space: nowrap;
  font-size: 0.85rem }
.good { background: #2a7f4f } .half { background: #b07a00 } .bad { background: #b3382c }
.none { background: #777 }
.yes, .no, .open { white-space: nowrap }
.yes { color: #2a7f4f } .no { color: #b3382c } .open { color: #777 }
code, pre { font: 0.85rem/1.4 'DejaVu Sans Mono', monospace; background: #f6f6f6 }
code { padding: 0.1rem 0.3rem } pre { padding: 0.7rem; overflow-x: auto }
figure { margin: 1rem 0 } figure img { width: 100%; max-width: 54rem; height: auto }
summary { cursor: pointer; color: #0b5cad } .source { color: #555 }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

// A picture of its own, so that two of them cannot mix up their names.
std::string data_address(std::string_view svg) {
  std::string out = "data:image/svg+xml,";
  for (const char c : svg) {
    if (c == '%' || c == '#' || c == '"' || c == '<' || c == '>' || c == '&' || c == '\'')
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string badge(Verdict verdict) {
  constexpr std::array classes = {"good", "half", "bad", "none"};
  return fmt::format("<span class=\"verdict {}\">{}</span>",
                     classes[static_cast<std::size_t>(verdict)], name(verdict));
}

std::string badges(const Results& results) {
  auto simulated = badge(results.simulated.verdict);
  if (!results.mode.real) return simulated;
  return simulated + " simulated, " + badge(results.real.verdict) + " on real processes";
}

std::string cell(const Value& value, std::string_view kind) {
  if (std::isnan(value.mean)) return fmt::format("<td class=\"{}\"></td>", kind);
  const auto interval =
      value.runs > 1 ? fmt::format(" <span class=\"ci\">±{}</span>", number(value.ci95)) : "";
  return fmt::format("<td class=\"{}\">{}{}</td>", kind, number(value.mean), interval);
}

std::string late(const Lag& lag) {
  if (std::isnan(lag.mean_ms)) return "<td class=\"real\"></td>";
  return fmt::format("<td class=\"real ci\">{}, {}, {}</td>", number(lag.mean_ms),
                     number(lag.p99_ms), number(lag.max_ms));
}

std::string heading(const CurveValues& values) {
  const auto& curve = *values.curve;
  auto text = escaped(curve.label.empty() ? curve.name : curve.label);
  if (curve.kind == Curve::Kind::fit)
    text += fmt::format("<br><span class=\"ci\">{} + {} · {}, R² {:.4f}</span>", number(values.a),
                        number(values.b), escaped(curve.expression), values.r2);
  return text;
}

std::string table(const FigureValues& figure) {
  auto text =
      fmt::format("<div class=\"scroll\"><table><tr><th>{}</th>", escaped(figure.figure->x.label));
  for (const auto& values : figure.curves) {
    const bool paper = values.curve->kind == Curve::Kind::paper;
    text += fmt::format("<th class=\"{}\">{}</th>", paper ? "paper" : "", heading(values));
    const auto& label = values.curve->label.empty() ? values.curve->name : values.curve->label;
    if (!values.real.empty())
      text += fmt::format("<th class=\"real\">{}</th>",
                          label == "simulated" ? "real" : escaped(label) + ", real");
    if (!values.lag.empty())
      text += "<th class=\"real\">late, ms<br><span class=\"ci\">mean, 99 %, most</span></th>";
  }
  text += "</tr>\n";
  for (const auto i : figure.points) {
    text += fmt::format("<tr><td>{}</td>", escaped(figure.figure->points[i].label));
    for (const auto& values : figure.curves) {
      text += cell(values.at[i], values.curve->kind == Curve::Kind::paper ? "paper" : "");
      if (!values.real.empty()) text += cell(values.real[i], "real");
      if (!values.lag.empty()) text += late(values.lag[i]);
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string_view meaning(const Finding& finding) {
  if (!finding.judged()) return "<span class=\"open\">not judged</span>";
  return finding.holds() ? "<span class=\"yes\">✓ met</span>"
                         : "<span class=\"no\">✗ not met</span>";
}

std::string claims(const Judgement& judgement, const Figure& figure, std::string_view what) {
  std::string rows;
  for (const auto& finding : judgement.findings) {
    if (finding.figure != &figure || !finding.judged()) continue;
    const auto& claim = *finding.claim;
    auto note = fmt::format("{} of {} points; worst at {}", finding.met, finding.of,
                            escaped(finding.detail));
    if (!finding.holds() && !claim.because.empty())
      note += fmt::format("<br><b>Why:</b> {}", escaped(claim.because));
    if (!finding.expected())
      note += finding.holds() ? "<br><b>It was not met before.</b>"
                              : "<br><b>It was expected to be met.</b>";
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"text\">{}<br><code>{}</code></td><td class=\"text\">{}</td>"
        "<td class=\"text\">{}</td></tr>\n",
        meaning(finding), escaped(claim.text), escaped(claim.condition),
        claim.kind == Claim::Kind::number ? "number" : "direction", note);
  }
  if (rows.empty()) return {};
  return fmt::format(
      "<table><tr><th>{}</th><th class=\"text\">what must be true</th><th class=\"text\">kind</th>"
      "<th class=\"text\">found</th></tr>\n{}</table>\n",
      what, rows);
}

std::string commands(const Results& results) {
  std::string text;
  for (const auto& task : all_tasks(*results.experiment, results.mode))
    if (task.line().ends_with(" --seed 1")) text += "turno " + task.line() + "\n";
  return fmt::format(
      "<details><summary>Every run, with its first seed</summary><pre>{}</pre></details>\n",
      escaped(text));
}

std::string section(const Reported& reported) {
  const auto& results = reported.results;
  const auto& experiment = *results.experiment;
  auto text = fmt::format("<h2 id=\"{0}\">{1}</h2>\n<p>{2}</p>\n", experiment.name,
                          escaped(experiment.title), badges(results));
  if (!experiment.source.empty())
    text += fmt::format("<p class=\"source\">{}</p>\n", escaped(experiment.source));
  for (const auto* judgement : {&results.simulated, &results.real})
    if (!judgement->violation.empty())
      text +=
          fmt::format("<p class=\"no\"><b>Violated:</b> {}</p>\n", escaped(judgement->violation));
  for (const auto& paragraph : experiment.about)
    text += fmt::format("<p>{}</p>\n", escaped(paragraph));
  text += fmt::format("<p>Again: <code>{}</code></p>\n", escaped(results.command()));
  for (const auto& figure : results.figures) {
    text += fmt::format("<h3>{}</h3>\n", escaped(figure.figure->title));
    const auto picture = reported.pictures.find(figure.figure->name);
    if (picture != reported.pictures.end())
      text += fmt::format("<figure><img alt=\"{}\" src=\"{}\"></figure>\n",
                          escaped(figure.figure->title), data_address(picture->second));
    text += table(figure);
    text += claims(results.simulated, *figure.figure, "simulated");
    text += claims(results.real, *figure.figure, "real");
  }
  text += commands(results);
  text += fmt::format(
      "<details><summary>The experiment as it is written</summary><pre>{}</pre>"
      "</details>\n",
      escaped(experiment.text));
  return text;
}

std::string contents(std::span<const Reported> experiments) {
  if (experiments.size() < 2) return {};
  std::string rows;
  for (const auto& one : experiments)
    rows += fmt::format(
        "<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"text\">{1}</td>"
        "<td class=\"text\">{2}</td></tr>\n",
        one.results.experiment->name, escaped(one.results.experiment->title), badges(one.results));
  return "<table><tr><th>experiment</th><th class=\"text\">what</th><th class=\"text\">verdict</th>"
         "</tr>\n" +
         rows + "</table>\n";
}

}  // namespace

std::string report(std::span<const Reported> experiments, const std::string& made) {
  const auto title = experiments.size() == 1
                         ? "The lab: " + experiments[0].results.experiment->name
                         : std::string("The lab: the papers' experiments, and ours");
  auto text = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
      "<meta name=\"viewport\" content=\"width=device-width\"><style>{1}</style></head><body>\n"
      "<h1>{0}</h1>\n<p class=\"source\">{2}</p>\n",
      escaped(title), style, escaped(made));
  text +=
      "<p>What a paper printed is on sand, what ran on real processes on green, with how late its "
      "events happened; ± is half of the "
      "95 % confidence interval. <i>Reproduced</i>: every claim is met, numbers too. <i>Direction "
      "reproduced</i>: what is more and what is less is as the paper says, its numbers are not. "
      "<i>Not reproduced</i>: not even that, or a run broke what the algorithm promises.</p>\n";
  text += contents(experiments);
  for (const auto& one : experiments) text += section(one);
  return text + "</body></html>\n";
}

}  // namespace turno::lab
