// What a connection wants to hear of, as in Redis: channels by name and by pattern.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "port/host.h"

namespace turno::port {

// As Redis matches: *, ?, [a-z], [^a-z], and \ before a character that is meant as it is.
bool matches(std::string_view pattern, std::string_view text);

class Subscriptions {
 public:
  static constexpr std::size_t most = 1000;
  static constexpr std::size_t longest_name = 64 + LockTable::longest_name;

  using Names = std::vector<std::string>;
  [[nodiscard]] Names& channels() { return channels_; }
  [[nodiscard]] Names& patterns() { return patterns_; }
  [[nodiscard]] const Names& channels() const { return channels_; }
  [[nodiscard]] const Names& patterns() const { return patterns_; }
  // Does nothing if it is there, or is not.
  static void add(Names& names, std::string_view name);
  static void remove(Names& names, std::string_view name);

  [[nodiscard]] std::size_t size() const { return channels_.size() + patterns_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  // Whether what is said there is wanted.
  [[nodiscard]] bool hears(std::string_view channel) const;
  void clear();

 private:
  Names channels_, patterns_;
};

}  // namespace turno::port
