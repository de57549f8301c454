// Seeded random numbers, the same on every compiler and machine. The state holds integers only, and
// what needs a logarithm uses one of our own, made of operations that IEEE 754 defines exactly.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace turno {

// -ln(numerator / 2^53) for numerator in 1..2^53.
double negative_log_of_fraction(std::uint64_t numerator);

// xoshiro256** of Blackman and Vigna, seeded by splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15U;
      auto z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const auto result = std::rotl(state_[1] * 5, 7) * 9;
    const auto shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in 0..bound-1. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  // Exponential with mean 1.
  double exponential() { return negative_log_of_fraction((next() >> 11) + 1); }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace turno
