// What is measured in rounds, one after the other, so that a machine that is busy for a while is
// busy for all of them; and tables of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace turno::bench {

struct Measure {
  std::string name;
  std::function<double()> run;  // per second
  std::vector<double> rates = {};

  [[nodiscard]] double median() const;
  // The median of what each round says.
  [[nodiscard]] double of(const Measure& reference) const;
};

// Measures that are compared with each other.
struct Group {
  std::string title;
  std::vector<std::string> references;  // names of measures
  std::vector<Measure> measures;
};

// `rounds` times each, in turns; only those with `part` in their names.
void measure(std::vector<Group>& groups, int rounds, const std::string& part = "");
void print(const std::vector<Group>& groups);

}  // namespace turno::bench
