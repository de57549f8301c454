// A JSON object, written field by field in the order given: the only writer of JSON. Always well
// formed: what is not UTF-8 is replaced.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/fence.h"

namespace turno {

class Json {
 public:
  Json& add(std::string_view key, std::string_view value);
  Json& add(std::string_view key, const char* value) { return add(key, std::string_view(value)); }
  Json& add(std::string_view key, const std::string& value) {
    return add(key, std::string_view(value));
  }
  Json& add(std::string_view key, double value);
  Json& add(std::string_view key, bool value) { return add_raw(key, value ? "true" : "false"); }
  Json& add(std::string_view key, std::nullptr_t) { return add_raw(key, "null"); }
  template <std::integral T>
  Json& add(std::string_view key, T value) {
    return add_raw(key, std::to_string(value));
  }
  // As text: many readers of JSON keep 53 bits of a number, and a fence has 63.
  Json& add(std::string_view key, Fence fence) { return add(key, std::to_string(fence.value)); }
  Json& add(std::string_view key, const Json& value) { return add_raw(key, value.text()); }
  Json& add(std::string_view key, const std::vector<Json>& values);
  Json& add(std::string_view key, const std::vector<std::string>& values);
  // What is JSON already.
  Json& add_raw(std::string_view key, std::string_view json);

  [[nodiscard]] std::string text() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

// In quotes.
std::string json_string(std::string_view text);
// Of what is JSON already.
std::string json_array(const std::vector<std::string>& elements);

}  // namespace turno
