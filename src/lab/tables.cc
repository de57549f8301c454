#include "lab/tables.h"

#include <fmt/format.h>

#include <cmath>

namespace turno::lab {

namespace {

std::string cell(double value) { return std::isnan(value) ? "" : fmt::format("{:.10g}", value); }
std::string number_or_null(double value) {
  return std::isnan(value) ? "null" : fmt::format("{:.10g}", value);
}
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string_view kind_name(Curve::Kind kind) {
  switch (kind) {
    case Curve::Kind::paper:
      return "paper";
    case Curve::Kind::measured:
      return "measured";
    case Curve::Kind::derived:
      return "derived";
    default:
      return "fit";
  }
}

// One number of each, at the points that were run.
template <class T>
std::string numbers_json(const std::vector<T>& all, const std::vector<std::size_t>& points,
                         double T::*part) {
  std::vector<std::string> elements;
  elements.reserve(points.size());
  for (const auto i : points) elements.push_back(number_or_null(all[i].*part));
  return json_array(elements);
}

// What is run at each point, with the first seed.
std::vector<std::string> commands(const FigureValues& figure, const CurveValues& values,
                                  const Results& results, bool real) {
  std::vector<std::string> commands;
  for (const auto i : figure.points)
    if (!real || !std::isnan(values.real[i].mean))
      commands.push_back(tasks_of(*results.experiment, *values.curve, figure.figure->points[i],
                                  real, results.mode)[0]
                             .line());
  return commands;
}

Json json(const FigureValues& figure, const Results& results) {
  const auto& shape = *figure.figure;
  std::vector<std::string> labels;
  for (const auto i : figure.points) labels.push_back(shape.points[i].label);
  std::vector<Json> curves;
  for (const auto& values : figure.curves) {
    const auto& curve = *values.curve;
    Json one;
    one.add("name", curve.name).add("label", curve.label).add("kind", kind_name(curve.kind));
    if (!curve.expression.empty()) one.add("value", curve.expression);
    if (curve.kind == Curve::Kind::measured)
      one.add("commands", commands(figure, values, results, false));
    if (!values.lag.empty()) one.add("real_commands", commands(figure, values, results, true));
    if (curve.kind == Curve::Kind::fit)
      one.add("fitted", curve.fitted)
          .add_raw("a", number_or_null(values.a))
          .add_raw("b", number_or_null(values.b))
          .add_raw("r2", number_or_null(values.r2));
    one.add_raw("mean", numbers_json(values.at, figure.points, &Value::mean));
    if (curve.kind == Curve::Kind::measured)
      one.add_raw("ci95", numbers_json(values.at, figure.points, &Value::ci95));
    if (!values.real.empty())
      one.add_raw("real_mean", numbers_json(values.real, figure.points, &Value::mean))
          .add_raw("real_ci95", numbers_json(values.real, figure.points, &Value::ci95));
    if (!values.lag.empty())
      one.add_raw("real_lag_ms", numbers_json(values.lag, figure.points, &Lag::mean_ms))
          .add_raw("real_lag_p99_ms", numbers_json(values.lag, figure.points, &Lag::p99_ms))
          .add_raw("real_lag_max_ms", numbers_json(values.lag, figure.points, &Lag::max_ms));
    curves.push_back(std::move(one));
  }
  return Json()
      .add("name", shape.name)
      .add("title", shape.title)
      .add("x", shape.x.label)
      .add("y", shape.y.label)
      .add("points", labels)
      .add("curves", curves);
}

Json findings(const Judgement& judgement) {
  std::vector<Json> claims;
  for (const auto& finding : judgement.findings) {
    Json one;
    one.add("figure", finding.figure->name)
        .add("kind", finding.claim->kind == Claim::Kind::number ? "number" : "direction")
        .add("claim", finding.claim->condition)
        .add("text", finding.claim->text)
        .add("points", finding.of)
        .add("met", finding.met)
        .add("worst", finding.detail);
    if (!finding.claim->because.empty()) one.add("because", finding.claim->because);
    one.add("expected", finding.expected());
    claims.push_back(std::move(one));
  }
  Json json;
  json.add("verdict", name(judgement.verdict)).add("expected", judgement.expected());
  if (!judgement.violation.empty()) json.add("violation", judgement.violation);
  return json.add("claims", claims);
}

}  // namespace

std::string number(double value) {
  if (std::isnan(value)) return "";
  if (value == std::round(value) && std::abs(value) < 1e7) return fmt::format("{:.0f}", value);
  const auto size = std::abs(value);
  if (size >= 1e7 || size < 0.001) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

std::string Results::verdicts() const {
  const std::string text(name(simulated.verdict));
  return mode.real ? fmt::format("{}; on real processes: {}", text, name(real.verdict)) : text;
}

std::string Results::command() const {
  std::string command = "turno lab run " + experiment->called;
  if (mode.quick) command += " --quick";
  if (mode.real) command += " --real";
  if (!mode.sabotage.without.empty()) command += " --without " + mode.sabotage.without;
  for (const auto& [one, other] : mode.sabotage.by)
    command += fmt::format(" --replace {}={}", one, other);
  return command;
}

Results results_of(const Experiment& experiment, const Mode& mode, const Finished& finished) {
  Results results{.experiment = &experiment, .mode = mode};
  results.figures = values_of(experiment, mode, finished);
  results.simulated = judge(results.figures, finished, false);
  if (mode.real) results.real = judge(results.figures, finished, true);
  return results;
}

std::string csv(const FigureValues& figure) {
  std::string text = quoted(figure.figure->x.label);
  for (const auto& values : figure.curves) {
    const auto name = values.curve->name;
    text += "," + name;
    if (values.curve->kind == Curve::Kind::measured) text += "," + name + "_ci95";
    if (!values.real.empty()) text += fmt::format(",{0}_real,{0}_real_ci95", name);
    for (const auto* lag : {"_ms", "_p99_ms", "_max_ms"})
      if (!values.lag.empty()) text += fmt::format(",{}_real_lag{}", name, lag);
  }
  text += "\n";
  for (const auto i : figure.points) {
    text += quoted(figure.figure->points[i].label);
    for (const auto& values : figure.curves) {
      text += "," + cell(values.at[i].mean);
      if (values.curve->kind == Curve::Kind::measured) text += "," + cell(values.at[i].ci95);
      if (!values.real.empty())
        text += "," + cell(values.real[i].mean) + "," + cell(values.real[i].ci95);
      if (!values.lag.empty())
        for (const auto part : {&Lag::mean_ms, &Lag::p99_ms, &Lag::max_ms})
          text += "," + cell(values.lag[i].*part);
    }
    text += "\n";
  }
  return text;
}

std::string runs_csv(const Experiment& experiment, const Mode& mode, const Finished& finished) {
  std::string text = "run,value,number\n";
  for (const auto& task : all_tasks(experiment, mode)) {
    const auto& measured = finished.at(task.line());
    for (const auto& [name, value] : measured.values)
      text += fmt::format("{},{},{}\n", quoted(task.line()), name, value);
  }
  return text;
}

Json json(const Results& results) {
  const auto& experiment = *results.experiment;
  std::vector<Json> figures;
  for (const auto& figure : results.figures) figures.push_back(json(figure, results));
  Json json;
  json.add("experiment", experiment.name)
      .add("title", experiment.title)
      .add("source", experiment.source)
      .add("command", results.command())
      .add("quick", results.mode.quick)
      .add("seeds", experiment.seeds[results.mode.quick ? 1 : 0])
      .add("simulated", findings(results.simulated));
  if (results.mode.real)
    json.add("seeds_real", experiment.seeds[2]).add("real", findings(results.real));
  return json.add("figures", figures);
}

}  // namespace turno::lab
