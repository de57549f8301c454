#include "protocols/parts/quorum/constructions.h"

#include <algorithm>

#include "core/assert.h"
#include "protocols/parts/quorum/difference_covers.h"
#include "protocols/parts/quorum/projective_plane.h"

namespace turno::protocols {

namespace {

// A plane of a larger order would need too large a field.
constexpr std::size_t largest_plane = 20'000;

void sort_and_unite(std::vector<NodeId>& quorum) {
  std::sort(quorum.begin(), quorum.end());
  quorum.erase(std::unique(quorum.begin(), quorum.end()), quorum.end());
}

Quorums translates(const Cover& cover, std::size_t n) {
  Quorums result(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (auto d : cover) result[i].emplace_back((i + d) % n);
    sort_and_unite(result[i]);
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
    sort_and_unite(quorum);
  }
  return result;
}

Cover half(std::size_t n) {
  Cover cover;
  for (std::size_t i = 0; i < n / 2 + 1; ++i) cover.push_back(i);
  return cover;
}

}  // namespace

std::optional<QuorumConstruction> quorum_construction_named(std::string_view name) {
  for (std::size_t i = 0; i < quorum_construction_names.size(); ++i)
    if (quorum_construction_names[i] == name) return static_cast<QuorumConstruction>(i);
  return std::nullopt;
}

bool possible(QuorumConstruction construction, std::size_t n) {
  if (construction != QuorumConstruction::projective) return n > 0;
  return n <= largest_plane && plane_order(n);
}

std::vector<std::size_t> possible_near(QuorumConstruction construction, std::size_t n) {
  std::vector<std::size_t> near;
  for (auto below = std::min(n, largest_plane + 1); below > 0 && near.empty(); --below)
    if (possible(construction, below - 1)) near.push_back(below - 1);
  for (auto above = n + 1; above <= largest_plane; ++above)
    if (possible(construction, above)) {
      near.push_back(above);
      break;
    }
  return near;
}

Quorums quorums(QuorumConstruction construction, std::size_t n) {
  TURNO_ASSERT(possible(construction, n));
  switch (construction) {
    case QuorumConstruction::cyclic:
      return translates(best_cover(n), n);
    case QuorumConstruction::projective:
      return translates(singer_cover(n), n);
    case QuorumConstruction::closed_form:
      return translates(closed_form_cover(n), n);
    case QuorumConstruction::grid:
      return grid(n);
    case QuorumConstruction::majority:
      break;
  }
  return translates(half(n), n);
}

std::size_t smallest_possible_size(std::size_t n) {
  std::size_t k = 1;
  while (k * (k - 1) + 1 < n) ++k;
  return k;
}

QuorumShape shape_of(const Quorums& all) {
  std::vector<std::size_t> load(all.size(), 0), size;
  for (const auto& quorum : all) {
    size.push_back(quorum.size());
    for (auto node : quorum) ++load[node.index()];
  }
  const auto [smallest, largest] = std::minmax_element(size.begin(), size.end());
  const auto [least, most] = std::minmax_element(load.begin(), load.end());
  return {*smallest, *largest, *least, *most};
}

std::optional<std::pair<NodeId, NodeId>> disjoint(const Quorums& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (std::find_first_of(all[i].begin(), all[i].end(), all[j].begin(), all[j].end()) ==
          all[i].end())
        return std::pair{NodeId{i}, NodeId{j}};
  return std::nullopt;
}

}  // namespace turno::protocols
