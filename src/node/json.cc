#include "node/json.h"

#include <fmt/format.h>

#include <iterator>

namespace turno::node {

namespace {

// The length of the UTF-8 character at the beginning; 0 if there is none.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Longer than needed, half of a pair of UTF-16, or beyond the last character.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return size;
}

}  // namespace

void write_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto size = character_size(text);
    const char c = text.front();
    if (size == 0) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
}

void Json::begin(std::string_view key) {
  if (!first_) out_ += ',';
  first_ = false;
  if (key.empty()) return;
  write_json_string(out_, key);
  out_ += ':';
}

}  // namespace turno::node
