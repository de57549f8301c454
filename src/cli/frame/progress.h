// One line on the terminal that says how far a long job is. Silent when nobody looks.
#pragma once

#include <chrono>
#include <string>

namespace turno::cli {

class ProgressLine {
 public:
  explicit ProgressLine(bool wanted = true);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  [[nodiscard]] bool visible() const { return visible_; }
  // True a few times a second: then it is time to `show`.
  [[nodiscard]] bool due();
  [[nodiscard]] double seconds() const;
  void show(const std::string& text);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool visible_;
  bool shown_ = false;
  Clock::time_point started_ = Clock::now(), last_ = started_;
};

// [#####.....] for a share of 0 to 1.
std::string bar(double share);
// 1234567 as 1.23M
std::string brief(double number);

}  // namespace turno::cli
