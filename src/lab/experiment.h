// An experiment as data: what is run, at which points, what the paper printed of it, and what must
// be true of the numbers. docs/lab.md describes the text form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/expression.h"

namespace turno::lab {

// How much is done: everything; a little, for a test; on real processes.
enum class Scale : std::uint8_t { full, quick, real };

struct Point {
  std::string label;  // for people
  std::string text;   // in commands
  double x = 0;       // if it is no number: its place, from 1 on
};

struct Curve {
  enum class Kind : std::uint8_t {
    paper,     // numbers that are printed, one a point
    measured,  // an expression over what a run counts
    derived,   // an expression over x and other curves
    fit        // a + b * expression, as near to another curve as possible
  } kind = Kind::measured;
  std::string name, label;      // without a label: in the table, not in the figure
  std::string like;             // drawn in the colour of this one
  std::vector<double> numbers;  // paper
  std::string expression;       // measured: may have {x}
  std::string command;          // measured: what turno sim is called with
  std::string fitted;           // fit: the other curve
  bool real = false;            // run on real processes too, if asked
  std::size_t line = 0;
};

enum class Relation : std::uint8_t { less, more, near };

struct Claim {
  // A number can be met; a direction says only what is more than what.
  enum class Kind : std::uint8_t { number, direction } kind = Kind::direction;
  Expression left, right;
  Relation relation = Relation::less;
  double tolerance = 0;  // a share: near, within
  struct Where {
    Relation relation;
    bool or_equal;
    double x;
  };
  std::vector<Where> where;  // all must be true of x
  std::string condition;     // all this, as it was written
  std::string text;          // in words
  std::string because;       // why it is not met; empty: it is expected to be
  std::size_t line = 0;
};

struct Axis {
  std::string label;
  bool logarithmic = false;
};

struct Figure {
  std::string name, title;
  Axis x, y;
  bool categories = false;  // the points are no numbers
  std::vector<Point> points;
  std::optional<std::vector<std::string>> quick_points, real_points;  // labels
  std::vector<Curve> curves;
  std::vector<Claim> claims;
  std::size_t line = 0;

  [[nodiscard]] const Curve* find(std::string_view curve) const;
  [[nodiscard]] bool has_point(std::size_t point, Scale scale) const;
};

struct Experiment {
  std::string file;  // where it comes from, for errors
  std::string name, title, source;
  std::string called;                                       // on the command line
  std::vector<std::string> about;                           // paragraphs
  std::array<std::uint64_t, 3> seeds{1, 1, 1};              // of each scale
  std::array<std::map<std::string, std::string>, 3> words;  // let NAME = TEXT; full: for all
  std::string processes;                                    // options of turno run
  std::vector<Figure> figures;
  std::string text;  // the file

  // With {NAME}, {x} and {EXPRESSION of x} replaced. Throws UsageError.
  [[nodiscard]] std::string expand(std::string_view pattern, const Point& point, Scale scale,
                                   int depth = 0) const;
  [[nodiscard]] bool has_real() const;
};

// Throws UsageError, with the file and the line.
Experiment parse_experiment(const std::string& file, const std::string& text);

}  // namespace turno::lab
