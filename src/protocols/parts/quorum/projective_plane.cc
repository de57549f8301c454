#include "protocols/parts/quorum/projective_plane.h"

#include <algorithm>

#include "core/assert.h"

namespace turno::protocols {

namespace {

// The powers of one element of GF(p^m), each a polynomial over GF(p): its coefficients are the
// digits, base p, of a number.
class PowersOfX {
 public:
  // Of x modulo x^m = rest, if x then generates all of the field but zero; else nothing.
  static std::optional<PowersOfX> generating(std::size_t p, std::size_t size, std::size_t rest) {
    PowersOfX powers;
    powers.p_ = p;
    std::size_t power = 1;
    do {
      powers.values_.push_back(power);
      power = powers.times_x(power, size, rest);
    } while (power > 1 && powers.values_.size() < size);
    if (power == 1 && powers.values_.size() == size - 1) return powers;
    return std::nullopt;
  }

  [[nodiscard]] std::size_t order() const { return values_.size(); }
  [[nodiscard]] std::size_t operator[](std::size_t exponent) const {
    return values_[exponent % order()];
  }
  [[nodiscard]] std::size_t sum(std::size_t a, std::size_t b) const {
    std::size_t result = 0;
    for (std::size_t place = 1; a > 0 || b > 0; a /= p_, b /= p_, place *= p_)
      result += (a % p_ + b % p_) % p_ * place;
    return result;
  }

 private:
  [[nodiscard]] std::size_t times_x(std::size_t value, std::size_t size, std::size_t rest) const {
    const auto top = value / (size / p_);
    auto result = value % (size / p_) * p_;
    for (std::size_t i = 0; i < top; ++i) result = sum(result, rest);
    return result;
  }

  std::size_t p_ = 2;
  std::vector<std::size_t> values_;
};

// There is a primitive polynomial of every degree.
PowersOfX field(std::size_t p, std::size_t size) {
  for (std::size_t rest = 1; rest < size; ++rest)
    if (auto powers = PowersOfX::generating(p, size, rest)) return *std::move(powers);
  TURNO_ASSERT(false && "every field has a primitive element");
  return *PowersOfX::generating(2, 2, 1);
}

// Moved so that 0 and 1 are in it: exactly one pair has the difference 1.
Cover normalised(const Cover& cover, std::size_t n) {
  std::size_t first = 0;
  for (auto a : cover)
    if (std::find(cover.begin(), cover.end(), (a + 1) % n) != cover.end()) first = a;
  Cover moved;
  for (auto a : cover) moved.push_back((a + n - first) % n);
  std::sort(moved.begin(), moved.end());
  return moved;
}

}  // namespace

std::optional<std::size_t> prime_of_power(std::size_t q) {
  if (q < 2) return std::nullopt;
  std::size_t p = 2;
  while (p * p <= q && q % p != 0) ++p;
  if (q % p != 0) p = q;
  while (q % p == 0) q /= p;
  return q == 1 ? std::optional(p) : std::nullopt;
}

std::optional<std::size_t> plane_order(std::size_t n) {
  std::size_t q = 1;
  while (q * q + q + 1 < n) ++q;
  if (q * q + q + 1 != n) return std::nullopt;
  return q == 1 || prime_of_power(q) ? std::optional(q) : std::nullopt;
}

Cover singer_cover(std::size_t n) {
  const auto q = plane_order(n);
  TURNO_ASSERT(q);
  if (*q == 1) return {0, 1};
  const auto powers = field(*prime_of_power(*q), *q * *q * *q);
  Cover zeros, mirrored;
  for (std::size_t i = 0; i < n; ++i) {
    const auto trace = powers.sum(powers.sum(powers[i], powers[i * *q]), powers[i * *q * *q]);
    if (trace != 0) continue;
    zeros.push_back(i);
    mirrored.push_back((n - i) % n);
  }
  return std::min(normalised(zeros, n), normalised(mirrored, n));
}

}  // namespace turno::protocols
