#include "lab/experiment.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/usage_error.h"

namespace turno::lab {

const Curve* Figure::find(std::string_view curve) const {
  const auto found = std::ranges::find(curves, curve, &Curve::name);
  return found == curves.end() ? nullptr : &*found;
}

bool Figure::has_point(std::size_t point, Scale scale) const {
  const auto& chosen = scale == Scale::real ? real_points : quick_points;
  if (scale == Scale::full || !chosen) return true;
  return std::ranges::find(*chosen, points[point].label) != chosen->end();
}

bool Experiment::has_real() const {
  return std::ranges::any_of(figures, [](const Figure& figure) {
    return std::ranges::any_of(figure.curves, &Curve::real);
  });
}

std::string Experiment::expand(std::string_view pattern, const Point& point, Scale scale,
                               int depth) const {
  if (depth > 8) throw UsageError("a word is made of itself");
  std::string out;
  while (!pattern.empty()) {
    const auto open = pattern.find('{');
    out += pattern.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = pattern.find('}', open);
    if (close == std::string_view::npos) throw UsageError("a '}' is missing");
    const std::string word(pattern.substr(open + 1, close - open - 1));
    pattern.remove_prefix(close + 1);
    const auto& own = words[static_cast<std::size_t>(scale)];
    const auto& common = words[static_cast<std::size_t>(Scale::full)];
    if (word == "x") {
      out += expand(point.text, point, scale, depth + 1);
    } else if (const auto found = own.find(word); found != own.end()) {
      out += expand(found->second, point, scale, depth + 1);
    } else if (const auto given = common.find(word); given != common.end()) {
      out += expand(given->second, point, scale, depth + 1);
    } else {
      const auto value = Expression::parse(word).value([&](const auto& of, const auto& unknown) {
        if (!of.empty() || unknown != "x") throw UsageError("there is no {" + unknown + "}");
        return point.x;
      });
      out += fmt::format("{:.10g}", value);
    }
  }
  return out;
}

}  // namespace turno::lab
