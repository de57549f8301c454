// Makes the table of src/protocols/parts/quorum/difference_cover_table.cc: for each N the smallest
// difference cover that can be found, and whether a smaller one is impossible.
//
//   bench_difference_covers FROM TO STEPS ROUNDS
//
// STEPS limits each exhaustive search, ROUNDS the attempts to find a cover by annealing. The table
// was made with 20 billion steps up to N = 111 and fewer beyond; that takes hours.
#include <fmt/core.h>

#include <cstdlib>

#include "protocols/parts/quorum/constructions.h"
#include "protocols/parts/quorum/cover_search.h"
#include "protocols/parts/quorum/projective_plane.h"

namespace {

using turno::protocols::Cover;
using Answer = turno::protocols::CoverSearch::Answer;

std::optional<Cover> anneal(std::size_t n, std::size_t k, std::uint64_t rounds) {
  turno::Random random(n);
  for (std::uint64_t i = 0; i < rounds; ++i)
    if (auto cover = turno::protocols::anneal_cover(n, k, 400'000, random)) return cover;
  return std::nullopt;
}

void print_row(std::size_t n, std::uint64_t steps, std::uint64_t rounds) {
  bool minimal = true;
  for (auto k = turno::protocols::smallest_possible_size(n);; ++k) {
    auto cover =
        turno::protocols::plane_order(n) ? turno::protocols::singer_cover(n) : anneal(n, k, rounds);
    if (!cover) {
      const auto search = turno::protocols::search_cover(n, k, steps);
      if (search.answer == Answer::found) cover = search.cover;
      minimal = minimal && search.answer != Answer::gave_up;
    }
    if (!cover) continue;
    fmt::print("    {{{}, {}, {{", n, minimal);
    const auto residues = turno::protocols::canonical_cover(*cover, n);
    for (std::size_t i = 0; i < residues.size(); ++i)
      fmt::print("{}{}", i == 0 ? "" : ", ", residues[i]);
    fmt::print("}}}},\n");
    std::fflush(stdout);
    return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 64;
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  for (auto n = number(1); n <= number(2); ++n) print_row(n, number(3), number(4));
}
