#include "cli/frame/suggestion.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/usage_error.h"

namespace turno::cli {

namespace {

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

void unknown(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const auto near = near_names(name, known);
  std::string list;
  for (const auto& candidate : near.empty() ? known : near)
    list += (list.empty() ? "" : ", ") + candidate;
  throw UsageError("there is no " + std::string(what) + " '" + std::string(name) + "'; " +
                   (near.empty() ? "there are " : "did you mean ") + list +
                   (near.empty() ? "" : "?"));
}

void refuse_unknown_command(Command app, std::string_view name) {
  if (name.empty() || name.front() == '-') return;
  std::vector<std::string> known;
  for (const auto& command : app.subcommands()) known.push_back(command.name());
  if (std::find(known.begin(), known.end(), name) == known.end()) unknown("command", name, known);
}

}  // namespace turno::cli
