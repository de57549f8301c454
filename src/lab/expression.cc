#include "lab/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "core/usage_error.h"

namespace turno::lab {

struct Expression::Node {
  enum class Kind { number, name, call, operation } kind = Kind::number;
  double number = 0;
  std::string name;  // of a function too
  std::string of;    // what is asked of the curve
  char operation = 0;
  std::vector<std::shared_ptr<const Node>> parts;
};

namespace {

using Node = Expression::Node;
using Part = std::shared_ptr<const Node>;

// Of one curve as a whole, or of another one that belongs to it.
constexpr std::array<std::string_view, 7> of_curves = {"first", "last", "sum", "mean",
                                                       "least", "most", "real"};
constexpr std::array<std::string_view, 6> functions = {"log2", "sqrt", "H", "abs", "min", "max"};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Part all() {
    auto part = sum();
    if (at_ < text_.size()) fail("'" + std::string(text_.substr(at_)) + "' is not understood");
    return part;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError("in '" + std::string(text_) + "': " + what);
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  static Part operation(char sign, Part left, Part right) {
    Node node{.kind = Node::Kind::operation, .operation = sign};
    node.parts = {std::move(left), std::move(right)};
    return std::make_shared<const Node>(std::move(node));
  }
  Part sum() {
    auto part = product();
    for (;;) {
      if (take('+')) {
        part = operation('+', part, product());
      } else if (take('-')) {
        part = operation('-', part, product());
      } else {
        return part;
      }
    }
  }
  Part product() {
    auto part = atom();
    for (;;) {
      if (take('*')) {
        part = operation('*', part, atom());
      } else if (take('/')) {
        part = operation('/', part, atom());
      } else {
        return part;
      }
    }
  }
  Part atom() {
    skip();
    if (take('(')) {
      auto part = sum();
      if (!take(')')) fail("a ')' is missing");
      return part;
    }
    if (take('-')) return operation('-', std::make_shared<const Node>(), atom());
    if (at_ >= text_.size()) fail("a value is missing at its end");
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(c) != 0 || c == '.') return number();
    if (std::isalpha(c) != 0) return named();
    fail("'" + std::string(text_.substr(at_)) + "' is no value");
  }
  Part number() {
    Node node;
    const auto* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), node.number);
    if (error != std::errc{}) fail("a number is wrong");
    at_ += static_cast<std::size_t>(end - begin);
    return std::make_shared<const Node>(std::move(node));
  }
  std::string word() {
    const auto begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  Part named() {
    Node node{.kind = Node::Kind::name, .name = word()};
    if (!take('(')) return std::make_shared<const Node>(std::move(node));
    if (std::ranges::find(of_curves, node.name) != of_curves.end()) {
      node.of = std::move(node.name);
      skip();
      node.name = word();
    } else if (std::ranges::find(functions, node.name) != functions.end()) {
      node.kind = Node::Kind::call;
      do node.parts.push_back(sum());
      while (take(','));
      const std::size_t wanted = node.name == "min" || node.name == "max" ? 2 : 1;
      if (node.parts.size() != wanted) fail(node.name + " has another number of arguments");
    } else {
      fail("there is no function " + node.name);
    }
    if (!take(')')) fail("a ')' is missing");
    return std::make_shared<const Node>(std::move(node));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

double call(const std::string& function, const std::vector<double>& of) {
  if (function == "log2") return std::log2(of[0]);
  if (function == "sqrt") return std::sqrt(of[0]);
  if (function == "H") return harmonic(of[0]);
  if (function == "abs") return std::abs(of[0]);
  return function == "min" ? std::min(of[0], of[1]) : std::max(of[0], of[1]);
}

double value_of(const Node& node, const Expression::Meaning& meaning) {
  if (node.kind == Node::Kind::number) return node.number;
  if (node.kind == Node::Kind::name) return meaning(node.of, node.name);
  std::vector<double> parts;
  for (const auto& part : node.parts) parts.push_back(value_of(*part, meaning));
  if (node.kind == Node::Kind::call) return call(node.name, parts);
  switch (node.operation) {
    case '+':
      return parts[0] + parts[1];
    case '-':
      return parts[0] - parts[1];
    case '*':
      return parts[0] * parts[1];
    default:
      return parts[1] == 0 ? std::nan("") : parts[0] / parts[1];
  }
}

}  // namespace

double harmonic(double n) {
  if (n > 1e6) return std::log(n) + 0.5772156649015329 + 1 / (2 * n);
  double sum = 0;
  for (double i = 1; i <= n; ++i) sum += 1 / i;
  return sum;
}

Expression Expression::parse(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  Expression expression;
  expression.text_ = text;
  expression.root_ = Parser(expression.text_).all();
  return expression;
}

double Expression::value(const Meaning& meaning) const { return value_of(*root_, meaning); }

void Expression::each_name(
    const std::function<void(const std::string&, const std::string&)>& visit) const {
  const std::function<void(const Node&)> walk = [&](const Node& node) {
    if (node.kind == Node::Kind::name) visit(node.of, node.name);
    for (const auto& part : node.parts) walk(*part);
  };
  walk(*root_);
}

}  // namespace turno::lab
