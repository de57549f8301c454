#include "catalogue/catalogue.h"

#include <algorithm>
#include <utility>

namespace turno {

std::vector<Algorithm> describe_all();  // entry.h

namespace {

struct Catalogue {
  std::vector<Algorithm> algorithms, printed;
  std::size_t locks = 0;
  Catalogue() {
    for (auto& algorithm : describe_all()) {
      const bool published = algorithm.kind == Algorithm::Kind::published;
      if (algorithm.kind == Algorithm::Kind::lock) ++locks;
      (published ? printed : algorithms).push_back(algorithm);
    }
  }
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

}  // namespace

std::span<const Algorithm> algorithms() { return catalogue().algorithms; }
std::span<const Algorithm> locks() { return algorithms().first(catalogue().locks); }
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

}  // namespace turno
