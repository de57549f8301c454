// Difference covers: residues mod N of which every residue is a difference. The translates of one
// are N quorums of its size, and every node is in as many of them.
#pragma once

#include <cstddef>
#include <vector>

namespace turno::protocols {

using Cover = std::vector<std::size_t>;  // increasing; 0 is the first

// Every residue mod n is a difference of two of them.
bool is_cover(const Cover& cover, std::size_t n);

// Luk and Wong's idea in closed form, for any n: 0..r-1 and, r-1 further, every r-th residue up to
// the middle. At most about 1.06 sqrt(2n) residues.
Cover closed_form_cover(std::size_t n);

// The smallest that is known, for n up to `largest_tabled`; found by cover_search.h.
inline constexpr std::size_t largest_tabled = 200;
struct TabledCover {
  Cover cover;
  bool minimal = false;  // there is none smaller: by the bound, or all were tried
};
// REQUIRES: 1 <= n <= largest_tabled.
TabledCover tabled_cover(std::size_t n);

// The best that needs no search: of the table, of a projective plane, or the closed form.
Cover best_cover(std::size_t n);

}  // namespace turno::protocols
