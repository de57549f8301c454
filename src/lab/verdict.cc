#include "lab/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/tables.h"

namespace turno::lab {

namespace {

bool is_at(const Claim& claim, double x) {
  return std::ranges::all_of(claim.where, [&](const Claim::Where& where) {
    if (where.or_equal && x == where.x) return true;
    return where.relation == Relation::less ? x < where.x : x > where.x;
  });
}

// By how much it is met, as a share; below 0: it is not.
double margin(const Claim& claim, double left, double right) {
  const auto unit = right == 0 ? 1 : std::abs(right);
  if (claim.relation == Relation::near) return claim.tolerance - std::abs(left - right) / unit;
  const auto ahead = (claim.relation == Relation::less ? right - left : left - right) / unit;
  // "within" lets an order be missed by a little.
  return claim.tolerance > 0 ? ahead + claim.tolerance : ahead;
}

bool is_met(const Claim& claim, double margin) {
  return claim.relation == Relation::near || claim.tolerance > 0 ? margin >= 0 : margin > 0;
}

// A claim about real(...) is one about both.
bool compares_both(const Claim& claim) {
  bool both = false;
  const auto look = [&](const std::string& of, const std::string&) { both |= of == "real"; };
  claim.left.each_name(look);
  claim.right.each_name(look);
  return both;
}

bool concerns(const FigureValues& figure, const Claim& claim, bool real) {
  if (compares_both(claim)) return real;
  if (!real) return true;
  // With real numbers, only where every measured curve has them, and not those of a fit.
  bool all = true, any = false;
  const auto look = [&](const std::string&, const std::string& name) {
    const auto* curve = figure.find(name.substr(0, name.find('.')));
    if (curve == nullptr || curve->curve->kind == Curve::Kind::paper) return;
    const bool formula = curve->curve->kind == Curve::Kind::derived && curve->real.empty();
    any |= !curve->real.empty();
    all &= formula || !curve->real.empty();
  };
  claim.left.each_name(look);
  claim.right.each_name(look);
  return all && any;
}

std::string shown(double value) { return fmt::format("{:.4g}", value); }

// How late the events were from which the claim's real numbers come; empty: it has none.
std::string lateness(const FigureValues& figure, const Claim& claim, std::size_t point) {
  Lag most{.mean_ms = -1};
  const auto look = [&](const std::string&, const std::string& name) {
    const auto* curve = figure.find(name.substr(0, name.find('.')));
    if (curve == nullptr || curve->lag.empty()) return;
    if (const auto& lag = curve->lag[point]; lag.mean_ms > most.mean_ms) most = lag;
  };
  claim.left.each_name(look);
  claim.right.each_name(look);
  if (most.mean_ms < 0) return {};
  return fmt::format("; events were late by {} ms on average, 99 % by up to {}, at most {}",
                     number(most.mean_ms), number(most.p99_ms), number(most.max_ms));
}

Finding find(const FigureValues& figure, const Claim& claim, bool real) {
  Finding finding{.claim = &claim, .figure = figure.figure};
  if (!concerns(figure, claim, real)) return finding;
  auto worst = std::numeric_limits<double>::infinity();
  for (const auto i : figure.points) {
    const auto& point = figure.figure->points[i];
    if (!is_at(claim, point.x)) continue;
    // real(...) is asked for by name where both are compared.
    const bool by_name = compares_both(claim);
    const auto left = figure.value(claim.left, i, real && !by_name);
    const auto right = figure.value(claim.right, i, real && !by_name);
    if (std::isnan(left) || std::isnan(right)) continue;
    const auto ahead = margin(claim, left, right);
    ++finding.of;
    finding.met += is_met(claim, ahead) ? 1 : 0;
    if (ahead >= worst) continue;
    worst = ahead;
    finding.detail = fmt::format("{} ({}): {} and {}", point.label, figure.figure->x.label,
                                 shown(left), shown(right));
    if (claim.relation == Relation::near && right != 0)
      finding.detail += fmt::format(" ({:+.1f} %)", 100 * (left - right) / std::abs(right));
    if (real) finding.detail += lateness(figure, claim, i);
  }
  return finding;
}

Verdict verdict_of(const std::vector<Finding>& findings) {
  std::size_t numbers = 0, judged = 0;
  bool all = true, directions = true;
  for (const auto& finding : findings) {
    if (!finding.judged()) continue;
    ++judged;
    const bool number = finding.claim->kind == Claim::Kind::number;
    numbers += number ? 1 : 0;
    all &= finding.holds();
    if (!number) directions &= finding.holds();
  }
  if (judged == 0) return Verdict::not_judged;
  if (all && numbers > 0) return Verdict::reproduced;
  // A direction must have been looked at.
  return directions && judged > numbers ? Verdict::direction : Verdict::not_reproduced;
}

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::direction:
      return "direction reproduced";
    case Verdict::not_reproduced:
      return "not reproduced";
    default:
      return "not judged";
  }
}

bool Judgement::expected() const {
  return violation.empty() &&
         std::ranges::all_of(findings, [](const Finding& one) { return one.expected(); });
}

Judgement judge(const std::vector<FigureValues>& figures, const Finished& finished, bool real) {
  Judgement judgement;
  for (const auto& figure : figures)
    for (const auto& claim : figure.figure->claims)
      judgement.findings.push_back(find(figure, claim, real));
  for (const auto& [line, measured] : finished)
    if (!measured.violation.empty() && line.starts_with("run ") == real &&
        judgement.violation.empty())
      judgement.violation = fmt::format("{}: turno {}", measured.violation, line);
  judgement.verdict = verdict_of(judgement.findings);
  if (!judgement.violation.empty()) judgement.verdict = Verdict::not_reproduced;
  return judgement;
}

}  // namespace turno::lab
