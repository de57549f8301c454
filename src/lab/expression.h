// Arithmetic over named values, as experiments write it: 3*(x-1)/x, messages.tree + messages.reply,
// grid / thesis.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace turno::lab {

class Expression {
 public:
  // What a name means. `of` is empty, or what is asked of the curve: first, last, sum, mean, least,
  // most, real. NaN: there is no such value.
  using Meaning = std::function<double(const std::string& of, const std::string& name)>;

  // Throws UsageError.
  static Expression parse(std::string_view text);

  [[nodiscard]] double value(const Meaning& meaning) const;
  // Calls `visit` with every name in it, as `value` would ask for it.
  void each_name(
      const std::function<void(const std::string& of, const std::string& name)>& visit) const;
  [[nodiscard]] const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// 1 + 1/2 + ... + 1/n, of which the cost of path reversal is made.
double harmonic(double n);

}  // namespace turno::lab
