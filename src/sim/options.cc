#include "sim/options.h"

#include <charconv>
#include <stdexcept>

namespace turno::sim {

Arrivals parse_arrivals(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("'" + std::string(text) + "' " + why);
  };
  const auto colon = text.find(':');
  const auto kind = text.substr(0, colon);
  const auto rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  Arrivals arrivals;
  if (kind == "closed") {
    arrivals.kind = Arrivals::Kind::closed;
    arrivals.think = parse_distribution(rest);
  } else if (kind == "poisson" || kind == "total") {
    if (kind == "total") arrivals.kind = Arrivals::Kind::total;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), arrivals.rate);
    if (error != std::errc() || end != rest.data() + rest.size() || !(arrivals.rate > 0) ||
        arrivals.rate > 1e9)
      refuse(kind == "total"
                 ? "needs a rate in arrivals per second, above 0, as in total:0.1"
                 : "needs a rate in requests per second and node, above 0, as in poisson:0.5");
  } else {
    refuse(
        "is no kind of arrivals; allowed are poisson:RATE, closed:THINK and, for rooms, "
        "total:RATE");
  }
  return arrivals;
}

std::string Arrivals::text() const {
  if (kind == Kind::closed) return "closed:" + think.text();
  auto text = std::to_string(rate);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return (kind == Kind::total ? "total:" : "poisson:") + text;
}

}  // namespace turno::sim
