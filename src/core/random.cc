#include "core/random.h"

namespace turno {

// ln x = e ln 2 + ln m, with m in [sqrt(1/2), sqrt(2)) and ln m = 2 artanh((m-1)/(m+1)) as a
// series. The series is cut where its terms fall below 1e-15 of the result.
double negative_log_of_fraction(std::uint64_t numerator) {
  constexpr double ln2 = 0.69314718055994530942;
  const int bits = 64 - std::countl_zero(numerator);
  double m = static_cast<double>(numerator) / static_cast<double>(std::uint64_t{1} << (bits - 1));
  int exponent = bits - 1 - 53;
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double sum = 1.0 / 19.0;
  for (const double term : {1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0,
                            1.0 / 5.0, 1.0 / 3.0, 1.0})
    sum = sum * s2 + term;
  return -(static_cast<double>(exponent) * ln2 + 2.0 * s * sum);
}

}  // namespace turno
