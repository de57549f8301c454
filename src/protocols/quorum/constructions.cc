#include "protocols/quorum/constructions.h"

#include <algorithm>

#include "core/assert.h"

namespace turno {

namespace {

// Luk and Wong's idea in closed form: the residues 0..r-1 and, r-1 further, every r-th one up to
// the middle. Every residue up to N/2 is then a difference of two of them. The best r is about
// sqrt(N/2).
std::vector<std::size_t> difference_cover(std::size_t n) {
  std::vector<std::size_t> best;
  for (std::size_t r = 1; r <= n; ++r) {
    std::vector<std::size_t> cover;
    for (std::size_t i = 0; i < r; ++i) cover.push_back(i);
    const auto steps = (n / 2 + r) / r;  // ceil((n/2 + 1) / r)
    for (std::size_t m = 1; m < steps; ++m) cover.push_back(m * r + r - 1);
    if (best.empty() || cover.size() < best.size()) best = cover;
  }
  return best;
}

Quorums cyclic(std::size_t n) {
  const auto cover = difference_cover(n);
  Quorums result(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (auto d : cover) result[i].emplace_back((i + d) % n);
    std::sort(result[i].begin(), result[i].end());
    result[i].erase(std::unique(result[i].begin(), result[i].end()), result[i].end());
  }
  return result;
}

// The last row may be short. A node of it and one of a column that it lacks still meet: in the row
// of the one and the column of the other.
Quorums grid(std::size_t n) {
  std::size_t columns = 1;
  while (columns * columns < n) ++columns;
  Quorums result(n);
  for (std::size_t i = 0; i < n; ++i) {
    auto& quorum = result[i];
    const auto row = i / columns, column = i % columns;
    for (std::size_t c = 0; c < columns; ++c) {
      const auto at = row * columns + c;
      if (at < n) quorum.emplace_back(at);
    }
    for (auto at = column; at < n; at += columns) quorum.emplace_back(at);
    std::sort(quorum.begin(), quorum.end());
    quorum.erase(std::unique(quorum.begin(), quorum.end()), quorum.end());
  }
  return result;
}

Quorums majority(std::size_t n) {
  Quorums result(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n / 2 + 1; ++k) result[i].emplace_back((i + k) % n);
    std::sort(result[i].begin(), result[i].end());
  }
  return result;
}

}  // namespace

Quorums quorums(QuorumConstruction construction, std::size_t n) {
  TURNO_ASSERT(n > 0);
  switch (construction) {
    case QuorumConstruction::cyclic:
      return cyclic(n);
    case QuorumConstruction::grid:
      return grid(n);
    case QuorumConstruction::majority:
      break;
  }
  return majority(n);
}

std::optional<std::pair<NodeId, NodeId>> disjoint(const Quorums& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (std::find_first_of(all[i].begin(), all[i].end(), all[j].begin(), all[j].end()) ==
          all[i].end())
        return std::pair{NodeId{i}, NodeId{j}};
  return std::nullopt;
}

}  // namespace turno
