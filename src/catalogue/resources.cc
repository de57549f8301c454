#include "catalogue/resources.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "catalogue/system.h"
#include "catalogue/text.h"

namespace turno {

namespace {

// Numbers from 1 to the limit.
std::vector<std::uint64_t> numbers(std::string_view option, std::string_view text,
                                   std::uint64_t limit) {
  std::vector<std::uint64_t> values;
  for (auto part : split(text, ',')) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 1 || value > limit)
      throw UsageError(std::string(option) + " is a number from 1 to " + std::to_string(limit) +
                       ", or a list of them, not " + quoted(text));
    values.push_back(value);
  }
  return values;
}

constexpr std::uint64_t most_sites = 65'535;
constexpr std::uint64_t most_instances = 65'535;

}  // namespace

std::vector<std::uint16_t> parse_sites(std::string_view text, std::uint64_t nodes) {
  auto sizes = numbers("--sites", text, 10'000'000);
  if (sizes.size() == 1) {
    const auto count = sizes.front();
    if (count > nodes)
      throw UsageError("there are more sites (" + std::to_string(count) + ") than nodes (" +
                       std::to_string(nodes) + ")");
    sizes.assign(count, nodes / count);
    for (std::uint64_t i = 0; i < nodes % count; ++i) ++sizes[i];
  }
  if (sizes.size() > most_sites)
    throw UsageError("there are at most " + std::to_string(most_sites) + " sites");
  std::vector<std::uint16_t> of;
  for (std::size_t site = 0; site < sizes.size(); ++site) {
    if (of.size() + sizes[site] > 10'000'000)
      throw UsageError("--sites has more than 10000000 nodes");
    of.insert(of.end(), sizes[site], static_cast<std::uint16_t>(site));
  }
  return of;
}

std::vector<std::uint16_t> parse_instances(std::optional<std::uint64_t> types,
                                           std::string_view instances) {
  auto counts = numbers("--instances", instances, most_instances);
  if (types && (*types < 1 || *types > most_instances))
    throw UsageError("--types is a number from 1 to " + std::to_string(most_instances));
  if (counts.size() == 1) counts.assign(types.value_or(1), counts.front());
  if (types && counts.size() != *types)
    throw UsageError("--instances names " + std::to_string(counts.size()) + " types, --types " +
                     std::to_string(*types));
  std::uint64_t sum = 0;
  for (auto count : counts) sum += count;
  if (sum > most_instances)
    throw UsageError("there are at most " + std::to_string(most_instances) +
                     " instances in all, not " + std::to_string(sum));
  std::vector<std::uint16_t> type_of;
  for (std::size_t type = 0; type < counts.size(); ++type)
    type_of.insert(type_of.end(), counts[type], static_cast<std::uint16_t>(type));
  return type_of;
}

std::vector<std::vector<Wish>> parse_needs(std::string_view text, const Setup& setup) {
  const auto& type_of = setup.resources.type_of;
  const auto parse_wish = [&](std::string_view digits) {
    const auto refuse = [&](const std::string& why) {
      throw UsageError(quoted(digits) + " in " + quoted(text) + " " + why);
    };
    Wish wish;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const auto type = static_cast<std::uint16_t>(i);
      if (digits[i] < '0' || digits[i] > '9') refuse("is not one digit a type, as in 102");
      if (digits[i] == '0') continue;
      const auto count = static_cast<std::uint16_t>(digits[i] - '0');
      const auto there = std::count(type_of.begin(), type_of.end(), type);
      if (there == 0)
        refuse("asks for type " + std::to_string(i) + "; the types are 0 to " +
               std::to_string(setup.resources.types() - 1));
      if (count > there)
        refuse("asks for more than there are: type " + std::to_string(i) + " has " +
               std::to_string(there));
      wish.needs.push_back({type, count});
    }
    if (wish.needs.empty()) refuse("asks for nothing");
    return wish;
  };
  std::vector<std::vector<Wish>> menus;
  for (auto list : split(text, ',')) {
    menus.emplace_back();
    for (auto digits : split(list, '/')) menus.back().push_back(parse_wish(digits));
  }
  if (menus.size() != 1 && menus.size() != setup.size())
    throw UsageError(quoted(text) + " has " + std::to_string(menus.size()) + " lists for " +
                     std::to_string(setup.size()) +
                     " nodes; give one for each node, or one for all");
  return menus;
}

}  // namespace turno
