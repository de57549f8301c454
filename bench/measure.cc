#include "measure.h"

#include <fmt/core.h>

#include <algorithm>

namespace turno::bench {

namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void print(const Group& group) {
  std::size_t width = 44;
  for (const auto& measure : group.measures) width = std::max(width, measure.name.size());
  fmt::print("{}\n{:<{}}{:>12}", group.title, "", width, "per second");
  for (const auto& reference : group.references) fmt::print("  {:>20}", "of " + reference);
  fmt::print("\n");
  for (const auto& measure : group.measures) {
    if (measure.rates.empty()) continue;
    fmt::print("{:<{}}{:>12.0f}", measure.name, width, measure.median());
    for (const auto& name : group.references) {
      const auto found = std::find_if(group.measures.begin(), group.measures.end(),
                                      [&](const Measure& each) { return each.name == name; });
      fmt::print("  {:>{}.2f}", measure.of(*found), std::max<std::size_t>(20, name.size() + 3));
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

}  // namespace

double Measure::median() const { return median_of(rates); }

double Measure::of(const Measure& reference) const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(rates.size(), reference.rates.size()); ++i)
    ratios.push_back(reference.rates[i] == 0 ? 0 : rates[i] / reference.rates[i]);
  return median_of(std::move(ratios));
}

void measure(std::vector<Group>& groups, int rounds, const std::string& part) {
  for (int i = 0; i < rounds; ++i)
    for (auto& group : groups)
      for (auto& each : group.measures)
        if (each.name.find(part) != std::string::npos) each.rates.push_back(each.run());
}

void print(const std::vector<Group>& groups) {
  for (const auto& group : groups) print(group);
  std::fflush(stdout);
}

}  // namespace turno::bench
