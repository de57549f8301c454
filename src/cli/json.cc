#include "cli/json.h"

#include <fmt/format.h>

#include <cmath>

namespace turno::cli {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
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
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : ",") + value.text();
  return add_raw(key, "[" + list + "]");
}

Json& Json::add(std::string_view key, const std::vector<std::string>& values) {
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : ",") + json_string(value);
  return add_raw(key, "[" + list + "]");
}

}  // namespace turno::cli
