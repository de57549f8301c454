// Whether an experiment came out as the paper says, by comparing numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/values.h"

namespace turno::lab {

enum class Verdict : std::uint8_t { reproduced, direction, not_reproduced, not_judged };
std::string_view name(Verdict verdict);

struct Finding {
  const Claim* claim;
  const Figure* figure;
  std::size_t met = 0, of = 0;  // points
  std::string detail;           // the point that is worst, with its numbers

  [[nodiscard]] bool judged() const { return of > 0; }
  [[nodiscard]] bool holds() const { return judged() && met == of; }
  // As the file expects: met, or known not to be.
  [[nodiscard]] bool expected() const { return !judged() || holds() == claim->because.empty(); }
};

struct Judgement {
  std::vector<Finding> findings;
  std::string violation;  // of a run; then nothing is reproduced
  Verdict verdict = Verdict::not_judged;

  [[nodiscard]] bool expected() const;
};

// Of the simulated numbers, or of the real ones.
Judgement judge(const std::vector<FigureValues>& figures, const Finished& finished, bool real);

}  // namespace turno::lab
