// report.html: one file with everything in it, figures too.
#pragma once

#include <map>
#include <span>
#include <string>

#include "lab/tables.h"

namespace turno::lab {

struct Reported {
  Results results;
  std::map<std::string, std::string> pictures;  // SVG, by figure
};

// `made` says by what, where and when.
std::string report(std::span<const Reported> experiments, const std::string& made);

}  // namespace turno::lab
