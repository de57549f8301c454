#include "lab/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "core/usage_error.h"
#include "sim/statistics.h"

namespace turno::lab {

namespace {

constexpr auto nothing = std::numeric_limits<double>::quiet_NaN();

Scale scale_of(bool real, const Mode& mode) {
  if (real) return Scale::real;
  return mode.quick ? Scale::quick : Scale::full;
}

// The first of the real points, if none of them is a quick one: something must run.
bool is_the_only_real(const Figure& figure, std::size_t point, const Mode& mode) {
  if (!mode.real || !mode.quick || std::ranges::none_of(figure.curves, &Curve::real)) return false;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < figure.points.size(); ++i) {
    if (!figure.has_point(i, Scale::real)) continue;
    if (figure.has_point(i, Scale::quick)) return false;
    if (!first) first = i;
  }
  return first == point;
}
bool is_run(const Figure& figure, std::size_t point, const Mode& mode) {
  return figure.has_point(point, scale_of(false, mode)) || is_the_only_real(figure, point, mode);
}
bool is_run_really(const Figure& figure, std::size_t point, const Mode& mode) {
  return mode.real && is_run(figure, point, mode) && figure.has_point(point, Scale::real);
}

// Says where in the file the trouble is.
template <class Work>
auto at_line(const Experiment& experiment, std::size_t line, Work work) {
  try {
    return work();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}, line {}: {}", experiment.file, line, error.what()));
  }
}

class Evaluation {
 public:
  Evaluation(const Experiment& experiment, const Mode& mode, const Finished& finished)
      : experiment_(experiment), mode_(mode), finished_(finished) {}

  FigureValues of(const Figure& figure) {
    FigureValues values{.figure = &figure};
    for (std::size_t i = 0; i < figure.points.size(); ++i)
      if (is_run(figure, i, mode_)) values.points.push_back(i);
    for (const auto& curve : figure.curves)
      at_line(experiment_, curve.line, [&] {
        auto one = of(values, curve);
        values.curves.push_back(std::move(one));
      });
    return values;
  }

 private:
  CurveValues of(const FigureValues& figure, const Curve& curve) const {
    CurveValues values{.curve = &curve};
    values.at.assign(figure.figure->points.size(), {nothing, 0, 0});
    switch (curve.kind) {
      case Curve::Kind::paper:
        for (const auto i : figure.points) values.at[i].mean = curve.numbers[i];
        break;
      case Curve::Kind::measured:
        measure(figure, curve, values);
        break;
      case Curve::Kind::derived:
        for (const auto i : figure.points) values.at[i].mean = derived(figure, curve, i, false);
        if (reads_real(figure, curve)) {
          values.real.assign(values.at.size(), {nothing, 0, 0});
          for (const auto i : figure.points) values.real[i].mean = derived(figure, curve, i, true);
        }
        break;
      case Curve::Kind::fit:
        fit(figure, curve, values);
    }
    return values;
  }

  static double derived(const FigureValues& figure, const Curve& curve, std::size_t point,
                        bool real) {
    return figure.value(Expression::parse(curve.expression), point, real);
  }
  static bool reads_real(const FigureValues& figure, const Curve& curve) {
    bool real = false;
    Expression::parse(curve.expression).each_name([&](const auto&, const std::string& name) {
      const auto* other = figure.find(name);
      real = real || (other != nullptr && !other->real.empty());
    });
    return real;
  }

  void measure(const FigureValues& figure, const Curve& curve, CurveValues& values) const {
    if (curve.real && mode_.real) {
      values.real.assign(values.at.size(), {nothing, 0, 0});
      values.lag.assign(values.at.size(), {nothing, nothing, nothing});
    }
    for (const auto i : figure.points) {
      values.at[i] = measure(curve, figure.figure->points[i], false);
      if (values.real.empty() || !is_run_really(*figure.figure, i, mode_)) continue;
      values.real[i] = measure(curve, figure.figure->points[i], true);
      values.lag[i] = lag(curve, figure.figure->points[i]);
    }
  }

  [[nodiscard]] Lag lag(const Curve& curve, const Point& point) const {
    Lag lag;
    const auto tasks = tasks_of(experiment_, curve, point, true, mode_);
    const auto runs = static_cast<double>(tasks.size());
    for (const auto& task : tasks) {
      const auto& measured = finished_.at(task.line());
      lag.mean_ms += value_of(measured, "lag_ms") / runs;
      lag.p99_ms += value_of(measured, "lag_p99_ms") / runs;
      lag.max_ms = std::max(lag.max_ms, value_of(measured, "lag_max_ms"));
    }
    return lag;
  }

  [[nodiscard]] Value measure(const Curve& curve, const Point& point, bool real) const {
    const auto wanted =
        Expression::parse(experiment_.expand(curve.expression, point, scale_of(real, mode_)));
    std::vector<double> values;
    for (const auto& task : tasks_of(experiment_, curve, point, real, mode_)) {
      const auto& measured = finished_.at(task.line());
      values.push_back(wanted.value([&](const std::string& of, const std::string& name) {
        const auto value = value_of(measured, name);
        if (!of.empty() || std::isnan(value))
          throw UsageError(fmt::format("a run of '{}' has no value {}", task.command, name));
        return value;
      }));
    }
    const auto estimate = sim::estimate(values);
    // What is less than the last digits of a double is rounding.
    const bool exact = estimate.ci95 < std::abs(estimate.mean) * 1e-12;
    return {estimate.mean, exact ? 0 : estimate.ci95, values.size()};
  }

  // Least squares.
  static void fit(const FigureValues& figure, const Curve& curve, CurveValues& values) {
    const auto* other = figure.find(curve.fitted);
    const auto shape = Expression::parse(curve.expression);
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (const auto i : figure.points) {
      const auto x = figure.value(shape, i, false), y = other->at[i].mean;
      if (std::isnan(x) || std::isnan(y)) continue;
      n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
    }
    const auto spread = n * sxx - sx * sx;
    values.b = spread == 0 ? nothing : (n * sxy - sx * sy) / spread;
    values.a = (sy - values.b * sx) / n;
    double off = 0;
    for (const auto i : figure.points) {
      const auto x = figure.value(shape, i, false), y = other->at[i].mean;
      values.at[i].mean = values.a + values.b * x;
      if (!std::isnan(y)) off += (y - values.at[i].mean) * (y - values.at[i].mean);
    }
    const auto all = syy - sy * sy / n;
    values.r2 = all == 0 ? nothing : 1 - off / all;
  }

  const Experiment& experiment_;
  const Mode& mode_;
  const Finished& finished_;
};

// What is asked of a curve as a whole.
double over(const std::vector<Value>& values, const std::string& what) {
  std::vector<double> there;
  for (const auto& value : values)
    if (!std::isnan(value.mean)) there.push_back(value.mean);
  if (there.empty()) return nothing;
  if (what == "first") return there.front();
  if (what == "last") return there.back();
  if (what == "least") return *std::ranges::min_element(there);
  if (what == "most") return *std::ranges::max_element(there);
  double sum = 0;
  for (const auto value : there) sum += value;
  return what == "mean" ? sum / static_cast<double>(there.size()) : sum;
}

}  // namespace

std::string Sabotage::apply(const std::string& command) const {
  const auto end = std::min(command.find(' '), command.size());
  auto algorithm = command.substr(0, end);
  if (const auto found = by.find(algorithm); found != by.end()) algorithm = found->second;
  const bool hit = std::ranges::find(without_it, algorithm) != without_it.end() &&
                   command.find("--as-published") == std::string::npos;
  return algorithm + command.substr(end) + (hit ? " --without " + without : "");
}

std::vector<Task> tasks_of(const Experiment& experiment, const Curve& curve, const Point& point,
                           bool real, const Mode& mode) {
  return at_line(experiment, curve.line, [&] {
    const auto scale = scale_of(real, mode);
    auto command = mode.sabotage.apply(experiment.expand(curve.command, point, scale));
    if (real) command += " " + experiment.expand(experiment.processes, point, scale);
    std::vector<Task> tasks;
    for (std::uint64_t seed = 1; seed <= experiment.seeds[static_cast<std::size_t>(scale)]; ++seed)
      tasks.push_back({fmt::format("{} --seed {}", command, seed), real});
    return tasks;
  });
}

std::vector<Task> all_tasks(const Experiment& experiment, const Mode& mode) {
  std::vector<std::vector<Task>> cells;
  for (const auto& figure : experiment.figures)
    for (const auto& curve : figure.curves) {
      if (curve.kind != Curve::Kind::measured) continue;
      for (std::size_t i = 0; i < figure.points.size(); ++i) {
        if (is_run(figure, i, mode))
          cells.push_back(tasks_of(experiment, curve, figure.points[i], false, mode));
        if (curve.real && is_run_really(figure, i, mode))
          cells.push_back(tasks_of(experiment, curve, figure.points[i], true, mode));
      }
    }
  std::vector<Task> tasks;
  std::set<std::string> known;
  bool more = true;
  for (std::size_t seed = 0; more; ++seed) {
    more = false;
    for (const auto& cell : cells) {
      if (seed >= cell.size()) continue;
      more = true;
      if (known.insert(cell[seed].line()).second) tasks.push_back(cell[seed]);
    }
  }
  return tasks;
}

const CurveValues* FigureValues::find(const std::string& name) const {
  const auto found =
      std::ranges::find_if(curves, [&](const CurveValues& one) { return one.curve->name == name; });
  return found == curves.end() ? nullptr : &*found;
}

double FigureValues::value(const Expression& expression, std::size_t point, bool real) const {
  return expression.value([&](const std::string& of, const std::string& name) {
    if (name == "x") return figure->points[point].x;
    const auto dot = name.find('.');
    const auto* curve = find(name.substr(0, dot));
    if (curve == nullptr) throw UsageError("there is no curve " + name);
    if (dot != std::string::npos) {
      const auto part = name.substr(dot + 1);
      return part == "a" ? curve->a : part == "b" ? curve->b : curve->r2;
    }
    if (of == "real") return curve->real.empty() ? nothing : curve->real[point].mean;
    const auto& values = real && !curve->real.empty() ? curve->real : curve->at;
    return of.empty() ? values[point].mean : over(values, of);
  });
}

std::vector<FigureValues> values_of(const Experiment& experiment, const Mode& mode,
                                    const Finished& finished) {
  std::vector<FigureValues> values;
  Evaluation evaluation(experiment, mode, finished);
  for (const auto& figure : experiment.figures) values.push_back(evaluation.of(figure));
  return values;
}

}  // namespace turno::lab
