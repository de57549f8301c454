#include "port/resp/subscriptions.h"

#include <algorithm>

namespace turno::port {

namespace {

// Matches one character against the class that begins the pattern ("[a-z]..."), and says how much
// of the pattern the class is.
bool in_class(std::string_view pattern, char c, std::size_t& size) {
  std::size_t at = 1;
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  bool found = false;
  while (at < pattern.size() && pattern[at] != ']') {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    auto low = pattern[at];
    auto high = low;
    if (at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']') {
      high = pattern[at + 2];
      at += 2;
    }
    if (low > high) std::swap(low, high);
    if (low <= c && c <= high) found = true;
    ++at;
  }
  size = std::min(at + 1, pattern.size());
  return found != negated;
}

}  // namespace

// Goes back to the last star only: linear in the pattern for each character of the text.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  auto star = std::string_view::npos;
  std::size_t after_star = 0;
  while (t < text.size()) {
    std::size_t size = 1;
    bool fits = false;
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      after_star = t;
      continue;
    }
    if (p < pattern.size()) {
      if (pattern[p] == '?') {
        fits = true;
      } else if (pattern[p] == '[') {
        fits = in_class(pattern.substr(p), text[t], size);
      } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
        fits = pattern[p + 1] == text[t];
        size = 2;
      } else {
        fits = pattern[p] == text[t];
      }
    }
    if (fits) {
      p += size;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star;
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void Subscriptions::add(Names& names, std::string_view name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

void Subscriptions::remove(Names& names, std::string_view name) { std::erase(names, name); }

void Subscriptions::clear() {
  channels_.clear();
  patterns_.clear();
}

bool Subscriptions::hears(std::string_view channel) const {
  return std::find(channels_.begin(), channels_.end(), channel) != channels_.end() ||
         std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& pattern) { return matches(pattern, channel); });
}

}  // namespace turno::port
