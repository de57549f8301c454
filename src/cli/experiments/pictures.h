// Figures drawn by gnuplot, as SVG and PNG, with the script beside them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/experiments/folder.h"
#include "lab/values.h"

namespace turno::cli {

// The program that draws; empty if it is not installed.
std::string find_gnuplot();

// Draws into the folder; returns the SVG by figure. Throws std::runtime_error if gnuplot fails.
std::map<std::string, std::string> draw(const std::string& gnuplot,
                                        const std::vector<lab::FigureValues>& figures,
                                        const ResultFolder& folder);

}  // namespace turno::cli
