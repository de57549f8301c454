// A random length of time: constant, uniform or exponential. Written `10ms`, `constant:10ms`,
// `uniform:0ms:100ms` or `exp:5s`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/random.h"
#include "sim/event_queue.h"

namespace turno::sim {

class Distribution {
 public:
  enum class Kind : std::uint8_t { constant, uniform, exponential };

  Distribution() = default;
  static Distribution constant(Time value) { return {Kind::constant, value, value}; }
  static Distribution uniform(Time low, Time high) { return {Kind::uniform, low, high}; }
  static Distribution exponential(Time mean) { return {Kind::exponential, mean, mean}; }

  [[nodiscard]] Time draw(Random& random) const {
    switch (kind_) {
      case Kind::constant:
        return low_;
      case Kind::uniform:
        return low_ + static_cast<Time>(random.below(static_cast<std::uint64_t>(high_ - low_) + 1));
      case Kind::exponential:
        break;
    }
    return static_cast<Time>(random.exponential() * static_cast<double>(low_));
  }
  [[nodiscard]] Time mean() const { return low_ + (high_ - low_) / 2; }
  [[nodiscard]] std::string text() const;

  bool operator==(const Distribution&) const = default;

 private:
  Distribution(Kind kind, Time low, Time high) : kind_(kind), low_(low), high_(high) {}

  Kind kind_ = Kind::constant;
  Time low_ = 0, high_ = 0;
};

// These throw std::invalid_argument with what is allowed.
Time parse_duration(std::string_view text);              // 10ms, 1.5s, 200us, 7ns, 2min
Distribution parse_distribution(std::string_view text);  // 10ms, uniform:0ms:100ms, exp:5s

std::string duration_text(Time time);  // the shortest of the above

}  // namespace turno::sim
