// The examples of the manual: blocks of a page that are marked with `run` behind their language,
// and how what they show is compared with what is seen.
//
//     ```console run         at the page's cluster of three nodes; `run alone`: where none is yet
//     $ turno why nightly    a command of the shell; behind it what it prints
//     ```
//     ```resp run
//     > LOCK build           redis-cli at node-1
//     node-2> LOCK build     another at node-2; `anna>` is one more at node-1
//     anna>                  without a command: more of what anna sees
//     ```
//
// What varies from run to run may differ: times, users, which node, numbers of four digits and
// more, secrets. But what stands twice in a block has to be the same both times, and in a command
// it is replaced by what was really seen. `...` stands for the rest of a line, or for a line or
// more.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace turno::manual {

using Lines = std::vector<std::string>;

struct Step {
  std::size_t line = 0;  // of the page
  std::string terminal;  // empty: the shell, or the redis-cli that has no name
  std::string command;
  Lines expected = {};
};
struct Block {
  enum class Kind { console, resp } kind;
  bool alone;
  std::vector<Step> steps = {};
};

inline Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::vector<Block> blocks_of(const std::string& page) {
  static const std::regex opening("```(console|resp) run( alone)?"), shell(R"(\$ (.*))"),
      prompt(R"(([a-z0-9-]*)> ?(.*))");
  std::vector<Block> blocks;
  bool inside = false;
  std::size_t number = 0;
  for (const auto& line : lines_of(page)) {
    ++number;
    std::smatch found;
    if (!inside) {
      inside = std::regex_match(line, found, opening);
      if (inside)
        blocks.push_back({.kind = found[1] == "resp" ? Block::Kind::resp : Block::Kind::console,
                          .alone = found[2].matched});
      continue;
    }
    auto& [kind, alone, steps] = blocks.back();
    if (line == "```") {
      inside = false;
    } else if (kind == Block::Kind::resp && std::regex_match(line, found, shell)) {
      // How one would get there.
    } else if (std::regex_match(line, found, kind == Block::Kind::resp ? prompt : shell)) {
      const bool named = kind == Block::Kind::resp;
      steps.push_back({.line = number,
                       .terminal = named ? found[1].str() : "",
                       .command = found[named ? 2 : 1]});
    } else if (!steps.empty()) {
      steps.back().expected.push_back(line);
    }
  }
  return blocks;
}

// What a block calls something, and what it really is.
using Bindings = std::map<std::string, std::string>;

// What differs from run to run though it is a small number is replaced by this: what stands under
// "session" in a table, and behind such a key of RESP.
inline constexpr char any_number = '\2';
inline Lines generalized(Lines lines) {
  static const std::regex key(R"re(.*"([a-z]+_ms|session|id)")re"), last("[0-9]+$");
  std::size_t column = 0;  // where "session" ends
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto& line = lines[i];
    if (i > 0 && std::regex_match(lines[i - 1], key))
      line = std::regex_replace(line, last, std::string(1, any_number));
    auto begin = std::min(column, line.size());
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
    if (begin < column && column <= line.size()) line.replace(begin, column - begin, 1, any_number);
    if (const auto at = line.find("  session  "); at != std::string::npos) column = at + 9;
  }
  return lines;
}

// What a page makes up, as a regular expression: nodes, sessions, secrets, long numbers.
inline constexpr auto made_up =
    R"(\bnode-[0-9]+\b|\bs[0-9]+-[0-9a-f]{16}\b|\b(?=[0-9a-f]*[0-9])[0-9a-f]{16,}\b|\b[0-9]{4,}\b)";

// Whether a line, which is generalized, is as the page shows it.
inline bool matches(const std::string& expected, const std::string& actual, Bindings& bindings) {
  // In this order: what is made up, a time, a session, a user, columns, a table's line, the rest.
  static const std::regex varies(std::string("(") + made_up + ")" +
                                 R"(|(\b[0-9]+(?:\.[0-9]+)? (?:ms|s)\b)|(session [0-9]+))"
                                 R"(|(user=[a-z]+)|( {2,})|(-{5,})|(\.\.\.$)|(\x02))");
  static const char* const patterns[] = {"([a-z0-9-]+)",
                                         R"([0-9]+(?:\.[0-9]+)? (?:ms|s))",
                                         "session [0-9]+",
                                         "user=[a-z0-9_-]+",
                                         " +",
                                         "-{5,}",
                                         ".*",
                                         "[0-9]+"};
  static const std::regex special(R"([.^$|()\[\]{}*+?\\])");
  const auto exactly = [&](const std::string& text) {
    return std::regex_replace(text, special, R"(\$&)");
  };
  std::string pattern;
  Lines names;
  auto at = expected.cbegin();
  for (std::sregex_iterator found(expected.begin(), expected.end(), varies), end; found != end;
       ++found) {
    pattern += exactly({at, (*found)[0].first});
    at = (*found)[0].second;
    for (std::size_t kind = 0; kind < std::size(patterns); ++kind)
      if ((*found)[kind + 1].matched) pattern += patterns[kind];
    if ((*found)[1].matched) names.push_back((*found)[1]);
  }
  pattern += exactly({at, expected.cend()});
  std::smatch seen;
  if (!std::regex_match(actual, seen, std::regex(pattern))) return false;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (bindings.emplace(names[i], seen[i + 1]).first->second != seen[i + 1]) return false;
  return true;
}

// The same for all that a command printed, from two lines on. Binds only if it is true.
inline bool matches(const Lines& expected, const Lines& actual, Bindings& bindings,
                    std::size_t from = 0, std::size_t seen = 0) {
  static const std::regex any_lines(R"( *\.\.\.)");
  auto tried = bindings;
  for (; from < expected.size(); ++from, ++seen) {
    if (std::regex_match(expected[from], any_lines)) {
      for (++seen; seen <= actual.size(); ++seen)
        if (matches(expected, actual, tried, from + 1, seen)) {
          bindings = tried;
          return true;
        }
      return false;
    }
    if (seen >= actual.size() || !matches(expected[from], actual[seen], tried)) return false;
  }
  if (seen != actual.size()) return false;
  bindings = tried;
  return true;
}

// A command as it has to be given now.
inline std::string with(const Bindings& bindings, const std::string& command) {
  static const std::regex name(made_up);
  std::string given;
  auto at = command.cbegin();
  for (std::sregex_iterator found(command.begin(), command.end(), name), end; found != end;
       ++found) {
    const auto bound = bindings.find(found->str());
    given.append(at, (*found)[0].first);
    given += bound == bindings.end() ? found->str() : bound->second;
    at = (*found)[0].second;
  }
  return given.append(at, command.cend());
}

}  // namespace turno::manual
