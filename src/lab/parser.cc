// Reads an experiment, line by line. What is wrong is refused with its line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "core/usage_error.h"
#include "lab/experiment.h"

namespace turno::lab {

namespace {

using Words = std::vector<std::string>;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

Words split(std::string_view text) {
  std::istringstream in{std::string(text)};
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The first word; `text` is then what follows it.
std::string take_word(std::string_view& text) {
  const auto end = std::min(text.find(' '), text.size());
  const std::string word(text.substr(0, end));
  text = trimmed(text.substr(end));
  return word;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double need_number(std::string_view text) {
  const auto value = number(text);
  if (!value) throw UsageError(fmt::format("'{}' is no number", text));
  return *value;
}

// What is before the separator; `text` is then what is after it.
std::string_view need_before(std::string_view& text, std::string_view separator) {
  // Not inside of quotes.
  const auto quote = text.find('"');
  auto at = text.find(separator);
  if (separator != "\"" && quote < at)
    at = text.find(separator, std::min(text.find('"', quote + 1), text.size()));
  if (at == std::string_view::npos)
    throw UsageError(fmt::format("'{}' is missing", trimmed(separator)));
  const auto before = trimmed(text.substr(0, at));
  text = trimmed(text.substr(at + separator.size()));
  return before;
}

// Some may have marks in them beyond '_'.
void need_name(std::string_view name, std::string_view marks = "") {
  const bool good =
      !name.empty() && name != "x" && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  if (!good || !std::ranges::all_of(name, [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
               marks.find(c) != std::string_view::npos;
      }))
    throw UsageError(fmt::format("'{}' is no name", name));
}

class Reader {
 public:
  explicit Reader(std::string file) { result_.file = std::move(file); }

  Experiment read(const std::string& text) {
    result_.text = text;
    std::istringstream in(text);
    std::size_t number = 0, begins = 0;
    std::string joined;
    for (std::string line; std::getline(in, line);) {
      ++number;
      auto rest = trimmed(line);
      if (joined.empty()) begins = number;
      const bool goes_on = rest.ends_with('\\');
      if (goes_on) rest.remove_suffix(1);
      joined += rest;
      if (!goes_on) take(std::exchange(joined, {}), begins);
    }
    if (!joined.empty()) take(joined, begins);
    end();
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw UsageError(fmt::format("{}, line {}: {}", result_.file, line, what));
  }

  void take(const std::string& line, std::size_t number) {
    line_ = number;
    if (line.empty() || line.front() == '#') return;
    try {
      std::string_view rest = line;
      const auto keyword = take_word(rest);
      const auto found = std::ranges::find(lines_, keyword, &Line::keyword);
      if (found == lines_.end()) {
        Words known;
        for (const auto& each : lines_) known.emplace_back(each.keyword);
        throw UsageError(
            fmt::format("there is no line '{}'; there are {}", keyword, fmt::join(known, ", ")));
      }
      if (found->in_figure && result_.figures.empty())
        throw UsageError(fmt::format("'{}' belongs into a figure", keyword));
      if (rest.empty()) throw UsageError(fmt::format("'{}' says nothing", keyword));
      (this->*found->take)(rest);
    } catch (const UsageError& error) {
      fail(number, error.what());
    }
  }

  Figure& figure() { return result_.figures.back(); }

  void take_name(std::string_view rest) {
    need_name(rest, "-.");
    result_.name = result_.called = rest;
  }
  void take_title(std::string_view rest) { result_.title = rest; }
  void take_source(std::string_view rest) { result_.source = rest; }
  void take_about(std::string_view rest) { result_.about.emplace_back(rest); }
  void take_processes(std::string_view rest) { result_.processes = rest; }

  // seeds 10 quick 2 real 1
  void take_seeds(std::string_view rest) {
    auto words = split(rest);
    words.insert(words.begin(), "full");
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
      const auto count = need_number(words[i + 1]);
      if (!(count >= 1 && count <= 10'000)) throw UsageError("seeds are 1 to 10000");
      result_.seeds[scale_of(words[i])] = static_cast<std::uint64_t>(count);
    }
    if (words.size() % 2 != 0) throw UsageError("seeds are as in 'seeds 10 quick 2 real 1'");
  }
  static std::size_t scale_of(std::string_view word) {
    if (word == "full") return 0;
    if (word == "quick") return 1;
    if (word == "real") return 2;
    throw UsageError(fmt::format("'{}' is neither quick nor real", word));
  }

  // let entries = 100000; let quick entries = 2000
  void take_let(std::string_view rest) {
    const auto names = split(need_before(rest, "="));
    if (names.empty() || names.size() > 2) throw UsageError("a let is as in 'let entries = 1000'");
    need_name(names.back());
    const auto scale = names.size() == 2 ? scale_of(names.front()) : 0;
    if (!result_.words[scale].emplace(names.back(), rest).second)
      throw UsageError(fmt::format("{} is said twice", names.back()));
  }

  void take_figure(std::string_view rest) {
    finish_figure();
    const auto name = need_before(rest, ":");
    need_name(name, "-");
    if (std::ranges::any_of(result_.figures, [&](const auto& other) { return other.name == name; }))
      throw UsageError(fmt::format("there is a figure {} already", name));
    result_.figures.push_back({.name = std::string(name), .title = std::string(rest)});
    figure().line = line_;
  }

  // x log number of nodes: 31 100 1000; x kind: requests=tree answers=reply
  void take_x(std::string_view rest) {
    auto label = need_before(rest, ":");
    figure().x.logarithmic = label.starts_with("log ");
    if (figure().x.logarithmic) label.remove_prefix(4);
    figure().x.label = trimmed(label);
    for (const auto& word : split(rest)) {
      const auto equals = word.find('=');
      Point point{.label = word.substr(0, equals),
                  .text = equals == std::string::npos ? word : word.substr(equals + 1)};
      std::ranges::replace(point.label, '_', ' ');
      const auto value = number(point.text);
      if (!value || equals != std::string::npos) figure().categories = true;
      point.x = value.value_or(static_cast<double>(figure().points.size() + 1));
      figure().points.push_back(std::move(point));
    }
    if (figure().points.empty()) throw UsageError("there are no points");
    if (figure().categories)
      for (std::size_t i = 0; i < figure().points.size(); ++i)
        figure().points[i].x = static_cast<double>(i + 1);
  }
  void take_y(std::string_view rest) {
    figure().y.logarithmic = rest.starts_with("log ");
    if (figure().y.logarithmic) rest.remove_prefix(4);
    figure().y.label = trimmed(rest);
  }

  void take_quick(std::string_view rest) { take_chosen(rest, figure().quick_points); }
  // real points 1 500; real curves grid laforest
  void take_real(std::string_view rest) {
    if (!rest.starts_with("curves ")) return take_chosen(rest, figure().real_points);
    rest.remove_prefix(7);
    for (const auto& name : split(rest)) {
      const auto found = std::ranges::find(figure().curves, name, &Curve::name);
      if (found == figure().curves.end() || found->kind != Curve::Kind::measured)
        throw UsageError(fmt::format("there is no measured curve {} above", name));
      found->real = true;
    }
  }
  void take_chosen(std::string_view rest, std::optional<Words>& chosen) {
    if (take_word(rest) != "points") throw UsageError("say which points, as in 'quick points 1 5'");
    chosen = split(rest);
    for (auto& word : *chosen) {
      std::ranges::replace(word, '_', ' ');
      if (std::ranges::find(figure().points, word, &Point::label) == figure().points.end())
        throw UsageError(fmt::format("there is no point {}", word));
    }
  }

  // NAME "LABEL" like OTHER
  Curve head(std::string_view text) {
    Curve curve{.line = line_};
    curve.name = take_word(text);
    need_name(curve.name);
    if (figure().find(curve.name) != nullptr)
      throw UsageError(fmt::format("there is a curve {} already", curve.name));
    if (text.starts_with('"')) {
      text.remove_prefix(1);
      curve.label = need_before(text, "\"");
    }
    if (text.starts_with("like ")) {
      text.remove_prefix(5);
      curve.like = take_word(text);
    }
    if (!text.empty()) throw UsageError(fmt::format("'{}' is not understood", text));
    return curve;
  }
  // paper NAME "LABEL": 1 2 - 4
  void take_paper(std::string_view rest) {
    auto curve = head(need_before(rest, ":"));
    curve.kind = Curve::Kind::paper;
    for (const auto& word : split(rest))
      curve.numbers.push_back(word == "-" ? std::nan("") : need_number(word));
    if (curve.numbers.size() != figure().points.size())
      throw UsageError(fmt::format("there are {} points and {} numbers", figure().points.size(),
                                   curve.numbers.size()));
    figure().curves.push_back(std::move(curve));
  }
  // curve NAME "LABEL" = EXPRESSION of COMMAND; curve NAME "LABEL" = EXPRESSION
  void take_curve(std::string_view rest) {
    auto curve = head(need_before(rest, "="));
    const auto of = rest.find(" of ");
    curve.kind = of == std::string_view::npos ? Curve::Kind::derived : Curve::Kind::measured;
    curve.expression = trimmed(rest.substr(0, of));
    if (of != std::string_view::npos) curve.command = trimmed(rest.substr(of + 4));
    if (curve.kind == Curve::Kind::derived) check_names(Expression::parse(curve.expression));
    figure().curves.push_back(std::move(curve));
  }
  // fit NAME "LABEL" = CURVE to EXPRESSION
  void take_fit(std::string_view rest) {
    auto curve = head(need_before(rest, "="));
    curve.kind = Curve::Kind::fit;
    curve.fitted = need_before(rest, " to ");
    if (figure().find(curve.fitted) == nullptr)
      throw UsageError(fmt::format("there is no curve {} above", curve.fitted));
    curve.expression = rest;
    check_names(Expression::parse(curve.expression));
    figure().curves.push_back(std::move(curve));
  }

  // Of a curve above, of x, or of a fit: NAME.a, NAME.b, NAME.r2.
  void check_names(const Expression& expression) {
    expression.each_name([&](const std::string&, const std::string& name) {
      const auto dot = name.find('.');
      const auto* curve = figure().find(name.substr(0, dot));
      const auto part = dot == std::string::npos ? "" : name.substr(dot + 1);
      const bool of_fit = curve != nullptr && curve->kind == Curve::Kind::fit &&
                          (part == "a" || part == "b" || part == "r2");
      if (name != "x" && (curve == nullptr || (!part.empty() && !of_fit)))
        throw UsageError(fmt::format("there is no curve {} above", name));
    });
  }

  void take_number(std::string_view rest) { take_claim(Claim::Kind::number, rest); }
  void take_direction(std::string_view rest) { take_claim(Claim::Kind::direction, rest); }
  // A ~ B within 10% where x >= 2 and x < 9: words
  void take_claim(Claim::Kind kind, std::string_view rest) {
    Claim claim{.kind = kind, .line = line_};
    auto condition = need_before(rest, ":");
    claim.text = rest;
    claim.condition = condition;
    if (const auto where = condition.find(" where "); where != std::string_view::npos) {
      read_where(condition.substr(where + 7), claim);
      condition = trimmed(condition.substr(0, where));
    }
    if (const auto within = condition.find(" within "); within != std::string_view::npos) {
      auto share = trimmed(condition.substr(within + 8));
      if (!share.ends_with('%')) throw UsageError("a tolerance is as in 'within 10%'");
      share.remove_suffix(1);
      claim.tolerance = need_number(share) / 100;
      condition = trimmed(condition.substr(0, within));
    }
    const auto sign = condition.find_first_of("<>~");
    if (sign == std::string_view::npos) throw UsageError("a claim has one of < > ~");
    claim.relation = relation_of(condition[sign]);
    if (claim.relation == Relation::near && claim.tolerance <= 0)
      throw UsageError("near what is said with a tolerance, as in 'a ~ b within 10%'");
    claim.left = Expression::parse(condition.substr(0, sign));
    claim.right = Expression::parse(condition.substr(sign + 1));
    check_names(claim.left);
    check_names(claim.right);
    figure().claims.push_back(std::move(claim));
  }
  static Relation relation_of(char sign) {
    return sign == '<' ? Relation::less : sign == '>' ? Relation::more : Relation::near;
  }
  static void read_where(std::string_view text, Claim& claim) {
    const auto words = split(text);
    for (std::size_t i = 0; i + 2 < words.size(); i += 4) {
      const auto& sign = words[i + 1];
      const bool last = i + 3 == words.size();
      if (words[i] != "x" || (sign != "<" && sign != "<=" && sign != ">" && sign != ">=") ||
          (!last && words[i + 3] != "and"))
        break;
      claim.where.push_back({relation_of(sign[0]), sign.size() == 2, need_number(words[i + 2])});
    }
    if (claim.where.empty() || words.size() != 4 * claim.where.size() - 1)
      throw UsageError("where is as in 'where x >= 2 and x < 9'");
  }
  void take_because(std::string_view rest) {
    if (figure().claims.empty()) throw UsageError("there is no claim above");
    figure().claims.back().because = rest;
  }

  void finish_figure() {
    if (result_.figures.empty()) return;
    const auto& last = figure();
    if (last.points.empty()) fail(last.line, "the figure " + last.name + " has no line 'x'");
    if (last.y.label.empty()) fail(last.line, "the figure " + last.name + " has no line 'y'");
    if (last.curves.empty()) fail(last.line, "the figure " + last.name + " has no curves");
    for (const auto& curve : last.curves)
      if (!curve.like.empty() && last.find(curve.like) == nullptr)
        fail(curve.line, "there is no curve " + curve.like);
  }
  void end() {
    if (result_.name.empty()) fail(1, "the line 'experiment NAME' is missing");
    if (result_.title.empty()) fail(1, "the line 'title' is missing");
    if (result_.figures.empty()) fail(line_, "there is no figure");
    finish_figure();
    check_measured();
    if (result_.has_real() && result_.processes.empty())
      fail(line_, "curves run on real processes, but no line 'processes' says how");
  }

  // What {x} makes of an expression is known only now.
  void check_measured() {
    for (const auto& figure : result_.figures)
      for (const auto& curve : figure.curves)
        for (const auto& point : figure.points) {
          if (curve.kind != Curve::Kind::measured) continue;
          try {
            Expression::parse(result_.expand(curve.expression, point, Scale::full));
            if (trimmed(result_.expand(curve.command, point, Scale::full)).empty())
              throw UsageError("nothing is run");
          } catch (const UsageError& error) {
            fail(curve.line, error.what());
          }
        }
  }

  struct Line {
    std::string_view keyword;
    void (Reader::*take)(std::string_view);
    bool in_figure;
  };
  static constexpr std::array<Line, 18> lines_ = {{
      {"experiment", &Reader::take_name, false},
      {"title", &Reader::take_title, false},
      {"source", &Reader::take_source, false},
      {"about", &Reader::take_about, false},
      {"seeds", &Reader::take_seeds, false},
      {"let", &Reader::take_let, false},
      {"processes", &Reader::take_processes, false},
      {"figure", &Reader::take_figure, false},
      {"x", &Reader::take_x, true},
      {"y", &Reader::take_y, true},
      {"quick", &Reader::take_quick, true},
      {"real", &Reader::take_real, true},
      {"paper", &Reader::take_paper, true},
      {"curve", &Reader::take_curve, true},
      {"fit", &Reader::take_fit, true},
      {"number", &Reader::take_number, true},
      {"direction", &Reader::take_direction, true},
      {"because", &Reader::take_because, true},
  }};

  Experiment result_;
  std::size_t line_ = 0;
};

}  // namespace

Experiment parse_experiment(const std::string& file, const std::string& text) {
  return Reader(file).read(text);
}

}  // namespace turno::lab
