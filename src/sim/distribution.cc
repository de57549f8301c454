#include "sim/distribution.h"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace turno::sim {

namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array units = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9},
                              Unit{"min", 60e9}};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("'" + std::string(text) + "' " + why);
}

}  // namespace

Time parse_duration(std::string_view text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (error != std::errc())
    refuse(text, "is not a length of time; write a number and a unit, as in 10ms");
  if (!(value >= 0)) refuse(text, "is negative; a length of time is 0 or more");
  if (unit.empty() && value == 0) return 0;
  for (const auto& known : units) {
    if (unit != known.name) continue;
    const auto nanoseconds = std::round(value * known.nanoseconds);
    if (nanoseconds > 1e18) refuse(text, "is too long; at most 30 years");
    return static_cast<Time>(nanoseconds);
  }
  refuse(text, unit.empty() ? "has no unit; allowed are ns, us, ms, s, min"
                            : "has an unknown unit '" + std::string(unit) +
                                  "'; allowed are ns, us, ms, s, min");
}

Distribution parse_distribution(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return Distribution::constant(parse_duration(text));
  const auto kind = text.substr(0, colon);
  const auto rest = text.substr(colon + 1);
  if (kind == "constant") return Distribution::constant(parse_duration(rest));
  if (kind == "exp") return Distribution::exponential(parse_duration(rest));
  if (kind != "uniform")
    refuse(text, "is no distribution; allowed are 10ms, constant:10ms, uniform:0ms:100ms, exp:5s");
  const auto middle = rest.find(':');
  if (middle == std::string_view::npos) refuse(text, "needs two ends, as in uniform:0ms:100ms");
  const auto low = parse_duration(rest.substr(0, middle));
  const auto high = parse_duration(rest.substr(middle + 1));
  if (high < low) refuse(text, "has its ends the wrong way round");
  return Distribution::uniform(low, high);
}

std::string duration_text(Time time) {
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    if (unit->name == "min") continue;
    const auto size = static_cast<Time>(unit->nanoseconds);
    if (time % size == 0 && (time != 0 || unit->name == "ms"))
      return std::to_string(time / size) + std::string(unit->name);
  }
  return std::to_string(time) + "ns";
}

std::string Distribution::text() const {
  switch (kind_) {
    case Kind::constant:
      return duration_text(low_);
    case Kind::uniform:
      return "uniform:" + duration_text(low_) + ":" + duration_text(high_);
    case Kind::exponential:
      break;
  }
  return "exp:" + duration_text(low_);
}

}  // namespace turno::sim
