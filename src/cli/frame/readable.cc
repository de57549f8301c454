#include "cli/frame/readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

namespace turno::cli {

std::string readable(std::chrono::milliseconds time) {
  const auto ms = time.count();
  const auto seconds = ms / 1000;
  if (ms % 1000 == 0 && seconds < 60) return fmt::format("{} s", seconds);
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (seconds < 60) return fmt::format("{}.{} s", seconds, ms % 1000 / 100);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{} d {} h", seconds / 86400, seconds / 3600 % 24);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shell_word(std::string_view word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_./:=@%+,").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string program() { return shell_word(::program_invocation_name); }

}  // namespace turno::cli
