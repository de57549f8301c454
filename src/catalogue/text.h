// What the parsers of the catalogue share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace turno {

inline std::string quoted(std::string_view text) {
  return std::string("'").append(text).append("'");
}

inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace turno
