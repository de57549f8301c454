#include "catalogue/catalogue.h"

#include <algorithm>
#include <numeric>

#include "catalogue/shard.h"
#include "protocols/list.h"

namespace turno {

namespace {

template <class P>
Algorithm entry() {
  Algorithm algorithm{.info = P::info,
                      .abilities = {.crashes = Mortal<P>,
                                    .suspicions = Suspecting<P>,
                                    .recoveries = Recoverable<P>,
                                    .timers = HasTimers<P>,
                                    .withdrawals = Withdrawable<P>}};
  if constexpr (requires { P::alone(Setup{}); }) algorithm.alone = P::alone;
  if constexpr (requires { P::departures; }) algorithm.departures = P::departures;
  return algorithm;
}

template <class... P>
std::vector<Algorithm> describe_all(List<P...>) {
  return {entry<P>()...};
}

struct Catalogue {
  std::vector<Algorithm> algorithms = describe_all(Algorithms{});
  std::vector<Algorithm> printed = describe_all(AsPublished{});
  Catalogue() { fill_from_all_shards(algorithms, printed); }
};

const Catalogue& catalogue() {
  static const Catalogue all;
  return all;
}

const Algorithm* find(std::span<const Algorithm> algorithms, std::string_view name) {
  for (const auto& algorithm : algorithms)
    if (algorithm.info.name == name) return &algorithm;
  return nullptr;
}

// How many letters must be changed, added or removed to get from one word to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const Algorithm> algorithms() { return catalogue().algorithms; }
std::span<const Algorithm> locks() { return algorithms().first(Locks::size); }
std::span<const Algorithm> printed() { return catalogue().printed; }

const Algorithm* find_algorithm(std::string_view name) { return find(algorithms(), name); }
const Algorithm* find_lock(std::string_view name) { return find(locks(), name); }

std::vector<Refutable> refutable() {
  std::vector<Refutable> all;
  const auto add = [&](const Algorithm& algorithm, bool published) {
    for (std::size_t i = 0; i < algorithm.departures.size(); ++i)
      all.push_back(
          {&algorithm, &algorithm.departures[i], static_cast<std::uint8_t>(i + 1), published});
  };
  for (const auto& algorithm : printed()) add(algorithm, true);
  for (const auto& algorithm : algorithms()) add(algorithm, false);
  return all;
}

std::vector<std::string> near_names(std::string_view name, std::span<const std::string> known) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& candidate : known) {
    const auto away = distance(name, candidate);
    const bool part = name.size() >= 3 && candidate.find(name.substr(0, 4)) != std::string::npos;
    if (part || away <= std::max<std::size_t>(2, candidate.size() / 3))
      near.emplace_back(part ? 0 : away, candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  names.reserve(near.size());
  for (auto& [away, candidate] : near) names.push_back(std::move(candidate));
  return names;
}

}  // namespace turno
