// Writes JSON piece by piece. Always well formed: what is not UTF-8 is replaced.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace turno::node {

// Appends a string in quotes.
void write_json_string(std::string& out, std::string_view text);

// In an array the keys are empty.
class Json {
 public:
  // A whole document: an object that `fill` fills.
  template <class Fill>
  static std::string document(Fill&& fill) {
    Json json;
    json.nest({}, '{', '}', [&] { fill(json); });
    return std::move(json.out_) + "\n";
  }

  template <class Fill>
  void object(std::string_view key, Fill&& fill) {
    nest(key, '{', '}', fill);
  }
  template <class Fill>
  void array(std::string_view key, Fill&& fill) {
    nest(key, '[', ']', fill);
  }
  void text(std::string_view key, std::string_view value) {
    begin(key);
    write_json_string(out_, value);
  }
  void boolean(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }
  template <std::integral T>
  void number(std::string_view key, T value) {
    raw(key, std::to_string(value));
  }
  void null(std::string_view key) { raw(key, "null"); }

 private:
  template <class Fill>
  void nest(std::string_view key, char open, char close, Fill&& fill) {
    begin(key);
    out_ += open;
    first_ = true;
    fill();
    out_ += close;
    first_ = false;
  }
  void raw(std::string_view key, std::string_view value) {
    begin(key);
    out_ += value;
  }
  void begin(std::string_view key);

  std::string out_;
  bool first_ = true;  // nothing precedes in the innermost object or array
};

}  // namespace turno::node
