#include "cli/frame/duration.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "core/usage_error.h"

namespace turno::cli {

std::chrono::milliseconds parse_duration(std::string_view option, std::string_view text) {
  constexpr double day = 24 * 3600 * 1000.0;
  constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", day}}};
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error == std::errc() && std::isfinite(number) && number >= 0) {
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    for (const auto& [name, factor] : units)
      // A little is not nothing: rounding up keeps 0 for what was meant as 0.
      if (unit == name && number * factor <= 36'500 * day)
        return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(number * factor)));
  }
  throw UsageError(std::string(option) + " is a time such as 200ms, 1.5s, 2m or 1h, not '" +
                   std::string(text) + "'");
}

}  // namespace turno::cli
