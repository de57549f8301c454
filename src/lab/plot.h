// A figure as a script for gnuplot, with its data inside.
#pragma once

#include <string>

#include "lab/values.h"

namespace turno::lab {

enum class Picture : std::uint8_t { svg, png };

std::string plot_script(const FigureValues& figure, Picture picture, const std::string& output);
// Whether there is anything to draw.
bool has_picture(const FigureValues& figure);

}  // namespace turno::lab
