#include "core/text/json.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace turno {

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

std::string json_string(std::string_view text) {
  std::string out = "\"";
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
  return out + '"';
}

std::string json_array(const std::vector<std::string>& elements) {
  return fmt::format("[{}]", fmt::join(elements, ","));
}

Json& Json::add_raw(std::string_view key, std::string_view json) {
  if (!body_.empty()) body_ += ',';
  body_ += json_string(key);
  body_ += ':';
  body_ += json;
  return *this;
}

Json& Json::add(std::string_view key, std::string_view value) {
  return add_raw(key, json_string(value));
}

Json& Json::add(std::string_view key, double value) {
  return add_raw(key, std::isfinite(value) ? fmt::format("{}", value) : "null");
}

Json& Json::add(std::string_view key, const std::vector<Json>& values) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(value.text());
  return add_raw(key, json_array(texts));
}

Json& Json::add(std::string_view key, const std::vector<std::string>& values) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(json_string(value));
  return add_raw(key, json_array(texts));
}

}  // namespace turno
