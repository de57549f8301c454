#include "cli/frame/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace turno::cli {

ProgressLine::ProgressLine(bool wanted) : visible_(wanted && ::isatty(STDERR_FILENO) != 0) {}

bool ProgressLine::due() {
  if (!visible_) return false;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(200)) return false;
  last_ = now;
  return true;
}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - started_).count();
}

void ProgressLine::show(const std::string& text) {
  if (!visible_) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string bar(double share) {
  constexpr std::size_t width = 20;
  const auto full =
      std::min(width, static_cast<std::size_t>(std::lround(share * static_cast<double>(width))));
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

std::string brief(double number) {
  if (number >= 1e9) return fmt::format("{:.2f}G", number / 1e9);
  if (number >= 1e6) return fmt::format("{:.2f}M", number / 1e6);
  if (number >= 1e4) return fmt::format("{:.1f}k", number / 1e3);
  return fmt::format("{:.0f}", number);
}

}  // namespace turno::cli
