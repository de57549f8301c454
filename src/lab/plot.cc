#include "lab/plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace turno::lab {

namespace {

// Okabe and Ito's colours, which the colour-blind can tell apart, and darker ones of them.
constexpr std::array colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                "#56b4e9", "#7f5539", "#000000", "#8064a2", "#6b8e23",
                                "#b22222", "#4d4d4d", "#00808b", "#ff6f91"};

// Filled: square, circle, triangles, diamond.
constexpr std::array marks = {5, 7, 9, 11, 13};

// One line of the figure: a curve, simulated or on real processes.
struct Line {
  const CurveValues* curve;
  const std::vector<Value>* values;
  std::string label;
  std::size_t colour = 0;
  bool real = false;
};

std::string really(const std::string& label) {
  return label == "simulated" ? "real processes" : label + ", real processes";
}

std::vector<Line> lines_of(const FigureValues& figure) {
  std::vector<Line> lines;
  std::map<std::string, std::size_t> colour_of;
  for (const auto& curve : figure.curves)
    if (!curve.curve->label.empty() && curve.curve->like.empty())
      colour_of.emplace(curve.curve->name, colour_of.size() % colours.size());
  for (const auto& curve : figure.curves) {
    const auto& [name, label, like] =
        std::tie(curve.curve->name, curve.curve->label, curve.curve->like);
    if (label.empty()) continue;
    const auto found = colour_of.find(like.empty() ? name : like);
    const auto colour = found == colour_of.end() ? 0 : found->second;
    lines.push_back({&curve, &curve.at, label, colour, false});
    if (!curve.real.empty()) lines.push_back({&curve, &curve.real, really(label), colour, true});
  }
  std::erase_if(lines, [&](const Line& line) {
    return std::ranges::all_of(figure.points,
                               [&](auto i) { return std::isnan((*line.values)[i].mean); });
  });
  return lines;
}

std::string quoted(std::string text) {
  std::ranges::replace(text, '"', '\'');
  return "\"" + text + "\"";
}

std::string data(const FigureValues& figure, const Line& line) {
  std::string text;
  std::size_t place = 0;
  for (const auto i : figure.points) {
    ++place;
    const auto& value = (*line.values)[i];
    const auto x =
        figure.figure->categories ? static_cast<double>(place) : figure.figure->points[i].x;
    if (std::isnan(value.mean))
      text += "\n";  // the line is interrupted
    else
      text += fmt::format("{} {} {}\n", x, value.mean, value.ci95);
  }
  return text;
}

// Many names need the room below them, where else the name of the axis is.
bool are_slanted(const FigureValues& figure) {
  return figure.figure->categories && figure.points.size() > 6;
}

// Bars beside each other, centred at the place of their point.
std::string bars(const FigureValues& figure, const std::vector<Line>& lines) {
  std::vector<std::string> names, parts;
  std::size_t place = 0;
  for (const auto i : figure.points)
    names.push_back(fmt::format("{} {}", quoted(figure.figure->points[i].label), ++place));
  const auto width = 0.8 / static_cast<double>(lines.size());
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const auto shift = (static_cast<double>(k) + 0.5) * width - 0.4;
    const bool printed = lines[k].curve->curve->kind == Curve::Kind::paper;
    const auto* colour = colours[lines[k].colour];
    const auto* fill = lines[k].real ? "pattern 4" : printed ? "empty" : "solid 0.85";
    parts.push_back(
        fmt::format("$d{} using ($1+({:.4f})):2:({:.4f}) with boxes fs {} border lc rgb '{}' lw 2 "
                    "lc rgb '{}' title {}",
                    k, shift, width * 0.9, fill, colour, colour, quoted(lines[k].label)));
  }
  return fmt::format("set xtics ({}){}\nset xrange [0.4:{}.6]\nset boxwidth 1\nplot {}\n",
                     fmt::join(names, ", "), are_slanted(figure) ? " rotate by -30 left" : "",
                     names.size(), fmt::join(parts, ", \\\n  "));
}

std::string curves(const FigureValues& figure, const std::vector<Line>& lines) {
  std::vector<std::string> parts, places;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const auto kind = lines[k].curve->curve->kind;
    const auto* colour = colours[lines[k].colour];
    const auto title = quoted(lines[k].label);
    if (lines[k].real) {
      parts.push_back(fmt::format(
          "$d{} using 1:2 with points pt 8 ps 1.5 lw 2 lc rgb '{}' title {}", k, colour, title));
    } else if (kind == Curve::Kind::paper) {
      parts.push_back(fmt::format(
          "$d{} using 1:2 with linespoints dt (8,5) lw 2 pt 6 ps 1.1 lc rgb '{}' title {}", k,
          colour, title));
    } else if (kind == Curve::Kind::measured) {
      parts.push_back(
          fmt::format("$d{0} using 1:2:3 with yerrorbars pt -1 lw 1 lc rgb '{1}' notitle, \\\n"
                      "  $d{0} using 1:2 with linespoints lw 2 pt {3} ps 1 lc rgb '{1}' title {2}",
                      k, colour, title, marks[lines[k].colour % marks.size()]));
    } else {
      parts.push_back(fmt::format("$d{} using 1:2 with lines dt (3,3) lw 2.4 lc rgb '{}' title {}",
                                  k, colour, title));
    }
  }
  for (const auto i : figure.points) {
    const auto& point = figure.figure->points[i];
    places.push_back(fmt::format("{} {}", quoted(point.label), point.x));
  }
  // Few points are named one by one.
  const auto tics =
      places.size() <= 8 ? fmt::format("set xtics ({})\n", fmt::join(places, ", ")) : "";
  const auto first = figure.figure->points[figure.points.front()].x;
  const auto last = figure.figure->points[figure.points.back()].x;
  const auto edge = 0.03 * (last - first);
  const auto range =
      figure.figure->x.logarithmic
          ? fmt::format("set logscale x\nset xrange [{}:{}]\n", first / 1.2, last * 1.2)
          : fmt::format("set xrange [{}:{}]\n", first - edge, last + edge);
  return fmt::format("{}{}plot {}\n", range, tics, fmt::join(parts, ", \\\n  "));
}

}  // namespace

bool has_picture(const FigureValues& figure) { return !lines_of(figure).empty(); }

std::string plot_script(const FigureValues& figure, Picture picture, const std::string& output) {
  const auto lines = lines_of(figure);
  std::string script;
  for (std::size_t k = 0; k < lines.size(); ++k)
    script += fmt::format("$d{} << EOD\n{}EOD\n", k, data(figure, lines[k]));
  // Names below the figure, so that they hide nothing; beside each other if both fit.
  const bool wide = std::ranges::any_of(lines, [](const Line& l) { return l.label.size() > 36; });
  const std::size_t columns = wide ? 1 : 2;
  const auto rows = (lines.size() + columns - 1) / columns;
  const auto height = 430 + 24 * rows;
  if (picture == Picture::svg) {
    script += fmt::format(
        "set terminal svg size 860,{} dynamic font 'DejaVu Sans,15' background rgb 'white'\n",
        height);
  } else {
    script += fmt::format(
        "set terminal pngcairo size 1290,{} font 'DejaVu Sans,16' linewidth 1.5\n", height * 3 / 2);
  }
  const auto& shape = *figure.figure;
  script += fmt::format(
      "set output {}\nset title {}\nset encoding utf8\nset termoption noenhanced\nset border 3 lc "
      "rgb '#444444'\n"
      "set tics nomirror\nset grid y lc rgb '#dddddd' lt 1\nset key below maxcols {} reverse Left "
      "samplen 2.5\nset bmargin {}\nset xlabel {} offset 0,0.6\nset ylabel {}\nset format y '%g'\n",
      quoted(output), quoted(shape.title), columns, rows + (shape.categories ? 6 : 4),
      quoted(are_slanted(figure) ? "" : shape.x.label), quoted(shape.y.label));
  script += shape.y.logarithmic ? "set logscale y\n" : "set yrange [0:*]\n";
  return script + (shape.categories ? bars(figure, lines) : curves(figure, lines));
}

}  // namespace turno::lab
