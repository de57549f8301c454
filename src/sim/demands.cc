#include "sim/demands.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>

namespace turno::sim {

namespace {

std::vector<std::uint16_t> instances_of_types(const ResourceSetup& resources) {
  std::vector<std::uint16_t> counts(resources.types());
  for (auto type : resources.type_of) ++counts[type];
  return counts;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> result;
  constexpr std::string_view blanks = " \t\r";
  while (true) {
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return result;
    const auto end = std::min(line.find_first_of(blanks, begin), line.size());
    result.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

// TYPE:COUNT. Throws what is wrong with it.
Need parse_need(std::string_view word, const std::vector<std::uint16_t>& counts) {
  const auto quoted = "'" + std::string(word) + "'";
  const auto colon = word.find(':');
  const auto type = number<std::uint16_t>(word.substr(0, colon));
  const auto count = colon == std::string_view::npos
                         ? std::optional<std::uint16_t>{}
                         : number<std::uint16_t>(word.substr(colon + 1));
  if (!type || !count || *count == 0)
    throw std::invalid_argument(quoted + " is not TYPE:COUNT, as in 3:2");
  if (*type >= counts.size())
    throw std::invalid_argument("there is no type " + std::to_string(*type) +
                                "; the types are 0 to " + std::to_string(counts.size() - 1));
  if (*count > counts[*type])
    throw std::invalid_argument(quoted + " asks for more than there are: type " +
                                std::to_string(*type) + " has " + std::to_string(counts[*type]));
  return {*type, *count};
}

Wish parse_wish(const std::vector<std::string_view>& words,
                const std::vector<std::uint16_t>& counts) {
  Wish wish;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto need = parse_need(words[i], counts);
    for (const auto& other : wish.needs)
      if (other.type == need.type)
        throw std::invalid_argument("type " + std::to_string(need.type) + " stands there twice");
    wish.needs.push_back(need);
  }
  if (wish.needs.empty()) throw std::invalid_argument("nothing is asked for");
  std::sort(wish.needs.begin(), wish.needs.end(),
            [](const Need& a, const Need& b) { return a.type < b.type; });
  return wish;
}

}  // namespace

Demands Demands::parse(std::string_view text, const Setup& setup) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("'" + std::string(text) + "' " + why);
  };
  Demands demands;
  auto rest = text;
  demands.fixed_ = rest.starts_with("fixed:");
  if (demands.fixed_) rest.remove_prefix(6);
  const auto colon = rest.find(':');
  const auto kind = rest.substr(0, colon);
  if (colon == std::string_view::npos || (kind != "half" && kind != "set"))
    refuse("is no kind of demand; allowed are half:A-B, set:A-B, fixed: before them, and a file");
  demands.kind_ = kind == "half" ? Kind::half : Kind::set;
  const auto range = rest.substr(colon + 1);
  const auto dash = range.find('-');
  const auto low = number<std::uint16_t>(range.substr(0, dash));
  const auto high =
      dash == std::string_view::npos ? low : number<std::uint16_t>(range.substr(dash + 1));
  if (!low || !high || *low == 0 || *high < *low)
    refuse("needs two numbers from 1 on, the smaller first, as in half:1-5");
  demands.low_ = *low;
  demands.high_ = *high;
  const auto counts = instances_of_types(setup.resources);
  const auto fewest = *std::min_element(counts.begin(), counts.end());
  if (demands.kind_ == Kind::half && *high > fewest)
    refuse("asks for more than there are: " + std::to_string(fewest) + " instances of a type");
  if (demands.kind_ == Kind::set && *high > counts.size())
    refuse("asks for more than there are: " + std::to_string(counts.size()) + " types");
  return demands;
}

Demands Demands::parse_file(std::string_view name, std::string_view content, const Setup& setup) {
  Demands demands;
  demands.kind_ = Kind::listed;
  demands.listed_.resize(setup.size());
  std::vector<Wish> others;
  const auto counts = instances_of_types(setup.resources);
  std::size_t line_number = 0;
  while (!content.empty()) {
    ++line_number;
    const auto end = std::min(content.find('\n'), content.size());
    auto line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    line = line.substr(0, line.find('#'));
    const auto parts = words(line);
    if (parts.empty()) continue;
    try {
      const auto node = number<std::uint32_t>(parts[0]);
      if (parts[0] != "*" && (!node || *node >= setup.size()))
        throw std::invalid_argument("'" + std::string(parts[0]) +
                                    "' is no node; the nodes are 0 to " +
                                    std::to_string(setup.size() - 1) + ", or * for all others");
      (node ? demands.listed_[*node] : others).push_back(parse_wish(parts, counts));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::string(name) + ", line " + std::to_string(line_number) +
                                  ": " + error.what());
    }
  }
  for (std::size_t i = 0; i < demands.listed_.size(); ++i) {
    if (demands.listed_[i].empty()) demands.listed_[i] = others;
    if (demands.listed_[i].empty())
      throw std::invalid_argument(std::string(name) + " has no line for node " + std::to_string(i) +
                                  ", and none for *");
  }
  return demands;
}

Wish Demands::draw(const Setup& setup, Random& random) const {
  const auto between = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<std::uint16_t>(low + random.below(high - low + 1));
  };
  const auto types = setup.resources.types();
  Wish wish;
  if (kind_ == Kind::half) {
    for (std::uint16_t type = 0; type < types; ++type)
      if (random.below(2) == 0) wish.needs.push_back({type, between(low_, high_)});
    if (wish.needs.empty())
      wish.needs.push_back({static_cast<std::uint16_t>(random.below(types)), low_});
    return wish;
  }
  std::vector<std::uint16_t> left(types);
  for (std::uint16_t type = 0; type < types; ++type) left[type] = type;
  for (auto more = between(low_, high_); more > 0; --more) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(left.size()));
    wish.needs.push_back({left[static_cast<std::size_t>(at)], 1});
    left.erase(left.begin() + at);
  }
  std::sort(wish.needs.begin(), wish.needs.end(),
            [](const Need& a, const Need& b) { return a.type < b.type; });
  return wish;
}

std::function<Wish(NodeId, Random&)> Demands::source(const Setup& setup, std::uint64_t seed) const {
  struct Stream {
    Random random;
    std::size_t count = 0;
    std::optional<Wish> fixed;
  };
  auto streams = std::make_shared<std::vector<Stream>>();
  for (std::size_t i = 0; i < setup.size(); ++i)
    streams->push_back({Random((seed << 20) + i), 0, {}});
  return [streams, demands = *this, &setup](NodeId node, Random&) {
    auto& stream = (*streams)[node.index()];
    if (demands.kind_ == Kind::listed) {
      const auto& list = demands.listed_[node.index()];
      return list[stream.count++ % list.size()];
    }
    if (!demands.fixed_) return demands.draw(setup, stream.random);
    if (!stream.fixed) stream.fixed = demands.draw(setup, stream.random);
    return *stream.fixed;
  };
}

std::vector<Wish> all_demands(const ResourceSetup& resources, std::size_t most) {
  const auto counts = instances_of_types(resources);
  std::vector<Wish> all;
  std::vector<std::uint16_t> chosen(counts.size());
  while (true) {
    std::size_t type = 0;  // counts upwards, like digits
    while (type < counts.size() && chosen[type] == counts[type]) chosen[type++] = 0;
    if (type == counts.size()) return all;
    ++chosen[type];
    Wish wish;
    std::size_t sum = 0;
    for (std::size_t t = 0; t < chosen.size(); ++t) {
      if (chosen[t] > 0) wish.needs.push_back({static_cast<std::uint16_t>(t), chosen[t]});
      sum += chosen[t];
    }
    if (sum <= most) all.push_back(std::move(wish));
  }
}

}  // namespace turno::sim
