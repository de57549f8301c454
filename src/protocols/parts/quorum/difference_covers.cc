#include "protocols/parts/quorum/difference_covers.h"

#include "protocols/parts/quorum/projective_plane.h"

namespace turno::protocols {

bool is_cover(const Cover& cover, std::size_t n) {
  std::vector<bool> covered(n, false);
  for (auto a : cover)
    for (auto b : cover) covered[(a + n - b) % n] = true;
  for (bool residue : covered)
    if (!residue) return false;
  return true;
}

Cover closed_form_cover(std::size_t n) {
  Cover best;
  for (std::size_t r = 1; r <= n; ++r) {
    const auto steps = (n / 2 + r) / r;  // ceil((n/2 + 1) / r)
    if (!best.empty() && r + steps - 1 >= best.size()) continue;
    Cover cover;
    for (std::size_t i = 0; i < r; ++i) cover.push_back(i);
    for (std::size_t m = 1; m < steps; ++m) cover.push_back(m * r + r - 1);
    best = std::move(cover);
  }
  return best;
}

Cover best_cover(std::size_t n) {
  if (n <= largest_tabled) return tabled_cover(n).cover;
  return plane_order(n) ? singer_cover(n) : closed_form_cover(n);
}

}  // namespace turno::protocols
