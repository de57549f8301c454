// One line to stderr for each thing an operator should know. Lines of several threads do not mix.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace turno::log {

enum class Level : std::uint8_t { debug, info, warning, error, off };

std::optional<Level> level_named(std::string_view name);
void set_level(Level level);
[[nodiscard]] bool enabled(Level level);
// Whose lines these are: the name of the node.
void set_origin(std::string name);
void write(Level level, std::string_view line);
// From now on standard output and standard error go to this file, at its end. Nothing, or why not.
std::string open_file(const std::string& path);
// Opens the file again under its name, after it was moved away. Without one, nothing.
std::string reopen_file();

template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::debug)) write(Level::debug, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::info)) write(Level::info, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::warning))
    write(Level::warning, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(Level::error)) write(Level::error, fmt::format(text, std::forward<Args>(args)...));
}

// For a line that others can cause as often as they like: at most `most` of them in `period`.
// Not thread-safe.
class Limiter {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Limiter(std::size_t most = 10, Clock::duration period = std::chrono::seconds(10))
      : most_(most), period_(period) {}

  // Nothing: leave the line out. Otherwise what to append to it: how many were left out before.
  std::optional<std::string> admit(Clock::time_point now = Clock::now());

 private:
  const std::size_t most_;
  const Clock::duration period_;
  Clock::time_point began_{};  // the period
  std::size_t said_ = 0;       // lines in it
  std::uint64_t unsaid_ = 0;
};

}  // namespace turno::log
