// A JSON object, written field by field in the order given.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace turno::cli {

class Json {
 public:
  Json& add(std::string_view key, std::string_view value);
  Json& add(std::string_view key, const char* value) { return add(key, std::string_view(value)); }
  Json& add(std::string_view key, const std::string& value) {
    return add(key, std::string_view(value));
  }
  Json& add(std::string_view key, double value);
  Json& add(std::string_view key, bool value) { return add_raw(key, value ? "true" : "false"); }
  template <std::integral T>
  Json& add(std::string_view key, T value) {
    return add_raw(key, std::to_string(value));
  }
  Json& add(std::string_view key, const Json& value) { return add_raw(key, value.text()); }
  Json& add(std::string_view key, const std::vector<Json>& values);
  Json& add(std::string_view key, const std::vector<std::string>& values);
  Json& add_raw(std::string_view key, std::string_view json);

  [[nodiscard]] std::string text() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

std::string json_string(std::string_view text);

}  // namespace turno::cli
